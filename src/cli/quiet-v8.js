/** V8 does its background work at times when it delays no request: on a shared core, its threads hold the sender up by milliseconds. */
import { setFlagsFromString } from 'node:v8';

/** @import { RunEvent, StartEvent } from '../run.js' */

/** Requests, and requests a second: in a longer or faster run, compiled code saves more than its compilation costs. */
const [FEW_REQUESTS, LOW_RATE] = [10_000, 200];

/** No garbage collection of idle threads, on all cores at once; undici's WebAssembly parser is not optimised (35 MB, 100 ms of CPU). */
export function keepV8Quiet() {
  setFlagsFromString('--no-memory-reducer');
  setFlagsFromString('--liftoff-only');
}

/** V8 does less during a run at a low rate. @param {(event: RunEvent) => void} onEvent @returns receives all events of the runs */
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
 * @param {boolean} optimises @param {boolean} grows the sender's young generation: at a low rate, room for more would only
 *   fill up with garbage, by 16 MB in the course of an hour
 */
function setFlags(optimises, grows) {
  setFlagsFromString(optimises ? '--opt' : '--no-opt');
  setFlagsFromString(`--semi-space-growth-factor=${grows ? 2 : 1}`);
}
