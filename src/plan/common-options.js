/** Declarations of the options that every operation has; plan.js reads them. */
import { usageError } from '../common/errors.js';
import { inGroup } from '../common/options.js';
import { withoutSlashes } from '../vault/environment.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

export const commonOptions = {
  ...inGroup('Target', {
    url: {
      type: 'url',
      alias: ['vault', 'address'],
      describe: 'Address of Vault or OpenBao',
      defaultText: 'BAO_ADDR, VAULT_ADDR or http://127.0.0.1:8200',
    },
    dev: { type: 'flag', describe: 'Start the embedded PKI server and use it as the target' },
    mount: {
      type: 'text',
      placeholder: 'PATH',
      default: 'pki_int',
      describe: 'Mount of the PKI secrets engine',
      check: checkPath,
    },
    namespace: { type: 'text', describe: 'Namespace', defaultText: 'BAO_NAMESPACE or VAULT_NAMESPACE' },
    'ca-cert': {
      type: 'file',
      describe: 'PEM file of the CA that signed the server certificate',
      defaultText: 'VAULT_CACERT',
    },
    'ca-path': {
      type: 'file',
      placeholder: 'DIR',
      describe: 'Directory of such PEM files',
      defaultText: 'VAULT_CAPATH',
    },
    'client-cert': { type: 'file', describe: 'PEM client certificate', defaultText: 'VAULT_CLIENT_CERT' },
    'client-key': {
      type: 'file',
      describe: 'PEM key of the client certificate',
      defaultText: 'VAULT_CLIENT_KEY',
    },
    'tls-server-name': {
      type: 'text',
      describe: 'Name to expect in the server certificate',
      defaultText: 'VAULT_TLS_SERVER_NAME',
    },
    'tls-skip-verify': {
      type: 'flag',
      describe: 'Do not verify the server certificate',
      defaultText: 'VAULT_SKIP_VERIFY',
    },
  }),
  ...inGroup('Load', {
    rate: {
      type: 'rate',
      max: 1e6,
      describe: 'Open loop at this rate: 20, 20/s, 1000/h; without it, closed loop',
    },
    concurrency: {
      type: 'integer',
      default: 10,
      min: 1,
      max: 10_000,
      describe: 'Connections, each with one request in flight',
    },
    duration: {
      type: 'duration',
      min: 1,
      max: 31 * DAY_MS,
      describe: 'How long to measure: 30s, 5m, 1h; a bare number is seconds',
      defaultText: '30s unless --requests is given',
    },
    requests: { type: 'integer', min: 1, max: 1e9, describe: 'Stop after this many requests' },
    arrivals: {
      type: 'choice',
      choices: ['constant', 'poisson'],
      default: 'constant',
      describe: 'Spacing of the requests with --rate',
    },
    'ramp-up': {
      type: 'duration',
      default: 0,
      max: DAY_MS,
      describe: 'Ramp up linearly from zero over this time',
    },
    warmup: { type: 'duration', default: 0, max: DAY_MS, describe: 'Send for this long before measuring' },
    overflow: {
      type: 'choice',
      choices: ['queue', 'drop'],
      default: 'queue',
      describe: 'With --rate, all connections busy: wait (latency grows) or drop (counted)',
    },
    timeout: {
      type: 'duration',
      min: 1,
      max: HOUR_MS,
      describe: 'Give up on a request after this time',
      defaultText: 'VAULT_CLIENT_TIMEOUT or 10s',
    },
    timeout_ms: {
      type: 'milliseconds',
      min: 1,
      max: HOUR_MS,
      alias: ['timeout-ms'],
      describe: '--timeout in milliseconds',
    },
    threads: {
      type: 'integer',
      default: 1,
      min: 1,
      max: 64,
      describe: 'Sender threads; they share one schedule',
    },
    pacing: {
      type: 'choice',
      choices: ['auto', 'spin', 'sleep'],
      default: 'auto',
      describe: 'How to wait for the next send; spin is the most exact and takes a core',
    },
    'cold-start': {
      type: 'flag',
      describe: "Skip the warm-up of the tool's own code; first requests are late",
    },
    seed: {
      type: 'integer',
      max: 0xffff_ffff,
      describe: 'Seed of names, orders, nonces and Poisson arrivals; in the result',
      defaultText: 'random',
    },
    shard: {
      type: 'text',
      placeholder: 'K/N',
      describe: 'Send only part K of N of this plan (K from 0); see merge',
    },
    'start-at': {
      type: 'text',
      placeholder: 'TIME',
      describe: 'Start sending at 14:30:00 or an ISO 8601 time, an hour ahead at most',
    },
  }),
  ...inGroup('Requirements and results', {
    require: {
      type: 'text',
      placeholder: 'EXPR',
      repeatable: true,
      describe: "Requirement, such as 'rate>=1000/h' or 'p99<200ms'; repeatable",
    },
  }),
};

/** @param {string} path @param {string} flag */
function checkPath(path, flag) {
  const segments = withoutSlashes(path).split('/');
  if (segments.every((segment) => /^[\w.~-]+$/.test(segment) && segment !== '..' && segment !== '.')) return;
  throw usageError(
    'bad_option',
    `${flag} is ${JSON.stringify(path.slice(0, 80))}, which is not a path such as pki_int.`,
    'Give the path that `vault secrets list` shows.',
  );
}
