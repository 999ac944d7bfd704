/** A part of a joined run other than part 0: does what part 0 asks, until it ends the run or is lost. */
import { EXIT, PkiLoadError, usageError } from '../common/errors.js';
import { formatDuration } from '../common/units.js';
import { nsOf } from '../engine/interval.js';
import { partName } from '../plan/shard-part.js';
import { prepareRun, run } from '../run.js';
import { createClock, monotonicMs } from './clock.js';
import { connect } from './connect.js';
import { foundBy, planAsked, planOfPart } from './joined-plan.js';
import { createReports } from './reports.js';

/** @import { Plan } from '../plan/plan.js' */
/** @import { ShardPart } from '../plan/shard-part.js' */
/** @import { Result } from '../result/schema.js' */
/** @import { RunEvent, RunOptions } from '../run.js' */
/** @import { Series } from './gathering.js' */
/** @import { Most } from './joined-plan.js' */
/** @import { Wire, WireMessage } from './wire.js' */

/**
 * `seed`: as given; `steps`: the plans of this part's own command line, each with its token; `most`: in a search, part 0 changes their load;
 * `series`: settings of several runs;
 * `timeoutMs`: to reach part 0;
 * `now`: of the monotonic clock, replaced in tests
 * @typedef {{where: {host: string, port: number}, key: Buffer, part: ShardPart, seed?: number | null, timeoutMs: number, silenceMs?: number, series?: Series,
 *   steps: readonly (Pick<RunOptions, 'token' | 'mayReach'> & {plan: Plan, most?: Most | null})[], command: string, stop: AbortSignal,
 *   cutOff: AbortSignal, onEvent: (event: RunEvent) => void, onResult?: (result: Result) => unknown,
 *   now?: () => number}} MemberOptions
 */
/** What part 0 has asked for, and its next steps @typedef {ReturnType<typeof createTask>} Task */

const PING_MS = 1000;

/** A part 0 that kept this part for so long may take its whole time to come again. */
const KEPT_MS = 10_000;

/** Part 0 reads and merges the results of long runs with many parts for minutes, and says nothing meanwhile. */
const MERGE_WITHIN_MS = 900_000;

/** After the second Ctrl-C, for part 0 to end the run. */
const CUT_OFF_MS = 5000;

const NO_REASON = 'it gave no reason.';

/** Of part 0 in a task, that are shown. */
const MAX_EVENTS = 100;

/** Times of part 0, by its own clocks: its year 5138. */
const MAX_TIME_MS = 1e14;

/** Exchanges just before the start, which make the clock exact. */
const EXCHANGES = 8;

/**
 * @param {MemberOptions} options @returns {Promise<number>} exit code, once this part was taken
 * @throws {PkiLoadError} if it was refused, or part 0 was lost or ended the run early
 */
export async function runAsMember(options) {
  const { part, steps, command, stop, cutOff, onEvent, onResult, now = monotonicMs } = options;
  let clock = createClock();
  /** Aborted when there is no part 0 any more. */
  const gone = new AbortController();
  /** @type {Map<number, {step: number, over: AbortController, preparing: ReturnType<typeof prepareRun>}>} */
  const preparations = new Map();
  const { '--repeat': repeat = Infinity } = options.series ?? {};
  /** How often each step was prepared and run. @type {Map<string, number>} */
  const counts = new Map();
  /** @param {'prepare' | 'run'} what @param {number} step @throws {RangeError} outside a search, for more than this part's own --repeat */
  function countTask(what, step) {
    const count = (counts.get(`${what} ${step}`) ?? 0) + 1;
    if (!steps[step].most && count > Number(repeat))
      fail(`part 0 asks to ${what} a step more often than --repeat`);
    counts.set(`${what} ${step}`, count);
  }
  /** Clean-ups in progress. @type {Set<Promise<unknown>>} */
  const closings = new Set();
  const onClosing = (/** @type {Promise<unknown>} */ closing) => {
    const settled = closing.catch(() => {}).finally(() => closings.delete(settled));
    closings.add(settled);
  };
  let current = /** @type {Task | null} */ (null);
  /** All parts are there: none may leave or come. */
  let hasBegun = false;
  /** @type {Promise<void>} */
  let running = Promise.resolve();
  let onPong = () => {};
  let deadline = performance.now() + options.timeoutMs;
  let admittedAtMs = 0;
  let hasHandedIn = false;
  let events = 0;
  /** Of the last task that failed here. @type {number | null} */
  let failureCode = null;
  const { promise: ended, resolve: finish } = createDeferred();
  let isOver = false;
  const setOver = () => {
    isOver = true;
  };
  ended.then(setOver, setOver);

  /** @type {Record<string, (message: WireMessage) => void>} */
  const HANDLERS = {
    complete() {
      hasBegun = true;
    },
    pong({ at, leader }) {
      checkTimes(at, leader);
      clock.add(Number(at), Number(leader), now());
      onPong();
    },
    prepare: (message) => startTask(prepare, message),
    run: (message) => startTask(runTask, message),
    release({ id, task }) {
      const known = preparations.get(id);
      preparations.delete(id);
      // It may have overtaken its preparation, which waits for clean-ups.
      (known ?? ofTask(task))?.over.abort();
      if (known !== undefined) onClosing(known.preparing.then(({ close }) => close()));
    },
    connect: (message) => ofTask(message.task)?.connect.resolve(message),
    start(message) {
      checkTimes(message.at, message.wallMs);
      ofTask(message.task)?.start.resolve(message);
    },
    stop: ({ task }) => ofTask(task)?.over.abort(),
    cutOff: ({ task }) => ofTask(task)?.cut.abort(),
    abandon({ task }) {
      ofTask(task)?.over.abort();
      ofTask(task)?.cut.abort();
    },
    event({ text }) {
      if (++events <= MAX_EVENTS) onEvent({ type: 'warning', text: String(text).slice(0, 1000) });
    },
    end: ({ why, exitCode }) =>
      finish({
        type: 'end',
        why: why === null ? null : String(why ?? NO_REASON).slice(0, 1000),
        exitCode: Object.values(EXIT).find((one) => one === exitCode) ?? EXIT.usage,
      }),
  };
  const ofTask = (/** @type {unknown} */ task) => (current?.task === task ? current : null);

  let wire = /** @type {Wire} */ (/** @type {unknown} */ (null));
  /** @typedef {(message: WireMessage, task: Task) => Promise<void>} Action */
  /** @param {Action} action @param {WireMessage} message @throws {RangeError} closes the connection */
  function startTask(action, message) {
    if (current !== null && !current.isAnswered && !current.signal.aborted)
      fail('a task before the answer to the last one');
    hasBegun = true;
    events = 0;
    current = createTask(message.task, [stop, gone.signal], cutOff);
    wire.allowSilence();
    running = attempt(current, action, message);
  }

  /** @param {Task} mine @param {Action} action @param {WireMessage} message */
  async function attempt(mine, action, message) {
    const { task } = mine;
    try {
      await Promise.all(closings);
      mine.signal.throwIfAborted();
      await action(message, mine);
    } catch (error) {
      mine.isAnswered = true;
      // Part 0 knows why, but waits for an answer to each task.
      if (mine.signal.aborted) return wire.send({ type: 'stopped', task });
      const { code = 'internal', message: text, remedy, exitCode } = /** @type {PkiLoadError} */ (error);
      failureCode = exitCode ?? EXIT.usage;
      onEvent({ type: 'warning', text });
      wire.send({ type: 'failed', task, error: { code, message: text, remedy, exitCode } });
    }
  }

  /** @param {WireMessage} message @param {Task} mine */
  async function prepare({ task, id, step, plan: given }, mine) {
    const { over, signal } = mine;
    // The release of one may still be on its way.
    const isMany = preparations.has(id) || preparations.size > steps.length;
    if (isMany) fail('it asks for more preparations than there are steps');
    const plan = planAsked(steps[step]?.plan, given, steps[step]?.most ?? null);
    countTask('prepare', step);
    const { token, mayReach } = steps[step];
    const shown = { onEvent: shownIn(task), onClosing };
    const preparing = prepareRun(planOfPart(plan, part), { token, mayReach, signal, cutOff, ...shown });
    preparations.set(id, { step, over, preparing });
    const found = foundBy(await preparing);
    mine.isAnswered = true;
    wire.send({ type: 'reached', task, phase: 'prepared', found, threads: plan.load.threads });
  }

  /** @param {WireMessage} message @param {Task} mine */
  async function runTask({ task, id, plan: given, hasReports }, mine) {
    const { connect, start, signal, cutOff } = mine;
    const { step, preparing } = preparations.get(id) ?? fail('it was not asked to prepare this');
    const plan = planAsked(steps[step].plan, given, steps[step].most ?? null);
    if ((plan.load.durationMs ?? plan.load.requests) === null) fail('it has no end');
    countTask('run', step);
    let [startedAt, clockErrorMs] = [new Date(), 0];
    const reach = (/** @type {string} */ phase, /** @type {object} */ more = {}) =>
      wire.send({ type: 'reached', task, phase, ...more });
    const reports = hasReports
      ? createReports(part.of, (thread, report) => wire.send({ type: 'report', task, thread, report }))
      : null;
    try {
      const measured = await run(planOfPart(plan, part), {
        prepared: await preparing,
        command,
        signal,
        cutOff,
        onClosing,
        onEvent: shownIn(task),
        live: reports?.live,
        start: {
          connect: () => {
            reach('ready');
            return connect.promise;
          },
          async begin() {
            for (let i = 0; i < EXCHANGES; i++) await exchange();
            clockErrorMs = clock.roundTripMs() / 2;
            reach('connected', { roundTripMs: clock.roundTripMs() });
            const { at, wallMs } = await start.promise;
            const aheadMs = clock.toLocal(Number(at)) - now();
            const lateMs = Math.max(0, -aheadMs);
            // If time zero has passed, it is now: with that of the others, this part would send its backlog in a burst.
            startedAt = new Date(Number(wallMs) + lateMs + plan.load.warmupMs);
            const text = `The message to start came late: this part starts ${formatDuration(lateMs)} after the others.`;
            if (lateMs > 0) shownIn(task)({ type: 'warning', text });
            return process.hrtime.bigint() + nsOf(aheadMs + lateMs);
          },
        },
      });
      const result = { ...measured, startedAt: startedAt.toISOString(), clockErrorMs };
      mine.isAnswered = true;
      wire.send({ type: 'result', task, result });
      hasHandedIn = true;
      wire.allowSilence(MERGE_WITHIN_MS);
      await onResult?.(result);
    } finally {
      reports?.close();
    }
  }

  const ping = () => wire.send({ type: 'ping', at: now() });
  const exchange = () =>
    new Promise((resolve) => {
      onPong = () => resolve(null);
      ping();
    });

  /** @param {number} task @returns {(event: RunEvent) => void} */
  const shownIn = (task) => (event) => {
    if (event.type === 'warning') wire.send({ type: 'event', task, text: event.text });
    if (event.type === 'interval') wire.send({ type: 'interval', task, interval: event });
    if (event.type === 'start')
      onEvent({ type: 'notice', text: 'Sending. Part 0 shows the figures of all parts.' });
    onEvent(event);
  };

  const calls = {
    onAdmitted(/** @type {Wire} */ admitted) {
      wire = admitted;
      admittedAtMs = performance.now();
      // Part 0 may have been restarted on another machine.
      clock = createClock();
    },
    onMessage(/** @type {WireMessage} */ message) {
      if (Object.hasOwn(HANDLERS, message.type)) HANDLERS[message.type](message);
    },
    onClose(/** @type {string} */ why) {
      if (isOver) return;
      // While others are awaited, it may come again, unless part 0 talks nonsense.
      if (!hasBegun && !why.startsWith('it sent ')) {
        onEvent({ type: 'warning', text: `Part 0 was lost: ${why}. This part connects again.` });
        if (performance.now() - admittedAtMs >= KEPT_MS) deadline = performance.now() + options.timeoutMs;
        return void join(why).catch((error) => {
          if (!isOver && !stop.aborted) finish(Promise.reject(error));
        });
      }
      gone.abort();
      finish({ type: 'end', lost: why });
    },
  };
  const join = (/** @type {string | null} */ lost) => connect({ ...options, deadline, lost }, calls);
  await join(null);
  const stopped = { type: 'end', why: null, exitCode: EXIT.interrupted };
  const onStop = () => {
    if (hasBegun) wire.send({ type: 'interrupted' });
    // While others are awaited, it may be started again, elsewhere.
    else finish(stopped);
  };
  stop.addEventListener('abort', onStop, { once: true });
  if (stop.aborted) onStop();
  // Part 0 may not answer.
  const onCutOff = () => setTimeout(finish, CUT_OFF_MS, stopped).unref();
  cutOff.addEventListener('abort', onCutOff, { once: true });
  const pinging = setInterval(ping, PING_MS);
  try {
    const { lost, why, exitCode } = await ended;
    gone.abort();
    for (const id of [...preparations.keys()]) HANDLERS.release({ type: 'release', id });
    await running;
    await Promise.all(closings);
    if (lost !== undefined) {
      const text = `Part 0 was lost: ${lost}. This part (${partName(part)}) has stopped and removed what it had created.`;
      throw usageError('leader_lost', text, 'See the log of part 0, and start all parts again.');
    }
    const isTaken = why === null && hasHandedIn && failureCode === null;
    if (isTaken) onEvent({ type: 'notice', text: 'Part 0 has taken the result of this part.' });
    // Part 0 may report without this part.
    if (why === null) return exitCode === EXIT.ok ? (failureCode ?? EXIT.ok) : exitCode;
    const code = exitCode === EXIT.ok ? EXIT.usage : exitCode;
    throw new PkiLoadError('joined_run_ended', `Part 0 ended the run: ${why}`, { exitCode: code });
  } finally {
    clearInterval(pinging);
    stop.removeEventListener('abort', onStop);
    cutOff.removeEventListener('abort', onCutOff);
    wire.end();
  }
}

/** @param {string} problem @returns {never} */
function fail(problem) {
  throw new RangeError(problem);
}

/** @param {...unknown} times of part 0 */
function checkTimes(...times) {
  const isTime = (/** @type {unknown} */ one) => Number.isFinite(one) && Math.abs(Number(one)) <= MAX_TIME_MS;
  if (!times.every(isTime)) fail('a time that is none');
}

/** @param {number} task @param {AbortSignal[]} stops @param {AbortSignal} cutOff */
function createTask(task, stops, cutOff) {
  const [over, cut] = [new AbortController(), new AbortController()];
  return {
    task,
    isAnswered: false,
    over,
    cut,
    connect: createDeferred(),
    start: createDeferred(),
    signal: AbortSignal.any([...stops, over.signal]),
    cutOff: AbortSignal.any([cutOff, cut.signal]),
  };
}

function createDeferred() {
  let resolve = (/** @type {WireMessage | Promise<never>} */ _message) => {};
  /** @type {Promise<WireMessage>} */
  const promise = new Promise((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
