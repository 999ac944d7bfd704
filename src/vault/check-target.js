/** Checks before a run that the target is an active Vault, the mount a PKI and its CA certificate valid. */
import { X509Certificate } from 'node:crypto';
import { PkiLoadError, quote, targetError } from '../common/errors.js';
import { formatDuration, SKEW_MS } from '../common/units.js';
import { ACTIVE, notVault, recordOf, refusal, textOf, unlessRefused } from './client.js';
import { withoutSlashes } from './environment.js';
import { redact } from './redact.js';
/** @import { VaultClient } from './client.js' */

/**
 * @param {VaultClient} client
 * @param {{namespace?: string | null, acceptsStandby?: boolean}} [options] `namespace` of the run; `acceptsStandby`:
 *   accepts a standby that forwards requests, because nothing is measured
 */
export async function checkHealth(client, { namespace = null, acceptsStandby = false } = {}) {
  const { origin, basePath } = client;
  const { status, json, aheadMs } = await client.health();
  if (typeof json?.sealed !== 'boolean' || typeof json.initialized !== 'boolean') {
    const body = json === null ? 'no JSON' : 'unexpected JSON';
    throw notVault(origin, `responds with HTTP ${status} and ${body} to ${basePath}/v1/sys/health`, basePath);
  }
  const hasNamespace = !['', 'root'].includes(withoutSlashes(namespace ?? ''));
  if (!json.initialized) throw refusal('vault_uninitialised', origin, 'requests');
  if (json.sealed) throw refusal('vault_sealed', origin, 'requests');
  if (status === 472 || json.replication_dr_mode === 'secondary')
    throw refusal('vault_dr_secondary', origin, 'requests');
  if (json.standby && !json.performance_standby && !acceptsStandby) {
    const message = `${origin} is a standby node, which forwards requests: the run would measure two nodes.`;
    throw targetError('vault_standby', message, `${ACTIVE} See vault operator members.`);
  }
  // Vault Community Edition ignores the header, so the run would measure another namespace.
  if (json.enterprise === false && hasNamespace) {
    const message = `${origin} is Vault Community Edition, which has no namespaces.`;
    throw targetError('no_namespaces', message, 'Leave --namespace (VAULT_NAMESPACE, BAO_NAMESPACE) out.');
  }
  const forwards = `${origin} is a performance standby: it forwards writes to the active node.`;
  const standby = json.performance_standby || status === 473 ? [forwards] : [];
  const warnings = [...standby, ...warnOfClock(origin, aheadMs ?? 0)];
  return { ...identify(json), enterprise: json.enterprise === true, warnings };
}

/** @param {string} origin @param {number} aheadMs at least; negative: behind */
function warnOfClock(origin, aheadMs) {
  if (Math.abs(aheadMs) <= SKEW_MS) return [];
  const [side, seems] = aheadMs > 0 ? ['ahead of', 'not valid yet'] : ['behind', 'expired'];
  const apart = formatDuration(Math.floor(Math.abs(aheadMs) / 1000) * 1000);
  const difference = `The clock of ${origin} is at least ${apart} ${side} this machine's`;
  return [`${difference}: valid certificates and responses may seem ${seems}. Synchronize both clocks.`];
}

/** OpenBao's response has no `enterprise`; its versions start at 2. @param {Record<string, unknown>} json */
function identify(json) {
  const version = redact(textOf(json.version, 'unknown')).slice(0, 60);
  if (['cluster_name', 'version', 'product'].some((name) => textOf(json[name]).includes('vault-pki-load'))) {
    return { product: 'vault-pki-load dev', version: version.replace(/^.*\//, '') };
  }
  const isOpenBao = json.enterprise === undefined && Number.parseInt(version, 10) >= 2;
  return { product: isOpenBao ? 'OpenBao' : 'Vault', version };
}

/** @param {VaultClient} client @param {string} mount without outer slashes @param {string} [type] @returns warnings */
export async function checkMount(client, mount, type = 'pki') {
  const actual = await lookUpMount(client, mount);
  if (actual === null && type === 'pki' && (await respondsAsPki(client, mount)))
    return [`The token may not read the settings of ${mount}, but that path responds like a PKI mount.`];
  const isMount = actual !== null && withoutSlashes(textOf(actual.path, mount)) === mount;
  if (isMount && actual.type === type) return [];
  const others = await listMounts(client, type);
  const flag = type === 'pki' ? '--mount' : `--${type}-mount`;
  const where = `mount ${mount} on ${client.origin}`;
  if (isMount) {
    const actualType = redact(textOf(actual.type, 'unknown')).slice(0, 40);
    const message = `The ${where} is of type ${actualType}, not ${type}.`;
    throw targetError('mount_wrong_type', message, `${others} Set ${flag} to a ${type} mount.`);
  }
  const remedy = `${others} Check ${flag} and --namespace, or run vault secrets enable -path=${mount} ${type}.`;
  throw targetError('mount_not_found', `There is no ${where} that this token can see.`, remedy);
}

/** Vault hides a mount from tokens that may not use it. @param {VaultClient} client @param {string} mount */
export async function lookUpMount(client, mount) {
  const hidden = ['vault_permission_denied', 'vault_not_found', 'vault_no_route', 'vault_bad_request'];
  const call = client.read(`sys/internal/ui/mounts/${mount}`);
  return (await unlessRefused(call, ...hidden, 'token_invalid'))?.data ?? null;
}

/** Reading the CA of a PKI mount needs no permission. @param {VaultClient} client @param {string} mount */
async function respondsAsPki(client, mount) {
  try {
    const { data } = await client.read(`${mount}/cert/ca`);
    return typeof data?.certificate === 'string';
  } catch (error) {
    if (!(error instanceof PkiLoadError)) throw error;
    return error.message.includes(NO_ISSUER);
  }
}

/** Vault's texts. */
const [NO_ISSUER, UNKNOWN_ISSUER] = ['no default issuer', 'unable to find PKI issuer'];

/** @param {VaultClient} client @param {string} type @returns {Promise<string>} a sentence on the mounts of that type that the token can see */
async function listMounts(client, type) {
  try {
    const { data } = await client.read('sys/internal/ui/mounts');
    const mounts = Object.entries(recordOf(data?.secret));
    const ofType = mounts.filter(([, mount]) => recordOf(mount).type === type);
    if (ofType.length === 0) return `The token can see no ${type} mount.`;
    const names = ofType.map(([path]) => withoutSlashes(path)).sort();
    return `The token can see ${redact(names.slice(0, 10).join(', '))}.`;
  } catch {
    return 'The token may not list the mounts.';
  }
}

const OTHER_ISSUER = 'Correct issuer_ref of the role, or choose another with --role.';

/**
 * The issuer that the role names, or the default one.
 * @param {VaultClient} client @param {string} mount @param {{role?: Record<string, any>, now?: () => number}} [options] `role`: as Vault
 *   returns it
 */
export async function checkIssuer(client, mount, { role = {}, now = Date.now } = {}) {
  const certificate = await readIssuer(client, mount, textOf(role.issuer_ref));
  const { validTo, ca: isCa } = certificate;
  // Node has no text for an empty name.
  const subject = (certificate.subject ?? 'unnamed').replaceAll('\n', ', ');
  const name = `The CA certificate of the mount ${mount} (${redact(subject)})`;
  if (!isCa) throw targetError('not_a_ca', `${name} is not that of a CA.`, 'Use another --mount.');
  if (Date.parse(validTo) <= now())
    throw targetError('ca_expired', `${name} expired on ${validTo}.`, 'Renew it, or use another --mount.');
  return { pem: certificate.toString(), subject, expiresMs: Date.parse(validTo) };
}

/** Vault allows no other characters: they could lead to another path. */
const ISSUER_NAME = /^\w[\w.-]{0,199}$/;

/** @param {VaultClient} client @param {string} mount @param {string} [name] or ID of the issuer, as the role has it; empty: the default one */
export async function readIssuer(client, mount, name = '') {
  if (name !== '' && !ISSUER_NAME.test(name)) {
    const message = `The issuer_ref of the role is ${quote(redact(name))}, which is not the name or ID of an issuer.`;
    throw targetError('bad_issuer_ref', message, OTHER_ISSUER);
  }
  const path = ['', 'default'].includes(name) ? 'cert/ca' : `issuer/${name}/json`;
  let pem = '';
  try {
    pem = textOf((await client.read(`${mount}/${path}`)).data?.certificate);
    const certificate = new X509Certificate(pem);
    if (Number.isNaN(Date.parse(certificate.validTo))) throw new RangeError(certificate.validTo);
    return certificate.publicKey && certificate; // throws for a key of an unknown type or curve
  } catch (error) {
    const { code, message: text } = /** @type {Error & {code?: string}} */ (error);
    // Vault calls an unknown issuer an internal error.
    if (path !== 'cert/ca' && (code === 'vault_not_found' || text.includes(UNKNOWN_ISSUER))) {
      const message = `The role names the issuer ${redact(name)}, which the mount ${mount} does not have.`;
      throw targetError('issuer_not_found', message, OTHER_ISSUER);
    }
    if (error instanceof PkiLoadError && !error.message.includes(NO_ISSUER)) throw error;
    const unreadable = `The CA certificate of ${mount} is invalid, or its key is of an unknown type.`;
    if (pem !== '' || path !== 'cert/ca') throw targetError('ca_unreadable', unreadable);
    throw await lacksIssuer(client, mount);
  }
}

/** Only for a mount without issuers may the remedy be a new one: it would become the default. @param {VaultClient} client @param {string} mount */
async function lacksIssuer(client, mount) {
  const issuers = await unlessRefused(client.list(`${mount}/issuers`));
  const creating = `vault write ${mount}/root/generate/internal common_name=...; for an intermediate CA, ${mount}/intermediate/set-signed`;
  if (issuers?.length === 0) {
    const remedy = `Create one (${creating}), or change --mount.`;
    return targetError('mount_without_ca', `The mount ${mount} has no CA certificate yet.`, remedy);
  }
  const choosing = `vault list ${mount}/issuers; vault write ${mount}/config/issuers default=ISSUER`;
  const otherwise = issuers === null ? ` If the mount has none, create one (${creating}).` : '';
  const remedy = `Choose one (${choosing}), or change --mount.${otherwise}`;
  return targetError('no_default_issuer', `The mount ${mount} has no default issuer.`, remedy);
}
