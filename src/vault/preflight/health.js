/** Is it a Vault, and does it serve? */
import { targetError } from '../../common/errors.js';
import { notVault } from '../client.js';
import { redact } from '../redact.js';

/**
 * @typedef {object} Health
 * @property {'Vault' | 'OpenBao' | 'vault-pki-load dev'} product
 * @property {string} version
 * @property {boolean} enterprise
 * @property {string[]} warnings sentences
 */

/**
 * @param {import('../client.js').VaultClient} client
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
 * Vault without Enterprise takes the header and ignores it: what was measured would not be what was asked for.
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
