/** One plan, several runs (`--repeat`). */
import { setTimeout as sleep } from 'node:timers/promises';
import { unlessStopped } from '../common/stop.js';
/** @import { Live } from '../live/thread.js' */
/** @import { Result } from '../result/schema.js' */

/**
 * @param {object} context
 * @param {number} context.repeat
 * @param {number} context.pauseMs between runs
 * @param {(run: number) => Promise<Result>} context.runOnce the run of that number, from 0
 * @param {Pick<Live, 'event' | 'finish' | 'next'>} context.live
 * @param {AbortSignal} context.stop
 * @param {Result[]} context.results the loop adds to them
 * @param {() => Promise<Parameters<Live['next']>[0]>} context.between writes the results so far; their summary
 */
export async function repeatRun({ repeat, pauseMs, runOnce, live, stop, results, between }) {
  for (;;) {
    if (repeat > 1) live.event({ type: 'notice', text: `Run ${results.length + 1} of ${repeat}:` });
    const result = await runOnce(results.length);
    await live.finish(result);
    results.push(result);
    if (results.length === repeat || stop.aborted) return;
    const next = live.next(await between());
    await Promise.all([pauseFor(pauseMs, stop), unlessStopped(next, stop)]);
    if (stop.aborted) return;
  }
}

/** @param {number} ms @param {AbortSignal} stop ends it early */
export async function pauseFor(ms, stop) {
  if (ms > 0) await sleep(ms, undefined, { signal: stop }).catch(() => {});
}
