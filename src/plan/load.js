/** Options -> how the load is laid out: the part of the Plan that is the same for every operation. */
import { rejectIf, usageError } from '../common/errors.js';
import { hash32 } from '../common/random.js';
import { parseShard, parseStartAt, partName, shareOf } from './shard-part.js';

/** @import { VaultEnvironment } from '../vault/environment.js' */
/** @import { ShardPart } from './shard-part.js' */

/**
 * @typedef {object} LoadPlan
 * @property {'open' | 'closed'} model
 * @property {number | null} ratePerSecond null in a closed loop
 * @property {number} concurrency requests in flight at most, over all threads
 * @property {number | null} durationMs measured part, after the warm-up; null: until `requests` are done
 * @property {number | null} requests measured requests at most
 * @property {'constant' | 'poisson'} arrivals
 * @property {number} seed 32 bits; names, nonces, orders and Poisson gaps follow from it, also those of later runs of --repeat
 * @property {number} rampUpMs the rate rises linearly from zero over this time, from the start of the warm-up
 * @property {number} warmupMs sent but not counted
 * @property {number} timeoutMs from the moment a connection took the request
 * @property {'queue' | 'drop'} overflow
 * @property {number} threads
 * @property {'auto' | 'spin' | 'sleep'} pacing
 * @property {boolean} coldStart the tool's own code is not warmed up before time zero
 * @property {Readonly<ShardPart> | null} shard the part of the plan that this process sends; everything
 *   else here is the whole plan's, except `threads`, `pacing` and `coldStart`. null: all of it
 * @property {string | null} startAt time zero, ISO 8601; null: as soon as everything is ready
 * @property {readonly Readonly<StagePlan>[] | null} stages of the measured part, in order, where the load changes;
 *   `ratePerSecond`, or in a closed loop `concurrency`, is then their maximum, and `durationMs` their sum
 */
/** @typedef {{name: string, lines: readonly Readonly<Line>[]}} StagePlan no two have the same name; `lines` follow each other */
/** @typedef {{durationMs: number, from: number, to: number}} Line requests a second in an open loop, requests in flight in a closed one */

/** A Poisson schedule is walked through before the run: 3 s for as many. */
const MAX_POISSON_ARRIVALS = 100_000_000;

const DEFAULT_DURATION_MS = 30_000;

/** Keeps the seeds of a plan's runs apart from its other random numbers. */
const RUN_STREAM = 300;

/**
 * With `--repeat` every run draws its own arrivals, names and orders: runs that all replayed one sequence would differ less
 * from each other than two measurements do, and a comparison would report chance as a difference.
 * @param {Readonly<LoadPlan>} load @param {number} run from 0, which has the plan's own seed @returns {Readonly<LoadPlan>}
 */
export function loadOfRun(load, run) {
  return run === 0 ? load : Object.freeze({ ...load, seed: hash32(load.seed, run, RUN_STREAM) });
}

/** @param {Record<string, any>} common @param {VaultEnvironment} environment @returns {LoadPlan} */
export function planLoad(common, environment) {
  const { rate, requests } = common;
  const shard = common.shard === null ? null : parseShard(common.shard);
  checkLoad(common);
  if (shard !== null) checkPart(common, shard);
  return {
    model: rate === null ? 'closed' : 'open',
    ratePerSecond: rate,
    concurrency: common.concurrency,
    durationMs: common.duration ?? (requests === null ? DEFAULT_DURATION_MS : null),
    requests,
    arrivals: common.arrivals,
    seed: common.seed ?? Math.floor(Math.random() * 0x1_0000_0000),
    rampUpMs: common.rampUp,
    warmupMs: common.warmup,
    timeoutMs: common.timeout ?? common.timeoutMs ?? environment.timeoutMs ?? 10_000,
    overflow: common.overflow,
    threads: common.threads,
    pacing: common.pacing,
    coldStart: common.coldStart,
    shard,
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
    common.timeout !== null && common.timeoutMs !== null,
    '--timeout and --timeout_ms are both given.',
    'Give one of them.',
  );
  rejectIf(
    threads > concurrency,
    `--threads ${threads} is more than --concurrency ${concurrency}, so some threads would have no connection.`,
    `Raise --concurrency to at least ${threads}.`,
  );
  rejectIf(
    rate === null && openOnly !== undefined,
    `${openOnly} needs an open loop, but there is no --rate.`,
    'Add --rate, e.g. --rate 20/s.',
  );
  const sentMs = (common.duration ?? DEFAULT_DURATION_MS) + common.warmup;
  const expected = Math.min((sentMs / 1000) * rate, common.requests ?? Number.POSITIVE_INFINITY);
  if (arrivals === 'poisson' && expected > MAX_POISSON_ARRIVALS) {
    const message = `--arrivals poisson with ${Math.round(expected)} arrivals would take long to lay out.`;
    const remedy = `Stay below ${MAX_POISSON_ARRIVALS}, or use --arrivals constant.`;
    throw usageError('too_many_arrivals', message, remedy);
  }
}

/** Settings that all parts of a plan must share, and connections of this one. @param {Record<string, any>} common @param {ShardPart} shard */
function checkPart({ seed, dev, concurrency, threads }, shard) {
  if (seed === null) {
    throw usageError(
      'shard_without_seed',
      '--shard is given without --seed, so each part would draw times and names of its own.',
      'Give every part the same, e.g. --seed 1.',
    );
  }
  const own = shareOf(concurrency, shard);
  rejectIf(
    dev,
    '--dev starts a server for this process alone, so the parts of --shard would not load the same one.',
    'Start one with vault-pki-load dev, and give every part its --url.',
  );
  rejectIf(
    threads > own,
    `--concurrency ${concurrency} is for all parts: ${partName(shard)} has ${own} of them, too few for --threads ${threads}.`,
    `Raise --concurrency to at least ${shard.of * threads}.`,
  );
}
