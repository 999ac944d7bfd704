/**
 * Options -> Plan: the one frozen, plain object that says what a run will do. The only place of defaults and
 * validation. A Plan holds no secret: tokens and keys travel beside it (see vault/environment.js).
 */

import { commonOptions } from './common-options.js';
import { usageError } from './errors.js';
import { camelCase, readOne, readOptions } from './options.js';
import { parseRequirement } from './results/requirements.js';
import { readEnvironment } from './vault/environment.js';

/**
 * @typedef {object} LoadPlan
 * @property {'open' | 'closed'} model
 * @property {number | null} ratePerSecond null in a closed loop
 * @property {number} concurrency requests in flight at most, over all threads
 * @property {number | null} durationMs measured part, after the warm-up; null: until `requests` are done
 * @property {number | null} requests measured requests at most
 * @property {'constant' | 'poisson'} arrivals
 * @property {number} seed 32 bits; names, nonces, orders and Poisson gaps follow from it
 * @property {number} rampUpMs the rate rises linearly from zero over this time, from the start of the warm-up
 * @property {number} warmupMs sent but not counted
 * @property {number} timeoutMs from the moment a connection took the request
 * @property {'queue' | 'drop'} overflow
 * @property {number} threads
 * @property {'auto' | 'spin' | 'sleep'} pacing
 */
/**
 * @typedef {object} TargetPlan
 * @property {string} url Vault's address
 * @property {string} mount
 * @property {string | null} namespace
 * @property {{caCert: string|null, caPath: string|null, clientCert: string|null, clientKey: string|null, serverName: string|null, skipVerify: boolean}} tls
 *   paths, never contents
 */
/**
 * @typedef {object} Plan
 * @property {string} operation
 * @property {boolean} dev start the embedded server and aim at it
 * @property {Readonly<TargetPlan>} target
 * @property {Readonly<LoadPlan>} load
 * @property {Readonly<Record<string, any>>} options the operation's own
 * @property {readonly Readonly<import('./results/requirements.js').Requirement>[]} requirements
 */

const NO_TLS = Object.freeze({
  caCert: null,
  caPath: null,
  clientCert: null,
  clientKey: null,
  serverName: null,
  skipVerify: false,
});

/** A Poisson schedule is walked through before the run: 3 s for as many. */
const MAX_POISSON_ARRIVALS = 100_000_000;

/**
 * @param {import('./operations/index.js').Operation} operation
 * @param {Record<string, unknown>} given options by kebab- or camelCase name, as text or as values
 * @param {ReturnType<typeof readEnvironment>} [environment] where defaults of the target come from
 * @returns {Readonly<Plan>}
 * @throws {import('./errors.js').PkiLoadError} naming the option and the remedy
 */
export function makePlan(operation, given, environment = readEnvironment()) {
  rejectUnknown(operation, given);
  const common = readOptions(commonOptions, given);
  const options = readOptions(operation.options, given);
  operation.check?.(options, common);
  return deepFreeze({
    operation: operation.name,
    dev: common.dev,
    target: planTarget(common, given, environment),
    load: planLoad(common, environment),
    options,
    requirements: common.require.map((/** @type {string} */ text) => parseRequirement(text)),
  });
}

/**
 * @param {Record<string, any>} common
 * @param {Record<string, unknown>} given
 * @param {ReturnType<typeof readEnvironment>} environment
 * @returns {TargetPlan}
 */
function planTarget(common, given, environment) {
  if (common.dev && common.url !== null) {
    throw usageError(
      'contradiction',
      '--dev starts its own server, but --url names another.',
      'Give one of them.',
    );
  }
  // Where somebody's Vault is, and how it is trusted, says nothing of the embedded server.
  const tls = common.dev ? NO_TLS : environment.tls;
  return {
    url: common.url ?? addressOf(environment, common.dev),
    mount: common.mount.replace(/^\/+|\/+$/g, ''),
    namespace: common.dev ? null : (common.namespace ?? environment.namespace),
    tls: {
      caCert: common.caCert ?? tls.caCert,
      caPath: common.caPath ?? tls.caPath,
      clientCert: common.clientCert ?? tls.clientCert,
      clientKey: common.clientKey ?? tls.clientKey,
      serverName: common.tlsServerName ?? tls.serverName,
      skipVerify:
        (given.tlsSkipVerify ?? given['tls-skip-verify']) === undefined
          ? tls.skipVerify
          : common.tlsSkipVerify,
    },
  };
}

/**
 * @param {ReturnType<typeof readEnvironment>} environment
 * @param {boolean} isDev
 * @returns {string}
 */
function addressOf({ address }, isDev) {
  if (address === null || isDev) return 'http://127.0.0.1:8200';
  return readOne(commonOptions.url, 'The address in BAO_ADDR or VAULT_ADDR', address);
}

/**
 * @param {Record<string, any>} common
 * @param {ReturnType<typeof readEnvironment>} environment
 * @returns {LoadPlan}
 */
function planLoad(common, environment) {
  checkLoad(common);
  const { rate, requests, concurrency, threads } = common;
  return {
    model: rate === null ? 'closed' : 'open',
    ratePerSecond: rate,
    concurrency,
    durationMs: common.duration ?? (requests === null ? 30_000 : null),
    requests,
    arrivals: common.arrivals,
    seed: common.seed ?? Math.floor(Math.random() * 0x1_0000_0000),
    rampUpMs: common.rampUp,
    warmupMs: common.warmup,
    timeoutMs: common.timeout ?? common.timeoutMs ?? environment.timeoutMs ?? 10_000,
    overflow: common.overflow,
    threads,
    pacing: common.pacing,
  };
}

/** @param {Record<string, any>} common */
function checkLoad(common) {
  const { rate, concurrency, threads } = common;
  if (common.timeout !== null && common.timeoutMs !== null) {
    throw usageError('contradiction', '--timeout and --timeout_ms are both given.', 'Give one of them.');
  }
  if (threads > concurrency) {
    throw usageError(
      'contradiction',
      `--threads ${threads} is more than --concurrency ${concurrency}, so some threads would have no connection.`,
      `Raise --concurrency to at least ${threads}.`,
    );
  }
  if (rate !== null) return checkPoisson(common);
  for (const [flag, used] of [
    ['--arrivals poisson', common.arrivals === 'poisson'],
    ['--overflow drop', common.overflow === 'drop'],
    ['--ramp-up', common.rampUp > 0],
    [`--pacing ${common.pacing}`, common.pacing !== 'auto'],
  ]) {
    if (used) {
      throw usageError(
        'contradiction',
        `${flag} needs an open loop, but there is no --rate.`,
        'Add --rate, e.g. --rate 20/s.',
      );
    }
  }
}

/** @param {Record<string, any>} common */
function checkPoisson({ arrivals, rate, duration, warmup, requests }) {
  const expected = Math.min(
    (((duration ?? 30_000) + warmup) / 1000) * rate,
    requests ?? Number.POSITIVE_INFINITY,
  );
  if (arrivals === 'constant' || expected <= MAX_POISSON_ARRIVALS) return;
  throw usageError(
    'too_many_arrivals',
    `--arrivals poisson with ${Math.round(expected)} arrivals would take long to lay out.`,
    `Stay below ${MAX_POISSON_ARRIVALS}, or use --arrivals constant.`,
  );
}

/**
 * @param {import('./operations/index.js').Operation} operation
 * @param {Record<string, unknown>} given
 */
function rejectUnknown(operation, given) {
  const names = [...Object.keys(commonOptions), ...Object.keys(operation.options)];
  const known = new Set(names.flatMap((name) => [name, camelCase(name)]));
  const unknown = Object.keys(given).find((key) => given[key] !== undefined && !known.has(key));
  if (unknown !== undefined) {
    throw usageError(
      'unknown_option',
      `${operation.name} has no option ${JSON.stringify(unknown)}.`,
      'See --help for those it has.',
    );
  }
}

/**
 * @template T
 * @param {T} value
 * @returns {Readonly<T>}
 */
function deepFreeze(value) {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) deepFreeze(inner);
    Object.freeze(value);
  }
  return value;
}
