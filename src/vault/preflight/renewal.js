/** Keeps a token alive during a run that is longer than its life. */
import { PkiLoadError } from '../../common/errors.js';
import { formatDuration } from '../../common/units.js';

/** Vault counts TTLs in whole seconds; renewing more often helps nobody. */
const MIN_RENEWAL_MS = 1000;

/** What comes round so much sooner is a shorter life, not the same one that was first let grow older. */
const NO_SHORTER = 0.6;

/** @param {number} ttlMs */
export function renewAfterMs(ttlMs) {
  return Math.max((ttlMs * 2) / 3, MIN_RENEWAL_MS);
}

/**
 * Renews the token at two thirds of its life, again and again. Never throws: what goes wrong is a warning, and is tried
 * again before the token ends.
 *
 * @param {import('../client.js').VaultClient} client
 * @param {{renewEveryMs: number, onWarning?: (warning: {code: string, text: string}) => void,
 *   setTimer?: (callback: () => void, ms: number) => any, clearTimer?: (timer: any) => void}} options
 * @returns {{stop: () => void}}
 */
export function startRenewal(
  client,
  { renewEveryMs, onWarning = () => {}, setTimer = unreferencedTimer, clearTimer = clearTimeout },
) {
  let stopped = false;
  let everyMs = renewEveryMs;
  let timer = setTimer(renew, everyMs);

  async function renew() {
    const outcome = await renewOnce(client, everyMs);
    if (stopped) return;
    if (outcome.warning) onWarning(outcome.warning);
    everyMs = outcome.everyMs;
    timer = setTimer(renew, outcome.warning ? Math.max(everyMs / 8, MIN_RENEWAL_MS) : everyMs);
  }

  return {
    stop() {
      stopped = true;
      clearTimer(timer);
    },
  };
}

/**
 * @param {import('../client.js').VaultClient} client
 * @param {number} everyMs
 * @returns {Promise<{everyMs: number, warning?: {code: string, text: string}}>}
 */
async function renewOnce(client, everyMs) {
  try {
    const { auth } = await client.write('auth/token/renew-self');
    const leaseMs = Number(auth?.lease_duration) * 1000;
    if (!(leaseMs > 0)) return { everyMs, warning: warn('the answer holds no new lease') };
    const next = renewAfterMs(leaseMs);
    if (next >= everyMs * NO_SHORTER) return { everyMs: next };
    const text = `The token was renewed for only ${formatDuration(leaseMs)}: it is near its maximum life.`;
    return { everyMs: next, warning: { code: 'token_near_maximum', text } };
  } catch (error) {
    return { everyMs, warning: warn(error instanceof PkiLoadError ? error.message : 'unexpected error') };
  }
}

/** @param {string} why */
function warn(why) {
  return { code: 'token_renewal_failed', text: `The token could not be renewed: ${why.replace(/\.$/, '')}.` };
}

/**
 * @param {() => void} callback
 * @param {number} ms
 */
function unreferencedTimer(callback, ms) {
  return setTimeout(callback, Math.min(ms, 2 ** 31 - 1)).unref();
}
