/**
 * Counters and histograms of each operation in each stage, in one shape from the recorder to the Result.
 * Histograms are packed for another thread and encoded as text in a part's file.
 */
import { createHistogram, packHistograms, sumHistograms, withoutDelay } from '../../common/histogram.js';
import { sumArrays, total } from '../../common/sums.js';

/** @import { Delay, Distribution, PackedHistogram, SparseHistogram, Sum } from '../../common/histogram.js' */
/** @import { Classification } from '../../operations/index.js' */
/** @import { Histogram } from 'hdr-histogram-js' */

/** @typedef {(typeof SERIES)[number]} Series */
/** @typedef {Histogram | SparseHistogram} Recorded the latter for failures: there may be many kinds, most of them rare */
/** @typedef {Distribution | PackedHistogram} Summed read it with `sumHistograms` */
/**
 * @template [H=Summed]
 * @typedef {{success: boolean, count: number, latency: Record<Series, H>}} OutcomeTally
 */
/**
 * @template [H=Summed]
 * @typedef {object} PlannedCounts counts of the plan and the senders, and the outcomes
 * @property {Record<string, OutcomeTally<H>>} outcomes
 * @property {number} [planned] its requests, in a plan with several operations or stages
 * @property {number} [neverSent] of `planned`, as counted by the senders
 * @property {number} [carriedOver] of a stage: successes of the one before that were done in it, at least
 */
/**
 * @template [H=Summed]
 * @typedef {ReturnType<typeof createCell> & PlannedCounts<H>} CellTally
 */
/**
 * @template [H=Recorded]
 * @typedef {object} Tally
 * @property {CellTally<H>[]} cells all of the first stage, then all of the next, etc.
 * @property {Exclude<H, SparseHistogram>} lag how late the tool itself sent requests
 * @property {Exclude<H, SparseHistogram>} readLate upper bound of how late the tool read responses
 * @property {{second: number, tenth: number}} displaced expected number of measured requests that the late
 *   tool sent in a later second, or tenth of a second, than planned
 */

/** Parts of the service time of complete responses; of a connection's handshakes only if the request opened it. */
export const PHASES = /** @type {const} */ (['connect', 'tls', 'firstByte', 'transfer']);

/**
 * `service` and `sendLag` cover sent requests only; `ownResponse` and `ownService` exclude delay that the tool
 * itself may have added.
 */
export const SERIES = /** @type {const} */ ([
  'response',
  'service',
  'sendLag',
  'ownResponse',
  'ownService',
  ...PHASES,
]);

/** @type {readonly Series[]} */
const OWN = ['ownResponse', 'ownService'];

/** Enough for a line through their delays, each long enough to be nearly independent. */
const PARTS = 20;
/** Also after the stage's end, for as long again; the last has all later ones. */
const DONE_PARTS = 2 * PARTS;

/**
 * One operation in one stage; times count from the start of the measured phase.
 * @param {string} name @param {number} stage in which its requests were due; 0 without stages
 */
function createCell(name, stage) {
  const failures = /** @type {Record<string, number>} */ ({});
  const seconds = () => /** @type {number[]} */ ([]);
  return {
    name,
    stage,
    outcomes: {},
    verification: { checked: 0, passed: 0, unchecked: 0, failures, notes: /** @type {string[]} */ ([]) },
    dropped: 0,
    /** See Totals in result/schema.js. */
    rested: 0,
    /** Due, but still waiting when the run ended. */
    neverSentDue: 0,
    /** Sent before the measured phase. */
    warmup: 0,
    perSecond: { sent: seconds(), succeeded: seconds(), failed: seconds() },
    /** Completion of the last success; 0 without one. */
    lastSuccessMs: 0,
    successTimes: emptyTimes(),
    /** Successes completed after the planned end of the stage. */
    successesAfter: 0,
  };
}

/** When successes were due, and when they were done: numbers in equal parts of the stage, and sums of their times. */
export function emptyTimes() {
  const of = (/** @type {number} */ parts) => ({ count: Array(parts).fill(0), sumMs: Array(parts).fill(0) });
  return { due: of(PARTS), done: of(DONE_PARTS) };
}

/**
 * @param {ReturnType<typeof emptyTimes>} times @param {{startMs: number, endMs: number}} span of the stage
 * @param {{due: number, done: number}} success both ms from the start of the measured phase
 */
export function addTimes(times, span, { due, done }) {
  addTime(times.due, span, due);
  addTime(times.done, span, done);
}

/**
 * @param {CellTally} cell @param {{startMs: number, endMs: number}} span of its stage @param {number} untilMs
 * @returns {number} how many successes were done between the end of the stage and `untilMs`, at least
 */
export function doneAfter({ successTimes, successesAfter, lastSuccessMs }, { startMs, endMs }, untilMs) {
  if (lastSuccessMs <= untilMs) return successesAfter;
  const whole = Math.floor(((untilMs - startMs) / (endMs - startMs)) * PARTS);
  return total(successTimes.done.count.slice(PARTS, Math.min(whole, DONE_PARTS - 1)));
}

/** @param {{count: number[], sumMs: number[]}} parts @param {{startMs: number, endMs: number}} span @param {number} ms */
function addTime({ count, sumMs }, { startMs, endMs }, ms) {
  const part = Math.floor(((ms - startMs) / (endMs - startMs)) * PARTS);
  const nearest = Math.max(0, Math.min(part, count.length - 1));
  count[nearest]++;
  sumMs[nearest] += ms;
}

/** @param {string[]} names of the operations @param {number} stages @returns {Tally} empty */
export function createTally(names, stages) {
  const cells = Array.from({ length: stages }, (_, stage) => names.map((name) => createCell(name, stage)));
  return {
    cells: cells.flat(),
    lag: createHistogram(),
    readLate: createHistogram(),
    displaced: { second: 0, tenth: 0 },
  };
}

/** @param {CellTally<Recorded>} cell @param {Classification} classification @returns {OutcomeTally<Recorded>} */
export function outcomeOf({ outcomes }, { outcome, success }) {
  outcomes[outcome] ??= {
    success,
    count: 0,
    latency: success ? latencyOf(createHistogram) : latencyOf(newMap),
  };
  return outcomes[outcome];
}

/** @returns {SparseHistogram} */
const newMap = () => new Map();

/** @param {CellTally['verification']} verification @param {Classification} classification */
export function countVerification(verification, { outcome, verification: result }) {
  if (outcome === 'unchecked') verification.unchecked++;
  if (result === null) return;
  verification.checked++;
  if (result === 'passed') verification.passed++;
  else verification.failures[outcome] = (verification.failures[outcome] ?? 0) + 1;
}

/** @param {number[]} counts of each second @param {number} ms negative counts as 0 */
export function increment(counts, ms) {
  const second = Math.max(0, Math.floor(ms / 1000));
  while (counts.length <= second) counts.push(0);
  counts[second]++;
}

/** @template H @param {(series: Series) => H} make @returns {Record<Series, H>} */
function latencyOf(make) {
  return /** @type {any} */ (Object.fromEntries(SERIES.map((series) => [series, make(series)])));
}

/**
 * @param {Tally} tally @param {(n: number) => Delay[]} [delaysOf] the sender's wake-ups: the target's own times have none
 * @returns {Tally<PackedHistogram>} histograms in one buffer; post it at once: it shares objects with `tally`
 */
export function packTally({ cells, lag, readLate, displaced }, delaysOf = () => []) {
  const outcomes = cells.flatMap((cell) => Object.values(cell.outcomes));
  const histograms = outcomes.flatMap(({ latency }) =>
    SERIES.map((series) =>
      OWN.includes(series) ? withoutDelay(latency[series], delaysOf) : latency[series],
    ),
  );
  const [packedLag, packedReadLate, ...packed] = packHistograms([lag, readLate, ...histograms]);
  let at = 0;
  const packOutcome = (/** @type {OutcomeTally<Recorded>} */ outcome) => ({
    ...outcome,
    latency: latencyOf(() => packed[at++]),
  });
  const packCell = (/** @type {CellTally<Recorded>} */ cell) => {
    const named = Object.entries(cell.outcomes).map(([name, outcome]) => [name, packOutcome(outcome)]);
    return { ...cell, outcomes: Object.fromEntries(named) };
  };
  return {
    cells: cells.map(packCell),
    lag: packedLag,
    readLate: packedReadLate,
    displaced: { ...displaced },
  };
}

/** @param {Tally<PackedHistogram | string>[]} tallies of the same plan, at least one @returns {Omit<Tally<Sum>, 'cells'> & {cells: CellTally[]}} */
export function mergeTallies(tallies) {
  return {
    cells: tallies[0].cells.map((_, i) => mergeCells(tallies.map(({ cells }) => cells[i]))),
    lag: sumHistograms(tallies.map(({ lag }) => lag)),
    readLate: sumHistograms(tallies.map(({ readLate }) => readLate)),
    displaced: addUp(tallies.map(({ displaced }) => displaced)),
  };
}

/**
 * Sums each operation over all stages. `successesAfter` includes earlier stages whose responses came after the end
 * of the last.
 * @param {CellTally[]} cells all of the first stage, then all of the next
 * @param {readonly {startMs: number, endMs: number}[]} spans of the stages @returns {CellTally[]}
 */
export function foldStages(cells, spans) {
  if (spans.length < 2) return cells;
  const { endMs } = spans[spans.length - 1];
  const names = [...new Set(cells.map(({ name }) => name))];
  return names.map((name) => {
    const stages = cells.filter((cell) => cell.name === name);
    const late = stages.filter(({ lastSuccessMs }) => lastSuccessMs > endMs);
    return {
      ...mergeCells(stages),
      stage: 0,
      successTimes: joinTimes(stages.map(({ successTimes }) => successTimes)),
      successesAfter: total(late.map(({ successesAfter }) => successesAfter)),
    };
  });
}

/**
 * @param {CellTally[]} cells a single cell is returned unchanged: the counts of the run apply to it
 * @param {readonly number[] | null} planned per cell; null: a closed loop, which plans no number
 * @param {readonly number[]} left per cell: requests neither sent nor dropped
 */
export function withPlanned(cells, planned, left) {
  if (cells.length === 1) return cells;
  return cells.map((cell, i) => ({
    ...cell,
    planned: planned?.[i] ?? countSentOrDropped(cell) + left[i],
    neverSent: left[i],
  }));
}

/** @param {CellTally} cell @returns {number} requests sent or dropped */
export function countSentOrDropped({ outcomes, dropped, neverSentDue }) {
  return dropped - neverSentDue + total(Object.values(outcomes).map(({ count }) => count));
}

/**
 * @param {CellTally<unknown>[]} operations
 * @param {{planned: number, neverSent: number}} facts of the run, used for a single operation
 */
export function plannedOf(operations, { planned, neverSent }) {
  if (operations.some((operation) => operation.planned === undefined)) return { planned, neverSent };
  return {
    planned: total(operations.map(({ planned }) => Number(planned))),
    neverSent: total(operations.map(({ neverSent }) => Number(neverSent))),
  };
}

/** @param {CellTally<Summed | string>[]} parts @returns {CellTally} */
function mergeCells(parts) {
  const [{ name, stage }] = parts;
  const outcomes = new Set(parts.flatMap((part) => Object.keys(part.outcomes)));
  const mergeOutcome = (/** @type {string} */ outcome) => {
    const inputs = parts.flatMap((part) =>
      Object.hasOwn(part.outcomes, outcome) ? part.outcomes[outcome] : [],
    );
    const latency = latencyOf((series) => sumHistograms(inputs.map(({ latency }) => latency[series])));
    return [outcome, { success: inputs[0].success, count: total(inputs.map(({ count }) => count)), latency }];
  };
  return {
    ...addUp(parts.map((part) => ({ ...part, outcomes: {} }))),
    name,
    stage,
    outcomes: Object.fromEntries([...outcomes].map(mergeOutcome)),
    lastSuccessMs: Math.max(...parts.map(({ lastSuccessMs }) => lastSuccessMs)),
  };
}

/** @param {ReturnType<typeof emptyTimes>[]} stages in order @returns {ReturnType<typeof emptyTimes>} all their parts */
function joinTimes(stages) {
  const join = (/** @type {'due' | 'done'} */ key) => ({
    count: stages.flatMap((times) => times[key].count),
    sumMs: stages.flatMap((times) => times[key].sumMs),
  });
  return { due: join('due'), done: join('done') };
}

/**
 * Adds numbers, arrays of numbers by element, and records by key; missing keys add nothing. Lists of strings
 * become their union. Keeps the first value of any other type.
 * @template T @param {T[]} values of one shape, at least one @returns {T}
 */
export function addUp(values) {
  const parts = /** @type {any[]} */ (values);
  const [first] = parts;
  if (typeof first === 'number') return /** @type {any} */ (total(parts));
  if (typeof first !== 'object' || first === null) return first;
  if (Array.isArray(first)) {
    const items = parts.flat();
    return /** @type {any} */ (typeof items[0] === 'string' ? [...new Set(items)] : sumArrays(parts));
  }
  const sumOf = (/** @type {string} */ key) =>
    addUp(parts.filter((part) => Object.hasOwn(part, key)).map((part) => part[key]));
  const keys = new Set(parts.flatMap((part) => Object.keys(part)));
  return /** @type {any} */ (Object.fromEntries([...keys].map((key) => [key, sumOf(key)])));
}
