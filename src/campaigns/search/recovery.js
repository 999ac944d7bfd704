/**
 * After a step the target is given time to recover: a pause, and then until it answers a single request as fast as before the
 * search. All answers of the step have come by then, or were given up; what is waited for is what the target does behind them.
 */
import { median } from '../../common/median.js';

/** @typedef {{waitedMs: number, recovered: boolean}} RecoveryEnd */

/** Looks that tell how fast it is at rest, and so many in a row that must be as fast. */
const LOOKS = 5;
const IN_A_ROW = 3;

/** As fast is: no more than so many times as long, or so many milliseconds longer. */
const TIMES = 3;
const MORE_MS = 10;

const BETWEEN_LOOKS_MS = 100;

/** Then the search goes on all the same. */
const LONGEST_MS = 60_000;

/**
 * @param {object} options
 * @param {() => Promise<number | null>} options.look asks once; milliseconds, null: no answer
 * @param {(ms: number) => Promise<void>} options.sleep
 * @param {() => number} options.now milliseconds, monotonic
 * @param {() => boolean} options.isStopped
 * @param {number} options.pauseMs
 */
export async function watchRecovery({ look, sleep, now, isStopped, pauseMs }) {
  /** @type {number[]} */
  const atRest = [];
  for (let i = 0; i < LOOKS; i++) {
    const ms = await look();
    if (ms !== null) atRest.push(ms);
  }
  // Whoever does not answer at rest cannot be asked whether it has recovered.
  const limit = atRest.length === 0 ? null : Math.max(TIMES * median(atRest), median(atRest) + MORE_MS);
  return {
    /**
     * @param {() => Promise<number | null>} [again] asks from now on
     * @param {number} [restMs] the pause; 0 where it was made already
     * @returns {Promise<RecoveryEnd>}
     */
    async wait(again = look, restMs = pauseMs) {
      const begun = now();
      if (restMs > 0) await sleep(restMs);
      let quick = 0;
      while (limit !== null && quick < IN_A_ROW && !isStopped()) {
        const waitedMs = now() - begun;
        if (waitedMs > LONGEST_MS + restMs) return { waitedMs, recovered: false };
        const ms = await again();
        quick = ms !== null && ms <= limit ? quick + 1 : 0;
        if (quick < IN_A_ROW) await sleep(BETWEEN_LOOKS_MS);
      }
      return { waitedMs: now() - begun, recovered: true };
    },
  };
}
