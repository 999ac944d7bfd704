/** Before a run: checks of the target, the token and the role, and certificates issued in advance. */
import { targetError, usageError } from '../common/errors.js';
import { readBytes } from '../common/read-file.js';
import { interruptedError } from '../common/stop.js';
import { formatDuration } from '../common/units.js';
import { parseTargetUrl } from '../http/request.js';
import { CERTIFICATE_FAILURES, checkIssuedCertificate, expectNames } from '../pki/certificate-check.js';
import { allRequests, expectedRequests, longestRunMs } from '../plan/due.js';
import { checkPermission, checkRole, warnOfShortCa } from '../vault/check-role.js';
import { checkHealth, checkIssuer, checkMount } from '../vault/check-target.js';
import { checkToken } from '../vault/check-token.js';
import { numberOf } from '../vault/client.js';
import { apiHeaders, certificateParameters, expandName, vaultDuration } from './request-parts.js';
/** @import { LoadPlan } from '../plan/load.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { Role, RoleRequest } from '../vault/check-role.js' */
/** @import { Fixture, PrepareContext } from './index.js' */

/** @typedef {Omit<Awaited<ReturnType<typeof checkHealth>>, 'warnings'>} Health */
/** @typedef {Fixture & {basePath: string, headers: Record<string, string>, health: Health | null}} CallFixture `headers` may include
 *   the token; `health` null: a standby, which does not reveal its product */

/**
 * How often and for how long the run uses the token, whose uses may be limited. `withToken` false: nothing secret is
 * sent; `usesBefore`: by the preparation; `usesInRun`: requests under load use it; `neededMs` null: not known
 * @typedef {{withToken?: boolean, usesBefore?: number, usesInRun?: boolean, neededMs?: number | null}} TokenUse
 */

/** @param {PrepareContext} context @param {TokenUse} [use] @returns {Promise<CallFixture>} */
export async function prepareCalls(context, { withToken = true, usesInRun = true, ...use } = {}) {
  const { plan, client, token, keepAlive, warn } = context;
  const { warnings, ...health } = await checkHealth(client, { namespace: plan.target.namespace });
  warnings.forEach(warn);
  if (!withToken) return fixtureOf(plan, health, null);
  const usesIn = (/** @type {LoadPlan} */ load) => {
    // In a mix, the other operations use the token, too.
    const inRun = !usesInRun ? 0 : allRequests(load) === null ? null : expectedRequests(load);
    return inRun === null ? null : (use.usesBefore ?? 0) + inRun;
  };
  const neededMs = use.neededMs === undefined ? longestRunMs(plan.load) : use.neededMs;
  const facts = await checkToken(client, { neededMs, neededRequests: usesIn(plan.load) });
  if (usesInRun)
    context.beforeAgain((load) =>
      checkToken(client, { neededMs: longestRunMs(load), neededRequests: usesIn(load) }),
    );
  // At once: the token could expire during the preparation.
  if (facts.renewEveryMs !== null) keepAlive(facts.renewEveryMs);
  facts.warnings.forEach(warn);
  return fixtureOf(plan, health, token);
}

/** @param {Plan} plan @param {Health | null} health @param {string | null} token a secret @returns {CallFixture} */
export function fixtureOf({ target: { url, namespace } }, health, token) {
  const target = { product: health?.product ?? null, version: health?.version ?? null };
  return { ...parseTargetUrl(url), targetUrl: url, target, health, headers: apiHeaders(token, namespace) };
}

/**
 * Checks whether certificates can be issued; the first failure throws, with the remedy.
 * @param {PrepareContext} context
 * @param {Omit<RoleRequest, 'mount' | 'role'> & TokenUse & {role: string | null, mustStore?: boolean}} request `role` null:
 *   sign-verbatim; `mustStore`: the certificates will be revoked by their serial numbers
 */
export async function checkIssuance(context, { role, mustStore = false, ...wanted }) {
  const { usesBefore, usesInRun, neededMs, ...roleRequest } = wanted;
  const { plan, client, warn } = context;
  const { mount } = plan.target;
  const fixture = await prepareCalls(context, { usesBefore, usesInRun, neededMs });
  (await checkMount(client, mount)).forEach(warn);
  const { ttl } = roleRequest;
  const warnOfCa = async (/** @type {Role} */ known, /** @type {{expiresMs: number}} */ ca) =>
    (await warnOfShortCa(client, { mount, role: known, ttl, caEndsMs: ca.expiresMs })).forEach(warn);
  if (role === null) {
    await warnOfCa({}, await checkIssuer(client, mount));
    await checkPermission(client, `${mount}/sign-verbatim`);
    return { fixture, role: {} };
  }
  const facts = await checkRole(client, { mount, role, ...roleRequest });
  const ca = await checkIssuer(client, mount, { role: facts.role ?? {} }).catch((error) => {
    // A role that the token may not read may name another issuer.
    const ofDefault = ['ca_expired', 'mount_without_ca', 'no_default_issuer'];
    if (facts.role !== null || !ofDefault.includes(error.code)) throw error;
    warn(error.message);
    return null;
  });
  facts.warnings.forEach(warn);
  if (facts.role !== null && ca !== null) await warnOfCa(facts.role, ca);
  if (mustStore && facts.role?.no_store === true) {
    const message = `The role ${role} stores no certificates (no_store), so they cannot be revoked by their serial numbers.`;
    throw usageError('role_does_not_store', message, 'Choose a role that stores them with --role.');
  }
  return { fixture, role: facts.role };
}

/** @param {string} path @param {string} flag that names the file */
export const readInput = (path, flag) => readBytes(path, `${flag} ${path}`, { maxMiB: 64 });

/** The client has one connection, and timeouts count from the start of a call: more would time out in the queue. */
const CALLS_AT_ONCE = 2;

/**
 * @template T @param {number} size
 * @param {Pick<PrepareContext, 'progress' | 'signal'> & {label: string, atOnce?: number}} context
 * @param {(i: number) => Promise<T>} make @returns {Promise<T[]>} in order; a failure or interruption ends it
 */
export async function makeMany(size, { label, progress, signal, atOnce = CALLS_AT_ONCE }, make) {
  /** @type {T[]} */
  const results = new Array(size);
  let [next, done] = [0, 0];
  const work = async () => {
    for (let i = next++; i < size; i = next++) {
      if (signal.aborted) throw interruptedError();
      results[i] = await make(i);
      progress(label, ++done, size);
    }
  };
  const endAll = () => {
    next = size;
  };
  await Promise.all(Array.from({ length: atOnce }, () => work().finally(endAll)));
  return results;
}

const HOUR_MS = 3_600_000;
/** Characters of two certificates in PEM: a pool keeps many. */
const MAX_PEM = 128 * 1024;

/** Outlasts the run, but is short, so that storage and CRL can be tidied soon. @param {LoadPlan} load */
export function lifetimeMs(load) {
  const runMs = longestRunMs(load);
  return runMs === null ? 24 * HOUR_MS : runMs + HOUR_MS;
}

/** The clock of Vault may differ by this. */
const MAX_SKEW_MS = 300_000;

/**
 * Vault revokes a certificate when the token ends, and when its lease ends before it does (at the max_lease_ttl of the mount).
 * @param {PrepareContext} context @param {{leaseMs: number, expiresMs: number}} first certificate; `expiresMs`: since 1970
 */
async function checkLease({ client, plan, warn, beforeAgain }, { leaseMs, expiresMs }) {
  const isShort = Date.now() + leaseMs < expiresMs - MAX_SKEW_MS;
  const endsMs = isShort ? performance.now() + leaseMs : Number.POSITIVE_INFINITY;
  const check = (/** @type {LoadPlan} */ load) => {
    const neededMs = longestRunMs(load);
    const leftMs = Math.max(0, endsMs - performance.now());
    if (leftMs > (neededMs ?? 0)) return checkToken(client, { neededMs, neededRequests: 0 });
    const message = `Vault revokes the certificates in ${formatDuration(leftMs)}, as their leases then end, and the run may take longer.`;
    const remedy = 'Raise the max_lease_ttl of the mount, or choose a role without generate_lease.';
    throw usageError('lease_expires', message, remedy);
  };
  const { warnings } = await check(plan.load);
  if (longestRunMs(plan.load) === null) warnings.forEach(warn);
  beforeAgain(check);
}

/**
 * Issues certificates with --role and --cn, after checking that the role and the token allow it.
 * @param {PrepareContext} context @returns in `issued`, PEM that no caller reads is ''; `hasLeases`: as in Fixture
 * @param {TokenUse & {size: number, label: string, subject: string, revokes: boolean, mustStore?: boolean}} options
 *   `label`: of its progress; `subject`: the certificates, for the user; `revokes`: they will be revoked, by serial if `mustStore`
 */
export async function issueBefore(context, { size, label, subject, revokes, ...use }) {
  const { client, plan, notice } = context;
  const { role, cn } = plan.options;
  const ttlMs = lifetimeMs(plan.load);
  const nameOf = (/** @type {number} */ i) => expandName(cn, plan.load.seed, i);
  const roleRequest = { role, commonName: nameOf(0), ttl: vaultDuration(ttlMs), ...use };
  const { fixture } = await checkIssuance(context, { operation: 'issue', ...roleRequest });
  if (revokes) await checkPermission(client, `${plan.target.mount}/revoke`);
  const onCrl = revokes ? ', and the revoked ones on the CRL' : '';
  notice(
    `Issuing ${subject}, valid for ${formatDuration(ttlMs)} if the role allows it. They stay in storage until tidied${onCrl}.`,
  );
  /** PEM of their issuing CAs, two at most. @type {Set<string>} */
  const issuers = new Set();
  /** @type {Set<string>} */
  const serials = new Set();
  let hasLeases = false;
  const issued = await makeMany(size, { ...context, label }, async (i) => {
    const parameters = certificateParameters({ commonName: nameOf(i), altNames: [], ipSans: [], ttlMs });
    const { data, leaseMs = null } = await client.write(`${plan.target.mount}/issue/${role}`, parameters);
    if (i === 0 && leaseMs !== null && use.usesInRun === false) {
      hasLeases = true;
      await checkLease(context, { leaseMs, expiresMs: (numberOf(data?.expiration) ?? 0) * 1000 });
    }
    /** `serial` as Vault writes it; PEM. @type {Record<string, string>} */
    const { serial_number: serial, certificate, issuing_ca: issuingCa } = data ?? {};
    const { failure } = checkIssuedCertificate({
      ...{ certificatePem: certificate, issuingCaPem: issuingCa, serialNumber: serial },
      ...{ expected: expectNames({ commonName: nameOf(i) }), nowMs: Date.now() },
    });
    const why =
      (failure !== null && CERTIFICATE_FAILURES[failure]) ||
      (serials.has(serial) && 'An earlier one has the same serial number.') ||
      (certificate.length + issuingCa.length > MAX_PEM && 'It is too long.');
    if (why) {
      const message = `The response of ${client.origin} to issue/${role} is not the requested certificate: ${why}`;
      throw targetError('not_issued', message, "Check the role's response with vault write.");
    }
    serials.add(serial);
    if (issuers.size < 2) issuers.add(issuingCa);
    const isKept = i === 0 || (revokes && !use.mustStore);
    return { serial, certificate: isKept ? certificate : '' };
  });
  return { fixture, issued, issuers, hasLeases };
}
