/** The flags of a search, and their effect on the flags of a run. */

import { usageError } from '../../common/errors.js';
import { commonOptions } from '../../plan/common-options.js';

/** @import { OptionSpec } from '../../common/options.js' */
/** @import { Plan } from '../../plan/plan.js' */
/** @import { SearchSettings } from './step-plan.js' */

const GROUP = 'Search';

/** Where the doubling begins without --rate. */
const START_RATE = 50;

const MOST_RATE = 1e6;

/** Defaults of --duration, of a step, and of --pause, between steps. */
const STEP_MS = 10_000;
const RECOVER_MS = 1000;

/** The confirmation is so many times as long as a step. */
const CONFIRMATION = 3;

const OPEN_LOOP = Object.freeze(['rate', 'arrivals', 'ramp-up', 'overflow', 'pacing']);

/** @type {Record<string, OptionSpec>} */
export const searchOptions = {
  'find-max-rate': {
    type: 'flag',
    group: GROUP,
    describe: 'Search for the highest rate that meets every --require',
  },
  'max-rate': {
    type: 'rate',
    group: GROUP,
    placeholder: 'N/s',
    max: MOST_RATE,
    describe: 'With --find-max-rate: highest rate to offer',
  },
  'max-concurrency': {
    type: 'integer',
    group: GROUP,
    placeholder: 'N',
    min: 1,
    max: 10_000,
    describe: 'Search for the peak throughput, up to N requests in flight',
  },
};

/** @typedef {{of: 'rate' | 'concurrency', highest: number}} AskedSearch */

/**
 * @param {Record<string, any>} values of searchOptions
 * @param {number} repeat
 * @returns {AskedSearch | null} null: none is asked for
 */
export function readSearch({ findMaxRate, maxRate, maxConcurrency }, repeat) {
  const contradiction = (/** @type {string} */ text, /** @type {string} */ remedy) =>
    usageError('contradiction', text, remedy);
  if (maxRate !== null && !findMaxRate) {
    throw contradiction('--max-rate bounds a search, but there is none.', 'Add --find-max-rate.');
  }
  if (findMaxRate && maxConcurrency !== null) {
    throw contradiction(
      '--find-max-rate searches in an open loop, --max-concurrency in a closed one.',
      'Give one of them.',
    );
  }
  if (!findMaxRate && maxConcurrency === null) return null;
  const flag = findMaxRate ? '--find-max-rate' : '--max-concurrency';
  if (repeat > 1) {
    throw contradiction(
      `${flag} runs the plan as often as it needs, but --repeat ${repeat} asks for so many runs.`,
      'Leave --repeat out; to see how far searches agree, search several times.',
    );
  }
  return findMaxRate
    ? { of: 'rate', highest: maxRate ?? MOST_RATE }
    : { of: 'concurrency', highest: maxConcurrency };
}

/**
 * @param {AskedSearch | null} search
 * @param {Record<string, unknown>} planned options of a plan
 * @returns {Record<string, unknown>} with what a plan of such a search must have
 */
export function plannedForSearch(search, planned) {
  if (search === null) return planned;
  refuseOpenLoop(search, planned);
  const start = startOf(search);
  return search.of === 'rate'
    ? { ...planned, rate: planned.rate ?? start }
    : { ...planned, concurrency: planned.concurrency ?? planned.threads ?? start };
}

/** @param {AskedSearch} search @returns {number} the default start of the search */
export function startOf({ of, highest }) {
  return of === 'rate' ? Math.min(START_RATE, highest) : 1;
}

/** @param {AskedSearch} search @param {Record<string, unknown>} flags */
export function refuseOpenLoop({ of }, flags) {
  const isOpen = (/** @type {string} */ name) =>
    flags[name] !== undefined && String(flags[name]) !== String(commonOptions[name].default);
  const name = of === 'rate' ? undefined : OPEN_LOOP.find(isOpen);
  if (name === undefined) return;
  throw usageError(
    'contradiction',
    `--max-concurrency searches in a closed loop, but --${name} ${name === 'rate' ? 'makes' : 'is for'} an open one.`,
    `Leave --${name} out; for the highest rate use --find-max-rate.`,
  );
}

/**
 * @param {Plan} plan its rate, or in a search in a closed loop its concurrency, is where the search begins
 * @param {{search?: AskedSearch | null, pauseMs: number}} settings whose `search` is not null
 * @param {{duration?: unknown, concurrency?: unknown}} said options of the load as given; the search chooses the others
 * @returns {SearchSettings}
 */
export function searchSettings({ load }, { search, pauseMs }, { duration, concurrency }) {
  const { of, highest } = /** @type {AskedSearch} */ (search);
  const stepMs = duration === undefined ? STEP_MS : (load.durationMs ?? STEP_MS);
  const start = of === 'rate' ? (load.ratePerSecond ?? START_RATE) : load.concurrency;
  return {
    of,
    start: Math.min(start, highest),
    highest,
    stepMs,
    confirmMs: CONFIRMATION * stepMs,
    recoverMs: pauseMs > 0 ? pauseMs : RECOVER_MS,
    fitConnections: of === 'rate' && concurrency === undefined,
  };
}
