/** Options -> the load: the part of the Plan that is the same for every operation. */
import { rejectIf, usageError } from '../common/errors.js';
import { hash32 } from '../common/random.js';
import { parseShard, parseStartAt, partName, shareOf } from './shard-part.js';

/** @import { VaultEnvironment } from '../vault/environment.js' */
/** @import { ShardPart } from './shard-part.js' */

/**
 * @typedef {object} LoadPlan
 * @property {'open' | 'closed'} model
 * @property {number | null} ratePerSecond null in a closed loop
 * @property {number} concurrency maximum in flight, over all threads
 * @property {number | null} streamsPerConnection maximum in flight on a connection; null: one, by HTTP/1.1
 * @property {number | null} requestsPerConnection then it closes, and the next request opens another; null: no limit
 * @property {boolean} resumesTls a new connection resumes the TLS session of the one that it replaces
 * @property {readonly string[]} localAddresses of the connections, in turn; empty: the system chooses
 * @property {number | null} resolveEveryMs looks the host name up again, and rotates through its addresses; null: one lookup
 *   for each connection
 * @property {string | null} [proxy] host and port of the proxy that the load went through; null: none, or not prepared yet
 * @property {number | null} durationMs measured phase, after the warm-up; null: until `requests` are done
 * @property {number | null} requests maximum number of measured requests
 * @property {'constant' | 'poisson'} arrivals
 * @property {number} seed 32 bits; determines names, nonces, orders and Poisson gaps, also in later runs of --repeat
 * @property {number} rampUpMs the rate rises linearly from zero over this time, from the start of the warm-up
 * @property {number} warmupMs sent but not counted
 * @property {number} timeoutMs of a request, from when a connection takes it
 * @property {'queue' | 'drop'} overflow
 * @property {number} threads
 * @property {'auto' | 'spin' | 'sleep'} pacing
 * @property {boolean} coldStart skip the warm-up of the tool's own code
 * @property {Readonly<ShardPart> | null} shard the part that this process sends; null: the whole plan. `threads`,
 *   `pacing` and `coldStart` are settings of the part, all others of the whole plan
 * @property {string | null} startAt time zero, ISO 8601; null: as soon as possible
 * @property {readonly Readonly<StagePlan>[] | null} stages of the measured phase, in order; their maximum is
 *   `ratePerSecond` or, in a closed loop, `concurrency`; their sum is `durationMs`
 */
/** @typedef {{name: string, lines: readonly Readonly<Line>[]}} StagePlan `name` is unique; `lines` follow each other */
/** @typedef {{durationMs: number, from: number, to: number}} Line requests per second, or in flight in a closed loop */

/** Servers should allow as many (RFC 9113, 6.5.2). */
const DEFAULT_STREAMS = 100;

/** Separates the seeds of a plan's runs from its other random numbers. */
const RUN_STREAM = 300;

/**
 * With `--repeat`, every run draws its own arrivals, names and orders: runs with the same ones would differ less
 * than independent runs, and a comparison would report chance as a difference.
 * @param {Readonly<LoadPlan>} load @param {number} run from 0; run 0 has the plan's seed @returns {Readonly<LoadPlan>}
 */
export function loadOfRun(load, run) {
  return run === 0 ? load : Object.freeze({ ...load, seed: hash32(load.seed, run, RUN_STREAM) });
}

/** @param {Record<string, any>} common @param {VaultEnvironment} environment @returns {LoadPlan} */
export function planLoad(common, environment) {
  const { rate, requests, concurrency, arrivals, overflow, threads, pacing, coldStart } = common;
  const shard = common.shard === null ? null : parseShard(common.shard);
  checkLoad(common);
  if (shard !== null) checkPart(common, shard);
  return {
    model: rate === null ? 'closed' : 'open',
    ratePerSecond: rate,
    concurrency,
    streamsPerConnection: common.http === '2' ? (common.streams ?? DEFAULT_STREAMS) : null,
    requestsPerConnection: common.connections === 'new' ? 1 : common.requestsPerConnection,
    resumesTls: common.tlsResumption === 'on',
    localAddresses: common.localAddress,
    resolveEveryMs: common.resolveEvery,
    proxy: null,
    durationMs: common.duration ?? (requests === null ? 30_000 : null),
    ...{ requests, arrivals },
    seed: common.seed ?? Math.floor(Math.random() * 0x1_0000_0000),
    rampUpMs: common.rampUp,
    warmupMs: common.warmup,
    timeoutMs: common.timeout ?? common.timeoutMs ?? environment.timeoutMs ?? 10_000,
    ...{ overflow, threads, pacing, coldStart, shard },
    startAt: common.startAt === null ? null : parseStartAt(common.startAt),
    stages: null,
  };
}

/** @param {Record<string, any>} common */
function checkLoad({ arrivals, concurrency, threads, rate, ...common }) {
  const openOnly = [
    arrivals === 'poisson' && '--arrivals poisson',
    common.overflow === 'drop' && '--overflow drop',
    common.rampUp > 0 && '--ramp-up',
    common.pacing !== 'auto' && `--pacing ${common.pacing}`,
  ].find((flag) => flag !== false);
  rejectIf(
    common.streams !== null && common.http !== '2',
    `--streams ${common.streams} is given, but HTTP/1.1 has one request in flight per connection.`,
    'Add --http 2, or leave --streams out.',
  );
  const isRepeated = common.timeout !== null && common.timeoutMs !== null;
  rejectIf(
    common.connections === 'new' && common.requestsPerConnection !== null,
    '--connections new and --requests-per-connection are both given.',
    'Use one of them: new is the same as --requests-per-connection 1.',
  );
  rejectIf(isRepeated, '--timeout and --timeout_ms are both given.', 'Use one of them.');
  const tooMany = `--threads ${threads} is more than --concurrency ${concurrency}`;
  const idle = `${tooMany}, so some threads would have no connection.`;
  rejectIf(threads > concurrency, idle, `Raise --concurrency to at least ${threads}.`);
  const noRate = `${openOnly} needs an open loop, but there is no --rate.`;
  rejectIf(rate === null && openOnly !== undefined, noRate, 'Add --rate, e.g. --rate 20/s.');
}

/** @param {Record<string, any>} common @param {ShardPart} shard @param {'--shard' | '--join'} [flag] that makes it a part */
export function checkPart({ seed, dev, concurrency, threads }, shard, flag = '--shard') {
  if (seed === null) {
    const message = '--shard is given without --seed, so each part would draw different times and names.';
    throw usageError('shard_without_seed', message, 'Use the same seed for every part, e.g. --seed 1.');
  }
  const own = `--dev starts a server for this process alone, so the parts of ${flag} would not load the same server.`;
  rejectIf(dev, own, 'Start one with vault-pki-load dev, and set --url to it in every part.');
  const connections = shareOf(concurrency, shard);
  const has = `${partName(shard)} has ${connections}, too few for --threads ${threads}`;
  const few = `--concurrency ${concurrency} is for all parts: ${has}.`;
  rejectIf(threads > connections, few, `Raise --concurrency to at least ${shard.of * threads}.`);
}
