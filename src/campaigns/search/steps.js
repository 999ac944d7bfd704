/** Steps of a search, run for real: prepared once where that can be, each after the target has recovered. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PkiLoadError } from '../../common/errors.js';
import { median } from '../../common/median.js';
import { interrupted, unlessStopped } from '../../common/stop.js';
import { formatCount, formatDuration } from '../../common/units.js';
import { createRequester } from '../../http/request.js';
import { prepareRun, run } from '../../run.js';
import { isShared, planOfAll } from './step-plan.js';

/** @import { Tls } from '../../http/tls.js' */
/** @import { Plan } from '../../plan/plan.js' */
/** @import { Result } from '../../result/schema.js' */
/** @import { LiveHook, Prepared, RunEvent, RunOptions } from '../../run.js' */

/**
 * @typedef {object} StepEnd
 * @property {Result} result
 * @property {RecoveryEnd} recovery what the target was given before it
 * @property {string | null} [cutShort] why it was ended before its time: it could not be met any more
 */
/**
 * @typedef {object} StepOptions
 * @property {string | null} token a secret
 * @property {AbortSignal} [signal]
 * @property {AbortSignal} [cutOff]
 * @property {string} command
 * @property {number} recoverMs pause between steps, at least
 * @property {(event: RunEvent) => void} onEvent events beside the steps
 */

/** @typedef {{origin: string, tls: Tls}} Place */

const LOOK_TIMEOUT_MS = 5000;

/** Any response will do: only its time counts. */
const LOOK_PATH = '/v1/sys/health';

/** @param {Plan} plan @param {StepOptions} options */
export function openSteps(plan, { token, signal, cutOff, command, recoverMs, onEvent }) {
  const stop = signal ?? new AbortController().signal;
  /** For all steps. @type {Prepared | null} */
  let shared = null;
  /** @type {Awaited<ReturnType<typeof watchRecovery>> | null} */
  let recovery = null;
  const pause = (/** @type {number} */ ms) => sleep(ms, undefined, { signal: stop }).catch(() => {});

  /** Where the step before was sent, which prepared for itself. @type {Place | null} */
  let last = null;

  /** Removes what a step made for itself; after a stop the report does not wait for it. */
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
    /** @type {Prepared | null} */
    let prepared = null;
    const preparing = prepareRun(stepPlan, { token, signal: stop, onEvent }).then((one) => {
      prepared = one;
      return one;
    });
    await unlessStopped(
      preparing.then(() => {}),
      stop,
    );
    if (prepared !== null) return prepared;
    await closeUnlessStopped(preparing.then((one) => one.close(), bearInterrupted));
    throw interrupted();
  }

  /** @param {Place} place @param {number} restMs the pause before it is asked */
  async function recover({ origin, tls }, restMs) {
    const asker = openAsker(origin, tls, stop);
    try {
      if (recovery !== null) return await recovery.wait(asker.look, restMs);
      recovery = await watchRecovery({
        look: asker.look,
        sleep: pause,
        now: () => performance.now(),
        isStopped: () => stop.aborted,
        pauseMs: recoverMs,
      });
      return { waitedMs: 0, recovered: true };
    } finally {
      await asker.close();
    }
  }

  return {
    /**
     * @param {Plan} stepPlan differs from the plan in its load
     * @param {{onEvent: (event: RunEvent) => void, live?: LiveHook}} showing
     * @returns {Promise<StepEnd>}
     */
    async run(stepPlan, showing) {
      // Preparing is load as well, and where it fails the search ends.
      const before = last === null ? null : await recover(last, recoverMs);
      const prepared = shared ?? (await prepare(isShared(plan) ? planOfAll(stepPlan) : stepPlan));
      const place = { origin: prepared.fixture.origin, tls: prepared.tls };
      if (isShared(plan)) shared = prepared;
      // An embedded server is a new one each time.
      else if (!plan.dev) last = place;
      try {
        // The target has to recover from the preparation, too.
        const { waitedMs, recovered } = await recover(place, before === null ? recoverMs : 0);
        const ended = await runWhileHopeful(stepPlan, {
          prepared,
          signal: stop,
          cutOff,
          command,
          ...showing,
        });
        return { ...ended, recovery: { waitedMs: (before?.waitedMs ?? 0) + waitedMs, recovered } };
      } finally {
        if (shared === null) await closeUnlessStopped(prepared.close());
      }
    },
    /** All that was made is removed then. */
    async close() {
      await closing;
      await shared?.close();
    },
  };
}

/** @param {unknown} error of a preparation that has cleaned up after itself */
function bearInterrupted(error) {
  if (!(error instanceof PkiLoadError) || error.code !== 'interrupted') throw error;
}

/**
 * @param {Plan} stepPlan
 * @param {RunOptions & {signal: AbortSignal, onEvent: (event: RunEvent) => void}} options
 * @returns {Promise<Pick<StepEnd, 'result' | 'cutShort'>>}
 */
async function runWhileHopeful(stepPlan, options) {
  const isHopeless = watchEarlyStop(stepPlan);
  const over = new AbortController();
  /** @type {string | null} */
  let cutShort = null;
  const result = await run(stepPlan, {
    ...options,
    signal: AbortSignal.any([options.signal, over.signal]),
    onEvent(event) {
      options.onEvent(event);
      if (event.type !== 'interval' || cutShort !== null) return;
      cutShort = isHopeless(event);
      if (cutShort !== null) over.abort();
    },
  });
  return { result, cutShort };
}

/** @param {string} origin @param {Tls} tls @param {AbortSignal} stop nothing is waited for then */
function openAsker(origin, tls, stop) {
  const requester = createRequester({ origin, tls, timeoutMs: LOOK_TIMEOUT_MS });
  let isConnected = false;
  const ask = async () => {
    const begun = performance.now();
    try {
      await requester.request({ path: LOOK_PATH });
      return performance.now() - begun;
    } catch {
      return null;
    }
  };
  async function measure() {
    // The first request also connects.
    if (!isConnected) isConnected = (await ask()) !== null;
    return ask();
  }
  return {
    /** @returns {Promise<number | null>} milliseconds; null: no answer */
    async look() {
      if (stop.aborted) return null;
      /** @type {number | null} */
      let seen = null;
      const looked = measure().then((ms) => {
        seen = ms;
      });
      await unlessStopped(looked, stop);
      return seen;
    },
    close: () => requester.close(),
  };
}

/** @typedef {Pick<RunEvent & {type: 'interval'}, 'type' | 'elapsedMs' | 'inFlight' | 'waiting' | 'phase'>} Interval */

/** A step is given up only far from the edge: so many times the allowed number are late, and not just a few, twice in a row. */
const CLEARLY = 2;
const LEAST_LATE = 5;
const IN_A_ROW = 2;

/** More requests than that many standard deviations above the mean become due at random within the time of a limit once in a thousand times. */
const SURE = 3;

/**
 * @param {Pick<Plan, 'load' | 'requirements'>} plan of a step
 * @returns {(seen: Interval) => string | null} called once a second: why it cannot be met any more; null: it can
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
    // What waits while connections are free waits for the tool.
    const isTool = waiting > 0 && inFlight < concurrency;
    const measuredMs = elapsedMs - warmupMs;
    const open = Math.min(inFlight + waiting, (ratePerSecond * measuredMs) / 1000);
    const broken =
      phase === 'measuring' && !isTool
        ? limits.find(({ allowed, young }) => open - young > Math.max(LEAST_LATE, CLEARLY * allowed))
        : undefined;
    row = broken === undefined ? 0 : row + 1;
    if (broken === undefined || row < IN_A_ROW) return null;
    const late = formatCount(Math.floor(open - broken.young));
    return `It was cut short after ${formatDuration(measuredMs)}, as ${broken.text} could no longer be met: of ${formatCount(Math.round(planned))} planned requests ${late} or more had waited for longer, and were not answered.`;
  };
}

/** @typedef {{waitedMs: number, recovered: boolean}} RecoveryEnd */

/** Requests that measure how fast it is at rest, and so many in a row that must be as fast. */
const LOOKS = 5;
const QUICK_LOOKS = 3;

/** As fast is: no more than so many times as long, or so many milliseconds longer. */
const TIMES = 3;
const MORE_MS = 10;

const BETWEEN_LOOKS_MS = 100;

/** The search goes on after that. */
const LONGEST_MS = 60_000;

/**
 * @param {object} options
 * @param {() => Promise<number | null>} options.look asks once; milliseconds, null: no answer
 * @param {(ms: number) => Promise<void>} options.sleep
 * @param {() => number} options.now milliseconds, monotonic
 * @param {() => boolean} options.isStopped
 * @param {number} options.pauseMs
 */
export async function watchRecovery({ look, sleep, now, isStopped, pauseMs }) {
  /** @type {number[]} */
  const atRest = [];
  for (let i = 0; i < LOOKS; i++) {
    const ms = await look();
    if (ms !== null) atRest.push(ms);
  }
  // A target that does not respond at rest cannot show that it has recovered.
  const limit = atRest.length === 0 ? null : Math.max(TIMES * median(atRest), median(atRest) + MORE_MS);
  return {
    /**
     * @param {() => Promise<number | null>} [again] asks from now on
     * @param {number} [restMs] the pause; 0 where it was made already
     * @returns {Promise<RecoveryEnd>}
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
