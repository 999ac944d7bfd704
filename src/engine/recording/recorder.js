/** Sample -> histograms and counters: a Tally. The operation's `classify` classifies a response. */
import { recordMs } from '../../common/histogram.js';
import { createStageFinder, stageTimesOf } from '../../plan/stages.js';
import { createCurrentSecond } from './seconds.js';
import { createSpans } from './spans.js';
import { addTimes, countVerification, createTally, increment, outcomeOf, packTally } from './tally.js';
/** @import { Classify, Classification } from '../../operations/index.js' */
/** @import { LoadPlan } from '../../plan/load.js' */
/** @import { openReader, Sample, Tail } from './ring.js' */
/** @import { Wakes } from '../watch/wakes.js' */
/** @import { SecondRow } from './seconds.js' */
/** @import { CellTally, OutcomeTally, Recorded } from './tally.js' */

/** @typedef {ReturnType<typeof packTally>} PackedTally */
/**
 * @typedef {object} Report a recorder's report during the run
 * @property {number} atMs since time zero: the report covers all requests done before
 * @property {PackedTally} tally
 * @property {SecondRow[]} rows seconds that have ended since the last report
 * @property {SecondRow | null} open the current second so far; null: empty
 */

/** Outcomes that the engine itself assigns, for every operation. */
export const ENGINE_OUTCOMES = Object.freeze({
  unchecked: 'successful response, but not checked: the recorder could not keep up',
  check_failed: 'the tool could not check the response; please report it',
  timeout: 'no complete response within the timeout',
  tool_late:
    'no complete response within twice the timeout, but the tool itself may have been late by more than the timeout',
  cut_off: 'still in flight when the run was cut off',
  never_sent: 'due, but still waiting for a free connection when the run ended',
});

/** The operation's check threw an error. @type {Classification} */
const CHECK_FAILED = Object.freeze({ outcome: 'check_failed', success: false, verification: 'failed' });
/** @type {Classification} */
const UNCHECKED = Object.freeze({ outcome: 'unchecked', success: true, verification: null });
/** Replaces a refusal's body if the recorder cannot keep up. */
const NO_BODY = new Uint8Array(0);

/**
 * @param {object} context @param {{name: string, classify: Classify}[]} context.operations
 * @param {number} context.warmupMs earlier samples count as warm-up only
 * @param {number} context.shards of the whole plan, including other machines
 * @param {number | null} context.measuredMs planned length of the measured phase, if known
 * @param {LoadPlan['stages']} [context.stages] @param {(row: SecondRow) => void} context.onSecond at its end
 * @param {(operation: number, kept: unknown) => void} [context.onKept]
 * @param {Pick<Wakes, 'delays'>} [context.wakes]
 */
export function createRecorder(context) {
  const { operations, warmupMs, shards, measuredMs, stages = null, onSecond, onKept, wakes } = context;
  const times = stageTimesOf({ stages }, measuredMs);
  const stageAt = createStageFinder(times);
  const names = operations.map(({ name }) => name);
  const tally = createTally(names, times.length);
  const { cells, lag, readLate, displaced } = tally;
  /** Seconds of several shards get merged, so each keeps its histogram. */
  const keepsHistograms = shards > 1;
  const spans = keepsHistograms ? null : createSpans();
  const current = createCurrentSecond();

  /** @param {Sample} sample @returns {Classification} */
  function classifySample({ operation, failure, status, body, index, receivedAt }) {
    if (failure !== null) return { outcome: failure, success: false, verification: null };
    const { classify } = operations[operation];
    try {
      if (body !== null) return classify(status, body, index, receivedAt);
      if (classify.byStatus !== undefined) return classify.byStatus(status) ?? UNCHECKED;
      return status >= 200 && status < 300 ? UNCHECKED : classify(status, NO_BODY, index, receivedAt);
    } catch {
      return CHECK_FAILED;
    }
  }

  /** @param {boolean} [isLast] */
  function closeSecond(isLast) {
    const row = current.row(keepsHistograms);
    onSecond(spans === null ? row : { ...row, ...spans.add(row.second, current.responses(), isLast) });
    current.next();
  }

  /** @param {number} ms from the start of the measured phase */
  function closeSecondsBefore(ms) {
    while ((current.second() + 1) * 1000 <= ms) closeSecond();
  }

  /** Its histogram covers the current span so far. */
  function openRow() {
    if (current.isEmpty() && !spans?.isOpen()) return null;
    const row = current.row(keepsHistograms);
    return spans === null ? row : { ...row, ...spans.copy().add(row.second, current.responses(), true) };
  }

  /** Also classifies it: the operation may keep an item. @param {CellTally<Recorded>} cell @param {Sample} sample */
  function recordWarmup(cell, sample) {
    if (sample.failure === 'never_sent') return;
    cell.warmup++;
    const { kept } = classifySample(sample);
    if (kept !== undefined) onKept?.(sample.operation, kept);
  }

  return {
    /** @param {Sample} sample */
    record(sample) {
      if (sample.intended < warmupMs) return recordWarmup(cells[sample.operation], sample);
      const dueMs = sample.intended - warmupMs;
      const stage = stageAt(dueMs);
      const cell = cells[stage * operations.length + sample.operation];
      const classification = classifySample(sample);
      const outcome = outcomeOf(cell, classification);
      const { latency } = outcome;
      outcome.count++;
      const { intended, sent, done, sendLateMs, carriedMs, readLateMs } = sample;
      recordMs(latency.response, done - intended);
      recordMs(latency.ownResponse, done - intended - sendLateMs - carriedMs - readLateMs);
      if (sample.failure === 'never_sent') {
        cell.neverSentDue++;
        return;
      }
      recordMs(latency.service, done - sent);
      recordMs(latency.ownService, done - sent - readLateMs);
      recordMs(readLate, readLateMs);
      recordMs(latency.sendLag, sent - intended);
      if (sample.failure === null) recordPhases(latency, sample);
      recordMs(lag, sendLateMs);
      displaced.second += displacedIn(1000, sample);
      displaced.tenth += displacedIn(100, sample);
      countVerification(cell.verification, classification);
      if (classification.kept !== undefined) onKept?.(sample.operation, classification.kept);

      const doneMs = done - warmupMs;
      closeSecondsBefore(doneMs);
      current.add(classification, done - intended, sent - intended);
      increment(cell.perSecond.sent, sent - warmupMs);
      increment(classification.success ? cell.perSecond.succeeded : cell.perSecond.failed, doneMs);
      if (!classification.success) return;
      cell.lastSuccessMs = Math.max(cell.lastSuccessMs, doneMs);
      if (doneMs > times[stage].endMs) cell.successesAfter++;
      addTimes(cell.successTimes, times[stage], { due: dueMs, done: doneMs });
    },
    /** @param {number} ms since time zero: all samples done before it are recorded */
    advance(ms) {
      closeSecondsBefore(ms - warmupMs);
    },
    /** Of the measured phase. @param {number} cell index in the tally's list @param {Pick<CellTally, 'dropped' | 'rested'>} counts */
    addUnsent(cell, { dropped, rested }) {
      cells[cell].dropped += dropped;
      cells[cell].rested += rested;
    },
    /** Post it immediately. @returns {Pick<Report, 'tally' | 'open'>} up to now */
    soFar: () => ({ tally: packTally(tally, wakes?.delays()), open: openRow() }),
    /** Emits the last second, even if incomplete. @returns {PackedTally} */
    finish() {
      if (!current.isEmpty() || spans?.isOpen()) closeSecond(true);
      for (const [i, { verification }] of cells.entries()) {
        verification.notes = operations[i % operations.length].classify.notes?.() ?? [];
      }
      return packTally(tally, wakes?.delays());
    },
  };
}

/** Without a loop, as it runs for each sample. @param {OutcomeTally<Recorded>['latency']} latency @param {Sample} sample */
function recordPhases(latency, { connect, tls, firstByte, transfer }) {
  if (connect > 0) recordMs(latency.connect, connect);
  if (tls > 0) recordMs(latency.tls, tls);
  if (firstByte > 0) recordMs(latency.firstByte, firstByte);
  if (transfer > 0) recordMs(latency.transfer, transfer);
}

/**
 * A request that would have waited a whole stretch for the target anyway counts as not displaced.
 * @param {number} stretchMs @param {Sample} sample
 * @returns {number} 0 to 1: probability that the late tool sent it in a later stretch than planned
 */
function displacedIn(stretchMs, { intended, sent, sendLateMs, carriedMs }) {
  const lateMs = Math.max(0, sendLateMs + carriedMs);
  return sent - lateMs - intended < stretchMs ? Math.min(1, lateMs / stretchMs) : 0;
}

/** Approximate samples per batch: a sender on the same core waits until they are recorded. */
const BATCH_SAMPLES = 20;
const [MIN_SLEEP_MS, MAX_SLEEP_MS] = [1, 20];
/** Report interval in run time; the recorder reads no clock. */
export const REPORT_EVERY_MS = 2000;
export const FIRST_REPORT_MS = 1000;

/**
 * Polls and sleeps, so that the sender need not wake this thread.
 * @param {object} context @param {ReturnType<typeof openReader>} context.reader
 * @param {ReturnType<typeof createRecorder>} context.recorder
 * @param {() => void} context.onTaken after each batch of samples
 * @param {((watermarkMs: number) => void) | null} [context.onReport] a report is due on all samples done
 *   before `watermarkMs` (since time zero); null: no reports
 * @param {Pick<Wakes, 'sleep'>} [context.wakes]
 * @returns {Tail} once all samples are recorded
 */
export function recordAll({ reader, recorder, onTaken, onReport = null, wakes }) {
  let ms = MAX_SLEEP_MS;
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
    const wantedMs = taken === 0 ? MAX_SLEEP_MS : (ms * BATCH_SAMPLES) / taken;
    ms = Math.min(MAX_SLEEP_MS, Math.max(MIN_SLEEP_MS, wantedMs));
    taken = 0;
    if (wakes === undefined || watermarkMs === 0) reader.sleep(ms);
    else wakes.sleep(ms, reader.sleep);
  }
}
