/** What a run of issuing will leave behind on the server. */
import { formatCount } from '../../common/units.js';

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

/**
 * @param {Record<string, any> | null} role
 * @returns {string[]}
 */
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
