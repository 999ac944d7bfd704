/** Checks before a run that the token is valid for long enough, and renews it during the run. */
import { PkiLoadError, targetError } from '../common/errors.js';
import { timerMs } from '../common/timers.js';
import { formatDuration } from '../common/units.js';
import { NEW_TOKEN, numberOf, recordOf } from './client.js';
import { noToken } from './environment.js';

/** @import { VaultClient } from './client.js' */

/** The token must outlive the run by this much, for draining and cleaning up. */
const MARGIN_MS = 30_000;

/** @typedef {{renewEveryMs: number | null, warnings: string[]}} TokenFacts `renewEveryMs` null: renewal is not needed, or not possible */

/** @param {string} [warning] @returns {TokenFacts} */
const notRenewed = (warning) => ({ renewEveryMs: null, warnings: warning === undefined ? [] : [warning] });

/**
 * @param {VaultClient} client
 * @param {{neededMs?: number | null, neededRequests?: number | null, now?: () => number}} [options] `neededMs`:
 *   length of the run without preparation; null if only the number of requests is known
 * @returns {Promise<TokenFacts>}
 */
export async function checkToken(client, { neededMs = null, neededRequests = null, now = Date.now } = {}) {
  if (!client.hasToken) throw noToken();
  const data = await lookUpSelf(client);
  if (data === null)
    return notRenewed('The token may not look itself up (no default policy): its expiry is unknown.');
  const uses = numberOf(data.num_uses) ?? 0;
  if (uses > 0 && !(neededRequests !== null && neededRequests + 10 < uses)) {
    const remedy = 'Use a token without a use limit (vault token create without -use-limit).';
    throw targetError('token_use_limit', `The token can be used only ${uses} more times.`, remedy);
  }
  const ttl = numberOf(data.ttl);
  if (ttl === null)
    return notRenewed(`${client.origin} does not report when the token expires: a long run may fail then.`);
  if (ttl === 0 && data.expire_time === null) return notRenewed();
  return judgeTtl(data, ttl * 1000, neededMs, now());
}

/** @param {VaultClient} client @returns null: the token is valid, but may not look itself up */
async function lookUpSelf(client) {
  try {
    return recordOf((await client.read('auth/token/lookup-self')).data);
  } catch (error) {
    const code = error instanceof PkiLoadError ? error.code : '';
    if (code === 'vault_permission_denied' && (await isAccepted(client))) return null;
    if (code !== 'vault_permission_denied' && code !== 'token_invalid') throw error;
    const why = 'it is invalid, expired or revoked, or belongs to another namespace';
    const message = `${client.origin} does not accept the token: ${why}.`;
    throw targetError('token_invalid', message, `${NEW_TOKEN} Check --namespace.`);
  }
}

/**
 * Before 1.16 and in OpenBao a bad token and a missing permission are both "permission denied". Only a valid token may list
 * the visible mounts.
 * @param {VaultClient} client
 */
async function isAccepted(client) {
  try {
    const { data } = await client.read('sys/internal/ui/mounts');
    return [data?.secret, data?.auth].some((mounts) => Object.keys(recordOf(mounts)).length > 0);
  } catch {
    return false;
  }
}

/** @param {Record<string, unknown>} data @param {number} ttlMs @param {number | null} neededMs @param {number} nowMs */
function judgeTtl(data, ttlMs, neededMs, nowMs) {
  const isRenewable = data.renewable === true;
  const enoughMs = (neededMs ?? Number.POSITIVE_INFINITY) + MARGIN_MS;
  // Renewal only matters if preparing takes long; otherwise the run ends before the first renewal.
  if (ttlMs >= enoughMs) {
    const afterMs = Math.max(renewAfterMs(ttlMs), enoughMs - MARGIN_MS / 2);
    return { renewEveryMs: isRenewable ? afterMs : null, warnings: [] };
  }
  const expires = `The token expires in ${formatDuration(ttlMs)}`;
  if (neededMs === null && !isRenewable)
    return notRenewed(`${expires} and cannot be renewed; a longer run will fail then.`);
  // The maximum TTL counts from creation, whatever the renewals.
  const maxTtl = numberOf(data.explicit_max_ttl) ?? 0;
  const lastMs = maxTtl > 0 ? ((numberOf(data.creation_time) ?? 0) + maxTtl) * 1000 - nowMs : Infinity;
  if (neededMs !== null && (!isRenewable || lastMs < enoughMs)) {
    const isBatch = data.type === 'batch';
    const why = isBatch ? 'is a batch token, which cannot be renewed' : 'cannot be renewed for longer';
    const message = `${expires}, but the run needs it for ${formatDuration(enoughMs)}, with its clean-up, and it ${why}.`;
    throw targetError('token_expires', message, 'Use a token with a longer TTL, or shorten --duration.');
  }
  const isBounded = neededMs === null && Number.isFinite(lastMs);
  const end = `, but not for longer than ${formatDuration(Math.max(0, lastMs))}: a longer run will fail then`;
  const warnings = [`${expires}; it will be renewed during the run${isBounded ? end : ''}.`];
  // The first renewal may come sooner than later ones: the token is near its end.
  return { renewEveryMs: ttlMs > 0 ? (ttlMs * 2) / 3 : MIN_RENEWAL_MS, warnings };
}

/** The shortest time between two renewals, whatever lifetime the server reports. */
const MIN_RENEWAL_MS = 3000;

/** New renewal interval / previous one; less means that the token is close to its maximum TTL. */
const MIN_INTERVAL_RATIO = 0.6;

/** @param {number} ttlMs */
const renewAfterMs = (ttlMs) => Math.max((ttlMs * 2) / 3, MIN_RENEWAL_MS);

/**
 * Renews the token at two thirds of its life, until stopped. Never throws: it warns of a failure and tries again before the
 * token expires.
 * @param {VaultClient} client
 * @param {{renewEveryMs: number, onWarning?: (warning: {code: string, text: string}) => void,
 *   setTimer?: (callback: () => void, ms: number) => any, clearTimer?: (timer: any) => void}} options
 */
export function startRenewal(client, { renewEveryMs, onWarning = () => {}, ...system }) {
  const { setTimer = (callback, ms) => setTimeout(callback, ms).unref(), clearTimer = clearTimeout } = system;
  let isStopped = false;
  let everyMs = renewEveryMs;
  const arm = (/** @type {number} */ ms) => setTimer(renew, timerMs(Math.max(ms, MIN_RENEWAL_MS)));
  let timer = setTimer(renew, timerMs(everyMs || MIN_RENEWAL_MS));

  async function renew() {
    const outcome = await renewOnce(client, everyMs);
    if (isStopped) return;
    everyMs = outcome.everyMs;
    if (outcome.warning) onWarning(outcome.warning);
    timer = arm(outcome.warning ? everyMs / 8 : everyMs);
  }

  return {
    stop() {
      isStopped = true;
      clearTimer(timer);
    },
  };
}

/**
 * @param {VaultClient} client @param {number} everyMs
 * @returns {Promise<{everyMs: number, warning?: {code: string, text: string}}>}
 */
async function renewOnce(client, everyMs) {
  const fail = (/** @type {string} */ why) => {
    const text = `The token could not be renewed: ${why.replace(/\.$/, '')}.`;
    return { everyMs, warning: { code: 'token_renewal_failed', text } };
  };
  try {
    const { auth } = await client.write('auth/token/renew-self');
    const leaseMs = (numberOf(auth?.lease_duration) ?? 0) * 1000;
    if (leaseMs === 0) return fail('the response has no new lease');
    const nextMs = renewAfterMs(leaseMs);
    if (nextMs >= everyMs * MIN_INTERVAL_RATIO) return { everyMs: nextMs };
    const text = `The token was renewed for only ${formatDuration(leaseMs)}: it is close to its maximum TTL.`;
    return { everyMs: nextMs, warning: { code: 'token_near_maximum', text } };
  } catch (error) {
    return fail(error instanceof PkiLoadError ? error.message : 'unexpected error');
  }
}
