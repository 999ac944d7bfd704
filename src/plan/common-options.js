/** Declarations of the options that every operation has; plan.js reads them. */
import { isIP } from 'node:net';
import { badValue } from '../common/errors.js';
import { checkConnectTo, inGroup, option } from '../common/options.js';
import { checkNamespace, withoutSlashes } from '../vault/environment.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

export const commonOptions = {
  ...inGroup('Target', {
    url: option('url', 'Address of Vault or OpenBao', {
      alias: ['vault', 'address'],
      defaultText: 'VAULT_AGENT_ADDR, VAULT_ADDR (or BAO_...) or http://127.0.0.1:8200',
      socket: true,
    }),
    'connect-to': option('text', 'Connect to HOST2:PORT2 in place of HOST1:PORT1, as curl does; repeatable', {
      placeholder: 'HOST1:PORT1:HOST2:PORT2',
      repeatable: true,
      check: checkConnectTo,
    }),
    dev: option('flag', 'Start the embedded PKI server and use it as the target'),
    tls: option('flag', 'With --dev, use TLS'),
    mount: option('text', 'Mount of the PKI secrets engine', {
      placeholder: 'PATH',
      default: 'pki_int',
      check: checkPath,
    }),
    namespace: option('text', 'Namespace', {
      defaultText: 'BAO_NAMESPACE or VAULT_NAMESPACE',
      check: checkNamespace,
    }),
    'ca-cert': option('file', 'PEM file of the CA that signed the server certificate', {
      defaultText: 'VAULT_CACERT',
    }),
    'ca-path': option('file', 'Directory of CA PEM files', {
      placeholder: 'DIR',
      defaultText: 'VAULT_CAPATH',
    }),
    'client-cert': option('file', 'PEM client certificate', { defaultText: 'VAULT_CLIENT_CERT' }),
    'client-key': option('file', 'PEM key of the client certificate', { defaultText: 'VAULT_CLIENT_KEY' }),
    'client-certs': option(
      'file',
      'Directory of NAME.pem and NAME.key, used in rotation by the connections of the load',
      {
        placeholder: 'DIR',
      },
    ),
    'tls-server-name': option('text', 'Name to expect in the server certificate', {
      defaultText: 'VAULT_TLS_SERVER_NAME',
    }),
    'tls-skip-verify': option('flag', 'Do not verify the server certificate', {
      defaultText: 'VAULT_SKIP_VERIFY',
    }),
  }),
  ...inGroup('Load', {
    rate: option('rate', 'Open loop at this rate: 20, 20/s, 1000/h; without it, closed loop', { max: 1e6 }),
    concurrency: option('integer', 'Connections, each with one request in flight', {
      default: 10,
      min: 1,
      max: 10_000,
    }),
    connections: option('choice', 'Keep connections open, or open a new one for each request', {
      choices: ['keep', 'new'],
      default: 'keep',
    }),
    http: option('choice', 'HTTP version of the load; 2 needs https:// and shares connections', {
      choices: ['1.1', '2'],
      default: '1.1',
    }),
    streams: option('integer', 'Requests in flight per connection of --http 2', {
      min: 1,
      max: 10_000,
      defaultText: '100',
    }),
    'requests-per-connection': option('integer', 'Open a new connection after this many requests', {
      min: 1,
      max: 1e9,
    }),
    'tls-resumption': option('choice', 'Let a new connection resume the TLS session of the last', {
      choices: ['off', 'on'],
      default: 'off',
    }),
    'local-address': option('text', 'Address of this machine to connect from; repeat it to rotate', {
      placeholder: 'ADDRESS',
      repeatable: true,
      check: checkAddress,
    }),
    'resolve-every': option('duration', 'Look the host name up this often; rotate through its addresses', {
      min: 1000,
      max: DAY_MS,
    }),
    duration: option('duration', 'How long to measure: 30s, 5m, 1h; a bare number is seconds', {
      min: 1,
      max: 31 * DAY_MS,
      defaultText: '30s unless --requests is given',
    }),
    requests: option('integer', 'Stop after this many requests', { min: 1, max: 1e9 }),
    arrivals: option('choice', 'Spacing of the requests with --rate', {
      choices: ['constant', 'poisson'],
      default: 'constant',
    }),
    'ramp-up': option('duration', 'Ramp up linearly from zero over this time', { default: 0, max: DAY_MS }),
    warmup: option('duration', 'Send for this long before measuring', { default: 0, max: DAY_MS }),
    overflow: option('choice', 'With --rate, if all connections are busy: queue (latency grows) or drop', {
      choices: ['queue', 'drop'],
      default: 'queue',
    }),
    timeout: option('duration', 'Give up on a request after this time, to within 10 ms', {
      min: 1,
      max: HOUR_MS,
      defaultText: 'VAULT_CLIENT_TIMEOUT or 10s',
    }),
    timeout_ms: option('integer', '--timeout in milliseconds', {
      placeholder: 'MS',
      min: 1,
      max: HOUR_MS,
      alias: ['timeout-ms'],
    }),
    threads: option('integer', 'Sender threads, each with its share of the schedule and of the connections', {
      default: 1,
      min: 1,
      max: 64,
    }),
    pacing: option('choice', 'How to wait for the next send; spin is most precise but uses a core', {
      choices: ['auto', 'spin', 'sleep'],
      default: 'auto',
    }),
    'cold-start': option('flag', "Skip the warm-up of the tool's own code; first requests are late"),
    seed: option('integer', 'Seed for names, orders, nonces and Poisson arrivals', {
      max: 0xffff_ffff,
      defaultText: 'random',
    }),
    shard: option('text', 'Send only part K of N of this plan (K from 0); see merge', { placeholder: 'K/N' }),
    'start-at': option('text', 'Start sending at 14:30:00 or an ISO 8601 time, at most an hour ahead', {
      placeholder: 'TIME',
    }),
  }),
  ...inGroup('Requirements and results', {
    require: option('text', "Requirement, such as 'rate>=1000/h' or 'p99<200ms'; repeatable", {
      placeholder: 'EXPR',
      repeatable: true,
    }),
  }),
};

/** @param {string} group @param {readonly string[]} without */
export const optionsOf = (group, without) =>
  Object.fromEntries(
    Object.entries(commonOptions).filter(([name, spec]) => spec.group === group && !without.includes(name)),
  );

/** @param {string} address @param {string} flag */
function checkAddress(address, flag) {
  if (isIP(address) === 0)
    throw badValue(flag, address, 'not an IP address', 'Use one that `ip address` shows.');
}

/** @param {string} path of a mount @param {string} flag */
export function checkPath(path, flag) {
  const isSegment = (/** @type {string} */ text) => /^[\w.~-]+$/.test(text) && text !== '..' && text !== '.';
  if (withoutSlashes(path).split('/').every(isSegment)) return;
  const remedy = 'Use the path that `vault secrets list` shows, of letters, digits and . _ ~ - only.';
  throw badValue(flag, path, 'not the path of a mount that this tool can use', remedy);
}
