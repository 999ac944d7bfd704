/** Runs the steps of a search: prepares once if possible, and lets the target recover before each step. */
import { targetError } from '../../common/errors.js';
import { pauseFor, rejectOnStop, waitUnlessStopped } from '../../common/stop.js';
import { median } from '../../common/sums.js';
import { formatCount, formatDuration } from '../../common/units.js';
import { createRequester, parseTargetUrl } from '../../http/request.js';
import * as alone from '../../run.js';
import { isPreparedOnce, planOfAll } from './step-plan.js';

/** @import { Tls } from '../../http/tls.js' */
/** @import { Plan } from '../../plan/plan.js' */
/** @import { Result } from '../../result/schema.js' */
/** @import { LiveHook, Prepared, RunEvent, RunOptions } from '../../run.js' */

/** @typedef {{result: Result, recovery: RecoveryEnd, cutShort?: CutShort | null}} StepEnd `recovery`: before it; `cutShort`: why it ended early */
/** @typedef {{origin: string, path: string, tls: Tls}} ProbeTarget */

/** Recovery probe. Any response counts: only its time matters. */
const [PROBE_PATH, PROBE_TIMEOUT_MS] = ['/v1/sys/health', 5000];

/**
 * `recoverMs`: min pause between steps; `maxWaitMs`: for recovery; `onEvent`: events outside the steps
 * @param {Plan} plan
 * @param {Pick<RunOptions, 'signal' | 'cutOff' | 'mayReach'> & {token: string | null, command: string, recoverMs: number, maxWaitMs?: number,
 *   onEvent: (event: RunEvent) => void, runner?: Pick<typeof alone, 'prepareRun' | 'run'> & {broken?: AbortSignal}}} options `runner`: of joined parts
 */
export function openSteps(
  plan,
  { token, mayReach, signal, cutOff, command, recoverMs, maxWaitMs = MAX_WAIT_MS, onEvent, runner = alone },
) {
  const stop = signal ?? new AbortController().signal;
  /** Shared by all steps. @type {Prepared | null} */
  let shared = null;
  /** @type {Awaited<ReturnType<typeof watchRecovery>> | null} */
  let waitForRecovery = null;
  /** Target of the previous step, if each step prepares its own. @type {ProbeTarget | null} */
  let last = null;
  /** Clean-up of a step; after a stop the report does not wait for it. @type {Promise<unknown>} */
  let closing = Promise.resolve();
  const onClosing = (/** @type {Promise<unknown>} */ closed) => {
    closing = closed;
    closing.catch(() => {});
  };
  const preparing = { token, mayReach, signal: stop, cutOff, onEvent, onClosing };

  /** @param {ProbeTarget} target @param {number} pauseMs before the first probe @returns {Promise<RecoveryEnd>} */
  async function recover(target, pauseMs) {
    const { probe, close } = openProbe(target, stop);
    const sleep = (/** @type {number} */ ms) => pauseFor(ms, stop, runner.broken);
    try {
      if (waitForRecovery !== null) {
        const { isDown, ...recovery } = await waitForRecovery(pauseMs, probe);
        if (isDown) throw downError(target.origin, recovery.waitedMs);
        return recovery;
      }
      const [now, isStopped] = [
        () => performance.now(),
        () => stop.aborted || runner.broken?.aborted === true,
      ];
      waitForRecovery = await watchRecovery({ probe, sleep, now, isStopped, maxWaitMs });
      return { waitedMs: 0, recovered: true };
    } finally {
      await close();
    }
  }

  return {
    /** @param {Plan} stepPlan differs in its load @param {{onEvent: (event: RunEvent) => void, live?: LiveHook}} observers */
    async run(stepPlan, observers) {
      // Preparation also puts load on the target, and its failure ends the search.
      const before = last === null ? null : await recover(last, recoverMs);
      const planned = isPreparedOnce(plan) ? planOfAll(stepPlan) : stepPlan;
      const prepared = shared ?? (await runner.prepareRun(planned, preparing));
      const target = probeTargetOf(prepared);
      if (isPreparedOnce(plan)) shared = prepared;
      // Each preparation starts a new embedded server.
      else if (!plan.dev) last = target;
      try {
        // The target must also recover from the preparation.
        const { waitedMs, recovered } = await recover(target, before === null ? recoverMs : 0);
        if (isPreparedOnce(plan)) await prepared.checkAgain(stepPlan.load);
        const settings = { prepared, signal: stop, cutOff, command, ...observers };
        const ended = await runWithEarlyStop(stepPlan, settings, runner);
        return {
          ...ended,
          recovery: { waitedMs: (before?.waitedMs ?? 0) + waitedMs, recovered, isDown: false },
        };
      } finally {
        if (shared === null) {
          onClosing(prepared.close());
          await waitUnlessStopped(closing, stop);
        }
      }
    },
    /** Removes everything that the steps created. */
    async close() {
      await closing;
      await shared?.close();
    },
  };
}

/**
 * @param {Plan} stepPlan @param {RunOptions & {signal: AbortSignal, onEvent: (event: RunEvent) => void}} options
 * @param {Pick<typeof alone, 'run'>} runner
 */
async function runWithEarlyStop(stepPlan, options, runner) {
  const watch = watchEarlyStop(stepPlan);
  const over = new AbortController();
  /** @type {CutShort | null} */
  let cutShort = null;
  const result = await runner.run(stepPlan, {
    ...options,
    signal: AbortSignal.any([options.signal, over.signal]),
    onEvent(event) {
      options.onEvent(event);
      if (event.type !== 'interval' || cutShort !== null) return;
      cutShort = watch(event);
      if (cutShort !== null) over.abort();
    },
  });
  return { result, cutShort };
}

/** @param {Prepared} prepared @returns {ProbeTarget} */
function probeTargetOf({ target, fixture: { origin }, tls }) {
  const vault = parseTargetUrl(target.url);
  return { origin, path: `${origin === vault.origin ? vault.basePath : ''}${PROBE_PATH}`, tls };
}

/** @param {ProbeTarget} target @param {AbortSignal} stop ends a probe at once */
function openProbe({ origin, path, tls }, stop) {
  const requester = createRequester({ origin, tls, timeoutMs: PROBE_TIMEOUT_MS });
  let isConnected = false;
  async function measure() {
    // The first request also connects.
    if (!isConnected) await requester.request({ path });
    isConnected = true;
    const sentMs = performance.now();
    await requester.request({ path });
    return performance.now() - sentMs;
  }
  return {
    /** @returns {Promise<number | null>} milliseconds; null: no response */
    probe: async () => (stop.aborted ? null : rejectOnStop(measure(), stop).catch(() => null)),
    close: () => requester.close(),
  };
}

/** @param {string} origin @param {number} waitedMs */
function downError(origin, waitedMs) {
  const message = `${origin} did not respond for ${formatDuration(waitedMs)} after the previous step.`;
  return targetError(
    'target_down',
    message,
    'Find out why it went down, and search below that load (--max-rate or --max-concurrency).',
  );
}

/** @typedef {Pick<RunEvent & {type: 'interval'}, 'type' | 'elapsedMs' | 'inFlight' | 'waiting' | 'phase' | 'succeeded' | 'failed'>} Interval */

/** `isClear`: requests wait while others succeed: a backlog. Failures, or no successes at all, may have been a blip @typedef {{why: string, isClear: boolean}} CutShort */

/** A step ends early if more than MIN_LATE requests, and LATE_FACTOR times those allowed, are late for LATE_SECONDS. */
const [LATE_FACTOR, MIN_LATE, LATE_SECONDS] = [2, 5, 2];

/** Standard deviations: random arrivals exceed this about once in a thousand times. */
const MAX_DEVIATIONS = 3;

/**
 * @param {Pick<Plan, 'load' | 'requirements'>} plan of a step
 * @returns {(interval: Interval) => CutShort | null} called once a second: why a requirement can no longer be met
 */
export function watchEarlyStop({ load, requirements }) {
  const { ratePerSecond, durationMs, warmupMs, concurrency } = load;
  if (load.model === 'closed' || ratePerSecond === null || durationMs === null) return () => null;
  const planned = (ratePerSecond * durationMs) / 1000;
  const limits = requirements.flatMap(
    ({ text, metric, quantile = 1, comparator, series, operation, limit }) => {
      if (comparator[0] !== '<' || operation !== undefined) return [];
      if (metric === 'errors') return [{ text, allowed: limit * planned, notLate: Number.POSITIVE_INFINITY }];
      const isLimit = metric === 'max' || metric === 'percentile';
      if (!isLimit || series !== 'response') return [];
      const due = (ratePerSecond * limit) / 1000;
      const share = metric === 'max' ? 0 : 1 - quantile;
      return [{ text, allowed: share * planned, notLate: due + MAX_DEVIATIONS * Math.sqrt(due) + 1 }];
    },
  );
  const mostOf = (/** @type {{allowed: number}} */ { allowed }) => Math.max(MIN_LATE, LATE_FACTOR * allowed);
  let [streak, before] = [0, 0];
  return ({ elapsedMs, inFlight, waiting, phase, succeeded, failed }) => {
    // Requests that wait while connections are free are delayed by the tool.
    const isTool = waiting > 0 && inFlight < concurrency;
    const measuredMs = elapsedMs - warmupMs;
    // Others in flight are of the warm-up. The responses are those of full seconds.
    const due = ratePerSecond * Math.floor(measuredMs / 1000);
    const open = Math.min(inFlight + waiting, due - succeeded - failed);
    const lateOf = (/** @type {number} */ notLate) => Math.max(0, Math.floor(open - notLate));
    // A failure is slower than any limit.
    const unmet =
      phase === 'measuring' && !isTool
        ? limits.find((one) => failed + lateOf(one.notLate) > mostOf(one))
        : undefined;
    streak = unmet === undefined ? 0 : streak + 1;
    const isServing = succeeded > before;
    before = succeeded;
    if (unmet === undefined || streak < LATE_SECONDS) return null;
    const late = lateOf(unmet.notLate);
    const causes = [
      ...(failed > 0 ? [`${formatCount(failed)} had failed`] : []),
      ...(late > 0
        ? [`${formatCount(late)} or more had waited longer than the limit without a response`]
        : []),
    ];
    const why = `The step was cut short after ${formatDuration(measuredMs)}, as ${unmet.text} could no longer be met: of ${formatCount(Math.round(planned))} planned requests, ${causes.join(', and ')}.`;
    return { why, isClear: late > mostOf(unmet) && isServing };
  };
}

/** @typedef {{waitedMs: number, recovered: boolean}} RecoveryEnd */

/** Probes of the idle target, and consecutive probes that must be as fast. */
const [IDLE_PROBES, FAST_PROBES] = [5, 3];

/** "As fast" means within TIMES the idle time, or MORE_MS above it. */
const [TIMES, MORE_MS] = [3, 10];

/** Pause between probes, and max wait for recovery, after which the search continues if the target responds. */
const [BETWEEN_PROBES_MS, MAX_WAIT_MS] = [100, 60_000];

/**
 * `probe`: ms, null: no response; `now`: ms, monotonic
 * @param {{probe: () => Promise<number | null>, sleep: (ms: number) => Promise<void>, now: () => number,
 *   isStopped: () => boolean, maxWaitMs?: number}} options
 */
export async function watchRecovery({ probe, sleep, now, isStopped, maxWaitMs = MAX_WAIT_MS }) {
  const idle = [];
  for (let i = 0; i < IDLE_PROBES; i++) {
    const ms = await probe();
    if (ms !== null) idle.push(ms);
  }
  // Recovery cannot be measured if the idle target does not respond.
  const limit = idle.length === 0 ? null : Math.max(TIMES * median(idle), median(idle) + MORE_MS);
  /** @param {number} pauseMs @param {typeof probe} [newProbe] @returns {Promise<RecoveryEnd & {isDown: boolean}>} `isDown`: no probe had a response */
  return async function wait(pauseMs, newProbe = probe) {
    const startedMs = now();
    if (pauseMs > 0) await sleep(pauseMs);
    let isDown = true;
    for (let fast = 0; limit !== null && fast < FAST_PROBES && !isStopped(); ) {
      const waitedMs = now() - startedMs;
      if (waitedMs > maxWaitMs + pauseMs) return { waitedMs, recovered: false, isDown };
      const ms = await newProbe();
      isDown &&= ms === null;
      fast = ms !== null && ms <= limit ? fast + 1 : 0;
      if (fast < FAST_PROBES) await sleep(BETWEEN_PROBES_MS);
    }
    return { waitedMs: now() - startedMs, recovered: true, isDown: false };
  };
}
