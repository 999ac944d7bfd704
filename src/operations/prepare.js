/** Before a run: checks of the target, the token and the role, and certificates issued in advance. */
import { PkiLoadError, targetError } from '../common/errors.js';
import { formatDuration } from '../common/units.js';
import { parseTargetUrl } from '../http/request.js';
import { expectedRequests, longestRunMs } from '../plan/due.js';
import { checkPermission, checkRole } from '../vault/check-role.js';
import { checkHealth, checkIssuer, checkMount } from '../vault/check-target.js';
import { checkToken } from '../vault/check-token.js';
import { apiHeaders, certificateParameters, expandName } from './request-parts.js';
/** @import { LoadPlan } from '../plan/load.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { RoleQuestion } from '../vault/check-role.js' */
/** @import { Fixture, PrepareContext } from './index.js' */

/** @typedef {Fixture & {basePath: string, headers: Record<string, string>}} CallFixture `headers` may hold the token */

/**
 * @param {PrepareContext} context
 * @param {{withToken?: boolean, usesBefore?: number, usesInRun?: boolean}} [options] without a token nothing secret is sent; a token
 *   may have a limited number of uses: `usesBefore` in preparing; `usesInRun`: whether requests under load use it
 * @returns {Promise<CallFixture>}
 * @throws {PkiLoadError} if the target cannot be used
 */
export async function prepareCalls(context, { withToken = true, usesBefore = 0, usesInRun = true } = {}) {
  const { plan, client, token, warn } = context;
  const health = await checkHealth(client, { namespace: plan.target.namespace });
  health.warnings.forEach(warn);
  if (withToken) {
    // In a mix, the other operations use the token, too.
    const inRun = usesInRun ? expectedRequests(plan.load) : 0;
    await useToken(context, inRun === null ? null : usesBefore + inRun, longestRunMs(plan.load));
  }
  return fixtureOf(plan, health, withToken ? token : null);
}

/** @param {PrepareContext} context @param {number | null} neededRequests @param {number | null} neededMs */
async function useToken({ client, keepAlive, warn }, neededRequests, neededMs) {
  const { renewEveryMs, warnings } = await checkToken(client, { neededMs, neededRequests });
  // At once: its life runs out during the preparation, too.
  if (renewEveryMs !== null) keepAlive(renewEveryMs);
  warnings.forEach(warn);
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

/** The clocks of this machine and the target may differ by so much. */
export const CLOCK_SKEW_MS = 5000;

/** For requests about the mount's CA, which need no token. @param {PrepareContext} context @returns {Promise<CallFixture & {issuerPem: string}>} */
export async function prepareIssuer(context) {
  const { client, plan } = context;
  const fixture = await prepareCalls(context, { withToken: false });
  await checkMount(client, plan.target.mount);
  const { pem } = await checkIssuer(client, plan.target.mount);
  return { ...fixture, issuerPem: pem };
}

/**
 * Checks whether certificates can be issued; the first failure throws, with the remedy.
 *
 * @param {PrepareContext} context
 * @param {Omit<RoleQuestion, 'mount' | 'role'> & {role: string | null, requests: number | null, neededMs: number | null}} question
 *   `role` null: sign-verbatim
 */
export async function checkIssuance(context, { role, requests, neededMs, ...question }) {
  const { plan, client, warn } = context;
  const { mount, namespace } = plan.target;
  const health = await checkHealth(client, { namespace });
  await useToken(context, requests, neededMs);
  const mountFacts = await checkMount(client, mount);
  const issuer = await checkIssuer(client, mount);
  for (const { warnings } of [health, mountFacts]) warnings.forEach(warn);
  if (role === null) {
    await checkPermission(client, `${mount}/sign-verbatim`);
    return { health, role: {}, issuer };
  }
  const facts = await checkRole(client, { mount, role, ...question });
  facts.warnings.forEach(warn);
  return { health, role: facts.role, issuer };
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
  let [next, done] = [0, 0];
  const workOn = async () => {
    try {
      while (next < size) {
        if (signal.aborted)
          throw new PkiLoadError('interrupted', `${label}: interrupted.`, { exitCode: 130 });
        const i = next++;
        made[i] = await work(i);
        progress(label, ++done, size);
      }
    } catch (error) {
      next = size;
      throw error;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, workOn));
  return made;
}

const HOUR_MS = 3_600_000;

/** Short-lived, so that storage and CRL can be tidied soon. @param {LoadPlan} load @returns {number} a lifetime that outlasts the run */
export function lifetimeMs(load) {
  const runMs = longestRunMs(load);
  return runMs === null ? 24 * HOUR_MS : runMs + HOUR_MS;
}

/** @param {LoadPlan} load */
export function describeLifetime(load) {
  return `for ${formatDuration(lifetimeMs(load))}, or as the role limits it`;
}

/** @typedef {{serial: string, certificate: string, issuingCa: string}} IssuedBefore `serial` as Vault writes it; PEM */

/**
 * Issues certificates with --role and --cn.
 *
 * @param {PrepareContext} context
 * @param {{size: number, label: string}} options `label` for its progress
 * @returns {Promise<IssuedBefore[]>}
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
      `${client.origin} was asked for a certificate, and its response has none.`,
      'Check with vault write what the role issues.',
    );
  });
}

/**
 * Revokes them by the certificate itself: Vault does not know the serial of one that a role with no_store issued.
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
      `${client.origin} was asked to revoke ${serial}, and did not confirm it.`,
      'Check with vault write that the mount revokes what the role issues.',
    );
  });
}
