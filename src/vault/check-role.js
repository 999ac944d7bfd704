/** Before a run: the role must exist, the token may use it, and it must allow the request; and what the run leaves behind. */
import { PkiLoadError, quote, targetError } from '../common/errors.js';
import { formatCount, formatDuration, parseDuration } from '../common/units.js';
import { listOf, numberOf, readCapabilities, recordOf, textOf } from './client.js';
import { redact } from './redact.js';
/** @import { VaultClient } from './client.js' */

/**
 * @typedef {object} RoleQuestion
 * @property {string} mount
 * @property {string} role
 * @property {'issue' | 'sign'} [operation]
 * @property {string | null} [commonName] one name as it is requested: placeholders filled in
 * @property {string[]} [altNames]
 * @property {string[]} [ipSans]
 * @property {string | number | null} [ttl]
 * @property {'rsa' | 'ec' | 'ed25519' | null} [keyType] of the CSRs, for `sign`
 * @property {number | null} [keyBits]
 */
/** @typedef {Record<string, any>} Role as Vault returns it */

/**
 * @param {VaultClient} client @param {RoleQuestion} question
 * @returns {Promise<{role: Role | null, warnings: string[]}>} `role` null: the token may not read it
 */
export async function checkRole(client, question) {
  const { mount, role: name, operation = 'issue' } = question;
  const role = await readRole(client, mount, name);
  await checkPermission(client, `${mount}/${operation}/${name}`);
  if (role === null)
    return { role, warnings: [`The token may not read the role ${name}, so its settings were not checked.`] };
  checkAllowed(role, question);
  return { role, warnings: warnOfTtl(role, question) };
}

/** @param {VaultClient} client @param {string} mount @param {string} name @returns {Promise<Role | null>} */
async function readRole(client, mount, name) {
  try {
    return recordOf((await client.read(`${mount}/roles/${name}`)).data);
  } catch (error) {
    if (!(error instanceof PkiLoadError)) throw error;
    if (error.code === 'vault_permission_denied') return null;
    if (error.code !== 'vault_not_found') throw error;
    throw targetError(
      'role_not_found',
      `There is no role ${name} on the mount ${mount}.`,
      `${await listRoles(client, mount)} Name one with --role.`,
    );
  }
}

/** @param {VaultClient} client @param {string} mount */
async function listRoles(client, mount) {
  try {
    const names = await client.list(`${mount}/roles`);
    if (names.length === 0) return 'The mount has no roles.';
    return `Its roles are ${redact(names.slice(0, 10).join(', '))}${names.length > 10 ? ', ...' : ''}.`;
  } catch {
    return 'The token may not list the roles.';
  }
}

/** Skipped if Vault does not return the capabilities: the requests show the rest. @param {VaultClient} client @param {string} path */
export async function checkPermission(client, path) {
  const known = await readCapabilities(client, [path]).catch((error) => {
    if (error instanceof PkiLoadError && error.code.startsWith('vault_')) return null;
    throw error;
  });
  const capabilities = known?.[path] ?? [];
  const isEnough = ['root', 'update', 'create', 'sudo'].some((each) => capabilities.includes(each));
  if (isEnough || capabilities.length === 0) return;
  throw targetError(
    'role_permission_denied',
    `The token may not write to ${path}.`,
    `Use a token whose policy has: path "${path}" { capabilities = ["update"] }.`,
  );
}

/**
 * @param {Role} role @param {RoleQuestion} question
 * @throws {PkiLoadError} for the first part of the request that the role does not allow
 */
function checkAllowed(role, question) {
  const { role: roleName, commonName, altNames = [], ipSans = [] } = question;
  const names = [...(commonName && isCommonNameChecked(role, commonName) ? [commonName] : []), ...altNames];
  const badName = names.find((name) => whyNotAllowed(role, name) !== null);
  const why = badName === undefined ? null : whyNotAllowed(role, badName);
  const wrongKey = describeWrongKey(role, question);
  /** @type {[isWrong: unknown, code: string, problem: string, remedy: string][]} */
  const checks = [
    [!commonName && role.require_cn, 'common_name_missing', 'requires a common name', 'Give one with --cn.'],
    [
      why !== null,
      'name_not_allowed',
      `does not allow the name ${quote(badName)}: ${why}`,
      'Give another name with --cn (and --alt-names), another --role, or change the role.',
    ],
    [
      ipSans.length > 0 && role.allow_ip_sans === false,
      'ip_sans_not_allowed',
      'does not allow IP addresses in certificates',
      'Leave out --ip-sans, or set allow_ip_sans=true on the role.',
    ],
    [wrongKey !== null, 'role_key_type', String(wrongKey), 'Give a matching --key-type, or another --role.'],
  ];
  const [, code, problem, remedy] = checks.find(([isWrong]) => isWrong) ?? [];
  if (code !== undefined) throw targetError(code, `The role ${roleName} ${problem}.`, remedy);
}

/** @param {Role} role @param {RoleQuestion} question @returns {string | null} null: the role signs such keys, or makes its own */
function describeWrongKey(role, { operation, keyType, keyBits }) {
  const type = textOf(role.key_type, 'any');
  if (operation !== 'sign' || !keyType || ['', 'any'].includes(type)) return null;
  const bits = numberOf(role.key_bits) ?? 0;
  const isTooShort = keyType !== 'ed25519' && keyBits && bits > 0 && keyBits < bits;
  if (keyType === type && !isTooShort) return null;
  const wanted = `${redact(type)} keys${bits > 0 ? ` of ${bits} bits` : ''}`;
  return `signs ${wanted}, not ${keyType}${keyBits ? ` of ${keyBits}` : ''}`;
}

/** Vault cuts a TTL that is too long, and issues. @param {Role} role @param {RoleQuestion} question */
function warnOfTtl(role, { role: roleName, ttl }) {
  const maxMs = (numberOf(role.max_ttl) ?? 0) * 1000;
  const askedMs = parseDuration(ttl ?? 0, '--ttl');
  if (maxMs === 0 || askedMs <= maxMs) return [];
  const [asked, max] = [askedMs, maxMs].map(formatDuration);
  return [`The role ${roleName} cuts the TTL of ${asked} to its max_ttl, ${max}.`];
}

/** Stored certificates at which Vault's own health check (vault pki health-check, too_many_certs) warns. */
const STORED_LIMITS = Object.freeze([
  { limit: 250_000, grade: 'critical' },
  { limit: 50_000, grade: 'a warning' },
]);

/**
 * @param {object} run
 * @param {Role | null} run.role null: not known
 * @param {number | null} run.count certificates that the run may issue; null: as many as it can
 * @param {string} [run.mount]
 * @param {{product: string, version: string, enterprise: boolean} | null} [run.health]
 * @returns {string[]} sentences on what it leaves behind; never empty
 */
export function describeFootprint({ role, count, mount = 'pki_int', health = null }) {
  const many =
    count === null ? 'as many certificates as it can issue' : `about ${formatCount(count)} certificates`;
  const leaves = `The run ${role === null ? 'may leave' : 'leaves'} ${many} in Vault's storage`;
  const isStored = role?.no_store !== true;
  const tooMany = isStored && STORED_LIMITS.find(({ limit }) => count !== null && count >= limit);
  const isCounted =
    health?.enterprise && health.product === 'Vault' && !/^(0|1\.(\d|1\d|20))\./.test(health.version);
  const counted = count === null ? 'every certificate' : `the ${formatCount(count)} certificates`;
  return [
    isStored
      ? `${leaves}; once they have expired, vault write ${mount}/tidy tidy_cert_store=true removes them.`
      : 'The role does not store certificates (no_store): nothing is left behind.',
    tooMany &&
      `Vault's own health check calls ${formatCount(tooMany.limit)} stored certificates ${tooMany.grade}: use a role with no_store=true or a test server.`,
    role?.generate_lease === true &&
      'The role makes a lease for each certificate (generate_lease), which slows Vault down and is revoked one by one; set generate_lease=false for a load test.',
    isCounted && `Vault Enterprise counts ${counted} for its licence (1.21 and later), stored or not.`,
  ].filter((sentence) => typeof sentence === 'string');
}

/** @typedef {ReturnType<typeof split>} Name */

/**
 * Would a role allow this name? After ValidateNames in Vault's builtin/logical/pki/issuing/issue_common.go (1.21).
 * Refuses only where Vault surely would: templates, display names and names in other scripts are left to Vault.
 * @param {Role} role @param {string} text a DNS name or an e-mail address
 * @returns {string | null} why not; null: allowed, or only Vault can decide
 */
export function whyNotAllowed(role, text) {
  if (!/^[\x21-\x7e]+$/.test(text)) return null;
  const name = split(text);
  const form = whyBadForm(role, name);
  if (form !== null || role.allow_any_name) return form;
  if (role.allow_localhost && isLocal(role, name)) return null;
  if (role.allow_token_displayname || role.allowed_domains_template) return null;
  const domains = listOf(role.allowed_domains);
  return domains.some((domain) => isMatch(role, domain, name)) ? null : describe(role, domains);
}

/**
 * `host`: after the @ of an e-mail address, and after the first label of a name with a `*`, which is `wildcard`.
 * @param {string} text @returns {{whole: string, host: string, wildcard: string | null, isEmail: boolean}}
 */
function split(text) {
  const at = text.indexOf('@');
  const name = text.slice(at + 1);
  const [wildcard, ...rest] = name.includes('*') ? name.split('.') : [null, name];
  return { whole: text, host: rest.join('.'), wildcard, isEmail: at >= 0 };
}

/** @param {Role} role @param {Name} name */
function whyBadForm(role, { whole, host, wildcard, isEmail }) {
  if (whole.split('@').length > 2) return 'it has more than one @';
  if (wildcard !== null) {
    if (role.allow_wildcard_certificates === false) return 'it allows no wildcard certificates';
    const isMisplaced = isEmail || host.includes('*') || wildcard.split('*').length > 2;
    if (isMisplaced) return 'a wildcard may only be one * in the first label';
  }
  if (!role.enforce_hostnames) return null;
  const isGood =
    (host === '' || isHostName(host)) &&
    (wildcard === null || wildcard.split('*').every((part) => part === '' || isLabel(part)));
  return isGood ? null : 'it takes host names only (enforce_hostnames)';
}

/** @param {string} label */
function isLabel(label) {
  return /^[a-zA-Z0-9-]+$/.test(label) && !label.startsWith('-') && !label.endsWith('-');
}

/** @param {string} name */
function isHostName(name) {
  return name.replace(/\.$/, '').split('.').every(isLabel);
}

/** @param {Role} role @param {Name} name */
function isLocal(role, { host }) {
  return ['localhost', 'localdomain'].some(
    (local) => host === local || (role.allow_subdomains && host.endsWith(`.${local}`)),
  );
}

/**
 * Subdomains are compared as they are written, the rest whatever its case: so does Vault.
 * @param {Role} role @param {string} domain @param {Name} name
 */
function isMatch(role, domain, { whole, host, wildcard, isEmail }) {
  if (domain === '') return false;
  const isSame = (/** @type {string} */ text) => text.toLowerCase() === domain.toLowerCase();
  if (role.allow_bare_domains && (isSame(whole) || (isEmail && isSame(host)))) return true;
  if (role.allow_subdomains && (host.endsWith(`.${domain}`) || (wildcard !== null && isSame(host))))
    return true;
  const isGlob = Boolean(role.allow_glob_domains) && domain.includes('*');
  return isGlob && isGlobMatch(domain.toLowerCase(), whole.toLowerCase());
}

/** Each `*` stands for any text. Takes the first place where each part fits. @param {string} glob @param {string} text */
function isGlobMatch(glob, text) {
  const parts = glob.split('*');
  const [first, last] = [parts.shift() ?? '', parts.pop() ?? ''];
  const end = text.length - last.length;
  if (!text.startsWith(first) || !text.endsWith(last) || end < first.length) return false;
  let from = first.length;
  for (const part of parts) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return from <= end;
}

/** @param {Role} role @param {string[]} domains */
function describe(role, domains) {
  if (domains.length === 0) return 'it has no allowed_domains';
  const ways = [
    role.allow_bare_domains ? 'themselves' : [],
    role.allow_subdomains ? 'subdomains' : [],
    role.allow_glob_domains ? 'globs' : [],
  ].flat();
  const shown = redact(domains.slice(0, 5).join(', ')) + (domains.length > 5 ? ', ...' : '');
  return `it names ${shown}, and allows ${ways.length > 0 ? `only ${ways.join(' and ')}` : 'neither them nor their subdomains'}`;
}

/**
 * A common name that no rule of its own binds (cn_validations=disabled) still becomes a DNS or e-mail name, where it
 * has the form of one.
 * @param {Role} role @param {string} commonName
 */
export function isCommonNameChecked(role, commonName) {
  const validations = listOf(role.cn_validations);
  if (validations.length !== 1 || validations[0] !== 'disabled') return true;
  return commonName.includes('@') || isHostName(commonName.replace(/^\*\./, ''));
}
