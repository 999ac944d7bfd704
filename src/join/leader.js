/** Part 0 of a joined run: prepares and runs each plan together with the other parts, behind the interface of run.js. */
import { EXIT, PkiLoadError } from '../common/errors.js';
import { interruptedError, removeSignalHandlers } from '../common/stop.js';
import { maxOf } from '../common/sums.js';
import { mergeResults } from '../result/parts/merge-results.js';
import { checkDocument } from '../result/read-document.js';
import { prepareRun as prepareOwn, run as runOwn } from '../run.js';
import { monotonicMs } from './clock.js';
import { capital, createGathering } from './gathering.js';
import { checkSameFound, foundBy, planOfPart, threadsOf } from './joined-plan.js';
import { createJointView, Interval } from './joint-view.js';
import { readReport } from './reports.js';
import { createRoll, hasEnded } from './roll.js';

/** @import { Start } from '../engine/interval.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { Result } from '../result/schema.js' */
/** @import { RunOptions } from '../run.js' */
/** @import { GatheringOptions, Member } from './gathering.js' */
/** @import { WireMessage } from './wire.js' */
/** @import { State } from './roll.js' */

/** @typedef {Awaited<ReturnType<typeof createLeader>>} Leader */

/** Time zero is so far ahead of the message that announces it, plus twice the longest round trip. */
const LEAD_MS = 150;

/** After the second Ctrl-C, for the other parts' results. */
const CUT_OFF_MS = 3000;

const [STOPPED, INTERRUPTED] = ['it was stopped before it sent anything', 'it was interrupted'];

/** Seconds: no report is on a later time, but parts may start a moment apart. */
const REPORTED_AHEAD = 5;

/** Usual bytes of a result: of the rest and of each operation in each stage, and of each second. */
const [CELL_BYTES, SECOND_BYTES] = [2 ** 20, 2 ** 13];
/** No message is longer than so many usual results. */
const MAX_LONGER = 16;

const NO_REASON = 'It gave no reason.';

const PHASES = ['prepared', 'ready', 'connected'];
const ANSWERS = ['result', 'stopped', 'failed'];
/** Of a part in a task, that are shown: it may be someone else's program. */
const MAX_EVENTS = 100;

const never = new AbortController().signal;

/** @param {GatheringOptions & {onOwnResult?: (result: Result) => unknown}} options `onOwnResult`: of part 0 alone */
export async function createLeader({ onOwnResult, ...options }) {
  const { of, onEvent } = options;
  const own = { index: 0, of };
  const interrupted = new AbortController();
  const broken = new AbortController();
  /** Number of the task in progress, and of the last preparation. */
  let [task, preparation] = [0, 0];
  /** Stops the run in progress. @type {AbortController | null} */
  let over = null;
  /** Of the run in progress or the last one: its cells, and time zero. */
  let [cells, zeroMs] = [0, monotonicMs()];
  const secondsSoFar = () => (monotonicMs() - zeroMs) / 1000 + REPORTED_AHEAD;
  /** Of a result. */
  const usualBytes = () => (1 + cells) * CELL_BYTES + secondsSoFar() * SECOND_BYTES;
  const roll = createRoll(() => gathering.members());
  const { each, stateOf, until, reached, assertAllWell } = roll;
  const gathering = await createGathering(options, {
    onMessage,
    maxBytes: () => MAX_LONGER * usualBytes(),
    onLost(member) {
      warnAll(`${capital(member.name)} was lost: ${member.lost}.`);
      if (stateOf(member).result === null) over?.abort();
      broken.abort();
      roll.changed();
    },
  });
  const send = (/** @type {WireMessage} */ message) => gathering.send({ ...message, task });
  /** Why all stop. @param {string} text */
  function warnAll(text) {
    onEvent({ type: 'warning', text });
    send({ type: 'event', text });
  }

  /** Of the task in progress. @type {Record<string, (state: State, message: WireMessage, name: string, bytes: number) => void>} */
  const HANDLERS = {
    reached({ phases }, message) {
      const phase = String(message.phase);
      if (PHASES.includes(phase) && !phases.has(phase)) phases.set(phase, message);
    },
    event(state, { text }, name) {
      if (++state.events <= MAX_EVENTS)
        onEvent({ type: 'warning', text: `${name}: ${String(text).slice(0, 1000)}` });
    },
    interval(state, { interval }) {
      state.interval = { ...Interval.parse(interval), atMs: monotonicMs() };
    },
    report({ ports }, { thread, report }, _, bytes) {
      ports[Number(thread)]?.postMessage(readReport(report, cells, secondsSoFar(), bytes));
    },
    result(state, { result }, name, bytes) {
      if (over === null) return;
      // The check of a made-up one may take minutes, which only a signal without a handler ends.
      const restoreHandlers = bytes > usualBytes() ? removeSignalHandlers() : null;
      try {
        state.result = /** @type {Result} */ (checkDocument(result, `The result of ${name}`, bytes));
      } finally {
        restoreHandlers?.();
      }
    },
    stopped(state) {
      state.isStopped = true;
    },
    failed(state, { error }, name) {
      const { code, message, remedy, exitCode } = Object(error);
      state.failed = new PkiLoadError(String(code), String(message ?? NO_REASON).slice(0, 1000), {
        remedy: remedy && String(remedy).slice(0, 1000),
        exitCode: Object.values(EXIT).find((one) => one !== EXIT.ok && one === exitCode) ?? EXIT.usage,
      });
      if (over !== null) warnAll(`${name} failed: ${state.failed.message} All parts stop.`);
      over?.abort();
    },
  };

  /** @param {Member} member @param {WireMessage} message @param {number} bytes */
  function onMessage(member, message, bytes) {
    const name = capital(member.name);
    if (message.type === 'interrupted') {
      if (stateOf(member).isInterrupted) return;
      stateOf(member).isInterrupted = true;
      warnAll(`${name} was interrupted. All parts stop.`);
      interrupted.abort(interruptedError(`${name} was interrupted.`));
    } else if (message.task === task && Object.hasOwn(HANDLERS, message.type)) {
      const state = stateOf(member);
      // A task has one answer.
      if (!ANSWERS.includes(message.type) || !hasEnded({ member, state }))
        HANDLERS[message.type](state, message, name, bytes);
    }
    roll.changed();
  }

  /** @param {WireMessage} message for all parts */
  function startTask(message) {
    roll.clear();
    assertAllWell();
    task++;
    send(message);
  }

  /** All parts prepare at the same time. @param {number} step @param {Plan} plan @param {RunOptions} [options] */
  async function prepareStep(step, plan, options = {}) {
    const id = ++preparation;
    startTask({ type: 'prepare', id, step, plan });
    const failed = new AbortController();
    const { signal: stop = never } = options;
    const signal = AbortSignal.any([stop, failed.signal]);
    const { closed, onClosing } = collectClosing();
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
      const closing = preparing.then(({ close }) => close()).catch(closed);
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
      const aheadMs = LEAD_MS + 2 * Math.min(1000, maxOf(roundTrips, 0));
      zeroMs = monotonicMs() + aheadMs;
      send({ type: 'start', at: zeroMs, wallMs: Date.now() + aheadMs });
      return BigInt(Math.round(zeroMs * 1e6));
    },
  });

  /** @param {number} step @param {Plan} plan @param {RunOptions} [options] @returns {Promise<Result>} */
  async function runStep(step, plan, options = {}) {
    const { signal = never, cutOff = never } = options;
    const prepared = options.prepared ?? (await prepareStep(step, plan, options));
    over = new AbortController();
    const stop = AbortSignal.any([signal, over.signal]);
    const onStop = () => send({ type: 'stop' });
    const late = new AbortController();
    const onCutOff = () => {
      send({ type: 'cutOff' });
      setTimeout(() => late.abort(), CUT_OFF_MS).unref();
    };
    const { closed, onClosing } = collectClosing();
    try {
      const members = gathering.members();
      const { id, threads: theirs } = Object(prepared);
      const threads = members.map(({ index }, i) => threadsOf(plan.load, theirs[i], { index, of }));
      const part = planOfPart(plan, own);
      const intervals = () => each().map(({ state }) => state.interval);
      const view = await createJointView(plan, [part.load.threads, ...threads], { ...options, intervals });
      [cells, zeroMs] = [view.cells, monotonicMs()];
      startTask({ type: 'run', id, plan, hasReports: view.hasReports });
      for (const [i, member] of members.entries()) stateOf(member).ports = view.ports[i];
      stop.addEventListener('abort', onStop);
      cutOff.addEventListener('abort', onCutOff);
      const { live, onEvent: onOwnEvent } = view;
      const handling = { ...options, prepared, live, onEvent: onOwnEvent, onClosing };
      const result = await runOwn(part, { ...handling, signal: stop, start: createStart(stop) });
      // After the second Ctrl-C, a part that hands in nothing is missing.
      await until(() => each().every(hasEnded), late.signal).catch(() => {});
      await onOwnResult?.(result);
      const merged = { ...mergeAll(result, each(), options.command), interrupted: signal.aborted };
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
      const closing = closed().finally(options.prepared === undefined ? prepared.close : null);
      await (options.onClosing ?? awaited)(closing);
    }
  }

  /** The interface of run.js, for a step of the command: its token and paths are each part's own. */
  const ofStep = (/** @type {number} */ step) => ({
    prepareRun: (/** @type {Plan} */ plan, /** @type {RunOptions} */ options = {}) =>
      prepareStep(step, plan, options),
    run: (/** @type {Plan} */ plan, /** @type {RunOptions} */ options = {}) => runStep(step, plan, options),
    /** A part was lost: the next run throws, and needs no pause before it. @type {AbortSignal} */
    broken: broken.signal,
  });

  return {
    address: gathering.address,
    complete: gathering.complete,
    /** A part was interrupted, and all must stop. @type {AbortSignal} */
    interrupted: interrupted.signal,
    ...ofStep(0),
    ofStep,
    /**
     * Lets the other parts go. Once their results were taken, errors of part 0 are not theirs; an interruption is of all.
     * @param {{why?: string | null, exitCode?: number}} [how] `why`: a sentence; null: all went well
     */
    end({ why = null, exitCode = EXIT.ok } = {}) {
      const areTaken = each().length > 0 && each().every(({ state }) => state.result !== null);
      const { aborted, reason } = interrupted.signal;
      const cause = why !== null && aborted ? reason.message : why;
      const isOwn = why !== null && areTaken && exitCode !== EXIT.interrupted;
      const ending = isOwn ? { why: null, exitCode: EXIT.ok } : { why: cause, exitCode };
      gathering.end({ type: 'end', ...ending });
    },
  };
}

/** Receives a clean-up. */
function collectClosing() {
  const closings = [Promise.resolve()];
  const onClosing = (/** @type {Promise<any>} */ closing) => void closings.push(closing);
  return { closed: () => Promise.all(closings), onClosing };
}

const awaited = (/** @type {Promise<unknown>} */ closing) => closing;

/** @param {Result} result of part 0 @param {{member: Member, state: State}[]} parts the others @param {string} [command] @returns {Result} */
function mergeAll(result, parts, command) {
  const others = parts.flatMap(({ member: { name }, state }) =>
    state.result ? [{ name, result: state.result }] : [],
  );
  const missing = parts.flatMap(({ member: { index, lost }, state: { result, failed, ...state } }) => {
    if (result !== null)
      return state.isInterrupted && result.interrupted ? [{ index, why: INTERRUPTED }] : [];
    return {
      index,
      why: lost ?? failed?.message ?? (state.isStopped ? STOPPED : 'it did not hand in a result'),
    };
  });
  const results = [result, ...others.map((one) => one.result)];
  const names = ['Part 0', ...others.map(({ name }) => capital(name))];
  const options = { allowInterrupted: true, haveOneClock: true, command };
  try {
    return mergeResults(results, { names, missing, ...options });
  } catch (error) {
    // What was measured must not be lost: the result is that of part 0.
    const why = `not merged: ${/** @type {Error} */ (error).message}`;
    const all = parts.map(({ member: { index } }) => ({ index, why }));
    return mergeResults([result], { missing: all, ...options });
  }
}
