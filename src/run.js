/** The story of a run, top to bottom: prepare, warm, send, merge, judge. Emits events; prints nothing. */
import { cpus } from 'node:os';
import { interrupted, orInterrupted } from './common/stop.js';
import { total } from './common/sums.js';
import { countWaiting, intervalEvent, startTicking } from './engine/interval.js';
import { describeSpinning } from './engine/pacing/choose.js';
import { createRunSeconds } from './engine/recording/seconds.js';
import { describeWait, leadMs, untilConnecting } from './engine/start.js';
import { createShards } from './engine/threads.js';
import { watchMachine } from './engine/watch/machine.js';
import { plannedWindow } from './engine/window.js';
import { loadTls } from './http/tls.js';
import { loadMix } from './operations/mix.js';
import { conclude } from './result/conclude.js';
import { startRenewal } from './vault/check-token.js';
import { createVaultClient } from './vault/client.js';
/** @import { IntervalEvent } from './engine/interval.js' */
/** @import { Shard, ShardEnd } from './engine/shard.js' */
/** @import { Tls } from './http/tls.js' */
/** @import { PrepareContext } from './operations/index.js' */
/** @import { Mix, MixFixture } from './operations/mix.js' */
/** @import { Plan } from './plan/plan.js' */
/** @import { Result } from './result/schema.js' */
/** @import { MessagePort } from 'node:worker_threads' */

/**
 * @typedef {object} StartEvent
 * @property {'start'} type
 * @property {Plan} plan
 * @property {{url: string, product: string | null, version: string | null}} target
 * @property {number | null} planned measured requests; null: as many as the target answers
 * @property {readonly number[] | null} [cells] of those, each operation's in each stage, where there are several
 */
/** @typedef {StartEvent | IntervalEvent | {type: 'notice' | 'warning', text: string} | {type: 'progress', label: string, done: number, total: number} | {type: 'result', result: Result}} RunEvent */
/**
 * @typedef {object} TimeZero emitted just before sending begins
 * @property {Date} startedAt start of the measured part
 * @property {bigint} startedAtNs the same on the monotonic clock
 * @property {number | null} windowMs planned length of the measured part; null: the requests decide
 */
/**
 * @typedef {object} LiveHook how another thread learns how the run goes without a share of the sending thread's time
 * @property {(count: number) => MessagePort[]} ports one for each recorder, which posts a Report
 *   on it every two seconds; none: no reports
 * @property {(zero: TimeZero) => void} begin
 */
/**
 * @typedef {object} RunOptions
 * @property {string | null} [token] a secret; goes into request headers, nowhere else
 * @property {AbortSignal} [signal] first abort: sends nothing more, waits for requests in flight, reports
 * @property {AbortSignal} [cutOff] ends requests in flight, too
 * @property {(event: RunEvent) => void} [onEvent]
 * @property {string} [command] the command line, for the result; no secrets
 * @property {LiveHook} [live]
 * @property {Prepared} [prepared] what another plan has prepared that differs in its load alone; else the run prepares, and takes away
 *   what it has made, itself
 */
/**
 * @typedef {object} Prepared what outlives a run, so that several may share it
 * @property {Plan['target']} target the plan's; of an embedded server, where that is
 * @property {MixFixture} fixture
 * @property {Tls} tls
 * @property {() => Promise<void>} close removes what preparing made
 */
/**
 * @typedef {object} Context of a run
 * @property {AbortSignal} stop
 * @property {AbortSignal | undefined} cutOff
 * @property {(event: RunEvent) => void} onEvent
 * @property {string} command
 * @property {LiveHook | undefined} live
 */

/**
 * Runs a plan to its end.
 *
 * @param {Plan} plan
 * @param {RunOptions} [options]
 * @returns {Promise<Result>}
 * @throws {PkiLoadError} when the run could not begin; a refused request is an outcome, not an error
 */
export async function run(
  plan,
  { token = null, signal, cutOff, onEvent = () => {}, command = '', live, prepared } = {},
) {
  const stop = signal ?? new AbortController().signal;
  const context = { stop, cutOff, onEvent, command, live };
  if (prepared !== undefined) return runPrepared(plan, prepared, context);
  const own = await prepareRun(plan, { token, signal: stop, onEvent });
  try {
    return await runPrepared(plan, own, context);
  } finally {
    await own.close();
  }
}

/**
 * Prepares a run: the embedded server, if the plan has one, and whatever the operations need. Close it.
 *
 * @param {Plan} plan
 * @param {Pick<RunOptions, 'token' | 'signal' | 'onEvent'>} [options]
 * @returns {Promise<Prepared>}
 * @throws {PkiLoadError} when the target refuses; nothing is left behind then
 */
export async function prepareRun(plan, { token: given = null, signal, onEvent = () => {} } = {}) {
  const stop = signal ?? new AbortController().signal;
  const server = plan.dev ? await startDev(plan.target.mount) : null;
  const token = server?.token ?? given;
  const target = server === null ? plan.target : { ...plan.target, url: server.url };
  const aimed = { ...plan, target };
  const warn = (/** @type {string} */ text) => onEvent({ type: 'warning', text });
  const notice = (/** @type {string} */ text) => onEvent({ type: 'notice', text });
  const progress = (/** @type {string} */ label, /** @type {number} */ done, /** @type {number} */ all) =>
    onEvent({ type: 'progress', label, done, total: all });
  /** @type {(() => unknown)[]} the last first */
  const endings = [() => server?.stop()];
  let closed = false;
  const close = async () => {
    closed = true;
    for (const end of endings.splice(0).reverse()) await end();
  };
  /** @type {PrepareContext['onEnd']} */
  const onEnd = (end) => {
    if (closed) throw interrupted();
    endings.push(() => end().catch((error) => warn(error.full ?? error.message)));
  };
  try {
    const mix = await loadMix(aimed);
    const tls = loadTls(target.tls);
    const { url, namespace } = target;
    const timeoutMs = Math.max(plan.load.timeoutMs, 5000);
    const client = createVaultClient({ url, token, namespace, tls, timeoutMs });
    endings.push(() => client.close());
    let renewal = /** @type {{stop: () => void} | null} */ (null);
    const keepAlive = (/** @type {number} */ renewEveryMs) => {
      // After a stop the preparation goes on for a while, unobserved: a renewal that it starts would never end.
      if (stop.aborted) return;
      renewal?.stop();
      renewal = startRenewal(client, { renewEveryMs, onWarning: ({ text }) => warn(text) });
    };
    endings.push(() => renewal?.stop());
    throwIfStopped(stop);
    const context = { plan: aimed, client, token, tls, notice, warn, signal: stop };
    const fixture = await orInterrupted(mix.prepare({ ...context, keepAlive, progress, onEnd }), stop);
    endings.push(() => mix.cleanup(context, fixture));
    return { target, fixture, tls, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @param {string} mount */
async function startDev(mount) {
  const { startDevServer } = await import('./dev/spawn.js');
  return startDevServer({ mount });
}

/**
 * @param {Plan} planned
 * @param {Prepared} prepared
 * @param {Context} context
 * @returns {Promise<Result>}
 */
async function runPrepared(planned, { target: aim, fixture, tls }, context) {
  const { stop, onEvent, command, live } = context;
  const plan = { ...planned, target: aim };
  const mix = await loadMix(plan);
  const warn = (/** @type {string} */ text) => onEvent({ type: 'warning', text });
  const notice = (/** @type {string} */ text) => onEvent({ type: 'notice', text });
  /** @type {Shard[]} */
  let shards = [];
  try {
    const { threads, startAt } = plan.load;
    const spinning = describeSpinning(plan.load, cpus().length);
    if (spinning !== null) notice(spinning);
    const seconds = createRunSeconds(plan.load);
    const window = plannedWindow(plan.load, { count: mix.members.length, memberOf: mix.memberOf });
    shards = await createShards(
      { plan, fixture, tls, measuredMs: window.windowMs },
      { onSecond: (_thread, row) => seconds.add(row), livePorts: live?.ports(threads) },
    );
    const waits = describeWait(startAt);
    if (waits !== null) notice(waits);
    await untilConnecting(startAt, stop);
    throwIfStopped(stop);
    for (const problem of await orInterrupted(warmAll(shards), stop)) warn(problem);
    throwIfStopped(stop);
    const target = { url: fixture.targetUrl, ...fixture.target };
    onEvent({ type: 'start', plan, target, planned: window.planned, cells: window.cells ?? null });
    const sent = await send({ plan, windowMs: window.windowMs, shards, seconds }, context);
    for (const event of describeKept(mix, sent.ends)) onEvent(event);
    seconds.closeAll();
    const notes = mix.takeNotes(fixture);
    const result = conclude({ plan, mix, window, target, command, seconds: seconds.rows, sent, notes });
    onEvent({ type: 'result', result });
    return result;
  } finally {
    await Promise.all(shards.map((shard) => shard.close()));
  }
}

/** @param {AbortSignal} stop */
function throwIfStopped(stop) {
  if (stop.aborted) throw interrupted();
}

/** @param {Shard[]} shards @returns {Promise<string[]>} sentences */
async function warmAll(shards) {
  const problems = (await Promise.all(shards.map((shard) => shard.warm()))).flat();
  if (problems.length === 0) return [];
  return [
    `${problems.length} connections could not be opened before the run (${problems[0]}); they will be tried again.`,
  ];
}

/**
 * Time zero to the last answer.
 *
 * @param {object} what
 * @param {Plan} what.plan
 * @param {number | null} what.windowMs planned length of the measured part
 * @param {Shard[]} what.shards
 * @param {ReturnType<typeof createRunSeconds>} what.seconds
 * @param {Pick<Context, 'stop' | 'cutOff' | 'onEvent' | 'live'>} context
 */
async function send({ plan, windowMs, shards, seconds }, { stop, cutOff, onEvent, live }) {
  const { warmupMs, startAt } = plan.load;
  const lead = leadMs(startAt);
  const originNs = process.hrtime.bigint() + BigInt(Math.round(lead * 1e6));
  const startedAt = new Date(Date.now() + lead + warmupMs);
  const startedAtNs = originNs + BigInt(Math.round(warmupMs * 1e6));
  const elapsed = () => Number(process.hrtime.bigint() - originNs) / 1e6;
  let stoppedMs = Number.POSITIVE_INFINITY;
  let waitingAtStop = /** @type {number | null} */ (null);
  const onStop = () => {
    stoppedMs = elapsed();
    waitingAtStop = countWaiting(shards.map((shard) => shard.state()));
    for (const shard of shards) shard.stop();
  };
  const onCutOff = () => {
    for (const shard of shards) shard.cutOff();
  };
  for (const shard of shards) shard.start(originNs);
  live?.begin({ startedAt, startedAtNs, windowMs });
  const endWatch = watchMachine(warmupMs - elapsed(), windowMs);
  stop.addEventListener('abort', onStop, { once: true });
  cutOff?.addEventListener('abort', onCutOff, { once: true });
  // A listener of the start event may have stopped the run at once.
  if (stop.aborted) onStop();
  if (cutOff?.aborted) onCutOff();
  const stopTicking = startTicking(lead, () =>
    onEvent(intervalEvent({ warmupMs, windowMs, shards, seconds, waitingAtStop }, elapsed())),
  );
  try {
    const ends = await Promise.all(shards.map((shard) => shard.ended));
    return { ends, startedAt, startedAtNs, stoppedMs, machine: endWatch() };
  } finally {
    stopTicking();
    endWatch();
    stop.removeEventListener('abort', onStop);
    cutOff?.removeEventListener('abort', onCutOff);
  }
}

/**
 * @param {Mix} mix
 * @param {ShardEnd[]} ends
 * @returns {{type: 'notice' | 'warning', text: string}[]} one for each operation that kept something; a warning where not all was
 */
function describeKept(mix, ends) {
  return mix.members.flatMap((_, member) => {
    const kept = ends.flatMap((end) => end.kept[member] ?? []);
    if (kept.length === 0) return [];
    const failure = kept.find((one) => one.failure !== null)?.failure ?? null;
    const text = mix.describeKept(member, { count: total(kept.map(({ count }) => count)), failure });
    return text === null ? [] : [{ type: failure === null ? 'notice' : 'warning', text }];
  });
}
