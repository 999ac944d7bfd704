/**
 * Sample -> histograms and counters -> Snapshot. Knows nothing of Vault: what an answer means is the operation's
 * `classify`. Runs on a thread of its own, beside the sender (thread-worker.js).
 */
import { createHistogram, encodeHistogram, recordMs } from '../../common/histogram.js';
import { createStageFinder, spansOf } from '../../plan/stages.js';
import { createSpans, spanLength } from './spans.js';
import {
  countVerification,
  createBlock,
  createSecond,
  increment,
  outcomeOf,
  secondOf,
  snapshotOf,
} from './tally.js';

/** @typedef {import('../../operations/index.js').Verdict} Verdict */
/** @typedef {import('../../operations/index.js').Classify} Classify */
/**
 * @typedef {object} OutcomeSnapshot
 * @property {boolean} success
 * @property {number} count
 * @property {Record<'response' | 'service' | 'sendLag' | 'ownResponse' | 'ownService', string>} latency encoded histograms; service and
 *   sendLag cover the requests that were sent; ownResponse, ownService: the target's own times at least, had the tool been late at nothing
 */
/**
 * @typedef {object} OperationSnapshot
 * @property {string} name
 * @property {number} stage in which its requests were due; 0 where the plan has no stages
 * @property {Record<string, OutcomeSnapshot>} outcomes
 * @property {{checked: number, passed: number, unchecked: number, failures: Record<string, number>, notes: string[]}} verification
 * @property {number} dropped
 * @property {number} neverSentDue were due, but still waiting when the run ended
 * @property {number} warmup sent before the measured part
 * @property {{sent: number[], succeeded: number[], failed: number[]}} perSecond from the start of the measured part
 * @property {number} lastSuccessMs when the last success was complete, from the start of the measured part; 0 without
 * @property {{count: number, responseMs: number}} firstHalf successes done in the first half of the stage, and their response times' sum
 * @property {number} successesAfter done after the stage was to end
 */
/**
 * @typedef {object} Snapshot plain and mergeable without loss
 * @property {OperationSnapshot[]} operations all of the first stage, then all of the next
 * @property {string} lag encoded histogram: how late the tool itself sent
 * @property {string} readLate encoded histogram: how late it read responses, at most
 * @property {Displaced} displaced
 */
/**
 * @typedef {object} Displaced measured requests that the tool, being late, sent in another stretch of time than it should have: how
 *   many are to be expected, wherever in a stretch they were due
 * @property {number} second in another second
 * @property {number} tenth in another tenth of a second
 */
/**
 * @typedef {object} SecondRow one second of the measured part; times are ms and of what was done in it, null: nothing was
 * @property {number} second
 * @property {number} succeeded
 * @property {number} failed
 * @property {Record<string, number>} failures by outcome
 * @property {number | null} p50 of the response times
 * @property {number | null} p90
 * @property {number | null} p99
 * @property {number | null} max
 * @property {number | null} lag99 p99 of the send lags
 * @property {number | null} lagMax
 * @property {string | null} histogram encoded: the response times of this second and, in a long run, those before it
 * @property {number} histogramSeconds that it covers, this one included (see engine/recording/spans.js)
 * @property {string | null} lag encoded: the send lags, where other shards' have to be added to them
 */
/**
 * @typedef {object} Report what a recorder has to say while the run goes on
 * @property {number} atMs since time zero: all that was done before is in it
 * @property {Snapshot} snapshot
 * @property {SecondRow[]} rows seconds that have ended since the last report
 * @property {SecondRow | null} open the second that goes on, as far as it has come; null: nothing was done in it yet
 */

/** Outcomes that the engine itself gives, for every operation. */
export const ENGINE_OUTCOMES = Object.freeze({
  unchecked: 'answered with success, but not checked: the recorder could not keep up',
  check_failed: 'the check of the answer itself failed; please report it',
  timeout: 'no whole answer within the time-out',
  cut_off: 'still in flight when the run was ended at once',
  never_sent: 'due, but still waiting for a free connection when the run ended',
});

/** An answer that the operation's own check fell over: never a success. @type {Verdict} */
const CHECK_FAILED = Object.freeze({ outcome: 'check_failed', success: false, verification: 'failed' });

/** What a refusal says beside its status is not kept either when the recorder cannot keep up. */
const NO_BODY = new Uint8Array(0);

/** @type {Verdict} */
const UNCHECKED = Object.freeze({ outcome: 'unchecked', success: true, verification: null });

/**
 * @param {string[]} operations names
 * @param {number} stages
 * @returns {Snapshot} of a run in which nothing was done yet
 */
export function emptySnapshot(operations, stages) {
  const none = encodeHistogram(createHistogram());
  return {
    operations: Array.from({ length: stages }, (_, stage) =>
      operations.map((name) => snapshotOf(createBlock(name, stage))),
    ).flat(),
    lag: none,
    readLate: none,
    displaced: { second: 0, tenth: 0 },
  };
}

/**
 * @param {object} context
 * @param {{name: string, classify: Classify}[]} context.operations
 * @param {number} context.warmupMs samples intended before are counted as warm-up only
 * @param {number} context.shards how many record the same run, here and on other machines
 * @param {number | null} context.measuredMs planned length of the measured part, where there is one
 * @param {import('../../plan/plan.js').LoadPlan['stages']} [context.stages]
 * @param {(row: SecondRow) => void} context.onSecond when it is over
 * @param {(operation: number, kept: unknown) => void} [context.onKept]
 */
export function createRecorder({
  operations,
  warmupMs,
  shards,
  measuredMs,
  stages = null,
  onSecond,
  onKept,
}) {
  const times = spansOf({ stages }, measuredMs);
  const stageAt = createStageFinder(times);
  const halves = times.map(({ startMs, endMs }) => (measuredMs === null ? 0 : (startMs + endMs) / 2));
  const blocks = times.flatMap((_, stage) => operations.map(({ name }) => createBlock(name, stage)));
  const lag = createHistogram();
  const readLate = createHistogram();
  const displaced = { second: 0, tenth: 0 };
  const isPart = shards > 1;
  /** Where other shards' seconds are to be added to these, each needs a histogram of its own. */
  const spans = isPart ? null : createSpans();
  let current = createSecond(0);

  /** @param {import('./ring.js').Sample} sample */
  function verdictOf({ operation, failure, status, body, index }) {
    if (failure !== null) return failed(failure);
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

  /** @returns {Snapshot} shares what goes on changing with this recorder: to be sent or encoded at once */
  function snapshot() {
    return {
      operations: blocks.map(snapshotOf),
      lag: encodeHistogram(lag),
      readLate: encodeHistogram(readLate),
      displaced: { ...displaced },
    };
  }

  /**
   * Counted, and judged so that what it leaves behind is kept and known, but in no figure.
   *
   * @param {ReturnType<typeof createBlock>} block
   * @param {import('./ring.js').Sample} sample
   */
  function recordWarmup(block, sample) {
    if (sample.failure === 'never_sent') return;
    block.warmup++;
    const { kept } = verdictOf(sample);
    if (kept !== undefined) onKept?.(sample.operation, kept);
  }

  return {
    /** @param {import('./ring.js').Sample} sample */
    record(sample) {
      if (sample.intended < warmupMs) return recordWarmup(blocks[sample.operation], sample);
      const stage = stageAt(sample.intended - warmupMs);
      const block = blocks[stage * operations.length + sample.operation];
      const verdict = verdictOf(sample);
      const outcome = outcomeOf(block, verdict);
      outcome.count++;
      recordMs(outcome.response, sample.done - sample.intended);
      const { lag: sentLate, carried, late } = sample;
      recordMs(outcome.ownResponse, sample.done - sample.intended - sentLate - carried - late);
      if (sample.failure === 'never_sent') {
        block.neverSentDue++;
        return;
      }
      recordMs(outcome.service, sample.done - sample.sent);
      recordMs(outcome.ownService, sample.done - sample.sent - late);
      recordMs(readLate, late);
      recordMs(outcome.sendLag, sample.sent - sample.intended);
      recordMs(lag, sentLate);
      const sentMs = sample.sent - warmupMs;
      displaced.second += displacedIn(1000, sample);
      displaced.tenth += displacedIn(100, sample);
      countVerification(block.verification, verdict);
      if (verdict.kept !== undefined) onKept?.(sample.operation, verdict.kept);

      const done = sample.done - warmupMs;
      closeSecondsBefore(done);
      current.add(verdict, sample.done - sample.intended, sample.sent - sample.intended);
      increment(block.perSecond.sent, secondOf(sentMs));
      increment(verdict.success ? block.perSecond.succeeded : block.perSecond.failed, secondOf(done));
      if (!verdict.success) return;
      block.lastSuccessMs = Math.max(block.lastSuccessMs, done);
      if (done < halves[stage]) {
        block.firstHalf.count++;
        block.firstHalf.responseMs += sample.done - sample.intended;
      } else if (done > times[stage].endMs) block.successesAfter++;
    },
    /** @param {number} ms since time zero: every sample done before it has been recorded */
    advance(ms) {
      closeSecondsBefore(ms - warmupMs);
    },
    /** @param {number} cell place in the snapshot's list @param {number} count arrivals of the measured part that were not even attempted */
    addDropped(cell, count) {
      blocks[cell].dropped += count;
    },
    /**
     * @returns {Snapshot & Pick<Report, 'open'>} of a run that goes on, to be sent at once; with the rows of all seconds that
     *   are over and the open one it adds up
     */
    soFar: () => ({ ...snapshot(), open: openRow() }),
    /** @returns {Snapshot} after the last second, full or not, was handed out */
    finish() {
      if (!current.empty() || spans?.isOpen()) closeSecond(true);
      for (const [i, { verification }] of blocks.entries()) {
        verification.notes = operations[i % operations.length].classify.notes?.() ?? [];
      }
      return snapshot();
    },
  };
}

/**
 * @param {Classify} classify
 * @param {number} status
 * @param {number} index
 * @returns {Verdict}
 */
function withoutBody(classify, status, index) {
  if (classify.byStatus !== undefined) return classify.byStatus(status) ?? UNCHECKED;
  return status >= 200 && status < 300 ? UNCHECKED : classify(status, NO_BODY, index);
}

/**
 * A request that would have waited for the target for longer anyway is not the tool's to displace.
 *
 * @param {number} stretchMs
 * @param {import('./ring.js').Sample} sample
 * @returns {number} 0 to 1: how likely it went out in another stretch than it should have
 */
function displacedIn(stretchMs, { intended, sent, lag, carried }) {
  const lateMs = Math.max(0, lag + carried);
  return sent - lateMs - intended < stretchMs ? Math.min(1, lateMs / stretchMs) : 0;
}

/** @param {string} outcome @returns {Verdict} */
function failed(outcome) {
  return { outcome, success: false, verification: null };
}
