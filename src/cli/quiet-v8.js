/** V8 does its background work at times when it delays no request: on a shared core, its threads hold the sender up by milliseconds. */
import { setFlagsFromString } from 'node:v8';

/** @import { RunEvent, StartEvent } from '../run.js' */

/** Requests, and requests a second: in a longer or faster run, compiled code saves more than its compilation costs. */
const [FEW_REQUESTS, LOW_RATE] = [10_000, 200];

/** Disables GC of idle threads, which uses all cores, and optimised WebAssembly (undici's parser: 35 MB, 100 ms). */
export function keepV8Quiet() {
  setFlagsFromString('--no-memory-reducer');
  setFlagsFromString('--liftoff-only');
}

/** V8's heap grows by a quarter at a time, not up to fourfold: 40 of 300 MB, where the results of 1,000 parts arrive. */
export const keepHeapSmall = () => setFlagsFromString('--heap-growing-percent=25');

/** V8 does less background work while a run at a low rate sends. @param {(event: RunEvent) => void} onEvent @returns receives all events of the runs */
export const quietly = (onEvent) => (/** @type {RunEvent} */ event) => {
  if (event.type === 'start') quieten(event);
  else if (event.type === 'result') setFlags(true, true);
  onEvent(event);
};

/** @param {StartEvent} event */
function quieten({ planned, plan: { load } }) {
  const isFast = (load.ratePerSecond ?? Infinity) > LOW_RATE;
  setFlags(isFast || planned === null || planned > FEW_REQUESTS, isFast);
}

/**
 * @param {boolean} optimises @param {boolean} grows the sender's young generation: at a low rate it would only fill up with
 *   garbage (16 MB in an hour)
 */
function setFlags(optimises, grows) {
  setFlagsFromString(optimises ? '--opt' : '--no-opt');
  setFlagsFromString(`--semi-space-growth-factor=${grows ? 2 : 1}`);
}
