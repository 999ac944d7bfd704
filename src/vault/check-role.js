/** Checks before a run: the role exists and allows the request; the token may use it. Describes the run's footprint. */
import { PkiLoadError, quote, targetError } from '../common/errors.js';
import { formatCount, formatDuration, parseDuration } from '../common/units.js';
import { listOf, numberOf, readCapabilities, textOf, unlessRefused } from './client.js';
import { redact } from './redact.js';
/** @import { VaultClient } from './client.js' */

/**
 * `commonName`: of one request, with placeholders filled in; `keyType`, `keyBits`: of the CSRs, for `sign`
 * @typedef {{mount: string, role: string, operation?: 'issue' | 'sign', commonName?: string | null, altNames?: string[],
 *   ipSans?: string[], ttl?: string | number | null, keyType?: 'rsa' | 'ec' | 'ed25519' | null,
 *   keyBits?: number | null}} RoleRequest
 * @typedef {Record<string, any>} Role as Vault returns it
 */

/** @param {VaultClient} client @param {RoleRequest} request @returns `role` null: the token may not read it */
export async function checkRole(client, request) {
  const { mount, role: name, operation = 'issue' } = request;
  const call = client.read(`${mount}/roles/${name}`);
  const response = await unlessRefused(call, 'vault_permission_denied').catch(async (error) => {
    if (error.code !== 'vault_not_found') throw error;
    const remedy = `${await listRoles(client, mount)} Choose a role with --role.`;
    throw targetError('role_not_found', `There is no role ${name} on the mount ${mount}.`, remedy);
  });
  await checkPermission(client, `${mount}/${operation}/${name}`);
  const unchecked = `The token may not read the role ${name}: its settings were not checked.`;
  if (response === null) return { role: null, warnings: [unchecked] };
  const role = response.data;
  if (role === null) {
    const message = `The settings of the role ${name} cannot be read: the response of ${client.origin} has none.`;
    throw targetError('role_unreadable', message, `Check with vault read ${mount}/roles/${name}.`);
  }
  checkAllowed(role, request);
  return { role, warnings: warnOfTtl(role, request) };
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

/** Passes if Vault does not return the capabilities. @param {VaultClient} client @param {string} path */
export async function checkPermission(client, path) {
  const byPath = await readCapabilities(client, [path]).catch((error) => {
    if (error instanceof PkiLoadError && error.code.startsWith('vault_')) return null;
    throw error;
  });
  const capabilities = byPath?.[path] ?? [];
  // Vault's PKI takes every POST as an update.
  const isEnough = ['root', 'update'].some((enough) => capabilities.includes(enough));
  if (!isEnough && capabilities.length > 0) throw mayNotWrite(path);
}

/** @param {string} path @param {string} [leftovers] a sentence on the leftovers */
export function mayNotWrite(path, leftovers = '') {
  const remedy = `Use a token whose policy has: path ${JSON.stringify(path)} { capabilities = ["update"] }.`;
  return targetError('role_permission_denied', `The token may not write to ${path}.${leftovers}`, remedy);
}

/** @param {Role} role @param {RoleRequest} request */
function checkAllowed(role, request) {
  const { role: roleName, commonName, altNames = [], ipSans = [] } = request;
  const names = [...(commonName && isCommonNameChecked(role, commonName) ? [commonName] : []), ...altNames];
  const reasons = names.map((name) => ({ name, why: whyNotAllowed(role, name) }));
  const bad = reasons.find(({ why }) => why !== null);
  const badName = `does not allow the name ${quote(bad?.name)}: ${bad?.why}`;
  const badIp = ipSans.length > 0 && role.allow_ip_sans === false;
  const wrongKey = describeWrongKey(role, request);
  const keyRemedy =
    request.operation === 'sign' ? 'Use a matching --key-type, or another --role.' : 'Use another --role.';
  /** @type {[isWrong: unknown, code: string, problem: string, remedy: string][]} */
  const checks = [
    [!commonName && role.require_cn, 'common_name_missing', 'requires a common name', 'Set it with --cn.'],
    [bad, 'name_not_allowed', badName, 'Use another --cn (--alt-names) or --role, or change the role.'],
    [badIp, 'ip_sans_not_allowed', 'does not allow IP addresses', 'Leave out --ip-sans, or change --role.'],
    [wrongKey, 'role_key_type', wrongKey ?? '', keyRemedy],
  ];
  const [, code, problem, remedy] = checks.find(([isWrong]) => isWrong) ?? [];
  if (code !== undefined) throw targetError(code, `The role ${roleName} ${problem}.`, remedy);
}

/** @param {Role} role @param {RoleRequest} request @returns {string | null} null: the role accepts such keys, or Vault creates them */
function describeWrongKey(role, { operation, keyType, keyBits }) {
  const type = textOf(role.key_type, 'any');
  if (operation === 'issue' && role.key_type === 'any')
    return 'has key_type any, for which Vault signs CSRs but issues no keys';
  if (operation !== 'sign' || !keyType || ['', 'any'].includes(type)) return null;
  const bits = numberOf(role.key_bits) ?? 0;
  const isTooShort = keyType !== 'ed25519' && keyBits && bits > 0 && keyBits < bits;
  if (keyType === type && !isTooShort) return null;
  const wanted = `${redact(type)} keys${bits > 0 ? ` of ${bits} bits` : ''}`;
  return `accepts ${wanted}, not ${keyType}${keyBits ? ` of ${keyBits}` : ''}`;
}

/** Vault shortens a TTL above the maximum. @param {Role} role @param {RoleRequest} request */
function warnOfTtl(role, { role: roleName, ttl }) {
  const maxMs = (numberOf(role.max_ttl) ?? 0) * 1000;
  const requestedMs = parseDuration(ttl ?? 0, '--ttl');
  if (maxMs === 0 || requestedMs <= maxMs) return [];
  const [requested, max] = [requestedMs, maxMs].map(formatDuration);
  return [`The role ${roleName} cuts the TTL of ${requested} to its max_ttl, ${max}.`];
}

/** Default and maximum of a certificate, if neither the request nor the role names one, unless the mount is tuned. */
const DEFAULT_TTL_MS = 768 * 3_600_000;

/**
 * By default, Vault refuses certificates that would outlive their CA: the whole run would fail.
 * @param {VaultClient} client @param {Pick<RoleRequest, 'mount' | 'ttl'> & {role: Role, caEndsMs: number, now?: () => number}} run
 * @returns {Promise<string[]>} warnings
 */
export async function warnOfShortCa(client, { mount, role, ttl, caEndsMs, now = Date.now }) {
  const roleMs = (/** @type {string} */ name) => (numberOf(role[name]) ?? 0) * 1000;
  const wantedMs = parseDuration(ttl ?? 0, '--ttl') || roleMs('ttl') || DEFAULT_TTL_MS;
  const leftMs = caEndsMs - now();
  if (Math.min(wantedMs, roleMs('max_ttl') || DEFAULT_TTL_MS) <= leftMs || role.not_after) return [];
  const issuer = await unlessRefused(client.read(`${mount}/issuer/${textOf(role.issuer_ref) || 'default'}`));
  const behaviour = textOf(issuer?.data?.leaf_not_after_behavior, 'err');
  if (['truncate', 'permit'].includes(behaviour)) return [];
  const ends = `The CA of the mount ${mount} expires in ${formatDuration(leftMs)}`;
  return [
    `${ends}: by default, Vault refuses certificates that would be valid for longer (HTTP 400). Use a shorter --ttl where there is one, a role with a shorter max_ttl, or another CA.`,
  ];
}

/**
 * Vault's own health check (vault pki health-check, too_many_certs) warns at 50,000 stored certificates.
 * @param {{role: Role | null, count: number | null, mount?: string,
 *   health?: {product: string, version: string, enterprise: boolean} | null}} run `role` null: unknown; `count`:
 *   certificates to issue, null: no limit
 * @returns {string[]} sentences on its footprint in Vault; never empty
 */
export function describeFootprint({ role, count, mount = 'pki_int', health = null }) {
  const many =
    count === null ? 'as many certificates as it can issue' : `about ${formatCount(count)} certificates`;
  const leaves = `The run ${role === null ? 'may leave' : 'leaves'} ${many} in Vault's storage`;
  const isStored = role?.no_store !== true;
  const grade = count === null || count < 50_000 ? null : count < 250_000 ? 'a warning' : 'critical';
  const limit = grade === 'critical' ? '250,000' : '50,000';
  const isCounted =
    health?.enterprise && health.product === 'Vault' && !/^(0|1\.(\d|1\d|20))\./.test(health.version);
  const counted = count === null ? 'every certificate' : `the ${formatCount(count)} certificates`;
  return [
    isStored
      ? `${leaves}; once they have expired, vault write ${mount}/tidy tidy_cert_store=true removes them.`
      : 'The role does not store certificates (no_store): nothing is left behind.',
    isStored &&
      grade &&
      `Vault's own health check reports ${limit} stored certificates as ${grade}: use a role with no_store=true or a test server.`,
    role?.generate_lease === true &&
      'The role creates a lease per certificate (generate_lease), which slows Vault down; set generate_lease=false for a load test.',
    isCounted && `Vault Enterprise counts ${counted} towards its licence (1.21 and later), stored or not.`,
  ].filter((sentence) => typeof sentence === 'string');
}

/**
 * Whether a role allows a DNS name. Follows ValidateNames in Vault's builtin/logical/pki/issuing/issue_common.go (1.21).
 * Wildcards, e-mail addresses, templates, display names and other scripts are left to Vault.
 * @param {Role} role @param {string} name @returns {string | null} why not; null: allowed, or only Vault can decide
 */
export function whyNotAllowed(role, name) {
  if (!/^[\x21-\x7e]+$/.test(name) || /[*@]/.test(name)) return null;
  if (role.enforce_hostnames && !isHostName(name)) return 'it allows only host names (enforce_hostnames)';
  if (role.allow_any_name || role.allow_token_displayname || role.allowed_domains_template) return null;
  const locals = role.allow_localhost ? ['localhost', 'localdomain'] : [];
  if (locals.some((local) => name === local || (role.allow_subdomains && name.endsWith(`.${local}`))))
    return null;
  const domains = listOf(role.allowed_domains);
  return domains.some((domain) => isMatch(role, domain, name)) ? null : describe(role, domains);
}

/** @param {string} name */
function isHostName(name) {
  const labels = name.replace(/\.$/, '').split('.');
  return labels.every((label) => /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/i.test(label));
}

/** Compares only subdomains case-sensitively, like Vault. @param {Role} role @param {string} domain @param {string} name */
function isMatch(role, domain, name) {
  if (domain === '') return false;
  const [lowerDomain, lowerName] = [domain.toLowerCase(), name.toLowerCase()];
  return (
    (role.allow_bare_domains && lowerName === lowerDomain) ||
    (role.allow_subdomains && name.endsWith(`.${domain}`)) ||
    (role.allow_glob_domains && domain.includes('*') && isGlobMatch(lowerDomain, lowerName))
  );
}

/** Without a regular expression, which could backtrack forever. @param {string} glob @param {string} text */
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
  const ways = ['allow_bare_domains', 'allow_subdomains', 'allow_glob_domains'].filter((way) => role[way]);
  const few = domains.slice(0, 5).join(', ') + (domains.length > 5 ? ', ...' : '');
  const shown = redact(textOf(role.allowed_domains) || few);
  return `it has allowed_domains ${shown} with ${ways.join(', ') || 'neither allow_bare_domains nor allow_subdomains'}`;
}

/** With cn_validations=disabled, Vault checks only host names. @param {Role} role @param {string} commonName */
export function isCommonNameChecked(role, commonName) {
  const validations = listOf(role.cn_validations);
  return validations.length !== 1 || validations[0] !== 'disabled' || isHostName(commonName);
}
