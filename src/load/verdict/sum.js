/**
 * Can the sum of the parts of a plan (`--shard`) be believed? No more than its worst part can; and it is judged itself, since
 * some things only the sum tells: whether there are enough requests, say, or whether the parts sent at the same time.
 */
import { sumHistograms } from '../../histogram.js';
import { total } from '../../results/merge.js';
import { partName } from '../../shard-part.js';
import { formatDuration } from '../../units.js';
import { mergeBacklogs } from '../watch/backlog.js';
import { judgeMeasurement } from './judge.js';
import { describeObserved } from './observed.js';
import { driftsOf } from './window.js';

/** @typedef {import('./observed.js').Observed} Observed */
/** @typedef {import('./judge.js').Reason} Reason */
/** @typedef {import('../../results/parts/parts.js').Part} Part */
/** @typedef {import('../../results/schema.js').Measurement} Measurement */

/** From the mildest on. */
const VERDICTS = /** @type {const} */ (['valid', 'suspect', 'invalid']);

/** A part has a share of the requests only: with more of them these may look otherwise. */
const JUDGED_ON_SUM = Object.freeze([
  'nothing_measured',
  'too_few_samples',
  'still_changing',
  'mostly_unchecked',
  'connection_setup',
]);

/** What starts may differ by: clocks of machines, and milliseconds. */
const TOGETHER_MS = 1000;

/** Several machines have no figures in common; the parts' own verdicts go by each. */
const NO_MACHINE = Object.freeze({
  wallMs: 0,
  processCpuMs: 0,
  cores: 0,
  idleShare: null,
  pressureShare: null,
});

/**
 * What one run of all the threads of all the parts would have observed.
 *
 * @param {object} sum
 * @param {import('../../plan.js').Plan} sum.plan
 * @param {Part[]} sum.parts
 * @param {import('../../results/merge.js').MergedOperation[]} sum.operations
 * @param {Pick<Observed, 'lag' | 'unlagged' | 'displaced'>} sum.lateness
 * @param {import('../../results/schema.js').OperationBlock} sum.block
 * @param {import('../../results/build.js').RunFacts} sum.facts
 * @param {import('../../results/merge.js').Second[]} sum.seconds
 * @returns {Observed}
 */
export function observeSum({ plan: { load }, parts, operations, lateness, block, facts, seconds }) {
  const { planned, neverSent, sent, succeeded } = block.totals;
  const outcomes = operations.flatMap((operation) => Object.values(operation.outcomes));
  const all = (/** @type {'response' | 'service'} */ series) =>
    sumHistograms(outcomes.map(({ latency }) => latency[series]));
  const watches = parts.map(({ merge }) => merge.watch);
  return {
    model: load.model,
    threads: load.threads,
    interrupted: facts.interrupted,
    planned,
    neverSent,
    sent,
    succeeded,
    unchecked: block.verification.unchecked,
    outcomes: block.outcomes,
    response: all('response'),
    service: all('service'),
    ...driftsOf(load, facts, seconds),
    ...lateness,
    reaction: sumHistograms(watches.map(({ reaction }) => reaction)),
    gc: {
      count: total(watches.map(({ gc }) => gc.count)),
      totalMs: total(watches.map(({ gc }) => gc.totalMs)),
      longestMs: Math.max(...watches.map(({ gc }) => gc.longestMs)),
    },
    busyShare: Math.max(...watches.map(({ busyShare }) => busyShare)),
    spinShare: Math.max(...watches.map(({ spinShare }) => spinShare)),
    runQueueShare: known(
      watches.map(({ runQueueShare }) => runQueueShare),
      (shares) => Math.max(...shares),
    ),
    droppedLate: total(watches.map(({ droppedLate }) => droppedLate)),
    leftWhileFree: watches.some(({ leftWhileFree }) => leftWhileFree),
    dialled: total(watches.map(({ dialled }) => dialled)),
    backlog: mergeBacklogs(watches.map(({ backlog }) => backlog)),
    machine: NO_MACHINE,
    targetIsLocal: false,
  };
}

/**
 * @param {Observed} observed
 * @param {Part[]} parts
 * @param {{windowMs: number}} facts
 * @returns {Measurement}
 */
export function judgeSum(observed, parts, { windowMs }) {
  const apart = startedApart(parts, windowMs);
  const own = parts.map((part) => ({ part, ...verdictOf(part) }));
  const worstPart = worst([...(apart === null ? [] : [apart.grade]), ...own.map(({ verdict }) => verdict)]);
  const sum = judgeMeasurement(observed);
  const verdict = worst([worstPart, sum.verdict]);
  // What a part has said already need not be said of the sum, unless that is worse.
  const said = verdict === worstPart ? own.flatMap(({ reasons }) => reasons.map(({ code }) => code)) : [];
  return {
    verdict,
    reasons: [
      ...(apart === null ? [] : [{ code: apart.code, text: apart.text, remedy: apart.remedy }]),
      ...own.flatMap(({ part, reasons }) => reasons.map((reason) => prefixed(reason, part))),
      ...sum.reasons.filter(({ code }) => !said.includes(code)),
    ],
    observed: describeSum(observed, parts),
  };
}

/**
 * @param {Part} part
 * @returns {Pick<Measurement, 'verdict' | 'reasons'>} as far as a part can tell
 */
function verdictOf({ result: { measurement } }) {
  const reasons = measurement.reasons.filter(({ code }) => !JUDGED_ON_SUM.includes(code));
  if (reasons.length === measurement.reasons.length) return { verdict: measurement.verdict, reasons };
  // Of what is left out, nothing but this one makes a measurement invalid.
  const isEmpty = measurement.reasons.some(({ code }) => code === 'nothing_measured');
  if (reasons.length === 0) return { verdict: 'valid', reasons };
  return { verdict: isEmpty ? 'suspect' : measurement.verdict, reasons };
}

/**
 * @param {Measurement['reasons'][number]} reason
 * @param {Part} part
 */
function prefixed(reason, { shard }) {
  const name = partName(shard);
  return { ...reason, text: `${name[0].toUpperCase()}${name.slice(1)}: ${reason.text}` };
}

/**
 * Seconds are added by their number, whenever they were.
 *
 * @param {Part[]} parts
 * @param {number} windowMs
 * @returns {Reason | null}
 */
function startedApart(parts, windowMs) {
  const starts = parts.map(({ result }) => Date.parse(result.startedAt));
  const [first, last] = [Math.min(...starts), Math.max(...starts)];
  const apartMs = last - first;
  if (apartMs <= TOGETHER_MS) return null;
  const [early, late] = [first, last].map((start) => partName(parts[starts.indexOf(start)].shard));
  return {
    grade: apartMs > windowMs / 2 ? 'invalid' : 'suspect',
    code: 'parts_apart',
    text: `By their clocks, ${late} began to send ${formatDuration(apartMs)} after ${early}, so the target was not under the whole load all the time.`,
    remedy: 'Give all parts the same --start-at, and see that the clocks of the machines agree.',
  };
}

/**
 * @param {Observed} observed
 * @param {Part[]} parts
 * @returns {NonNullable<Measurement['observed']>} of several machines: the CPU time of all, the worst of other shares
 */
function describeSum(observed, parts) {
  const described = describeObserved(observed);
  const machines = parts.map(({ merge }) => merge.watch.machine);
  return {
    ...described,
    cpu: {
      ...described.cpu,
      processCores: known(
        machines.map(({ wallMs, processCpuMs }) => (wallMs > 0 ? processCpuMs / wallMs : null)),
        total,
      ),
      machineIdleShare: known(
        machines.map(({ idleShare }) => idleShare),
        (shares) => Math.min(...shares),
      ),
      machinePressureShare: known(
        machines.map(({ pressureShare }) => pressureShare),
        (shares) => Math.max(...shares),
      ),
    },
  };
}

/**
 * @param {(number | null)[]} values
 * @param {(values: number[]) => number} of
 * @returns {number | null} null where one of them is not known
 */
function known(values, of) {
  const there = values.flatMap((value) => value ?? []);
  return there.length < values.length ? null : of(there);
}

/**
 * @param {Measurement['verdict'][]} verdicts
 * @returns {Measurement['verdict']}
 */
function worst(verdicts) {
  return VERDICTS[Math.max(...verdicts.map((verdict) => VERDICTS.indexOf(verdict)))];
}
