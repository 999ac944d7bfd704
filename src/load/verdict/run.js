/** Reasons against a measurement that lie with the plan and what became of it. */
import { formatCount, formatDuration } from '../../units.js';

/** @typedef {import('./observed.js').Observed} Observed */
/** @typedef {import('./judge.js').Reason} Reason */
/** @typedef {(observed: Observed) => Reason | null} Rule */

/** With fewer samples a p99 is just the slowest one. */
const MIN_SAMPLES = 100;

/** Sends that may be missing at the end without a word; and when most are, another load was measured than was asked for. */
const SHORT_SUSPECT = 0.01;
const SHORT_INVALID = 0.5;

/** A backlog, in the tool or in the target, grows when each quarter's least is so much more than that of the quarter before, and not just a few. */
const GROWTH = 1.2;
const GROWN_SHARE = 0.01;
const GROWN_LEAST = 5;

/** Unchecked answers count as successes: from this share on, that can decide a requirement. */
const UNCHECKED_SUSPECT = 0.5;

/** Requests that may open a connection first without a word: p99 is free of them. */
const DIALLED_SUSPECT = 0.01;

/** @type {Rule[]} */
export const RUN_RULES = [
  nothingMeasured,
  shortOfPlan,
  backlogGrowing,
  stillChanging,
  connectionSetup,
  mostlyUnchecked,
  tooFewSamples,
];

/** @type {Rule} */
function nothingMeasured({ response }) {
  if (response.totalCount > 0) return null;
  return {
    grade: 'invalid',
    code: 'nothing_measured',
    text: 'No request was sent in the measured part.',
    remedy: 'Let it run for longer, or lower --warmup.',
  };
}

/** @param {Observed} observed */
function isShort({ planned, neverSent, interrupted }) {
  return !interrupted && neverSent > 0 && neverSent / planned >= SHORT_SUSPECT;
}

/** @type {Rule} */
function shortOfPlan(observed) {
  if (!isShort(observed)) return null;
  const { planned, neverSent, leftWhileFree } = observed;
  const how = `${formatCount(neverSent)} of ${formatCount(planned)} planned requests`;
  if (leftWhileFree) {
    return {
      grade: 'invalid',
      code: 'schedule_not_followed',
      text: `${how} were not sent although connections were free: the tool did not follow its schedule.`,
      remedy: 'Give the tool more CPU, lower --rate, or use --threads.',
    };
  }
  return {
    grade: neverSent / planned >= SHORT_INVALID ? 'invalid' : 'suspect',
    code: 'sends_short_of_plan',
    text: `${how} were still waiting for a free connection when the run ended: the backlog grew, so the percentiles tell the length of the run.`,
    remedy: 'Lower --rate to what the target can take, or raise --concurrency.',
  };
}

/** @type {Rule} */
function backlogGrowing(observed) {
  const { backlog, planned } = observed;
  const [, second, third, last] = backlog.quarterMins;
  if (isShort(observed) || second === null || third === null || last === null) return null;
  if (last < Math.max(GROWN_LEAST, GROWN_SHARE * planned)) return null;
  if (last < GROWTH * third || third < GROWTH * second || second <= 0) return null;
  return {
    grade: 'suspect',
    code: 'backlog_growing',
    text: `The backlog still grew when the last requests became due: ${formatCount(backlog.atEnd)} were due and not answered, so the percentiles tell the length of the run.`,
    remedy: 'Lower --rate to what the target can take, or raise --concurrency.',
  };
}

/** @type {Rule} */
function stillChanging({ latencyDrift, rateDrift }) {
  const drift = latencyDrift ?? rateDrift;
  if (drift === null) return null;
  const where = drift.stage === undefined ? 'over the run' : `in the stage ${drift.stage}`;
  const what =
    drift === latencyDrift
      ? `the median response time went from ${formatDuration(drift.from)} to ${formatDuration(drift.to)}`
      : `the rate went from ${Math.round(drift.from)}/s to ${Math.round(drift.to)}/s`;
  return {
    grade: 'suspect',
    code: 'still_changing',
    text: `The target had not settled: ${what} ${where}, so the figures depend on when it ended.`,
    remedy:
      drift.stage === undefined
        ? 'Raise --warmup until it has settled, or --duration to cover the whole change.'
        : 'Let another stage come before it, in which the target settles, or make it long enough to cover the whole change.',
  };
}

/** @type {Rule} */
function connectionSetup({ dialled, sent }) {
  if (sent === 0 || dialled / sent < DIALLED_SUSPECT) return null;
  return {
    grade: 'suspect',
    code: 'connection_setup',
    text: `${formatCount(dialled)} of ${formatCount(sent)} requests had to open a connection first, and their latency holds that.`,
    remedy: 'Let the target keep connections open for longer, or raise --rate so that they do not lie idle.',
  };
}

/** @type {Rule} */
function mostlyUnchecked({ unchecked, succeeded }) {
  if (unchecked === 0 || unchecked / succeeded < UNCHECKED_SUSPECT) return null;
  return {
    grade: 'suspect',
    code: 'mostly_unchecked',
    text: `${formatCount(unchecked)} of ${formatCount(succeeded)} successful answers came too fast to be checked, and count as successes by their HTTP status alone.`,
    remedy: 'Lower --rate or --concurrency, use --threads, or give the tool more CPU.',
  };
}

/** @type {Rule} */
function tooFewSamples({ response }) {
  if (response.totalCount === 0 || response.totalCount >= MIN_SAMPLES) return null;
  return {
    grade: 'suspect',
    code: 'too_few_samples',
    text: `Only ${formatCount(response.totalCount)} requests: with fewer than ${MIN_SAMPLES}, p99 is just the slowest.`,
    remedy: 'Raise --duration, --requests or --rate.',
  };
}
