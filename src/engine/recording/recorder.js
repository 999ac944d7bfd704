/**
 * Sample -> histograms and counters: a Tally. Knows nothing of Vault: what a response means is the operation's
 * `classify`. Runs on a thread of its own, beside the sender (recorder-worker.js).
 */
import { encodeHistogram, recordMs } from '../../common/histogram.js';
import { createStageFinder, spansOf } from '../../plan/stages.js';
import { createSecond } from './seconds.js';
import { createSpans, spanLength } from './spans.js';
import { countVerification, createTally, increment, outcomeOf, packTally, secondOf } from './tally.js';
/** @import { PackedHistogram } from '../../common/histogram.js' */
/** @import { Classify, Verdict } from '../../operations/index.js' */
/** @import { LoadPlan } from '../../plan/load.js' */
/** @import { Sample, Tail } from './ring.js' */
/** @import { SecondRow } from './seconds.js' */
/** @import { CellTally, Tally } from './tally.js' */

/** @typedef {Tally<PackedHistogram>} PackedTally */
/**
 * @typedef {object} Report a recorder's report during the run
 * @property {number} atMs since time zero: all that was done before is in it
 * @property {PackedTally} tally
 * @property {SecondRow[]} rows seconds that have ended since the last report
 * @property {SecondRow | null} open the second that goes on, as far as it has come; null: nothing was done in it yet
 */

/** Outcomes that the engine itself gives, for every operation. */
export const ENGINE_OUTCOMES = Object.freeze({
  unchecked: 'answered with success, but not checked: the recorder could not keep up',
  check_failed: 'the check of the response itself failed; please report it',
  timeout: 'no whole response within the time-out',
  cut_off: 'still in flight when the run was ended at once',
  never_sent: 'due, but still waiting for a free connection when the run ended',
});

/** A response that the operation's own check fell over: never a success. @type {Verdict} */
const CHECK_FAILED = Object.freeze({ outcome: 'check_failed', success: false, verification: 'failed' });

/** @type {Verdict} */
const UNCHECKED = Object.freeze({ outcome: 'unchecked', success: true, verification: null });

/** When the recorder cannot keep up, the sender drops the body of a refusal, too. */
const NO_BODY = new Uint8Array(0);

/**
 * @param {object} context
 * @param {{name: string, classify: Classify}[]} context.operations
 * @param {number} context.warmupMs samples intended before are counted as warm-up only
 * @param {number} context.shards how many record the same run, here and on other machines
 * @param {number | null} context.measuredMs planned length of the measured part, where there is one
 * @param {LoadPlan['stages']} [context.stages]
 * @param {(row: SecondRow) => void} context.onSecond when it is over
 * @param {(operation: number, kept: unknown) => void} [context.onKept]
 */
export function createRecorder(context) {
  const { operations, warmupMs, shards, measuredMs, stages = null, onSecond, onKept } = context;
  const times = spansOf({ stages }, measuredMs);
  const stageAt = createStageFinder(times);
  const halves = times.map(({ startMs, endMs }) => (measuredMs === null ? 0 : (startMs + endMs) / 2));
  const names = operations.map(({ name }) => name);
  const tally = createTally(names, times.length);
  const { operations: cells, lag, readLate, displaced } = tally;
  const isPart = shards > 1;
  /** Where other shards' seconds are to be added to these, each needs a histogram of its own. */
  const spans = isPart ? null : createSpans();
  let current = createSecond(0);

  /** @param {Sample} sample @returns {Verdict} */
  function verdictOf({ operation, failure, status, body, index }) {
    if (failure !== null) return { outcome: failure, success: false, verification: null };
    const { classify } = operations[operation];
    try {
      return body === null ? withoutBody(classify, status, index) : classify(status, body, index);
    } catch {
      return CHECK_FAILED;
    }
  }

  /** @param {boolean} [isLast] */
  function closeSecond(isLast) {
    const row = current.row(isPart);
    onSecond(spans === null ? row : { ...row, ...spans.add(row.second, current.response, isLast) });
    current = createSecond(current.second + 1);
  }

  /** @param {number} ms from the start of the measured part */
  function closeSecondsBefore(ms) {
    while ((current.second + 1) * 1000 <= ms) closeSecond();
  }

  /** @returns {SecondRow | null} */
  function openRow() {
    if (current.empty()) return null;
    const row = current.row(isPart);
    const isOwn = !isPart && spanLength(row.second) === 1;
    return isOwn ? { ...row, histogram: encodeHistogram(current.response) } : row;
  }

  /** Counts and judges, so that what the request created is kept, but it is in no figure. @param {CellTally} cell @param {Sample} sample */
  function recordWarmup(cell, sample) {
    if (sample.failure === 'never_sent') return;
    cell.warmup++;
    const { kept } = verdictOf(sample);
    if (kept !== undefined) onKept?.(sample.operation, kept);
  }

  return {
    /** @param {Sample} sample */
    record(sample) {
      if (sample.intended < warmupMs) return recordWarmup(cells[sample.operation], sample);
      const stage = stageAt(sample.intended - warmupMs);
      const cell = cells[stage * operations.length + sample.operation];
      const verdict = verdictOf(sample);
      const outcome = outcomeOf(cell, verdict);
      const { latency } = outcome;
      outcome.count++;
      const { intended, sent, done, lag: sentLate, carried, late } = sample;
      recordMs(latency.response, done - intended);
      recordMs(latency.ownResponse, done - intended - sentLate - carried - late);
      if (sample.failure === 'never_sent') {
        cell.neverSentDue++;
        return;
      }
      recordMs(latency.service, done - sent);
      recordMs(latency.ownService, done - sent - late);
      recordMs(readLate, late);
      recordMs(latency.sendLag, sent - intended);
      recordMs(lag, sentLate);
      displaced.second += displacedIn(1000, sample);
      displaced.tenth += displacedIn(100, sample);
      countVerification(cell.verification, verdict);
      if (verdict.kept !== undefined) onKept?.(sample.operation, verdict.kept);

      const doneMs = done - warmupMs;
      closeSecondsBefore(doneMs);
      current.add(verdict, done - intended, sent - intended);
      increment(cell.perSecond.sent, secondOf(sent - warmupMs));
      increment(verdict.success ? cell.perSecond.succeeded : cell.perSecond.failed, secondOf(doneMs));
      if (!verdict.success) return;
      cell.lastSuccessMs = Math.max(cell.lastSuccessMs, doneMs);
      if (doneMs < halves[stage]) {
        cell.firstHalf.count++;
        cell.firstHalf.responseMs += done - intended;
      } else if (doneMs > times[stage].endMs) cell.successesAfter++;
    },
    /** @param {number} ms since time zero: every sample done before it has been recorded */
    advance(ms) {
      closeSecondsBefore(ms - warmupMs);
    },
    /** @param {number} cell place in the tally's list @param {number} count arrivals of the measured part that were not even attempted */
    addDropped(cell, count) {
      cells[cell].dropped += count;
    },
    /**
     * @returns {Pick<Report, 'tally' | 'open'>} of a run that goes on, to be posted at once; with the rows of all seconds that
     *   are over and the open one it adds up
     */
    soFar: () => ({ tally: packTally(tally), open: openRow() }),
    /** @returns {PackedTally} after the last second, full or not, was handed out */
    finish() {
      if (!current.empty() || spans?.isOpen()) closeSecond(true);
      for (const [i, { verification }] of cells.entries()) {
        verification.notes = operations[i % operations.length].classify.notes?.() ?? [];
      }
      return packTally(tally);
    },
  };
}

/** @param {Classify} classify @param {number} status @param {number} index @returns {Verdict} */
function withoutBody(classify, status, index) {
  if (classify.byStatus !== undefined) return classify.byStatus(status) ?? UNCHECKED;
  return status >= 200 && status < 300 ? UNCHECKED : classify(status, NO_BODY, index);
}

/**
 * A request that would have waited for the target for longer anyway is not the tool's to displace.
 * @param {number} stretchMs
 * @param {Sample} sample
 * @returns {number} 0 to 1: how likely it went out in another stretch than it should have
 */
function displacedIn(stretchMs, { intended, sent, lag, carried }) {
  const lateMs = Math.max(0, lag + carried);
  return sent - lateMs - intended < stretchMs ? Math.min(1, lateMs / stretchMs) : 0;
}

/**
 * Samples to be taken at once, about: where this thread and the sender's share a core, the sender waits for so many.
 */
const AT_ONCE = 20;
const [SHORTEST_SLEEP_MS, LONGEST_SLEEP_MS] = [1, 20];

/** Intervals of reports, in time of the run: no clock is read. */
export const REPORT_EVERY_MS = 2000;
export const FIRST_REPORT_MS = 1000;

/**
 * Polls and sleeps, so the sender need not wake this thread.
 * @param {object} context
 * @param {ReturnType<typeof import('./ring.js').openReader>} context.reader
 * @param {ReturnType<typeof createRecorder>} context.recorder
 * @param {() => void} context.onTaken after each lot of samples
 * @param {((watermarkMs: number) => void) | null} [context.onReport] it is time for a report: all that was done before `watermarkMs`,
 *   since time zero, is recorded. null: no reports
 * @returns {Tail} once everything that the sender wrote is recorded
 */
export function recordAll({ reader, recorder, onTaken, onReport = null }) {
  let ms = LONGEST_SLEEP_MS;
  let taken = 0;
  let reportMs = FIRST_REPORT_MS;
  for (;;) {
    const watermarkMs = reader.watermarkMs();
    const tail = reader.tail();
    const count = reader.take(recorder.record);
    recorder.advance(watermarkMs);
    onTaken();
    if (tail !== null) return tail;
    if (onReport !== null && watermarkMs >= reportMs) {
      onReport(watermarkMs);
      reportMs = watermarkMs + REPORT_EVERY_MS;
    }
    taken += count;
    if (count > 0) continue;
    const wantedMs = taken === 0 ? LONGEST_SLEEP_MS : (ms * AT_ONCE) / taken;
    ms = Math.min(LONGEST_SLEEP_MS, Math.max(SHORTEST_SLEEP_MS, wantedMs));
    taken = 0;
    reader.sleep(ms);
  }
}
