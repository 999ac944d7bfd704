/** The options of a search, and their effect on the options of a run. */
import { rejectIf } from '../../common/errors.js';
import { inGroup, option, readOptions } from '../../common/options.js';
import { parseRate } from '../../common/units.js';
import { commonOptions } from '../../plan/common-options.js';

/** @import { Plan } from '../../plan/plan.js' */

const MAX_RATE = 1e6;

/** Search defaults: of --rate (start), --duration (of a step) and --pause (between steps). */
const [START_RATE, STEP_MS, RECOVER_MS] = [50, 10_000, 1000];

/** Length of the confirmation, in steps. */
export const CONFIRMATION = 3;

/** Options that a closed loop does not use. */
export const OPEN_LOOP = Object.freeze(['rate', 'arrivals', 'ramp-up', 'overflow', 'pacing']);

export const searchOptions = inGroup('Search', {
  'find-max-rate': option('flag', 'Search for the highest rate that meets every --require'),
  'max-rate': option('rate', 'With --find-max-rate: highest rate to offer', { max: MAX_RATE }),
  'max-concurrency': option('integer', 'Search for the peak throughput, up to N requests in flight', {
    ...{ min: 1, max: 10_000 },
  }),
});

/** @typedef {{of: 'rate' | 'concurrency', highest: number}} RequestedSearch */

/** @param {Record<string, any>} values of searchOptions @param {number} repeat @returns {RequestedSearch | null} */
export function readSearch({ findMaxRate, maxRate, maxConcurrency }, repeat) {
  const isClosed = maxConcurrency !== null;
  const flag = findMaxRate ? '--find-max-rate' : '--max-concurrency';
  const isUseless = maxRate !== null && !findMaxRate;
  rejectIf(isUseless, '--max-rate limits a search, but there is none.', 'Add --find-max-rate.');
  const loops = '--find-max-rate searches in an open loop, --max-concurrency in a closed one.';
  rejectIf(findMaxRate && isClosed, loops, 'Use one of them.');
  const runs = `${flag} runs the plan as often as it needs, but --repeat ${repeat} sets the number of runs.`;
  const several = 'Leave --repeat out; to see how much searches differ, search several times.';
  rejectIf((findMaxRate || isClosed) && repeat > 1, runs, several);
  if (findMaxRate) return { of: 'rate', highest: maxRate ?? MAX_RATE };
  return isClosed ? { of: 'concurrency', highest: maxConcurrency } : null;
}

const { threads, concurrency } = commonOptions;

/** Adds the start of the search. @param {RequestedSearch | null} search @param {Record<string, unknown>} planned by kebab-case name */
export function plannedForSearch(search, planned) {
  if (search === null) return planned;
  const fewest = readOptions({ threads, concurrency }, { threads: planned.threads });
  if (search.of === 'rate') {
    const first = planned.rate === undefined ? 0 : parseRate(String(planned.rate));
    const above = `--rate ${planned.rate} is above --max-rate, the highest to offer.`;
    rejectIf(first > search.highest, above, 'Lower --rate, where the search begins, or raise --max-rate.');
    const connections = Math.max(fewest.concurrency, fewest.threads);
    return { rate: Math.min(START_RATE, search.highest), concurrency: connections, ...planned };
  }
  const name = OPEN_LOOP.find(
    (name) => planned[name] !== undefined && String(planned[name]) !== String(commonOptions[name].default),
  );
  const open = `--${name} ${name === 'rate' ? 'makes' : 'is for'} an open one`;
  const problem = `--max-concurrency searches in a closed loop, but ${open}.`;
  rejectIf(name !== undefined, problem, `Leave --${name} out; for the highest rate use --find-max-rate.`);
  return { concurrency: fewest.threads, ...planned };
}

/** @typedef {Readonly<ReturnType<typeof readSearchSettings>>} SearchSettings */

/**
 * @param {Plan} plan the search starts at its rate or, in a closed loop, its concurrency
 * @param {{search?: RequestedSearch | null, pauseMs: number}} settings `search` must not be null
 * @param {{duration?: unknown, concurrency?: unknown}} given load options; the search sets the others
 */
export function readSearchSettings({ load }, { search, pauseMs }, { duration, concurrency }) {
  const { of, highest } = /** @type {RequestedSearch} */ (search);
  const stepMs = duration === undefined ? STEP_MS : (load.durationMs ?? STEP_MS);
  const start = of === 'rate' ? (load.ratePerSecond ?? START_RATE) : load.concurrency;
  return {
    of,
    /** Requests a second, or in flight. */
    ...{ start: Math.min(start, highest), highest },
    /** Min lengths of a step, the confirmation and the pause between steps. */
    ...{ stepMs, confirmMs: CONFIRMATION * stepMs, recoverMs: pauseMs > 0 ? pauseMs : RECOVER_MS },
    /** Raises the plan's concurrency with the rate. */
    fitConnections: of === 'rate' && concurrency === undefined,
  };
}
