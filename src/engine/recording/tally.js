/**
 * The counters and histograms of each operation in each stage: one shape from the recorder to the Result. Histograms are packed on their way to
 * another thread, and text in the file of a part.
 */
import { createHistogram, packHistogram, sumHistograms } from '../../common/histogram.js';
import { sumArrays, sumRecords, total } from '../../common/sums.js';

/** @import { PackedHistogram } from '../../common/histogram.js' */
/** @import { Verdict } from '../../operations/index.js' */
/** @import { Histogram } from 'hdr-histogram-js' */

/** @typedef {PackedHistogram | string} InTransit */
/** @typedef {(typeof SERIES)[number]} Series */
/**
 * @template [H=Histogram]
 * @typedef {object} OutcomeTally
 * @property {boolean} success
 * @property {number} count
 * @property {Record<Series, H>} latency service and sendLag cover the requests that were sent; ownResponse, ownService: the target's own
 *   times at least, had the tool been late at nothing
 */
/**
 * @template [H=Histogram]
 * @typedef {object} CellTally of one operation in one stage
 * @property {string} name
 * @property {number} stage in which its requests were due; 0 where the plan has no stages
 * @property {Record<string, OutcomeTally<H>>} outcomes
 * @property {{checked: number, passed: number, unchecked: number, failures: Record<string, number>, notes: string[]}} verification
 * @property {number} dropped
 * @property {number} neverSentDue were due, but still waiting when the run ended
 * @property {number} warmup sent before the measured part
 * @property {{sent: number[], succeeded: number[], failed: number[]}} perSecond from the start of the measured part
 * @property {number} lastSuccessMs when the last success was complete, from the start of the measured part; 0 without
 * @property {{count: number, responseMs: number}} firstHalf successes done in the first half of the stage, and their response times' sum
 * @property {number} successesAfter done after the stage was to end
 * @property {number} [planned] where the plan has several operations or stages: requests of this one
 * @property {number} [neverSent] of those, as the senders counted them
 * @property {{count: number, ms: number}} [pace] successes in the last stage, and its length: the rate at which the run ended
 */
/**
 * @template [H=Histogram]
 * @typedef {object} Tally
 * @property {CellTally<H>[]} operations all of the first stage, then all of the next
 * @property {H} lag how late the tool itself sent
 * @property {H} readLate how late it read responses, at most
 * @property {{second: number, tenth: number}} displaced measured requests that the tool, being late, sent in another second, or another
 *   tenth of one, than it should have: how many are to be expected, wherever in a stretch they were due
 */

const SERIES = /** @type {const} */ (['response', 'service', 'sendLag', 'ownResponse', 'ownService']);

/** @param {string[]} operations names @param {number} stages @returns {Tally} of a run in which nothing was done yet */
export function createTally(operations, stages) {
  const cells = Array.from({ length: stages }, (_, stage) =>
    operations.map((name) => createCell(name, stage)),
  );
  return {
    operations: cells.flat(),
    lag: createHistogram(),
    readLate: createHistogram(),
    displaced: { second: 0, tenth: 0 },
  };
}

/** @param {string} name @param {number} stage @returns {CellTally} */
function createCell(name, stage) {
  return {
    name,
    stage,
    outcomes: {},
    verification: { checked: 0, passed: 0, unchecked: 0, failures: {}, notes: [] },
    dropped: 0,
    neverSentDue: 0,
    warmup: 0,
    perSecond: { sent: [], succeeded: [], failed: [] },
    lastSuccessMs: 0,
    firstHalf: { count: 0, responseMs: 0 },
    successesAfter: 0,
  };
}

/** @param {CellTally} cell @param {Verdict} verdict @returns {OutcomeTally} */
export function outcomeOf({ outcomes }, { outcome, success }) {
  outcomes[outcome] ??= { success, count: 0, latency: latencyOf(createHistogram) };
  return outcomes[outcome];
}

/** @param {CellTally['verification']} verification @param {Verdict} verdict */
export function countVerification(verification, verdict) {
  if (verdict.outcome === 'unchecked') verification.unchecked++;
  if (verdict.verification === null) return;
  verification.checked++;
  if (verdict.verification === 'passed') verification.passed++;
  else verification.failures[verdict.outcome] = (verification.failures[verdict.outcome] ?? 0) + 1;
}

/** @param {number} ms */
export function secondOf(ms) {
  return Math.max(0, Math.floor(ms / 1000));
}

/** @param {number[]} counts @param {number} second */
export function increment(counts, second) {
  while (counts.length <= second) counts.push(0);
  counts[second]++;
}

/** @template H @param {(series: Series) => H} make @returns {Record<Series, H>} */
function latencyOf(make) {
  return /** @type {any} */ (Object.fromEntries(SERIES.map((series) => [series, make(series)])));
}

/** @template T, U @param {Record<string, T>} record @param {(value: T) => U} change */
function mapValues(record, change) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

/** @param {Tally} tally @returns {Tally<PackedHistogram>} for another thread: shares what goes on changing, so post it at once */
export function packTally({ operations, lag, readLate, displaced }) {
  const packOutcome = (/** @type {OutcomeTally} */ outcome) => ({
    ...outcome,
    latency: latencyOf((series) => packHistogram(outcome.latency[series])),
  });
  return {
    operations: operations.map((cell) => ({ ...cell, outcomes: mapValues(cell.outcomes, packOutcome) })),
    lag: packHistogram(lag),
    readLate: packHistogram(readLate),
    displaced: { ...displaced },
  };
}

/** @param {Tally<InTransit>[]} tallies of the same plan, at least one @returns {Tally} histograms added bucket for bucket */
export function mergeTallies(tallies) {
  const cells = tallies[0].operations.keys();
  return {
    operations: [...cells].map((i) => mergeCells(tallies.map(({ operations }) => operations[i]))),
    lag: sumHistograms(tallies.map(({ lag }) => lag)),
    readLate: sumHistograms(tallies.map(({ readLate }) => readLate)),
    displaced: {
      second: total(tallies.map(({ displaced }) => displaced.second)),
      tenth: total(tallies.map(({ displaced }) => displaced.tenth)),
    },
  };
}

/**
 * Each operation over all stages. The last stage has the requests always in flight (see rateWindowMs): those before it count
 * as far as some of theirs came after the end of all.
 * @param {CellTally[]} cells all of the first stage, then all of the next
 * @param {readonly {startMs: number, endMs: number}[]} spans of the stages
 * @returns {CellTally[]}
 */
export function foldStages(cells, spans) {
  if (spans.length < 2) return cells;
  const { startMs, endMs } = spans[spans.length - 1];
  const names = [...new Set(cells.map(({ name }) => name))];
  return names.map((name) => {
    const own = cells.filter((cell) => cell.name === name);
    const { firstHalf, perSecond } = own[own.length - 1];
    const late = own.filter(({ lastSuccessMs }) => lastSuccessMs > endMs);
    return {
      ...mergeCells(own),
      stage: 0,
      firstHalf,
      successesAfter: total(late.map(({ successesAfter }) => successesAfter)),
      pace: { count: total(perSecond.succeeded), ms: endMs - startMs },
    };
  });
}

/**
 * @param {CellTally[]} cells
 * @param {readonly number[] | null} planned of each; null: a closed loop plans as many as there was time for
 * @param {readonly number[]} left of each: neither sent nor dropped
 * @returns {CellTally[]} the same where there is only one: the run's own figures are its
 */
export function withPlanned(cells, planned, left) {
  if (cells.length === 1) return cells;
  return cells.map((cell, i) => ({
    ...cell,
    planned: planned?.[i] ?? settledOf(cell) + left[i],
    neverSent: left[i],
  }));
}

/** @param {CellTally} operation @returns {number} requests that were sent or dropped */
export function settledOf({ outcomes, dropped }) {
  const sent = Object.entries(outcomes).filter(([name]) => name !== 'never_sent');
  return dropped + total(sent.map(([, { count }]) => count));
}

/**
 * @param {CellTally<unknown>[]} operations
 * @param {{planned: number, neverSent: number}} facts of the run
 * @returns {{planned: number, neverSent: number}} of these operations; of the run where it has only one
 */
export function plannedOf(operations, facts) {
  if (operations.some(({ planned }) => planned === undefined)) {
    return { planned: facts.planned, neverSent: facts.neverSent };
  }
  return {
    planned: total(operations.map(({ planned }) => Number(planned))),
    neverSent: total(operations.map(({ neverSent }) => Number(neverSent))),
  };
}

/** @param {CellTally<Histogram | InTransit>[]} parts @returns {CellTally} */
function mergeCells(parts) {
  const sum = (/** @type {(part: CellTally<unknown>) => number} */ of) => total(parts.map(of));
  const sums = (/** @type {'sent' | 'succeeded' | 'failed'} */ key) =>
    sumArrays(parts.map(({ perSecond }) => perSecond[key]));
  const names = new Set(parts.flatMap(({ outcomes }) => Object.keys(outcomes)));
  const outcomes = [...names].map((name) => {
    const own = parts.flatMap((part) => part.outcomes[name] ?? []);
    return [name, mergeOutcome(own)];
  });
  const isPlanned = parts.every(({ planned }) => planned !== undefined);
  return {
    name: parts[0].name,
    stage: parts[0].stage,
    outcomes: Object.fromEntries(outcomes),
    verification: {
      checked: sum(({ verification }) => verification.checked),
      passed: sum(({ verification }) => verification.passed),
      unchecked: sum(({ verification }) => verification.unchecked),
      failures: sumRecords(parts.map(({ verification }) => verification.failures)),
      notes: [...new Set(parts.flatMap(({ verification }) => verification.notes))],
    },
    dropped: sum(({ dropped }) => dropped),
    neverSentDue: sum(({ neverSentDue }) => neverSentDue),
    warmup: sum(({ warmup }) => warmup),
    perSecond: { sent: sums('sent'), succeeded: sums('succeeded'), failed: sums('failed') },
    lastSuccessMs: Math.max(...parts.map(({ lastSuccessMs }) => lastSuccessMs)),
    firstHalf: {
      count: sum(({ firstHalf }) => firstHalf.count),
      responseMs: sum(({ firstHalf }) => firstHalf.responseMs),
    },
    successesAfter: sum(({ successesAfter }) => successesAfter),
    ...(isPlanned && {
      planned: sum(({ planned }) => Number(planned)),
      neverSent: sum(({ neverSent }) => Number(neverSent)),
    }),
  };
}

/** @param {OutcomeTally<Histogram | InTransit>[]} parts @returns {OutcomeTally} */
function mergeOutcome(parts) {
  return {
    success: parts[0].success,
    count: total(parts.map(({ count }) => count)),
    latency: latencyOf((series) => sumHistograms(parts.map(({ latency }) => latency[series]))),
  };
}
