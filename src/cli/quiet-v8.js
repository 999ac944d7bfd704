/** V8 does its background work at times when it delays no request: on a shared core, its threads hold the sender up by milliseconds. */
import { setFlagsFromString } from 'node:v8';

/** @import { Plan } from '../plan/plan.js' */
/** @import { RunOptions, StartEvent } from '../run.js' */

/** Requests, and requests a second: in a longer or faster run, compiled code saves more than its compilation costs. */
const [FEW_REQUESTS, LOW_RATE] = [10_000, 200];

/** Disables GC of idle threads, which uses all cores, and optimised WebAssembly (undici's parser: 35 MB, 100 ms). */
export function keepV8Quiet() {
  setFlagsFromString('--no-memory-reducer');
  setFlagsFromString('--liftoff-only');
}

/** Like `run`, but with less background work by V8 if the rate is low. @param {Plan} plan @param {RunOptions} options */
export async function runQuietly(plan, { onEvent, ...options }) {
  const { run } = await import('../run.js');
  return run(plan, {
    ...options,
    onEvent(event) {
      if (event.type === 'start') quieten(event);
      onEvent?.(event);
    },
  }).finally(() => ['--opt', '--semi-space-growth-factor=2'].forEach(setFlagsFromString));
}

/** @param {StartEvent} event */
function quieten({ planned, plan: { load } }) {
  if ((load.ratePerSecond ?? Infinity) > LOW_RATE) return;
  // The sender creates little garbage; a growing young generation would only fill up with it (16 MB in an hour).
  setFlagsFromString('--semi-space-growth-factor=1');
  if (planned !== null && planned <= FEW_REQUESTS) setFlagsFromString('--no-opt');
}
