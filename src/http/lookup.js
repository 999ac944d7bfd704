/** DNS lookups of the load's connections. */
import dns from 'node:dns';

/** @import { LookupAddress } from 'node:dns' */
/** @import { LookupFunction } from 'node:net' */

const MAX_ATTEMPT_MS = 3500;

/**
 * Of a name with several addresses, each but the last has a quarter of the time, at most 3.5 s: Node.js itself would give up on each after
 * 250 ms, but a SYN that a busy server drops is repeated after 1 and 3 s.
 * @param {number} timeoutMs to connect
 */
export const timeOfAddress = (timeoutMs) => ({
  autoSelectFamilyAttemptTimeout: Math.ceil(Math.min(timeoutMs / 4, MAX_ATTEMPT_MS)),
});

const lookups = /** @type {Map<string, Parameters<LookupFunction>[2][]>} */ (new Map());
/** Shared: a lookup takes one of 4 threads, cannot be cancelled, keeps the process alive. @type {LookupFunction} */
export function lookUp(host, options, callback) {
  const key = JSON.stringify([host, options]);
  const waiting = lookups.get(key);
  if (waiting !== undefined) return void waiting.push(callback);
  const callbacks = [callback];
  lookups.set(key, callbacks);
  dns.lookup(host, options, (...result) => {
    lookups.delete(key);
    for (const call of callbacks) call(...result);
  });
}

/**
 * Gives new connections all addresses of one name in rotation, and looks the name up again at an interval. If that fails, the
 * addresses stay.
 * @param {object} options @param {number} options.everyMs @param {number} [options.first] number of the first address
 * @param {(addresses: ReadonlySet<string>) => void} options.onAnswer to a repeated lookup
 * @param {LookupFunction} [options.ask]
 * @returns {{lookup: LookupFunction, close: () => void}}
 */
export function createRotation({ everyMs, first = 0, onAnswer, ask = lookUp }) {
  let addresses = /** @type {LookupAddress[]} */ ([]);
  /** Number of the next address, by family. */
  const next = /** @type {Map<unknown, number>} */ (new Map());
  let timer = /** @type {NodeJS.Timeout | undefined} */ (undefined);
  let isClosed = false;
  return {
    lookup(host, options, callback) {
      const give = () => {
        const own = addresses.filter(({ family }) => !options.family || family === options.family);
        if (own.length === 0) return callback(Object.assign(new Error(), { code: 'ENOTFOUND' }), '');
        const nth = next.get(options.family) ?? first;
        next.set(options.family, nth + 1);
        const one = own[nth % own.length];
        if (options.all) callback(null, [one]);
        else callback(null, one.address, one.family);
      };
      if (addresses.length > 0) return process.nextTick(give);
      const repeat = () =>
        ask(host, { ...options, family: 0, all: true }, (error, found) => {
          if (error !== null || !Array.isArray(found) || isClosed) return;
          addresses = found;
          onAnswer(new Set(found.map(({ address }) => address)));
        });
      ask(host, { ...options, family: 0, all: true }, (error, found) => {
        if (error !== null || !Array.isArray(found)) return callback(error, '');
        addresses = found;
        if (!isClosed) timer ??= setInterval(repeat, everyMs).unref();
        give();
      });
    },
    close() {
      isClosed = true;
      clearInterval(timer);
    },
  };
}
