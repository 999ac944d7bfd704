/** Part 0 of a joined run: prepares and runs each plan together with the other parts, behind the interface of run.js. */
import { EXIT, PkiLoadError, usageError } from '../common/errors.js';
import { rejectOnStop } from '../common/stop.js';
import { maxOf } from '../common/sums.js';
import { mergeResults } from '../result/parts/merge-results.js';
import { checkDocument } from '../result/read-document.js';
import { prepareRun as prepareOwn, run as runOwn } from '../run.js';
import { monotonicMs } from './clock.js';
import { capital, createGathering } from './gathering.js';
import { checkSameFound, foundBy, planOfPart, threadsOf } from './joined-plan.js';
import { createJointView } from './joint-view.js';
import { readReport } from './reports.js';

/** @import { IntervalEvent, Start } from '../engine/interval.js' */
/** @import { Result } from '../result/schema.js' */
/** @import { GatheringOptions, Member } from './gathering.js' */
/** @import { WireMessage } from './wire.js' */
/** @import { MessagePort } from 'node:worker_threads' */

/** @typedef {Awaited<ReturnType<typeof createLeader>>} Leader */
/**
 * What a part has reported on the task in progress
 * @typedef {{phases: Map<string, WireMessage>, failed: PkiLoadError | null, isStopped: boolean, interval: IntervalEvent | null,
 *   result: Result | null, ports: MessagePort[]}} State
 */

/** Time zero is so far ahead of the message that announces it, plus twice the longest round trip. */
const LEAD_MS = 150;

const never = new AbortController().signal;

/** @param {GatheringOptions & {onOwnResult?: (result: Result) => unknown}} options `onOwnResult`: of part 0 alone */
export async function createLeader({ onOwnResult, ...options }) {
  const { of, onEvent } = options;
  const own = { index: 0, of };
  /** @type {Map<Member, State>} */
  const states = new Map();
  const interrupted = new AbortController();
  const broken = new AbortController();
  /** Number of the task in progress, and of the last preparation. */
  let [task, preparation] = [0, 0];
  /** Stops the run in progress. @type {AbortController | null} */
  let over = null;
  /** Checks of `until`. @type {Set<() => void>} */
  const waiting = new Set();
  const changed = () => {
    for (const check of [...waiting]) check();
  };
  const gathering = await createGathering(options, {
    onMessage,
    onLost(member) {
      if (states.get(member)?.result === null) over?.abort();
      broken.abort();
      changed();
    },
  });
  const each = () => gathering.members().map((member) => ({ member, state: stateOf(member) }));
  const send = (/** @type {WireMessage} */ message) => gathering.send({ ...message, task });

  /** @param {Member} member @returns {State} */
  function stateOf(member) {
    const state = states.get(member) ?? {
      phases: new Map(),
      failed: null,
      isStopped: false,
      interval: null,
      result: null,
      ports: [],
    };
    states.set(member, state);
    return state;
  }

  /** Of the task in progress. @type {Record<string, (state: State, message: WireMessage, name: string) => void>} */
  const HANDLERS = {
    reached(state, message) {
      state.phases.set(String(message.phase), message);
    },
    event: (_, { text }, name) =>
      onEvent({ type: 'warning', text: `${name}: ${String(text).slice(0, 1000)}` }),
    interval(state, { interval }) {
      state.interval = Object(interval);
    },
    report: ({ ports }, { thread, report }) => ports[Number(thread)]?.postMessage(readReport(report)),
    result(state, { result }, name) {
      state.result = /** @type {Result} */ (checkDocument(result, `The result of ${name}`));
    },
    stopped(state) {
      state.isStopped = true;
    },
    failed(state, { error }) {
      const { code, message, remedy, exitCode } = Object(error);
      state.failed = new PkiLoadError(String(code), String(message).slice(0, 1000), {
        remedy: remedy && String(remedy).slice(0, 1000),
        exitCode: Object.values(EXIT).find((one) => one === exitCode) ?? EXIT.usage,
      });
      over?.abort();
    },
  };

  /** @param {Member} member @param {WireMessage} message */
  function onMessage(member, message) {
    const name = capital(member.name);
    if (message.type === 'interrupted') {
      onEvent({ type: 'warning', text: `${name} was interrupted. All parts stop.` });
      interrupted.abort();
    } else if (message.task === task && Object.hasOwn(HANDLERS, message.type)) {
      HANDLERS[message.type](stateOf(member), message, name);
    }
    changed();
  }

  /** Resolves when the check passes; rejects if it throws. @param {() => boolean} check @param {AbortSignal} stop */
  function until(check, stop) {
    let test = () => {};
    const passed = new Promise((resolve, reject) => {
      test = () => {
        try {
          if (check()) resolve(null);
        } catch (error) {
          reject(error);
        }
      };
    });
    waiting.add(test);
    test();
    return rejectOnStop(passed, stop).finally(() => waiting.delete(test));
  }

  /** Throws if a part cannot go on. */
  function assertAllWell() {
    for (const { member, state } of each()) {
      if (member.lost !== null) throw lostError(member);
      if (state.failed !== null) throw failedError(member, state.failed);
    }
  }

  /** @param {string} phase @param {AbortSignal} stop */
  const reached = (phase, stop) =>
    until(() => {
      assertAllWell();
      return each().every(({ state }) => state.phases.has(phase));
    }, stop);

  /** @param {WireMessage} message for all parts */
  function startTask(message) {
    states.clear();
    assertAllWell();
    task++;
    send(message);
  }

  /** @type {typeof prepareOwn} all parts prepare at the same time */
  async function prepareRun(plan, options = {}) {
    const id = ++preparation;
    startTask({ type: 'prepare', id, plan });
    const failed = new AbortController();
    const { signal: stop = never } = options;
    const signal = AbortSignal.any([stop, failed.signal]);
    /** Clean-up, if the preparation fails. @type {Promise<unknown>} */
    let closed = Promise.resolve();
    const onClosing = (/** @type {Promise<unknown>} */ closing) => {
      closed = closing;
    };
    const preparing = prepareOwn(planOfPart(plan, own), { ...options, signal, onClosing });
    try {
      const [prepared] = await Promise.all([preparing, reached('prepared', stop)]);
      const threads = each().map(({ member, state }) => {
        const { found, threads } = Object(state.phases.get('prepared'));
        checkSameFound(foundBy(prepared), Object(found), member.name);
        return Math.max(1, Math.min(64, Number(threads) || 1));
      });
      const close = async (/** @type {number | undefined} */ stoppedMs) => {
        send({ type: 'release', id });
        await prepared.close(stoppedMs);
      };
      return Object.assign({}, prepared, { id, threads, close });
    } catch (error) {
      send({ type: 'release', id });
      // If another part failed, ours need not go on, and is to be removed as well.
      failed.abort();
      const closing = preparing.then(({ close }) => close()).catch(() => closed);
      await (options.onClosing ?? awaited)(closing);
      throw error;
    }
  }

  /** @param {AbortSignal} stop @returns {Start} */
  const createStart = (stop) => ({
    async connect() {
      await reached('ready', stop);
      send({ type: 'connect' });
    },
    async begin() {
      await reached('connected', stop);
      const roundTrips = each().map(({ state }) => Number(state.phases.get('connected')?.roundTripMs) || 0);
      const aheadMs = LEAD_MS + 2 * Math.min(1000, maxOf(roundTrips));
      const at = monotonicMs() + aheadMs;
      send({ type: 'start', at, wallMs: Date.now() + aheadMs });
      return BigInt(Math.round(at * 1e6));
    },
  });

  /** @type {typeof runOwn} */
  async function run(plan, options = {}) {
    const { signal = never, cutOff = never } = options;
    const prepared = options.prepared ?? (await prepareRun(plan, options));
    over = new AbortController();
    const stop = AbortSignal.any([signal, over.signal]);
    const onStop = () => send({ type: 'stop' });
    const onCutOff = () => send({ type: 'cutOff' });
    /** @type {Promise<unknown>} */
    let closed = Promise.resolve();
    const onClosing = (/** @type {Promise<unknown>} */ closing) => {
      closed = closing;
    };
    try {
      const members = gathering.members();
      const { id, threads: theirs } = Object(prepared);
      const threads = members.map(({ index }, i) => threadsOf(plan.load, theirs[i], { index, of }));
      const part = planOfPart(plan, own);
      const intervals = () => each().map(({ state }) => state.interval);
      const view = await createJointView(plan, [part.load.threads, ...threads], { ...options, intervals });
      startTask({ type: 'run', id, plan, hasReports: view.hasReports });
      for (const [i, member] of members.entries()) stateOf(member).ports = view.ports[i];
      stop.addEventListener('abort', onStop);
      cutOff.addEventListener('abort', onCutOff);
      const { live, onEvent: onOwnEvent } = view;
      const handling = { ...options, prepared, live, onEvent: onOwnEvent, onClosing };
      const result = await runOwn(part, { ...handling, signal: stop, start: createStart(stop) });
      await until(() => each().every(hasEnded), never);
      await onOwnResult?.(result);
      const merged = { ...merge(result, options.command), interrupted: signal.aborted };
      options.onEvent?.({ type: 'result', result: merged });
      return merged;
    } catch (error) {
      send({ type: 'abandon' });
      // This part's own error may only show that another one stopped it.
      if (!signal.aborted) assertAllWell();
      throw error;
    } finally {
      over = null;
      stop.removeEventListener('abort', onStop);
      cutOff.removeEventListener('abort', onCutOff);
      const closing = closed.finally(options.prepared === undefined ? prepared.close : null);
      await (options.onClosing ?? awaited)(closing);
    }
  }

  /** @param {Result} result of part 0 @param {string} [command] */
  function merge(result, command) {
    const others = each().flatMap(({ member: { name }, state }) =>
      state.result ? [{ name, result: state.result }] : [],
    );
    const missing = each()
      .filter(({ state }) => state.result === null)
      .map(({ member: { index, lost }, state }) => ({
        index,
        why: lost ?? state.failed?.message ?? 'it was stopped before it sent anything',
      }));
    const results = [result, ...others.map((one) => one.result)];
    const names = ['Part 0', ...others.map(({ name }) => capital(name))];
    const options = { allowInterrupted: true, haveOneClock: true, command };
    try {
      return mergeResults(results, { names, missing, ...options });
    } catch (error) {
      // What was measured must not be lost: the result is that of part 0.
      const why = `not merged: ${/** @type {Error} */ (error).message}`;
      const all = each().map(({ member: { index } }) => ({ index, why }));
      return mergeResults([result], { missing: all, ...options });
    }
  }

  return {
    address: gathering.address,
    complete: gathering.complete,
    /** A part was interrupted, and all must stop. @type {AbortSignal} */
    interrupted: interrupted.signal,
    /** A part was lost: the next run throws, and needs no pause before it. @type {AbortSignal} */
    broken: broken.signal,
    prepareRun,
    run,
    /**
     * Lets the other parts go. Once their results were taken, errors of part 0 are not theirs.
     * @param {{why?: string | null, exitCode?: number}} [how] `why`: a sentence; null: all went well
     */
    end({ why = null, exitCode = EXIT.ok } = {}) {
      const areTaken = each().length > 0 && each().every(({ state }) => state.result !== null);
      const ending = why !== null && areTaken ? { why: null, exitCode: EXIT.ok } : { why, exitCode };
      gathering.end({ type: 'end', ...ending });
    },
  };
}

const awaited = (/** @type {Promise<unknown>} */ closing) => closing;

/** @param {{member: Member, state: State}} part */
const hasEnded = ({ member, state }) =>
  state.result !== null || state.failed !== null || state.isStopped || member.lost !== null;

/** @param {Member} member @param {PkiLoadError} error its own */
function failedError({ name }, { code, message, remedy, exitCode }) {
  return new PkiLoadError(code, `${capital(name)}: ${message}`, { remedy, exitCode });
}

/** @param {Member} member */
function lostError({ name, lost }) {
  const remedy = 'See its log, and start all parts again.';
  return usageError('part_lost', `${capital(name)} was lost: ${lost}.`, remedy);
}
