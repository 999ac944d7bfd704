/** One run, top to bottom: prepare, warm up, send, conclude. Emits events; prints nothing. */
import { PkiLoadError, rejectIf } from './common/errors.js';
import { isolated } from './common/listener.js';
import { isSocket, originOf } from './common/options.js';
import { delayedSignal, interruptedError, LAST_CALLS_MS, REMOVALS_MS, rejectOnStop } from './common/stop.js';
import { total } from './common/sums.js';
import { formatCount } from './common/units.js';
import { createStart, intervalEvent, nsOf, startTicking } from './engine/interval.js';
import { createSeconds } from './engine/recording/seconds.js';
import { createShards } from './engine/shard.js';
import { watchMachine } from './engine/watch/machine.js';
import { plannedWindow } from './engine/window.js';
import { checkHttp2 } from './http/http2-connection.js';
import { checkLocalAddresses, describePortShortage } from './http/local-ports.js';
import { routeOf } from './http/route.js';
import { foreignTls, loadTls, tlsInRotation } from './http/tls.js';
import { loadMix } from './operations/mix.js';
import { shardOfThread, share } from './plan/shard-part.js';
import { conclude } from './result/conclude.js';
import { checkToken, startRenewal } from './vault/check-token.js';
import { createVaultClient } from './vault/client.js';
import { describeProxy, readNetwork } from './vault/network.js';
import { OF_ENDED_TOKEN } from './verdict/observed.js';

/** @import { IntervalEvent, Start } from './engine/interval.js' */
/** @import { Shard, ShardEnd } from './engine/shard.js' */
/** @import { PrepareContext } from './operations/index.js' */
/** @import { Mix } from './operations/mix.js' */
/** @import { Plan } from './plan/plan.js' */
/** @import { Result } from './result/schema.js' */
/** @import { MessagePort } from 'node:worker_threads' */

/** @typedef {{type: 'notice' | 'warning', text: string, isFailure?: boolean}} Message `isFailure`: an output is incomplete */
/** @typedef {{type: 'progress', label: string, done: number, total: number}} Progress */
/** @typedef {StartEvent | IntervalEvent | Message | Progress | {type: 'result', result: Result}} RunEvent */
/**
 * `planned`: measured requests, null: a closed loop without `requests`; `cells`: the same by operation and stage, if several
 * @typedef {{type: 'start', plan: Plan, target: Result['target'], planned: number | null,
 *   cells?: readonly number[] | null}} StartEvent
 */
/**
 * Start of the measured phase, also on the monotonic clock, and its planned length; null: a number of requests ends it
 * @typedef {{startedAt: Date, startedAtNs: bigint, windowMs: number | null}} TimeZero
 */
/**
 * @typedef {object} LiveHook reports to another thread, bypassing the sender
 * @property {(count: number) => MessagePort[]} ports one for each recorder's Reports; none: no reports
 * @property {(zero: TimeZero) => void} begin called just before sending starts
 */
/**
 * @typedef {object} RunOptions
 * @property {string | null} [token] a secret; goes into request headers, nowhere else
 * @property {PrepareContext['mayReach']} [mayReach] by default, every address
 * @property {AbortSignal} [signal] first abort: sends nothing more, waits for requests in flight, reports
 * @property {AbortSignal} [cutOff] also aborts requests in flight and, 5 s later, the wait for removals
 * @property {(closing: Promise<unknown>) => void} [onClosing] receives the clean-up; without it, the run waits for its end
 * @property {(event: RunEvent) => void} [onEvent] an error that it throws does not end the run, see isolated
 * @property {string} [command] the command line, for the result; no secrets
 * @property {LiveHook} [live]
 * @property {Start} [start] by default, as the plan's `startAt` says
 * @property {Prepared} [prepared] shared by plans that differ only in load; by default, the run makes its own
 */
/** @typedef {Awaited<ReturnType<typeof prepareRun>>} Prepared several runs may share it */

const awaited = (/** @type {Promise<unknown>} */ closing) => closing;

/** Codes that end a search before its next step. */
const ENDS = ['interrupted', 'token_expires', 'token_invalid', 'token_use_limit', 'lease_expires'];

/** Removals can take minutes, but Vault itself ends a request after 90 s (default_max_request_duration). */
const REMOVE_WITHIN_MS = 90_000;

/**
 * @param {Plan} givenPlan @param {RunOptions} [options] @returns {Promise<Result>}
 * @throws {PkiLoadError} when the run could not start; a refused request is an outcome, not an error
 */
export async function run(givenPlan, options = {}) {
  const { signal: stop = new AbortController().signal, command = '', live } = options;
  const onEvent = isolated(options.onEvent);
  const prepared = options.prepared ?? (await prepareRun(givenPlan, options));
  const { fixture, tls, route } = prepared;
  const load = { ...givenPlan.load, proxy: route.proxy?.name ?? null };
  const plan = { ...givenPlan, target: prepared.target, load };
  let shards = /** @type {Shard[]} */ ([]);
  try {
    const mix = await loadMix(plan);
    const seconds = createSeconds(plan.load);
    const window = plannedWindow(plan.load, { count: mix.members.length, memberOf: mix.memberOf });
    const input = { plan, fixture, tls, route, measuredMs: window.windowMs };
    shards = await createShards(input, mix, seconds.add, live?.ports(plan.load.threads));
    const shortage = portShortageOf(plan.load, route.address.host);
    if (shortage !== null) onEvent({ type: 'warning', text: shortage });
    for (const text of describeUnused(plan.load, tlsInRotation(tls).length))
      onEvent({ type: 'warning', text });
    const notice = (/** @type {string} */ text) => onEvent({ type: 'notice', text });
    const start = options.start ?? createStart(plan.load.startAt, stop, notice);
    await rejectOnStop(start.connect(), stop);
    throwIfStopped(stop);
    const unopened = (await rejectOnStop(Promise.all(shards.map((shard) => shard.connect())), stop)).flat();
    if (unopened.length > 0) {
      const failed = `Connections that could not be opened before the run: ${unopened.length}`;
      onEvent({
        type: 'warning',
        text: `${failed} (${unopened[0]}); the run opens them when it needs them.`,
      });
    }
    throwIfStopped(stop);
    const target = { url: fixture.targetUrl, ...fixture.target };
    const originNs = await rejectOnStop(start.begin(), stop);
    onEvent({ type: 'start', plan, target, planned: window.planned, cells: window.cells ?? null });
    const context = { originNs, windowMs: window.windowMs, shards, seconds };
    const sendResult = await send(plan.load, context, { ...options, signal: stop, onEvent });
    for (const event of describeKept(mix, sendResult.ends)) onEvent(event);
    seconds.closeAll();
    const isDoubtful = OF_ENDED_TOKEN.some((outcome) => seconds.errors[outcome] > 0);
    const tokenEnded = isDoubtful ? await prepared.dependentsOfEnded() : [];
    const ran = { plan, mix, window, target, command, seconds: seconds.rows };
    const result = conclude({ ...ran, sendResult, tokenEnded });
    onEvent({ type: 'result', result });
    return result;
  } finally {
    const closed = Promise.all(shards.map((shard) => shard.close()));
    const closing = closed.finally(options.prepared === undefined ? prepared.close : null);
    await (options.onClosing ?? awaited)(closing);
  }
}

/**
 * Starts the embedded server, if any, and creates everything that the operations need; `close` removes both.
 * @param {Plan} plan @param {Omit<RunOptions, 'command' | 'live' | 'prepared'>} [options]
 * @throws {PkiLoadError} when the target refuses; everything created so far is then removed
 */
export async function prepareRun(plan, options = {}) {
  const { signal: stop = new AbortController().signal, mayReach = () => true } = options;
  const onEvent = isolated(options.onEvent);
  const { server, target } = plan.dev
    ? await (await import('./dev/spawn.js')).startDevTarget(plan.target)
    : { server: null, target: plan.target };
  const token = server?.token ?? options.token ?? null;
  const resolved = { ...plan, target };
  const warn = (/** @type {string} */ text) => onEvent({ type: 'warning', text });
  const notice = (/** @type {string} */ text) => onEvent({ type: 'notice', text });
  /** @type {PrepareContext['progress']} */
  const progress = (label, done, all) => onEvent({ type: 'progress', label, done, total: all });
  /** @type {Parameters<PrepareContext['beforeAgain']>[0][]} */
  const checks = [];
  /** Run in reverse order. @type {(() => unknown)[]} */
  const cleanups = [() => server?.stop()];
  let isClosed = false;
  /** Ends the wait for removals. */
  const tooLate = new AbortController();
  const close = async (stoppedMs = REMOVALS_MS) => {
    isClosed = true;
    const limits = [
      delayedSignal(AbortSignal.abort(), REMOVE_WITHIN_MS),
      delayedSignal(stop, stoppedMs),
      delayedSignal(options.cutOff, LAST_CALLS_MS),
    ];
    for (const { signal } of limits) signal.addEventListener('abort', () => tooLate.abort());
    for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
    for (const limit of limits) limit.close();
  };
  /** @type {PrepareContext['onEnd']} */
  const onEnd = (end) => {
    if (isClosed) throw interruptedError();
    cleanups.push(() => end().catch((error) => warn(error.full ?? error.message)));
  };
  try {
    const network = readNetwork(target);
    const { address } = routeOf(originOf(target.url), network);
    const note = describeProxy(target.url, network, token === null ? null : 'the token');
    if (note !== null) onEvent({ type: note.isWarning ? 'warning' : 'notice', text: note.text });
    await checkLocalAddresses(plan.load.localAddresses, address.host ?? '');
    const mix = await loadMix(resolved);
    const tls = { ...loadTls(target.tls), network };
    const timeoutMs = Math.max(plan.load.timeoutMs, 5000);
    const client = createVaultClient({ ...target, token, tls, timeoutMs });
    const { read, write, remove } = client;
    /** @template T @param {Promise<T>} call of a clean-up */
    const inTime = (call) =>
      rejectOnStop(call, tooLate.signal, () =>
        interruptedError(`${client.origin} did not confirm it in time.`),
      );
    client.read = (...args) => (isClosed ? inTime(read(...args)) : read(...args));
    client.write = (...args) => (isClosed ? inTime(write(...args)) : write(...args));
    client.remove = (path) => inTime(remove(path, REMOVE_WITHIN_MS));
    cleanups.push(() => client.close());
    let renewal = { stop() {} };
    const keepAlive = (/** @type {number} */ renewEveryMs) => {
      // Preparation goes on for a while after a stop; a renewal started then would never be stopped.
      if (stop.aborted) return;
      renewal.stop();
      renewal = startRenewal(client, { renewEveryMs, onWarning: ({ text }) => warn(text) });
    };
    cleanups.push(() => renewal.stop());
    throwIfStopped(stop);
    const beforeAgain = (/** @type {typeof checks[number]} */ check) => void checks.push(check);
    const context = { plan: resolved, client, token, tls, mayReach, notice, warn, signal: stop };
    const calls = { keepAlive, progress, beforeAgain, onEnd };
    const fixture = await rejectOnStop(mix.prepare({ ...context, ...calls }), stop);
    const route = routeOf(fixture.origin, network);
    checkSocketOptions(fixture.origin, plan);
    // Perhaps an OCSP responder elsewhere.
    await checkLocalAddresses(plan.load.localAddresses, route.address.host ?? '');
    const other = fixture.origin === originOf(target.url) ? null : describeProxy(fixture.origin, network);
    if (other !== null) notice(other.text);
    const ownTls = fixture.isForeign ? foreignTls(tls) : tls;
    if (plan.load.streamsPerConnection !== null) {
      const { shard, shards } = shardOfThread(plan.load.shard, 0, plan.load.threads);
      const concurrency = share(plan.load.concurrency, shard, shards);
      await checkHttp2(fixture.origin, ownTls, { ...plan.load, concurrency, timeoutMs }, stop);
    }
    /** Before a further run: is the token still valid for long enough? @param {Plan['load']} load @throws {PkiLoadError} */
    const checkAgain = async (load) => {
      for (const check of checks)
        await rejectOnStop(check(load), stop).catch((error) => {
          // A slow target does not end a search.
          if (!(error instanceof PkiLoadError) || ENDS.includes(error.code)) throw error;
        });
    };
    /**
     * After a run with outcomes that may be due to an ended token.
     * @returns {Promise<string[]>} operations that depended on the token, if it has ended; none if the target does not say in time
     */
    const dependentsOfEnded = async () => {
      const limits = [AbortSignal.timeout(LAST_CALLS_MS), ...(options.cutOff ? [options.cutOff] : [])];
      if (token === null) return [];
      return rejectOnStop(checkToken(client), AbortSignal.any(limits)).then(
        () => [],
        ({ code }) => (code === 'token_invalid' ? mix.dependentsOf(fixture, token) : []),
      );
    };
    return { target, fixture, tls: ownTls, route, checkAgain, dependentsOfEnded, close };
  } catch (error) {
    await (options.onClosing ?? awaited)(close(LAST_CALLS_MS));
    throw error;
  }
}

/** @param {string} origin @param {Plan} plan @throws {PkiLoadError} for options that only TCP connections have */
function checkSocketOptions(origin, { load, target }) {
  const given = {
    '--local-address': load.localAddresses.length > 0,
    '--resolve-every': load.resolveEveryMs !== null,
    '--connect-to': (target.connectTo ?? []).length > 0,
  };
  const [flag] = Object.entries(given).find(([, isGiven]) => isGiven) ?? [];
  const isUseless = flag !== undefined && isSocket(origin);
  rejectIf(isUseless, `${flag} is for TCP, but the load goes to a Unix socket.`, 'Leave it out.');
}

/** @param {Plan['load']} load @returns {number} connections that this part has open at a time, at most */
function connectionsOf({ concurrency, threads, shard, streamsPerConnection }) {
  const ofThreads = Array.from({ length: threads }, (_, thread) => {
    const { shard: own, shards } = shardOfThread(shard, thread, threads);
    return Math.ceil(share(concurrency, own, shards) / (streamsPerConnection ?? 1));
  });
  return total(ofThreads);
}

/** @param {Plan['load']} load @param {string | undefined} host to connect to; none: a Unix socket @returns {string | null} a warning; of a closed loop, none */
function portShortageOf(load, host) {
  const { ratePerSecond, requestsPerConnection, requests, durationMs, warmupMs, shard } = load;
  if (ratePerSecond === null || requestsPerConnection === null || host === undefined) return null;
  const most = requests === null ? Number.POSITIVE_INFINITY : requests / ratePerSecond;
  return describePortShortage({
    perSecond: ratePerSecond / (shard?.of ?? 1) / requestsPerConnection,
    seconds: Math.min(most, (durationMs ?? Number.POSITIVE_INFINITY) / 1000) + warmupMs / 1000,
    host,
    addresses: load.localAddresses.slice(0, connectionsOf(load)),
  });
}

/** Each place for a connection has one address and one certificate. @param {Plan['load']} load @param {number} certificates @returns {string[]} warnings */
function describeUnused(load, certificates) {
  const connections = Math.max(1, connectionsOf(load));
  const open = connections === 1 ? '1 connection is' : `${formatCount(connections)} connections are`;
  const remedy =
    load.streamsPerConnection === null ? 'Raise --concurrency.' : 'Raise --concurrency, or lower --streams.';
  const given = { '--local-address': load.localAddresses.length, '--client-certs': certificates };
  return Object.entries(given)
    .filter(([, count]) => count > connections)
    .map(
      ([flag, count]) =>
        `${flag}: ${formatCount(connections)} of ${formatCount(count)} will be used, as at most ${open} open at a time. ${remedy}`,
    );
}

/** @param {AbortSignal} stop */
function throwIfStopped(stop) {
  if (stop.aborted) throw interruptedError();
}

/**
 * Sends from time zero to the last response.
 * @param {Pick<Plan['load'], 'warmupMs'>} load
 * @param {Pick<Parameters<typeof intervalEvent>[0], 'windowMs' | 'seconds'> & {originNs: bigint, shards: Shard[]}} context
 *   `originNs`: time zero
 * @param {Required<Pick<RunOptions, 'signal' | 'onEvent'>> & Pick<RunOptions, 'cutOff' | 'live'>} options
 */
async function send({ warmupMs }, { originNs, windowMs, shards, seconds }, options) {
  const { signal: stop, onEvent, cutOff, live } = options;
  const startedAtNs = originNs + nsOf(warmupMs);
  const elapsed = () => Number(process.hrtime.bigint() - originNs) / 1e6;
  const lead = -elapsed();
  const startedAt = new Date(Date.now() + lead + warmupMs);
  let stoppedMs = Number.POSITIVE_INFINITY;
  let waitingAtStop = /** @type {number | null} */ (null);
  const onStop = () => {
    stoppedMs = elapsed();
    waitingAtStop = total(shards.map((shard) => shard.state().waiting));
    for (const shard of shards) shard.stop();
  };
  const onCutOff = () => {
    for (const shard of shards) shard.cutOff();
  };
  const ended = Promise.all(shards.map((shard) => shard.start(originNs)));
  live?.begin({ startedAt, startedAtNs, windowMs });
  const endWatch = watchMachine(warmupMs - elapsed(), windowMs);
  stop.addEventListener('abort', onStop, { once: true });
  cutOff?.addEventListener('abort', onCutOff, { once: true });
  // A listener of the start event may already have stopped the run.
  if (stop.aborted) onStop();
  if (cutOff?.aborted) onCutOff();
  const stopTicking = startTicking(lead, () =>
    onEvent(intervalEvent({ warmupMs, windowMs, shards, seconds, waitingAtStop }, elapsed())),
  );
  try {
    return { ends: await ended, startedAt, startedAtNs, stoppedMs, machine: endWatch() };
  } finally {
    stopTicking();
    endWatch();
    stop.removeEventListener('abort', onStop);
    cutOff?.removeEventListener('abort', onCutOff);
  }
}

/** @param {Mix} mix @param {ShardEnd[]} ends @returns {Message[]} one for each operation with kept items */
function describeKept(mix, ends) {
  return mix.members.flatMap(({ operation, plan }, member) => {
    const kept = ends.flatMap((end) => end.kept[member] ?? []);
    if (kept.length === 0) return [];
    const failure = kept.find((one) => one.failure !== null)?.failure ?? null;
    const text = operation.describeKept?.(plan, { count: total(kept.map(({ count }) => count)), failure });
    const isFailure = failure !== null;
    return text === undefined ? [] : [{ type: isFailure ? 'warning' : 'notice', text, isFailure }];
  });
}
