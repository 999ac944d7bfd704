/** Before a run: does the role exist, may the token use it, would it allow the request, and what will the run leave behind? */
import { PkiLoadError, targetError } from '../common/errors.js';
import { formatCount, formatDuration, parseDuration } from '../common/units.js';
import { isCommonNameChecked, listOf, whyNotAllowed } from './role-names.js';
/** @import { VaultClient } from './client.js' */

/**
 * @typedef {object} RoleQuestion
 * @property {string} mount
 * @property {string} role
 * @property {'issue' | 'sign'} [operation]
 * @property {string | null} [commonName] one name as it will be asked: placeholders filled in
 * @property {string[]} [altNames]
 * @property {string[]} [ipSans]
 * @property {string | number | null} [ttl]
 * @property {'rsa' | 'ec' | 'ed25519' | null} [keyType] of the CSRs, for `sign`
 * @property {number | null} [keyBits]
 */

/**
 * @typedef {object} RoleFacts
 * @property {Record<string, any> | null} role as Vault returns it; null: the token may not read it
 * @property {boolean} checked
 * @property {string[]} warnings sentences
 */

/** @param {VaultClient} client @param {RoleQuestion} question @returns {Promise<RoleFacts>} */
export async function checkRole(client, question) {
  const { mount, role: name, operation = 'issue' } = question;
  const role = await readRole(client, mount, name);
  await checkPermission(client, `${mount}/${operation}/${name}`);
  if (role === null) {
    const text = `The token may not read the role ${name}, so what it allows and stores could not be checked.`;
    return { role: null, checked: false, warnings: [text] };
  }
  checkNames(role, question);
  checkKey(role, question);
  return { role, checked: true, warnings: ttlWarnings(role, question) };
}

/**
 * @param {VaultClient} client
 * @param {string} mount
 * @param {string} name
 * @returns {Promise<Record<string, any> | null>}
 */
async function readRole(client, mount, name) {
  try {
    return (await client.read(`${mount}/roles/${name}`)).data ?? {};
  } catch (error) {
    if (!(error instanceof PkiLoadError)) throw error;
    if (error.code === 'vault_permission_denied') return null;
    if (error.code !== 'vault_not_found') throw error;
    throw targetError(
      'role_not_found',
      `There is no role ${name} on the mount ${mount}.`,
      `${await otherRoles(client, mount)} Name one with --role.`,
    );
  }
}

/** @param {VaultClient} client @param {string} mount */
async function otherRoles(client, mount) {
  try {
    const names = await client.list(`${mount}/roles`);
    if (names.length === 0) return 'The mount has no roles at all.';
    return `There are ${names.slice(0, 10).join(', ')}${names.length > 10 ? ', ...' : ''}.`;
  } catch {
    return 'This token may not list the roles there are.';
  }
}

/**
 * `sys/capabilities-self` is in the default policy; without it, the check is skipped.
 *
 * @param {VaultClient} client
 * @param {string} path
 */
export async function checkPermission(client, path) {
  let capabilities;
  try {
    const { data } = await client.write('sys/capabilities-self', { paths: [path] });
    capabilities = listOf(data?.[path]);
  } catch (error) {
    if (error instanceof PkiLoadError) return;
    throw error;
  }
  const enough = ['root', 'update', 'create', 'sudo'].some((each) => capabilities.includes(each));
  if (enough || capabilities.length === 0) return;
  throw targetError(
    'role_permission_denied',
    `The token may not write to ${path}.`,
    `Use a token whose policy has: path "${path}" { capabilities = ["update"] }.`,
  );
}

/** @param {Record<string, any>} role @param {RoleQuestion} question */
function checkNames(role, { role: roleName, commonName, altNames = [], ipSans = [] }) {
  if (!commonName && role.require_cn) {
    throw targetError(
      'common_name_missing',
      `The role ${roleName} requires a common name.`,
      'Give one with --cn.',
    );
  }
  const names = [...(commonName && isCommonNameChecked(role, commonName) ? [commonName] : []), ...altNames];
  for (const name of names) {
    const why = whyNotAllowed(role, name);
    if (why === null) continue;
    throw targetError(
      'name_not_allowed',
      `The role ${roleName} does not allow the name ${JSON.stringify(name.slice(0, 120))}: ${why}.`,
      'Give another name with --cn (and --alt-names), another --role, or change the role.',
    );
  }
  if (ipSans.length > 0 && role.allow_ip_sans === false) {
    throw targetError(
      'ip_sans_not_allowed',
      `The role ${roleName} allows no IP addresses in certificates.`,
      'Leave out --ip-sans, or set allow_ip_sans=true on the role.',
    );
  }
}

/** @param {Record<string, any>} role @param {RoleQuestion} question */
function checkKey(role, { role: roleName, operation, keyType, keyBits }) {
  if (operation !== 'sign' || !keyType || !role.key_type || role.key_type === 'any') return;
  const bits = Number(role.key_bits ?? 0);
  const tooFew = keyType === role.key_type && keyType !== 'ed25519' && keyBits && bits > 0 && keyBits < bits;
  if (keyType === role.key_type && !tooFew) return;
  throw targetError(
    'role_key_type',
    `The role ${roleName} signs ${role.key_type} keys${bits > 0 ? ` of ${bits} bits` : ''}, not ${keyType}${keyBits ? ` of ${keyBits}` : ''}.`,
    'Give the fitting --key-type, or another --role.',
  );
}

/**
 * Vault cuts a TTL that is too long and issues all the same.
 *
 * @param {Record<string, any>} role
 * @param {RoleQuestion} question
 */
function ttlWarnings(role, { role: roleName, ttl }) {
  const maxMs = Number(role.max_ttl ?? 0) * 1000;
  if (ttl === null || ttl === undefined || maxMs === 0) return [];
  const askedMs = parseDuration(ttl, '--ttl');
  if (askedMs <= maxMs) return [];
  const [asked, max] = [formatDuration(askedMs), formatDuration(maxMs)];
  return [`The role ${roleName} cuts the TTL of ${asked} to its max_ttl, ${max}.`];
}

/** Stored certificates at which Vault's own health check (vault pki health-check, too_many_certs) speaks up. */
const STORED_WARNING = 50_000;
const STORED_CRITICAL = 250_000;

/**
 * @param {object} what
 * @param {Record<string, any> | null} what.role as Vault returns it; null: not known
 * @param {number | null} what.count certificates that the run may issue; null: as many as it can
 * @param {string} [what.mount]
 * @param {{product: string, version: string, enterprise: boolean} | null} [what.health]
 * @returns {string[]} sentences; never empty
 */
export function describeFootprint({ role, count, mount = 'pki_int', health = null }) {
  return [...certificates(role, count, mount), ...leases(role), ...licence(health, count)];
}

/**
 * @param {Record<string, any> | null} role
 * @param {number | null} count
 * @param {string} mount
 * @returns {string[]}
 */
function certificates(role, count, mount) {
  if (role?.no_store === true)
    return ['The role does not store certificates (no_store): nothing is left behind.'];
  const many =
    count === null ? 'as many certificates as it can issue' : `about ${formatCount(count)} certificates`;
  const verb = role === null ? 'may leave' : 'leaves';
  const sentences = [
    `The run ${verb} ${many} in Vault's storage; once they have expired, vault write ${mount}/tidy tidy_cert_store=true removes them.`,
  ];
  const over = [STORED_CRITICAL, STORED_WARNING].find((limit) => count !== null && count >= limit);
  if (over !== undefined) {
    const grade = over === STORED_CRITICAL ? 'critical' : 'a warning';
    sentences.push(
      `Vault's own health check calls ${formatCount(over)} stored certificates ${grade}: take a role with no_store=true or a test server.`,
    );
  }
  return sentences;
}

/** @param {Record<string, any> | null} role @returns {string[]} */
function leases(role) {
  if (role?.generate_lease !== true) return [];
  return [
    'The role makes a lease for each certificate (generate_lease), which slows Vault down and is revoked one by one; set generate_lease=false for a load test.',
  ];
}

/**
 * @param {{product: string, version: string, enterprise: boolean} | null} health
 * @param {number | null} count
 * @returns {string[]}
 */
function licence(health, count) {
  if (!health?.enterprise || health.product !== 'Vault') return [];
  const [major, minor] = health.version.split('.').map((part) => Number.parseInt(part, 10));
  if (major < 1 || (major === 1 && minor < 21)) return [];
  const many = count === null ? 'every certificate' : `the ${formatCount(count)} certificates`;
  return [`Vault Enterprise counts ${many} for its licence (1.21 and later), stored or not.`];
}
