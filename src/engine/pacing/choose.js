/** How a shard waits for its next arrival: chosen once, from the gap between arrivals and the cores that there are. */
/** @import { LoadPlan } from '../../plan/load.js' */

/**
 * @typedef {object} Pacing
 * @property {boolean} byThread a thread of its own sleeps until the time and wakes the sender; else a timer does
 * @property {'never' | 'last stretch' | 'always'} spins
 */

/** Mean gaps below this are too narrow for a timer whose last stretch is spun: that would spin most of a core away. */
const THREAD_BELOW_GAP_MS = 10;

/**
 * `auto` leaves wide gaps to a timer whose last stretch is spun, which is exact and costs little then, and narrow ones to
 * a thread that sleeps. Where every core has a sender, none spins: the target may need the rest.
 *
 * @param {Pick<LoadPlan, 'model' | 'pacing' | 'ratePerSecond'>} load
 * @param {number} shards of the whole plan
 * @param {number} cores of the machine: those that this process may not use are left to the target all the more
 * @param {number} [threads] of the shards those that run here; the others are on other machines (`--shard`)
 * @returns {Pacing}
 */
export function choosePacing({ model, pacing, ratePerSecond }, shards, cores, threads = shards) {
  if (model === 'closed' || ratePerSecond === null || pacing === 'sleep')
    return { byThread: false, spins: 'never' };
  if (pacing === 'spin') return { byThread: false, spins: 'always' };
  const isCoreLeft = cores > threads;
  const gapMs = (1000 * shards) / ratePerSecond;
  return {
    byThread: gapMs < THREAD_BELOW_GAP_MS || !isCoreLeft,
    spins: isCoreLeft ? 'last stretch' : 'never',
  };
}

/**
 * @param {LoadPlan} load
 * @param {number} cores
 * @returns {string | null} a notice of the cores that `--pacing spin` uses
 */
export function describeSpinning({ model, pacing, threads }, cores) {
  if (model === 'closed' || pacing !== 'spin') return null;
  const taken = threads === 1 ? 'a core' : `${threads} cores`;
  const left =
    cores > threads
      ? ''
      : ` This machine has ${cores}: a target on it is left with what it can wrest from the tool.`;
  return `--pacing spin keeps ${taken} busy for the whole run.${left}`;
}
