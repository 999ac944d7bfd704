/**
 * Options -> Plan: the one frozen, plain object that says what a run will do. The only place of defaults and
 * validation. A Plan holds no secret: tokens and keys travel beside it (see vault/environment.js).
 */
import { usageError } from './errors.js';
import { readOptions } from './options.js';
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

const TARGET = 'Target';
const LOAD = 'Load';
const RESULTS = 'Requirements and results';

/** Options that every operation has. @type {Record<string, import('./options.js').OptionSpec>} */
export const commonOptions = {
  url: {
    type: 'url',
    group: TARGET,
    placeholder: 'URL',
    alias: ['vault', 'address'],
    describe: 'Address of Vault or OpenBao',
    defaultText: 'BAO_ADDR, VAULT_ADDR or http://127.0.0.1:8200',
  },
  dev: { type: 'flag', group: TARGET, describe: 'Start the embedded PKI server and use it as the target' },
  mount: {
    type: 'text',
    group: TARGET,
    placeholder: 'PATH',
    default: 'pki_int',
    describe: 'Mount of the PKI secrets engine',
    check: checkPath,
  },
  namespace: {
    type: 'text',
    group: TARGET,
    placeholder: 'NAME',
    describe: 'Namespace',
    defaultText: 'BAO_NAMESPACE or VAULT_NAMESPACE',
  },
  'ca-cert': {
    type: 'file',
    group: TARGET,
    placeholder: 'FILE',
    describe: 'PEM file of the CA that signed the server certificate',
    defaultText: 'VAULT_CACERT',
  },
  'ca-path': {
    type: 'file',
    group: TARGET,
    placeholder: 'DIR',
    describe: 'Directory of such PEM files',
    defaultText: 'VAULT_CAPATH',
  },
  'client-cert': {
    type: 'file',
    group: TARGET,
    placeholder: 'FILE',
    describe: 'PEM client certificate',
    defaultText: 'VAULT_CLIENT_CERT',
  },
  'client-key': {
    type: 'file',
    group: TARGET,
    placeholder: 'FILE',
    describe: 'PEM key of the client certificate',
    defaultText: 'VAULT_CLIENT_KEY',
  },
  'tls-server-name': {
    type: 'text',
    group: TARGET,
    placeholder: 'NAME',
    describe: 'Name to expect in the server certificate',
    defaultText: 'VAULT_TLS_SERVER_NAME',
  },
  'tls-skip-verify': {
    type: 'flag',
    group: TARGET,
    describe: 'Do not verify the server certificate',
    defaultText: 'VAULT_SKIP_VERIFY',
  },

  rate: {
    type: 'rate',
    group: LOAD,
    placeholder: 'N/s',
    max: 1e6,
    describe:
      'Open loop: requests are due at this rate whatever the target does (20, 20/s, 1000/h); without it, closed loop',
  },
  concurrency: {
    type: 'integer',
    group: LOAD,
    placeholder: 'N',
    default: 10,
    min: 1,
    max: 10_000,
    describe: 'Connections, each with one request in flight',
  },
  duration: {
    type: 'duration',
    group: LOAD,
    placeholder: 'TIME',
    min: 1,
    max: 31 * 86_400_000,
    describe: 'How long to measure (30s, 5m, 1h; a bare number is seconds)',
    defaultText: '30s unless --requests is given',
  },
  requests: {
    type: 'integer',
    group: LOAD,
    placeholder: 'N',
    min: 1,
    max: 1e9,
    describe: 'Stop after this many requests',
  },
  arrivals: {
    type: 'choice',
    group: LOAD,
    choices: ['constant', 'poisson'],
    default: 'constant',
    describe: 'Spacing of the requests with --rate',
  },
  'ramp-up': {
    type: 'duration',
    group: LOAD,
    placeholder: 'TIME',
    default: 0,
    max: 86_400_000,
    describe: 'Let the rate rise linearly from zero over this time',
  },
  warmup: {
    type: 'duration',
    group: LOAD,
    placeholder: 'TIME',
    default: 0,
    max: 86_400_000,
    describe: 'Send for this long before measuring',
  },
  overflow: {
    type: 'choice',
    group: LOAD,
    choices: ['queue', 'drop'],
    default: 'queue',
    describe:
      'With --rate, when every connection is busy: let the request wait (its latency grows) or drop and count it',
  },
  timeout: {
    type: 'duration',
    group: LOAD,
    placeholder: 'TIME',
    min: 1,
    max: 3_600_000,
    describe: 'Give up on a request after this time',
    defaultText: 'VAULT_CLIENT_TIMEOUT or 10s',
  },
  timeout_ms: {
    type: 'milliseconds',
    group: LOAD,
    placeholder: 'MS',
    min: 1,
    max: 3_600_000,
    alias: ['timeout-ms'],
    describe: 'The same in milliseconds',
  },
  threads: {
    type: 'integer',
    group: LOAD,
    placeholder: 'N',
    default: 1,
    min: 1,
    max: 64,
    describe: 'Sending threads; together they send what one would',
  },
  pacing: {
    type: 'choice',
    group: LOAD,
    choices: ['auto', 'spin', 'sleep'],
    default: 'auto',
    describe: 'How to wait for the next send: spin is the most exact and takes a core, sleep is the cheapest',
  },
  seed: {
    type: 'integer',
    group: LOAD,
    placeholder: 'N',
    max: 0xffff_ffff,
    describe: 'Seed of names, orders, nonces and Poisson gaps',
    defaultText: 'random, said in the result',
  },

  require: {
    type: 'text',
    group: RESULTS,
    placeholder: 'EXPR',
    repeatable: true,
    describe: "A requirement to judge, e.g. 'rate>=1000/h', 'p99<200ms', 'errors<0.1%'; repeatable",
  },
};

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
  const { tls } = environment;
  const url = common.url ?? environment.address ?? 'http://127.0.0.1:8200';
  commonOptions.url.check?.(url, '--url');
  return {
    url: url.replace(/\/+$/, ''),
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
  if (rate !== null) return;
  for (const [flag, used] of [
    ['--arrivals poisson', common.arrivals === 'poisson'],
    ['--overflow drop', common.overflow === 'drop'],
    ['--ramp-up', common.rampUp > 0],
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

/**
 * @param {import('./operations/index.js').Operation} operation
 * @param {Record<string, unknown>} given
 */
function rejectUnknown(operation, given) {
  const names = [...Object.keys(commonOptions), ...Object.keys(operation.options)];
  const known = new Set(
    names.flatMap((name) => [name, name.replace(/[-_]([a-z])/g, (_, c) => c.toUpperCase())]),
  );
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
 * @param {string} path
 * @param {string} flag
 */
function checkPath(path, flag) {
  const segments = path.replace(/^\/+|\/+$/g, '').split('/');
  if (segments.every((segment) => /^[\w.~-]+$/.test(segment) && segment !== '..' && segment !== '.')) return;
  throw usageError(
    'bad_option',
    `${flag} is ${JSON.stringify(path.slice(0, 80))}, which is not a path such as pki_int.`,
  );
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
