/**
 * Runs the steps of a search: prepares once if possible, and waits for the target to recover before each
 * step.
 */
import { interrupted, orInterrupted, pauseFor, unlessStopped } from '../../common/stop.js';
import { median } from '../../common/sums.js';
import { formatCount, formatDuration } from '../../common/units.js';
import { createRequester } from '../../http/request.js';
import { prepareRun, run } from '../../run.js';
import { isPreparedOnce, planOfAll } from './step-plan.js';

/** @import { Tls } from '../../http/tls.js' */
/** @import { Plan } from '../../plan/plan.js' */
/** @import { Result } from '../../result/schema.js' */
/** @import { LiveHook, Prepared, RunEvent, RunOptions } from '../../run.js' */

/** @typedef {{result: Result, recovery: RecoveryEnd, cutShort?: string | null}} StepEnd `recovery`: before it; `cutShort`: why it ended early */
/**
 * `recoverMs`: min pause between steps; `onEvent`: events outside the steps
 * @typedef {Pick<RunOptions, 'signal' | 'cutOff'> & {token: string | null, command: string, recoverMs: number,
 *   onEvent: (event: RunEvent) => void}} StepOptions
 */
/** @typedef {{origin: string, tls: Tls}} Place */

/** Recovery probe. Any response will do: only its time counts. */
const PROBE_PATH = '/v1/sys/health';
const PROBE_TIMEOUT_MS = 5000;

/** @param {Plan} plan @param {StepOptions} options */
export function openSteps(plan, { token, signal, cutOff, command, recoverMs, onEvent }) {
  const stop = signal ?? new AbortController().signal;
  /** Shared by all steps. @type {Prepared | null} */
  let shared = null;
  /** @type {Awaited<ReturnType<typeof watchRecovery>> | null} */
  let recovery = null;
  /** Target of the previous step, if each step prepares its own. @type {Place | null} */
  let last = null;
  /** Clean-up of a step; after a stop the report does not wait for it. */
  let closing = Promise.resolve();

  /** @param {Promise<void>} closed */
  async function closeUnlessStopped(closed) {
    closing = closed;
    closing.catch(() => {});
    await unlessStopped(closing, stop);
  }

  /** @param {Plan} stepPlan @returns {Promise<Prepared>} */
  async function prepare(stepPlan) {
    if (stop.aborted) throw interrupted();
    const preparing = prepareRun(stepPlan, { token, signal: stop, onEvent });
    return orInterrupted(preparing, stop).catch(async (error) => {
      if (!stop.aborted) throw error;
      // An interrupted preparation has already cleaned up.
      const ignoreStop = (/** @type {{code?: string}} */ thrown) => {
        if (thrown.code !== 'interrupted') throw thrown;
      };
      await closeUnlessStopped(preparing.then((one) => one.close(), ignoreStop));
      throw interrupted();
    });
  }

  /** @param {Place} place @param {number} restMs the pause before the first probe */
  async function recover(place, restMs) {
    const probe = openProbe(place, stop);
    try {
      if (recovery !== null) return await recovery.wait(probe.look, restMs);
      recovery = await watchRecovery({
        look: probe.look,
        sleep: (ms) => pauseFor(ms, stop),
        now: () => performance.now(),
        isStopped: () => stop.aborted,
        pauseMs: recoverMs,
      });
      return { waitedMs: 0, recovered: true };
    } finally {
      await probe.close();
    }
  }

  return {
    /**
     * @param {Plan} stepPlan differs from the plan in its load
     * @param {{onEvent: (event: RunEvent) => void, live?: LiveHook}} showing @returns {Promise<StepEnd>}
     */
    async run(stepPlan, showing) {
      // Preparation also puts load on the target, and its failure ends the search.
      const before = last === null ? null : await recover(last, recoverMs);
      const prepared = shared ?? (await prepare(isPreparedOnce(plan) ? planOfAll(stepPlan) : stepPlan));
      const place = { origin: prepared.fixture.origin, tls: prepared.tls };
      if (isPreparedOnce(plan)) shared = prepared;
      // Each preparation starts a new embedded server.
      else if (!plan.dev) last = place;
      try {
        // The target must also recover from the preparation.
        const { waitedMs, recovered } = await recover(place, before === null ? recoverMs : 0);
        const ended = await runWithEarlyStop(stepPlan, {
          ...{ prepared, signal: stop, cutOff, command },
          ...showing,
        });
        return { ...ended, recovery: { waitedMs: (before?.waitedMs ?? 0) + waitedMs, recovered } };
      } finally {
        if (shared === null) await closeUnlessStopped(prepared.close());
      }
    },
    /** Removes everything that the steps created. */
    async close() {
      await closing;
      await shared?.close();
    },
  };
}

/** @param {Plan} stepPlan @param {RunOptions & {signal: AbortSignal, onEvent: (event: RunEvent) => void}} options */
async function runWithEarlyStop(stepPlan, options) {
  const watch = watchEarlyStop(stepPlan);
  const over = new AbortController();
  /** @type {string | null} */
  let cutShort = null;
  const result = await run(stepPlan, {
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

/** @param {Place} place @param {AbortSignal} stop ends a probe at once */
function openProbe({ origin, tls }, stop) {
  const requester = createRequester({ origin, tls, timeoutMs: PROBE_TIMEOUT_MS });
  let isConnected = false;
  async function measure() {
    // The first request also connects.
    if (!isConnected) await requester.request({ path: PROBE_PATH });
    isConnected = true;
    const begunMs = performance.now();
    await requester.request({ path: PROBE_PATH });
    return performance.now() - begunMs;
  }
  return {
    /** @returns {Promise<number | null>} milliseconds; null: no response */
    look: async () => (stop.aborted ? null : orInterrupted(measure(), stop).catch(() => null)),
    close: () => requester.close(),
  };
}

/** @typedef {Pick<RunEvent & {type: 'interval'}, 'type' | 'elapsedMs' | 'inFlight' | 'waiting' | 'phase'>} Interval */

/**
 * A step ends early only if CLEARLY times the allowed requests, and over LEAST_LATE, are late IN_A_ROW
 * seconds.
 */
const CLEARLY = 2;
const LEAST_LATE = 5;
const IN_A_ROW = 2;

/**
 * Standard deviations: random arrivals within the limit exceed mean + SURE x SD about once in a thousand
 * times.
 */
const SURE = 3;

/**
 * @param {Pick<Plan, 'load' | 'requirements'>} plan of a step
 * @returns {(seen: Interval) => string | null} called once a second: why a requirement can no longer be met;
 *   null: all still can
 */
export function watchEarlyStop({ load, requirements }) {
  const { ratePerSecond, durationMs, warmupMs, concurrency } = load;
  if (load.model === 'closed' || ratePerSecond === null || durationMs === null) return () => null;
  const planned = (ratePerSecond * durationMs) / 1000;
  const limits = requirements.flatMap(
    ({ text, metric, quantile = 1, comparator, series, operation, limit }) => {
      const isLimit = metric === 'max' || metric === 'percentile';
      if (!isLimit || comparator[0] !== '<' || series !== 'response' || operation !== undefined) return [];
      const due = (ratePerSecond * limit) / 1000;
      const share = metric === 'max' ? 0 : 1 - quantile;
      return [{ text, allowed: share * planned, young: due + SURE * Math.sqrt(due) + 1 }];
    },
  );
  let row = 0;
  return ({ elapsedMs, inFlight, waiting, phase }) => {
    // Requests that wait while connections are free are delayed by the tool.
    const isTool = waiting > 0 && inFlight < concurrency;
    const measuredMs = elapsedMs - warmupMs;
    const open = Math.min(inFlight + waiting, (ratePerSecond * measuredMs) / 1000);
    const broken =
      phase === 'measuring' && !isTool
        ? limits.find(({ allowed, young }) => open - young > Math.max(LEAST_LATE, CLEARLY * allowed))
        : undefined;
    row = broken === undefined ? 0 : row + 1;
    if (broken === undefined || row < IN_A_ROW) return null;
    const late = `${formatCount(Math.floor(open - broken.young))} or more of ${formatCount(Math.round(planned))}`;
    return `It was cut short after ${formatDuration(measuredMs)}, as ${broken.text} could no longer be met: ${late} planned requests had waited for longer without a response.`;
  };
}

/** @typedef {{waitedMs: number, recovered: boolean}} RecoveryEnd */

/** Probes of the idle target, and consecutive probes that must be as fast. */
const LOOKS = 5;
const QUICK_LOOKS = 3;

/** "As fast" means within TIMES the idle time, or MORE_MS above it. */
const TIMES = 3;
const MORE_MS = 10;

const BETWEEN_LOOKS_MS = 100;

/** Max wait for recovery, after which the search continues. */
const LONGEST_MS = 60_000;

/**
 * @param {{look: () => Promise<number | null>, sleep: (ms: number) => Promise<void>, now: () => number, isStopped: () => boolean,
 *   pauseMs: number}} options `look`: one probe, ms, null: no response; `now`: ms, monotonic
 */
export async function watchRecovery({ look, sleep, now, isStopped, pauseMs }) {
  /** @type {number[]} */
  const atRest = [];
  for (let i = 0; i < LOOKS; i++) {
    const ms = await look();
    if (ms !== null) atRest.push(ms);
  }
  // Recovery cannot be measured if the idle target does not respond.
  const limit = atRest.length === 0 ? null : Math.max(TIMES * median(atRest), median(atRest) + MORE_MS);
  return {
    /**
     * @param {typeof look} [again] the probe to use @param {number} [restMs] the pause @returns
     * {Promise<RecoveryEnd>}
     */
    async wait(again = look, restMs = pauseMs) {
      const begun = now();
      if (restMs > 0) await sleep(restMs);
      let quick = 0;
      while (limit !== null && quick < QUICK_LOOKS && !isStopped()) {
        const waitedMs = now() - begun;
        if (waitedMs > LONGEST_MS + restMs) return { waitedMs, recovered: false };
        const ms = await again();
        quick = ms !== null && ms <= limit ? quick + 1 : 0;
        if (quick < QUICK_LOOKS) await sleep(BETWEEN_LOOKS_MS);
      }
      return { waitedMs: now() - begun, recovered: true };
    },
  };
}
