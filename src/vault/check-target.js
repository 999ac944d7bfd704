/** Before a run: is it a Vault that serves, is the mount a PKI, and is its CA still valid? */
import { X509Certificate } from 'node:crypto';
import { PkiLoadError, targetError } from '../common/errors.js';
import { notVault } from './client.js';
import { redact } from './redact.js';
/** @import { VaultClient } from './client.js' */

/**
 * @typedef {object} Health
 * @property {'Vault' | 'OpenBao' | 'vault-pki-load dev'} product
 * @property {string} version
 * @property {boolean} enterprise
 * @property {string[]} warnings sentences
 */

/**
 * @param {VaultClient} client
 * @param {{namespace?: string | null, isStandbyFine?: boolean}} [options] `namespace`: the one that the run is about; `isStandbyFine`:
 *   nothing is measured, so whether it passes requests on or redirects them is all one
 * @returns {Promise<Health>}
 */
export async function checkHealth(client, { namespace = null, isStandbyFine = false } = {}) {
  const { status, json } = await client.health();
  if (status >= 300 && status < 400) throw notVault(client.origin, 'redirects /v1/sys/health');
  if (json === null || typeof json.sealed !== 'boolean' || typeof json.initialized !== 'boolean') {
    const what = json === null ? 'without JSON' : 'with other JSON';
    throw notVault(client.origin, `answers HTTP ${status} ${what} to /v1/sys/health`);
  }
  refuse(client.origin, status, json, isStandbyFine);
  if (json.enterprise === false && !isRoot(namespace)) throw noNamespaces(client.origin);
  const warnings = json.performance_standby || status === 473 ? [performanceStandby(client.origin)] : [];
  return { ...identify(json), enterprise: json.enterprise === true, warnings };
}

/**
 * @param {string} origin
 * @param {number} status
 * @param {Record<string, any>} json
 * @param {boolean} isStandbyFine
 */
function refuse(origin, status, json, isStandbyFine) {
  if (!json.initialized) {
    throw targetError(
      'vault_uninitialised',
      `${origin} is not initialised.`,
      'Run vault operator init, then vault operator unseal.',
    );
  }
  if (json.sealed)
    throw targetError('vault_sealed', `${origin} is sealed.`, 'Unseal it with vault operator unseal.');
  if (status === 472 || json.replication_dr_mode === 'secondary') {
    throw targetError(
      'vault_dr_secondary',
      `${origin} is a disaster-recovery secondary, which serves no requests.`,
      'Give the URL of the primary cluster with --url (VAULT_ADDR).',
    );
  }
  if (json.standby && !json.performance_standby && !isStandbyFine) {
    throw targetError(
      'vault_standby',
      `${origin} is a standby node: it passes requests on, so the measurement would be of two nodes.`,
      'Give the URL of the active node with --url (VAULT_ADDR); vault operator members names it.',
    );
  }
}

/** @param {string | null} namespace */
function isRoot(namespace) {
  return ['', 'root'].includes((namespace ?? '').replace(/^\/+|\/+$/g, ''));
}

/**
 * Vault without Enterprise ignores the header: the run would measure another namespace.
 *
 * @param {string} origin
 */
function noNamespaces(origin) {
  return targetError(
    'no_namespaces',
    `${origin} is a Vault without Enterprise, which has no namespaces.`,
    'Leave --namespace (VAULT_NAMESPACE, BAO_NAMESPACE) out.',
  );
}

/** @param {string} origin */
function performanceStandby(origin) {
  return `${origin} is a performance standby: it answers reads and passes everything that is stored on to the active node.`;
}

/**
 * OpenBao's answer has no `enterprise`; its versions start at 2.
 *
 * @param {Record<string, any>} json
 * @returns {Pick<Health, 'product' | 'version'>}
 */
function identify(json) {
  const version = redact(String(json.version ?? 'unknown')).slice(0, 60);
  if (/vault-pki-load/.test(`${json.cluster_name} ${version} ${json.product}`)) {
    return { product: 'vault-pki-load dev', version: version.replace(/^.*\//, '') };
  }
  const isOpenBao = json.enterprise === undefined && Number.parseInt(version, 10) >= 2;
  return { product: isOpenBao ? 'OpenBao' : 'Vault', version };
}

/**
 * @typedef {object} MountFacts
 * @property {boolean} checked false: the token may not see the mount's type
 * @property {number | null} defaultTtlMs of certificates, where neither role nor request has one
 * @property {number | null} maxTtlMs
 * @property {string[]} warnings sentences
 */

/**
 * @param {VaultClient} client
 * @param {string} mount without slashes at its ends
 * @param {string} [type]
 * @returns {Promise<MountFacts>}
 */
export async function checkMount(client, mount, type = 'pki') {
  const found = await lookUpMount(client, mount);
  if (found !== null) {
    if (`${mount}/` !== found.path && found.path !== undefined) throw await missing(client, mount, type);
    if (found.type !== type) throw await wrongType(client, mount, type, found.type);
    const { default_lease_ttl: ttl, max_lease_ttl: max } = found.config ?? {};
    return { checked: true, defaultTtlMs: milliseconds(ttl), maxTtlMs: milliseconds(max), warnings: [] };
  }
  if (type === 'pki' && (await answersAsPki(client, mount))) return notChecked(mount);
  throw await missing(client, mount, type);
}

/**
 * `sys/internal/ui/mounts/<mount>` is open to every token that has some permission below the mount. It answers a mount
 * that is not there and one that is hidden from the token alike: 403.
 *
 * @param {VaultClient} client
 * @param {string} mount
 * @returns {Promise<Record<string, any> | null>}
 */
export async function lookUpMount(client, mount) {
  try {
    return (await client.read(`sys/internal/ui/mounts/${mount}`)).data;
  } catch (error) {
    const hidden = [
      'vault_permission_denied',
      'vault_not_found',
      'vault_no_route',
      'token_invalid',
      'vault_bad_request',
    ];
    if (error instanceof PkiLoadError && hidden.includes(error.code)) return null;
    throw error;
  }
}

/**
 * The CA of a PKI mount is public: it can be read without any permission.
 *
 * @param {VaultClient} client
 * @param {string} mount
 */
async function answersAsPki(client, mount) {
  try {
    const { data } = await client.read(`${mount}/cert/ca`);
    return typeof data?.certificate === 'string';
  } catch (error) {
    if (!(error instanceof PkiLoadError)) throw error;
    return /no default issuer/.test(error.message);
  }
}

/** @param {string} mount @returns {MountFacts} */
function notChecked(mount) {
  const text = `The token may not see the settings of the mount ${mount}; it answers as a PKI mount does.`;
  return { checked: false, defaultTtlMs: null, maxTtlMs: null, warnings: [text] };
}

/** @param {VaultClient} client @param {string} mount @param {string} type */
async function missing(client, mount, type) {
  return targetError(
    'mount_not_found',
    `There is no mount ${mount} on ${client.origin} that this token can see.`,
    `${await others(client, type)} Check --mount and --namespace, or run vault secrets enable -path=${mount} ${type}.`,
  );
}

/**
 * @param {VaultClient} client
 * @param {string} mount
 * @param {string} type
 * @param {unknown} actual
 */
async function wrongType(client, mount, type, actual) {
  return targetError(
    'mount_wrong_type',
    `The mount ${mount} on ${client.origin} is of type ${String(actual).slice(0, 40)}, not ${type}.`,
    `${await others(client, type)} Name a ${type} mount with --mount.`,
  );
}

/**
 * @param {VaultClient} client
 * @param {string} type
 * @returns {Promise<string>} a sentence on the mounts of that type the token can see
 */
async function others(client, type) {
  try {
    const { data } = await client.read('sys/internal/ui/mounts');
    /** @type {[string, any][]} */
    const all = Object.entries(data?.secret ?? {});
    const names = all.filter(([, each]) => each?.type === type).map(([path]) => path.replace(/\/$/, ''));
    if (names.length === 0) return `It can see no ${type} mount.`;
    return `It can see ${names.sort().slice(0, 10).join(', ')}.`;
  } catch {
    return 'Its mounts could not be listed.';
  }
}

/**
 * The mount's default issuer; needs no permission.
 *
 * @param {VaultClient} client
 * @param {string} mount
 * @param {{now?: () => number}} [options]
 * @returns {Promise<{pem: string, subject: string, notAfterMs: number}>}
 */
export async function checkIssuer(client, mount, { now = Date.now } = {}) {
  const certificate = await readIssuer(client, mount);
  const notAfterMs = Date.parse(certificate.validTo);
  const subject = certificate.subject.replaceAll('\n', ', ');
  if (notAfterMs <= now()) {
    throw targetError(
      'ca_expired',
      `The CA certificate of the mount ${mount} (${subject}) expired on ${new Date(notAfterMs).toISOString()}.`,
      'Issue a new CA certificate, or name another mount with --mount.',
    );
  }
  return { pem: certificate.toString(), subject, notAfterMs };
}

/** @param {VaultClient} client @param {string} mount @returns {Promise<X509Certificate>} */
async function readIssuer(client, mount) {
  let pem = '';
  try {
    pem = String((await client.read(`${mount}/cert/ca`)).data?.certificate ?? '');
    return new X509Certificate(pem);
  } catch (error) {
    const refused = error instanceof PkiLoadError;
    if (refused && !/no default issuer/.test(error.message)) throw error;
    if (!refused && pem !== '') {
      throw targetError('ca_unreadable', `The CA certificate of the mount ${mount} cannot be read as X.509.`);
    }
    throw targetError(
      'mount_without_ca',
      `The mount ${mount} has no CA certificate yet, so it can issue nothing.`,
      `Create one (vault write ${mount}/root/generate/internal common_name=...), or name another mount with --mount.`,
    );
  }
}

/** @param {unknown} seconds */
function milliseconds(seconds) {
  return typeof seconds === 'number' ? seconds * 1000 : null;
}
