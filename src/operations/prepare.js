/** What operations share before a run: the checks of target and token, and certificates issued in advance. */
import { PkiLoadError, targetError } from '../common/errors.js';
import { formatDuration } from '../common/units.js';
import { parseTargetUrl } from '../http/request.js';
import { expectedRequests, longestRunMs } from '../plan/expected.js';
import { checkRole } from '../vault/check-role.js';
import { checkHealth, checkIssuer, checkMount } from '../vault/check-target.js';
import { checkToken } from '../vault/check-token.js';
import { apiHeaders, certificateParameters, expandName } from './request-parts.js';
/** @import { LoadPlan } from '../plan/load.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { Fixture, PrepareContext } from './index.js' */

/** @typedef {Fixture & {basePath: string, headers: Record<string, string>}} CallFixture `headers` may hold the token */

/**
 * @param {PrepareContext} context
 * @param {{withToken?: boolean, usesBefore?: number, usesInRun?: boolean}} [options] without a token nothing secret is sent; how often
 *   it is used, where it can be used so often only: in preparing, and whether requests under load use it
 * @returns {Promise<CallFixture>}
 * @throws {PkiLoadError} where the target cannot be used
 */
export async function prepareCalls(
  { plan, client, token, keepAlive, warn },
  { withToken = true, usesBefore = 0, usesInRun = true } = {},
) {
  const { namespace } = plan.target;
  const health = await checkHealth(client, { namespace });
  health.warnings.forEach(warn);
  if (withToken) {
    // In a mix the others use it too.
    const inRun = usesInRun ? expectedRequests(plan.load) : 0;
    const facts = await checkToken(client, {
      neededMs: longestRunMs(plan.load),
      neededRequests: inRun === null ? null : usesBefore + inRun,
    });
    if (facts.renewEveryMs !== null) keepAlive(facts.renewEveryMs);
    facts.warnings.forEach(warn);
  }
  return fixtureOf(plan, health, withToken ? token : null);
}

/**
 * @param {Plan} plan
 * @param {{product: string | null, version: string | null}} health
 * @param {string | null} token a secret
 * @returns {CallFixture}
 */
export function fixtureOf({ target: { url, namespace } }, { product, version }, token) {
  const { origin, basePath } = parseTargetUrl(url);
  const headers = apiHeaders(token, namespace);
  return { origin, targetUrl: url, target: { product, version }, basePath, headers };
}

/**
 * Checks whether the run can work at all; the first failure throws, with the remedy.
 *
 * @param {PrepareContext} context
 * @param {{operation: 'issue' | 'sign', role: string, commonName: string, altNames?: string[], ipSans?: string[],
 *   ttl?: string | null, keyType?: 'rsa' | 'ec' | 'ed25519' | null, keyBits?: number | null, requests: number | null,
 *   neededMs: number | null}} question
 */
export async function checkIssuance({ plan, client, keepAlive, warn }, { requests, neededMs, ...question }) {
  const { mount, namespace } = plan.target;
  const health = await checkHealth(client, { namespace });
  const token = await checkToken(client, { neededMs, neededRequests: requests });
  // At once: its life runs out during the preparation, too.
  if (token.renewEveryMs !== null) keepAlive(token.renewEveryMs);
  const mountFacts = await checkMount(client, mount);
  const issuer = await checkIssuer(client, mount);
  const roleFacts = await checkRole(client, { mount, ...question });
  for (const { warnings } of [health, token, mountFacts, roleFacts]) warnings.forEach(warn);
  return { health, role: roleFacts.role, issuer };
}

/** The client has one connection, and a call's timeout counts from its beginning: more calls would time out while they wait for it. */
const AT_ONCE = 2;

/**
 * @param {number} size
 * @param {Pick<PrepareContext, 'progress' | 'signal'> & {label: string}} context
 * @param {(i: number) => Promise<T>} work
 * @returns {Promise<T[]>} in their order; the first failure, or an interruption, ends the rest
 * @template T
 */
export async function manyCalls(size, { label, progress, signal }, work) {
  /** @type {T[]} */
  const made = new Array(size);
  let [next, done, failed] = [0, 0, false];
  const goOn = async () => {
    while (next < size && !failed) {
      if (signal.aborted) throw new PkiLoadError('interrupted', `${label}: interrupted.`, { exitCode: 130 });
      const i = next++;
      made[i] = await work(i);
      progress(label, ++done, size);
    }
  };
  const orFail = () =>
    goOn().catch((error) => {
      failed = true;
      throw error;
    });
  await Promise.all(Array.from({ length: AT_ONCE }, orFail));
  return made;
}

const HOUR_MS = 3_600_000;

/** @typedef {{serial: string, certificate: string, issuingCa: string}} IssuedBefore `serial` as Vault writes it; PEM */

/**
 * Short-lived, so that storage and CRL can be tidied soon.
 *
 * @param {LoadPlan} load
 * @returns {number} a lifetime that outlasts the run
 */
export function lifetimeMs(load) {
  const runMs = longestRunMs(load);
  return runMs === null ? 24 * HOUR_MS : runMs + HOUR_MS;
}

/** @param {LoadPlan} load */
export function describeLifetime(load) {
  return `for ${formatDuration(lifetimeMs(load))}, or as the role limits it`;
}

/**
 * @param {PrepareContext} context
 * @param {{size: number, label: string}} what `label` for its progress
 * @returns {Promise<IssuedBefore[]>} with --role and --cn
 */
export async function issueBefore({ client, plan, progress, signal }, { size, label }) {
  const { role, cn } = plan.options;
  const ttlMs = lifetimeMs(plan.load);
  return manyCalls(size, { label, progress, signal }, async (i) => {
    const commonName = expandName(cn, plan.load.seed, i);
    const asked = certificateParameters({ commonName, altNames: [], ipSans: [], ttlMs });
    const { data } = await client.write(`${plan.target.mount}/issue/${role}`, asked);
    const { serial_number: serial, certificate, issuing_ca: issuingCa } = data ?? {};
    if ([serial, certificate, issuingCa].every((text) => typeof text === 'string')) {
      return { serial, certificate, issuingCa };
    }
    throw targetError(
      'not_issued',
      `${client.origin} was asked for a certificate, and answered without one.`,
      'Check with vault write what the role issues.',
    );
  });
}

/**
 * By the certificate itself: one that a role with no_store issued is not known by its serial.
 *
 * @param {PrepareContext} context
 * @param {IssuedBefore[]} issued
 */
export async function revokeBefore({ client, plan, progress, signal }, issued) {
  const label = 'Revoking certificates to ask about';
  await manyCalls(issued.length, { label, progress, signal }, async (i) => {
    const { certificate, serial } = issued[i];
    const { data } = await client.write(`${plan.target.mount}/revoke`, { certificate });
    if (data?.revocation_time > 0) return;
    throw targetError(
      'not_revoked',
      `${client.origin} was asked to revoke ${serial}, and did not say that it is revoked.`,
      'Check with vault write that the mount revokes what the role issues.',
    );
  });
}
