/** Before the first certificate: whether it can work at all, what the nodes are, and how the mount keeps its CRL. */
import { PkiLoadError, targetError, usageError } from '../../common/errors.js';
import { createRequester, parseTargetUrl } from '../../http/request.js';
import { checkIssuance } from '../../operations/prepare.js';
import { checkPermission } from '../../vault/check-role.js';

/** @import { Tls } from '../../http/tls.js' */
/** @import { PrepareContext } from '../../operations/index.js' */
/** @import { VaultClient } from '../../vault/client.js' */
/** @import { PropagationPlan } from './propagation-plan.js' */

/**
 * @typedef {object} NodeFacts
 * @property {string} url
 * @property {string | null} version
 * @property {'active' | 'standby' | 'performance standby' | null} state null: not reported
 */
/**
 * @typedef {object} CrlFacts of the mount's config/crl; null where the server or the token does not let it be seen
 * @property {boolean | null} autoRebuild
 * @property {boolean | null} disabled no CRL is built
 * @property {string | null} ocspExpiry how long an OCSP answer is valid, as Vault writes it
 */
/**
 * @typedef {object} Context
 * @property {PropagationPlan} plan
 * @property {VaultClient} client
 * @property {Tls} tls
 * @property {(everyMs: number) => void} keepAlive
 * @property {(text: string) => void} warn
 */

/** By HTTP status of sys/health. @type {Record<number, NodeFacts['state']>} */
const STATES = { 200: 'active', 429: 'standby', 473: 'performance standby' };

/**
 * @param {Context} context
 * @returns {Promise<{target: {product: string, version: string}, crl: CrlFacts, nodes: NodeFacts[]}>}
 * @throws {PkiLoadError} where it could not work, with the remedy
 */
export async function prepare(context) {
  const { plan, client } = context;
  const { role, cn, certificates, ttlMs } = plan;
  const { health, role: fields } = await checkIssuance(
    // The checks want to know the target alone.
    /** @type {PrepareContext} */ (/** @type {unknown} */ (context)),
    {
      operation: 'issue',
      role,
      commonName: cn,
      ttl: ttlMs === null ? null : `${Math.round(ttlMs / 1000)}s`,
      requests: 2 * certificates,
      neededMs: null,
    },
  );
  await checkPermission(client, `${plan.target.mount}/revoke`);
  if (fields?.no_store === true) {
    throw usageError(
      'role_does_not_store',
      `The role ${role} stores no certificates (no_store), so they cannot be revoked by their serial numbers.`,
      'Name a role that stores them with --role.',
    );
  }
  const { crl, ocspDisabled } = await readCrlConfig(client, plan.target.mount);
  if (ocspDisabled) {
    throw targetError(
      'ocsp_disabled',
      `The mount ${plan.target.mount} answers no OCSP requests (ocsp_disable in its config/crl).`,
      `Turn it on with vault write ${plan.target.mount}/config/crl ocsp_disable=false.`,
    );
  }
  const nodes =
    plan.nodes.length === 0
      ? [await nodeFacts(plan.target.url, context, '--url (VAULT_ADDR)')]
      : await Promise.all(plan.nodes.map((url) => nodeFacts(url, context)));
  return { target: { product: health.product, version: health.version }, crl, nodes };
}

/**
 * @param {VaultClient} client
 * @param {string} mount
 * @returns {Promise<{crl: CrlFacts, ocspDisabled: boolean}>}
 */
async function readCrlConfig(client, mount) {
  try {
    const { data } = await client.read(`${mount}/config/crl`);
    const flag = (/** @type {unknown} */ value) => (typeof value === 'boolean' ? value : null);
    return {
      crl: {
        autoRebuild: flag(data?.auto_rebuild),
        disabled: flag(data?.disable),
        ocspExpiry: typeof data?.ocsp_expiry === 'string' ? data.ocsp_expiry.slice(0, 20) : null,
      },
      ocspDisabled: data?.ocsp_disable === true,
    };
  } catch (error) {
    if (!(error instanceof PkiLoadError)) throw error;
    return { crl: { autoRebuild: null, disabled: null, ocspExpiry: null }, ocspDisabled: false };
  }
}

/**
 * @param {string} url
 * @param {Context} context
 * @param {string} [named] where the address was given, for remedies
 * @returns {Promise<NodeFacts>}
 */
async function nodeFacts(url, { plan, tls }, named = `--node ${url}`) {
  const { origin, basePath } = parseTargetUrl(url, '--node');
  const requester = createRequester({ origin, tls, timeoutMs: plan.timeoutMs, named });
  try {
    const { status, body } = await requester.request({ path: `${basePath}/v1/sys/health` });
    const json = jsonOf(body);
    if (json.sealed === true || json.initialized === false) {
      throw targetError(
        'node_sealed',
        `The node ${url} is ${json.sealed === true ? 'sealed' : 'not initialised'}.`,
        'Unseal it with vault operator unseal, or leave it out.',
      );
    }
    const version = typeof json.version === 'string' ? json.version.slice(0, 60) : null;
    return { url, version, state: STATES[status] ?? null };
  } finally {
    await requester.close();
  }
}

/** @param {Buffer} body @returns {Record<string, unknown>} */
function jsonOf(body) {
  try {
    return Object(JSON.parse(body.toString('utf8')));
  } catch {
    return {};
  }
}
