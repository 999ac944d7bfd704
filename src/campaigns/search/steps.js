/** Steps of a search, run for real: prepared once where that can be, each after the target has recovered. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PkiLoadError } from '../../common/errors.js';
import { interrupted, unlessStopped } from '../../common/stop.js';
import { createRequester } from '../../http/request.js';
import { prepareRun, run } from '../../run.js';
import { watchEarlyStop } from './early-stop.js';
import { watchRecovery } from './recovery.js';
import { isShared, planOfAll } from './step-plan.js';

/** @typedef {import('../../plan/plan.js').Plan} Plan */
/** @typedef {import('../../run.js').RunEvent} RunEvent */
/**
 * @typedef {object} StepEnd
 * @property {import('../../result/schema.js').Result} result
 * @property {import('./recovery.js').RecoveryEnd} recovery what the target was given before it
 * @property {string | null} [cutShort] why it was ended before its time: it could not be met any more
 */
/**
 * @typedef {object} StepOptions
 * @property {string | null} token a secret
 * @property {AbortSignal} [signal]
 * @property {AbortSignal} [cutOff]
 * @property {string} command
 * @property {number} recoverMs pause between steps, at least
 * @property {(event: RunEvent) => void} onEvent what is said beside the steps
 */

/** @typedef {{origin: string, tls: import('../../http/tls.js').Tls}} Place */

/** A single look may take so long. */
const LOOK_TIMEOUT_MS = 5000;

/** Whatever is at the target's address: any answer will do, it is its time that counts. */
const LOOK_PATH = '/v1/sys/health';

/**
 * @param {Plan} plan
 * @param {StepOptions} options
 */
export function openSteps(plan, { token, signal, cutOff, command, recoverMs, onEvent }) {
  const stop = signal ?? new AbortController().signal;
  /** For all steps. @type {import('../../run.js').Prepared | null} */
  let shared = null;
  /** @type {Awaited<ReturnType<typeof watchRecovery>> | null} */
  let recovery = null;
  const pause = (/** @type {number} */ ms) => sleep(ms, undefined, { signal: stop }).catch(() => {});

  /** Where the step before was sent, which prepared for itself. @type {Place | null} */
  let last = null;

  /** What a step has made for itself is removed. Whoever has ended the search wants its report first. */
  let closing = Promise.resolve();

  /** @param {Promise<void>} closed */
  async function closeUnlessStopped(closed) {
    closing = closed;
    closing.catch(() => {});
    await unlessStopped(closing, stop);
  }

  /** @param {Plan} stepPlan @returns {Promise<import('../../run.js').Prepared>} */
  async function prepare(stepPlan) {
    if (stop.aborted) throw interrupted();
    /** @type {import('../../run.js').Prepared | null} */
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
     * @param {{onEvent: (event: RunEvent) => void, live?: import('../../run.js').LiveHook}} showing
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
        // What was prepared is what the target has to recover from, too.
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

/** @param {unknown} error of what was prepared, which has removed itself what it had made */
function bearInterrupted(error) {
  if (!(error instanceof PkiLoadError) || error.code !== 'interrupted') throw error;
}

/**
 * @param {Plan} stepPlan
 * @param {import('../../run.js').RunOptions & {signal: AbortSignal, onEvent: (event: RunEvent) => void}} options
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

/**
 * @param {string} origin
 * @param {import('../../http/tls.js').Tls} tls
 * @param {AbortSignal} stop nothing is waited for then
 */
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
    // What connects is no measure.
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
