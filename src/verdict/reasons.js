/**
 * Every reason against a measurement, and every remark on one: its code, meaning, grade, when it applies, its text and its
 * remedy. Invalid means that the load that was asked for was not offered, or that the books do not balance; all else is a
 * remark. A figure's error bar already contains the effect that a remark names.
 */

import { formatCount, formatDuration, formatLatency, formatRate } from '../common/units.js';
import { percentileBar } from './bars.js';
import { failedAtLimits } from './observed.js';

/** @import { Measurement } from './measurement-schema.js' */
/** @import { Observed } from './observed.js' */

/** @typedef {'invalid' | 'remark'} Grade */
/**
 * @typedef {object} Rule
 * @property {string} meaning
 * @property {(observed: Observed) => {text: string, detail?: string, remedy: string, grade?: Grade} | null} find null: it does not apply;
 *   `text`: a sentence, `detail`: more of them
 */

/** Of planned requests: dropped or left by the tool, or failed at a limit of its machine. More is another load than was asked for. */
const NOT_OFFERED = 0.01;

/** Of the requests, that the tool sent in another second, or in another tenth of one, than they were due: the tolerated departure from the rate, and in burstiness. */
const OTHER_SECOND = 0.05;
const OTHER_TENTH = 0.25;

/** A p99 of which this share and this time may be the tool's own gets a remark. */
const LATE_SHARE = 0.1;
const LATE_MS = 1;

/** A machine that is idle for less has nothing to spare; in what share of the time some thread then waited for a core. */
const IDLE = 0.05;
const PRESSURE = 0.5;

/** A backlog grows when each quarter's minimum is so much more than that of the quarter before, and not just a few. */
const GROWTH = 1.2;
const GROWN_SHARE = 0.01;
const GROWN_MIN = 5;

/** Requests that opened a connection first: from this share on the p99 holds some. */
const DIALLED = 0.01;

/** Responses that were not checked: from this share on they are most. */
const UNCHECKED = 0.5;

/** @param {Pick<Observed, 'model'>} observed */
const moreCpu = ({ model }) =>
  `Give the tool more CPU, lower ${model === 'open' ? '--rate' : '--concurrency'}, or use --threads.`;

/** @satisfies {Record<string, Rule>} */
export const REASONS = Object.freeze({
  nothing_measured: {
    meaning: 'no request was sent in the measured part',
    find: ({ response, outcomes }) =>
      response.totalCount > 0 || (outcomes.dropped ?? 0) > 0
        ? null
        : {
            grade: 'invalid',
            text: 'No request was sent in the measured part.',
            remedy: 'Let it run for longer, or lower --warmup.',
          },
  },
  load_not_offered: {
    meaning:
      'the load that was sent was not the one that was asked for, for reasons of the tool or its machine',
    find: (observed) => {
      const found = [left, notInTime, droppedLate, displaced, atLimits].flatMap((one) => one(observed) ?? []);
      return found.length === 0 ? null : { grade: 'invalid', ...found[0] };
    },
  },
  parts_apart: {
    meaning: 'the parts of a split plan (--shard) did not send at the same time',
    find: ({ apart }) => apart ?? null,
  },
  bookkeeping: {
    meaning: 'the figures do not add up: a fault of the tool',
    find: ({ problems }) =>
      problems === undefined || problems.length === 0
        ? null
        : {
            grade: 'invalid',
            text: `The figures do not add up: ${problems.slice(0, 3).join('; ')}.`,
            remedy: 'Please report it, with the result file.',
          },
  },
  busy_machine: {
    meaning:
      'the machine was busy: part of the latency may be the tool’s own, or the target waited for a core',
    find: busyMachine,
  },
  backlog_growing: {
    meaning: 'more and more requests waited: the percentiles depend on the length of the run',
    find: backlogGrowing,
  },
  still_changing: {
    meaning: 'latency or rate had not settled: the figures depend on when the run ended',
    find: stillChanging,
  },
  connection_setup: {
    meaning: 'requests opened a connection first, and their latency includes that',
    find: ({ dialled, sent }) =>
      sent === 0 || dialled / sent < DIALLED
        ? null
        : {
            text: `${formatCount(dialled)} of ${formatCount(sent)} requests opened a connection first, and their latency includes that.`,
            remedy:
              'Let the target keep connections open for longer, or raise --rate so that they are not idle.',
          },
  },
  unchecked: {
    meaning: 'most responses were counted, but not checked',
    find: ({ unchecked, succeeded }) =>
      unchecked === 0 || unchecked / succeeded < UNCHECKED
        ? null
        : {
            text: `${formatCount(unchecked)} of ${formatCount(succeeded)} successful responses came too fast to be checked, and count as successes by their HTTP status alone.`,
            remedy: 'Lower --rate or --concurrency, use --threads, or give the tool more CPU.',
          },
  },
});

/** @param {Observed} observed @returns {Measurement} */
export function judgeMeasurement(observed) {
  const reasons = Object.entries(REASONS).flatMap(([code, { find }]) => {
    const found = find(observed);
    return found === null ? [] : [{ code, grade: /** @type {Grade} */ ('remark'), ...found }];
  });
  const isInvalid = reasons.some(({ grade }) => grade === 'invalid');
  return { verdict: isInvalid ? 'invalid' : 'valid', reasons };
}

/** @param {Observed} observed */
function left({ planned, neverSent, interrupted, leftWhileFree, model }) {
  if (interrupted || !leftWhileFree || neverSent < NOT_OFFERED * planned) return null;
  return {
    text: `${formatCount(neverSent)} of ${formatCount(planned)} planned requests were not sent although connections were free.`,
    remedy: moreCpu({ model }),
  };
}

/**
 * Where the target could not keep up either, backlogGrowing is the remark instead.
 *
 * @param {Observed} observed
 */
function notInTime({ planned, neverSent, forgone, model }) {
  const isFew = (/** @type {number} */ count) => count === 0 || count < NOT_OFFERED * planned;
  if (isFew(forgone) || !isFew(Math.max(0, neverSent - forgone))) return null;
  return {
    text: `The tool was late, so up to ${formatCount(forgone)} of ${formatCount(planned)} planned requests found no free connection in time.`,
    remedy: moreCpu({ model }),
  };
}

/** @param {Observed} observed */
function droppedLate({ droppedLate: count, planned, model }) {
  if (count === 0 || count < NOT_OFFERED * planned) return null;
  return {
    text: `The tool was late and dropped ${formatCount(count)} of ${formatCount(planned)} arrivals, which the target never saw.`,
    remedy: moreCpu({ model }),
  };
}

/** @param {Observed} observed */
function displaced({ model, displaced: { second, tenth }, sent }) {
  if (model === 'closed' || sent === 0) return null;
  const isSecond = second > OTHER_SECOND * sent;
  if (!isSecond && tenth <= OTHER_TENTH * sent) return null;
  const [count, when] = isSecond ? [second, 'second'] : [tenth, 'tenth of a second'];
  return {
    text: `The tool was late and sent about ${formatCount(Math.round(count))} of ${formatCount(sent)} requests in a different ${when} than planned, so the target received a different load.`,
    remedy: moreCpu({ model }),
  };
}

/** @param {Observed} observed */
function atLimits({ outcomes, sent }) {
  const count = failedAtLimits(outcomes);
  if (count === 0 || count < NOT_OFFERED * sent) return null;
  return {
    text: `${formatCount(count)} of ${formatCount(sent)} requests failed because this machine had no open file or local port left for them.`,
    remedy: 'Raise the limit of open files (ulimit -n), lower --concurrency, or wait for TIME_WAIT to pass.',
  };
}

/** @param {Observed} observed */
function busyMachine(observed) {
  const { response, ownResponse, targetIsLocal, machine } = observed;
  if (response.totalCount === 0) return null;
  const { value, tool } = percentileBar({ reported: response, own: ownResponse }, 0.99);
  const isLate = tool >= LATE_MS && tool > LATE_SHARE * value;
  const isFull = targetIsLocal && (machine.idleShare ?? 1) < IDLE && (machine.pressureShare ?? 0) >= PRESSURE;
  if (!isLate && !isFull) return null;
  const own = `up to ${formatLatency(tool)} of the p99 may be this tool's own`;
  const detail = [
    isFull && isLate ? 'The target shares this machine, and its latency includes its waits for a core.' : '',
    cause(observed),
  ].filter((text) => text !== '');
  return {
    text: `This machine was busy: ${isLate ? own : 'the target, which shares it, had to wait for a core'}.`,
    ...(detail.length === 0 ? {} : { detail: detail.join(' ') }),
    remedy: isFull
      ? 'Run the tool on another machine than the target, or end what else runs.'
      : moreCpu(observed),
  };
}

/** @param {Observed} observed @returns {string} a sentence, or nothing */
function cause({ gc, runQueueShare, busyShare }) {
  if (runQueueShare !== null && runQueueShare >= 0.01)
    return `The sender waited for a CPU core for ${(runQueueShare * 100).toPrecision(2)} % of the time.`;
  if (busyShare >= 0.9) return `The sender was busy for ${Math.floor(busyShare * 100)} % of the time.`;
  if (gc.longestMs >= LATE_MS)
    return `The sender collected garbage for up to ${formatDuration(gc.longestMs)}.`;
  return '';
}

/** @param {Observed} observed */
function backlogGrowing({ backlog, planned, neverSent, interrupted, leftWhileFree, forgone }) {
  const remedy = 'Lower --rate to what the target can take, or raise --concurrency.';
  const unserved = neverSent - forgone;
  if (!interrupted && !leftWhileFree && unserved > 0 && unserved >= NOT_OFFERED * planned) {
    return {
      text: `${formatCount(neverSent)} of ${formatCount(planned)} planned requests still waited for a free connection when the run ended: the target did not keep up, and the percentiles depend on the length of the run.`,
      remedy,
    };
  }
  const [, second, third, last] = backlog.quarterMins;
  if (second === null || third === null || last === null) return null;
  if (last < Math.max(GROWN_MIN, GROWN_SHARE * planned)) return null;
  if (last < GROWTH * third || third < GROWTH * second || second <= 0) return null;
  return {
    text: `The backlog still grew when the last requests became due: ${formatCount(backlog.atEnd)} had no response, and the percentiles depend on the length of the run.`,
    remedy,
  };
}

/** @param {Observed} observed */
function stillChanging({ latencyDrift, rateDrift }) {
  const drift = latencyDrift ?? rateDrift;
  if (drift === null) return null;
  const where = drift.stage === undefined ? 'over the run' : `in the stage ${drift.stage}`;
  const change =
    drift === latencyDrift
      ? `the median response time went from ${formatDuration(drift.from)} to ${formatDuration(drift.to)}`
      : `the rate went from ${formatRate(drift.from)} to ${formatRate(drift.to)}`;
  return {
    text: `The target had not settled: ${change} ${where}, so the figures depend on when the run ended.`,
    remedy:
      drift.stage === undefined
        ? 'Raise --warmup until it has settled, or --duration to cover the whole change.'
        : 'Add a stage before it for the target to settle, or lengthen it to cover the whole change.',
  };
}
