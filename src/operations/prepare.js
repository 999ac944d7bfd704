/** Before a run: checks of the target, the token and the role, and certificates issued in advance. */
import { readFile } from 'node:fs/promises';
import { describeUnreadable, PkiLoadError, targetError, usageError } from '../common/errors.js';
import { formatDuration } from '../common/units.js';
import { parseTargetUrl } from '../http/request.js';
import { expectedRequests, longestRunMs } from '../plan/due.js';
import { checkPermission, checkRole } from '../vault/check-role.js';
import { checkHealth, checkIssuer, checkMount } from '../vault/check-target.js';
import { checkToken } from '../vault/check-token.js';
import { apiHeaders, certificateParameters, expandName, vaultDuration } from './request-parts.js';
/** @import { LoadPlan } from '../plan/load.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { RoleQuestion } from '../vault/check-role.js' */
/** @import { Fixture, PrepareContext } from './index.js' */

/** @typedef {Fixture & {basePath: string, headers: Record<string, string>}} CallFixture `headers` may hold the token */

/**
 * @typedef {object} TokenUse how often a token with a limited number of uses is needed, and how long
 * @property {boolean} [withToken] false: nothing secret is sent
 * @property {number} [usesBefore] in preparing
 * @property {boolean} [usesInRun] requests under load use it
 * @property {number | null} [neededMs] null: not known
 */

/**
 * @param {PrepareContext} context @param {TokenUse} [use] @returns {Promise<CallFixture>}
 * @throws {PkiLoadError} if the target cannot be used
 */
export async function prepareCalls(context, use) {
  return (await checkCalls(context, use)).fixture;
}

/** @param {PrepareContext} context @param {TokenUse} [use] */
async function checkCalls(context, { withToken = true, usesBefore = 0, usesInRun = true, ...use } = {}) {
  const { plan, client, token, keepAlive, warn } = context;
  const health = await checkHealth(client, { namespace: plan.target.namespace });
  health.warnings.forEach(warn);
  if (withToken) {
    // In a mix, the other operations use the token, too.
    const inRun = usesInRun ? expectedRequests(plan.load) : 0;
    const neededRequests = inRun === null ? null : usesBefore + inRun;
    const neededMs = use.neededMs === undefined ? longestRunMs(plan.load) : use.neededMs;
    const { renewEveryMs, warnings } = await checkToken(client, { neededMs, neededRequests });
    // At once: its life runs out during the preparation, too.
    if (renewEveryMs !== null) keepAlive(renewEveryMs);
    warnings.forEach(warn);
  }
  return { health, fixture: fixtureOf(plan, health, withToken ? token : null) };
}

/** @param {Plan} plan @param {Fixture['target']} health @param {string | null} token a secret @returns {CallFixture} */
export function fixtureOf({ target: { url, namespace } }, { product, version }, token) {
  const headers = apiHeaders(token, namespace);
  return { ...parseTargetUrl(url), targetUrl: url, target: { product, version }, headers };
}

/**
 * Checks whether certificates can be issued; the first failure throws, with the remedy.
 *
 * @param {PrepareContext} context
 * @param {Omit<RoleQuestion, 'mount' | 'role'> & TokenUse & {role: string | null, mustStore?: boolean}} question `role` null:
 *   sign-verbatim; `mustStore`: the certificates will be revoked by their serial numbers
 */
export async function checkIssuance(context, { role, mustStore = false, ...asked }) {
  const { usesBefore, usesInRun, neededMs, ...question } = asked;
  const { plan, client, warn } = context;
  const { mount } = plan.target;
  const { health, fixture } = await checkCalls(context, { usesBefore, usesInRun, neededMs });
  (await checkMount(client, mount)).forEach(warn);
  const issuer = await checkIssuer(client, mount);
  if (role === null) {
    await checkPermission(client, `${mount}/sign-verbatim`);
    return { health, fixture, role: {}, issuer };
  }
  const facts = await checkRole(client, { mount, role, ...question });
  facts.warnings.forEach(warn);
  if (mustStore && facts.role?.no_store === true) {
    throw usageError(
      'role_does_not_store',
      `The role ${role} stores no certificates (no_store), so they cannot be revoked by their serial numbers.`,
      'Name a role that stores them with --role.',
    );
  }
  return { health, fixture, role: facts.role, issuer };
}

/** @param {string} path @param {string} flag that names the file */
export function readInput(path, flag) {
  return readFile(path).catch((error) => {
    throw cannotRead(path, flag, error);
  });
}

/** @param {string} path @param {string} flag @param {unknown} error of the system */
export function cannotRead(path, flag, error) {
  return usageError('cannot_read', `${flag} ${path} ${describeUnreadable(error)}.`, 'Check the path.', error);
}

/** The client has one connection, and a call's timeout counts from its beginning: more calls would time out while they wait for it. */
const CALLS_AT_ONCE = 2;

/**
 * @template T @param {number} size
 * @param {Pick<PrepareContext, 'progress' | 'signal'> & {label: string, atOnce?: number}} context
 * @param {(i: number) => Promise<T>} make @returns {Promise<T[]>} in order; the first failure, or an interruption, ends the rest
 */
export async function makeMany(size, { label, progress, signal, atOnce = CALLS_AT_ONCE }, make) {
  /** @type {T[]} */
  const made = new Array(size);
  let [next, done] = [0, 0];
  const workOn = async () => {
    try {
      while (next < size) {
        if (signal.aborted)
          throw new PkiLoadError('interrupted', `${label}: interrupted.`, { exitCode: 130 });
        const i = next++;
        made[i] = await make(i);
        progress(label, ++done, size);
      }
    } catch (error) {
      next = size;
      throw error;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, workOn));
  return made;
}

const HOUR_MS = 3_600_000;

/** Short-lived, so that storage and CRL can be tidied soon. @param {LoadPlan} load @returns {number} a lifetime that outlasts the run */
export function lifetimeMs(load) {
  const runMs = longestRunMs(load);
  return runMs === null ? 24 * HOUR_MS : runMs + HOUR_MS;
}

/** @typedef {{serial: string, certificate: string, issuingCa: string}} IssuedBefore `serial` as Vault writes it; PEM */

/**
 * Issues certificates with --role and --cn, once the role and the token are known to allow it.
 * @param {PrepareContext} context @param {object} options @param {number} options.size
 * @param {string} options.label of its progress @param {TokenUse} options.use
 * @param {boolean} options.revokes they will be revoked @param {boolean} [options.mustStore] see checkIssuance
 * @param {string} options.what is issued, for the user @param {string} options.after the rest of the sentence
 *   on what stays
 */
export async function issueBefore(context, { size, label, use, revokes, what, after, mustStore }) {
  const { client, plan, notice } = context;
  const { role, cn } = plan.options;
  const ttlMs = lifetimeMs(plan.load);
  const nameOf = (/** @type {number} */ i) => expandName(cn, plan.load.seed, i);
  const question = { role, commonName: nameOf(0), ttl: vaultDuration(ttlMs), mustStore, ...use };
  const { fixture } = await checkIssuance(context, { operation: 'issue', ...question });
  if (revokes) await checkPermission(client, `${plan.target.mount}/revoke`);
  notice(
    `Issues ${what}, for ${formatDuration(ttlMs)}, or as the role limits it; until they are tidied after that they stay in storage${after}`,
  );
  const issued = await makeMany(size, { ...context, label }, async (i) => {
    const asked = certificateParameters({ commonName: nameOf(i), altNames: [], ipSans: [], ttlMs });
    const { data } = await client.write(`${plan.target.mount}/issue/${role}`, asked);
    const { serial_number: serial, certificate, issuing_ca: issuingCa } = data ?? {};
    if ([serial, certificate, issuingCa].every((text) => typeof text === 'string')) {
      return /** @type {IssuedBefore} */ ({ serial, certificate, issuingCa });
    }
    const message = `The response of ${client.origin} to issue/${role} has no certificate.`;
    throw targetError('not_issued', message, 'Check with vault write what the role issues.');
  });
  return { fixture, issued };
}

/**
 * Revokes them by the certificate itself: Vault does not know the serial of one that a role with no_store
 * issued.
 * @param {PrepareContext} context @param {IssuedBefore[]} issued
 */
export async function revokeBefore(context, issued) {
  const { client, plan } = context;
  const label = 'Revoking certificates to ask about';
  await makeMany(issued.length, { ...context, label }, async (i) => {
    const { certificate, serial } = issued[i];
    const { data } = await client.write(`${plan.target.mount}/revoke`, { certificate });
    if (data?.revocation_time > 0) return;
    const message = `The response of ${client.origin} does not confirm that it revoked ${serial}.`;
    const remedy = 'Check with vault write that the mount revokes what the role issues.';
    throw targetError('not_revoked', message, remedy);
  });
}
