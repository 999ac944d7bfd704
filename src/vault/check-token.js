/** Before a run: is there a valid token, and does it live as long as the run? During the run: its renewal. */
import { PkiLoadError, targetError, usageError } from '../common/errors.js';
import { formatDuration } from '../common/units.js';

/** @import { VaultClient } from './client.js' */

/** The token must outlive the run by this much: draining and tidying up need it too. */
const MARGIN_MS = 30_000;

/**
 * @typedef {object} TokenFacts
 * @property {boolean} checked false: the token may not look itself up
 * @property {number | null} ttlMs null: it never expires, or is not known
 * @property {boolean} renewable
 * @property {number | null} renewEveryMs null: no renewal needed, or none possible; `neededMs` leaves out the time before the run
 * @property {string | null} type `service`, `batch`
 * @property {string[]} warnings sentences
 */

/**
 * @param {VaultClient} client
 * @param {{neededMs?: number | null, neededRequests?: number | null, now?: () => number}} [options] `neededMs`: how long
 *   the run takes, null where only its number of requests is known; `now`: milliseconds since 1970
 * @returns {Promise<TokenFacts>}
 */
export async function checkToken(client, { neededMs = null, neededRequests = null, now = Date.now } = {}) {
  if (!client.hasToken) {
    throw usageError(
      'no_token',
      'There is no token: neither VAULT_TOKEN (BAO_TOKEN) nor ~/.vault-token holds one.',
      'Run vault login, or export VAULT_TOKEN.',
    );
  }
  const data = await lookUpSelf(client);
  if (data === null) return notChecked();
  const uses = Number(data.num_uses ?? 0);
  if (uses > 0 && !(neededRequests !== null && neededRequests + 10 < uses)) throw tooFewUses(uses);
  if (data.expire_time === null && Number(data.ttl) === 0) {
    return {
      checked: true,
      ttlMs: null,
      renewable: false,
      renewEveryMs: null,
      type: data.type ?? null,
      warnings: [],
    };
  }
  return judgeTtl(data, neededMs, now());
}

/**
 * @param {VaultClient} client
 * @returns {Promise<Record<string, any> | null>} null: the token is good, but its policies hide it from itself
 */
async function lookUpSelf(client) {
  try {
    return (await client.read('auth/token/lookup-self')).data ?? {};
  } catch (error) {
    if (!(error instanceof PkiLoadError)) throw error;
    if (error.code === 'token_invalid') throw invalid(client.origin);
    if (error.code !== 'vault_permission_denied') throw error;
    if (await isAccepted(client)) return null;
    throw invalid(client.origin);
  }
}

/**
 * Before 1.16 and in OpenBao a bad token and a missing permission are both "permission denied". The list of visible
 * mounts is open to every good token and to no other.
 *
 * @param {VaultClient} client
 */
async function isAccepted(client) {
  try {
    const { data } = await client.read('sys/internal/ui/mounts');
    return Object.keys(data?.secret ?? {}).length > 0;
  } catch {
    return false;
  }
}

/** @param {string} origin */
function invalid(origin) {
  return targetError(
    'token_invalid',
    `${origin} does not accept the token: it is wrong, expired or revoked, or of another namespace.`,
    'Set VAULT_TOKEN to a new one (vault login, vault token create), and check --namespace.',
  );
}

/** @returns {TokenFacts} */
function notChecked() {
  const text =
    'The token may not look itself up (no default policy), so its remaining life could not be checked.';
  return { checked: false, ttlMs: null, renewable: false, renewEveryMs: null, type: null, warnings: [text] };
}

/** @param {number} uses */
function tooFewUses(uses) {
  return targetError(
    'token_use_limit',
    `The token may be used only ${uses} more times.`,
    'Use a token without a use limit (vault token create, no -use-limit).',
  );
}

/**
 * @param {Record<string, any>} data
 * @param {number | null} neededMs
 * @param {number} nowMs
 * @returns {TokenFacts}
 */
function judgeTtl(data, neededMs, nowMs) {
  const ttlMs = Number(data.ttl) * 1000;
  const renewable = data.renewable === true;
  const lastMs = explicitMax(data, nowMs);
  const facts = { checked: true, ttlMs, renewable, type: data.type ?? null };
  // Renewal only matters if preparing takes long; otherwise the run ends before the first renewal.
  if (neededMs !== null && ttlMs >= neededMs + MARGIN_MS) {
    const afterMs = Math.max(renewAfterMs(ttlMs), neededMs + MARGIN_MS / 2);
    return { ...facts, renewEveryMs: renewable ? afterMs : null, warnings: [] };
  }
  const life = formatDuration(ttlMs);
  if (neededMs === null && !renewable) {
    const text = `The token expires in ${life} and cannot be renewed; a longer run will fail then.`;
    return { ...facts, renewEveryMs: null, warnings: [text] };
  }
  if (!renewable || (neededMs !== null && lastMs < neededMs + MARGIN_MS)) {
    const why =
      data.type === 'batch' ? 'is a batch token, which cannot be renewed' : 'cannot be renewed for longer';
    throw targetError(
      'token_expires',
      `The token expires in ${life}, the run takes ${formatDuration(neededMs ?? 0)}, and it ${why}.`,
      'Use a token with a longer TTL (vault token create -ttl=...), or shorten --duration.',
    );
  }
  const renewEveryMs = renewAfterMs(ttlMs);
  const isBounded = neededMs === null && lastMs < Number.POSITIVE_INFINITY;
  const end = isBounded
    ? `, but not for longer than ${formatDuration(lastMs)}: a longer run will fail then`
    : '';
  const text = `The token expires in ${life}; it will be renewed during the run${end}.`;
  return { ...facts, renewEveryMs, warnings: [text] };
}

/**
 * @param {Record<string, any>} data
 * @param {number} nowMs
 * @returns {number} milliseconds from now to the end that no renewal can move; Infinity: none known
 */
function explicitMax(data, nowMs) {
  const max = Number(data.explicit_max_ttl ?? 0);
  return max > 0 ? (Number(data.creation_time) + max) * 1000 - nowMs : Number.POSITIVE_INFINITY;
}

/** Vault counts TTLs in whole seconds. */
const MIN_RENEWAL_MS = 1000;

/** A renewal due earlier than this share of the last interval means a shorter life, not an older token. */
const NO_SHORTER = 0.6;

/** @param {number} ttlMs */
export function renewAfterMs(ttlMs) {
  return Math.max((ttlMs * 2) / 3, MIN_RENEWAL_MS);
}

/**
 * Renews the token at two thirds of its life, again and again. Never throws: what goes wrong is a warning, and is tried
 * again before the token ends.
 *
 * @param {VaultClient} client
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
 * @param {VaultClient} client
 * @param {number} everyMs
 * @returns {Promise<{everyMs: number, warning?: {code: string, text: string}}>}
 */
async function renewOnce(client, everyMs) {
  try {
    const { auth } = await client.write('auth/token/renew-self');
    const leaseMs = Number(auth?.lease_duration) * 1000;
    if (!(leaseMs > 0)) return { everyMs, warning: warn('the response holds no new lease') };
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

/** @param {() => void} callback @param {number} ms */
function unreferencedTimer(callback, ms) {
  return setTimeout(callback, Math.min(ms, 2 ** 31 - 1)).unref();
}
