/** Starts the Go target as a separate process, and reads its records. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { createInterface } from 'node:readline';
import { pinned, shareCores } from '../cores.js';
import { buildTarget } from './build.js';

/**
 * @typedef {object} TargetOptions times in milliseconds
 * @property {string} [bodyFile] the body of every response; default: `ok`
 * @property {string} [bodiesFile] bodies of the responses in turn, each after its length as a little-endian uint32
 * @property {number} [delayMs] from the request to the response
 * @property {number} [spreadMs] add an exponentially distributed time with this mean
 * @property {number} [seed] of the spread
 * @property {number} [serviceMs] be a single server, first come, first served
 * @property {number} [freezeEveryMs] period, counted from the first request
 * @property {number} [freezeForMs] no responses in the middle of each period, for this long
 * @property {number} [hangEvery] no response to every n-th request
 * @property {number} [skip] requests before the load, which are not counted
 * @property {boolean} [record] record arrivals and the time each request was held
 * @property {boolean} [spin] poll without sleeping, which occupies a core; default: true
 * @property {{certFile: string, keyFile: string}} [tls] Go's HTTPS server, also over HTTP/2; with delays and freezes only
 * @property {string | null} [cores] list for `taskset -c`; null: not pinned; default: the last one
 */
/**
 * @typedef {object} Spread nanoseconds
 * @property {number} count
 * @property {number} mean
 * @property {number} p50
 * @property {number} p90
 * @property {number} p99
 * @property {number} max
 */
/**
 * @typedef {object} TargetStats
 * @property {number} requests without setup requests
 * @property {number} connections accepted so far, including the one for this query
 * @property {number} startNs arrival of the first request, CLOCK_MONOTONIC; 0: none
 * @property {Spread | null} heldNs from reading a request to handing the response to the kernel
 * @property {Spread | null} lateNs the target's own error: from the due time of a response to handing it to the kernel
 */
/**
 * @typedef {object} Arrivals in order
 * @property {BigInt64Array} atNs CLOCK_MONOTONIC, as process.hrtime
 * @property {BigInt64Array} heldNs until the response was handed to the kernel; 0: not yet
 * @property {Uint32Array} connection number, in the order of acceptance
 */
/**
 * @typedef {object} RunningTarget
 * @property {string} url with a slash at the end
 * @property {number} pid
 * @property {() => Promise<Arrivals>} arrivals since the last call
 * @property {() => Promise<TargetStats>} stats call before `arrivals`, which clears them
 * @property {() => Promise<void>} stop
 */

const ARRIVAL_BYTES = 20;

/** @param {TargetOptions} [options] @returns {Promise<RunningTarget>} */
export async function startTarget(options = {}) {
  const { target } = await buildTarget();
  const cores = options.cores === undefined ? shareCores().target : options.cores;
  const [command, ...args] = pinned(cores, [target, ...flagsOf(options)]);
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  const [line] = await Promise.race([
    once(createInterface(child.stdout), 'line'),
    ended.then(([code]) => {
      throw new Error(`The target exited with code ${code} before it listened.`);
    }),
  ]);
  const url = `${options.tls ? 'https' : 'http'}://127.0.0.1:${JSON.parse(line).port}/`;
  return {
    url,
    pid: /** @type {number} */ (child.pid),
    arrivals: async () => readArrivals(await read(`${url}_arrivals`)),
    stats: async () => /** @type {TargetStats} */ (JSON.parse(String(await read(`${url}_stats`)))),
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}

/** @param {string} url of the target, whose certificate is its own @returns {Promise<Buffer>} */
function read(url) {
  const { get } = url.startsWith('https:') ? https : http;
  return new Promise((resolve, reject) => {
    const sent = get(url, { rejectUnauthorized: false, agent: false }, async (response) => {
      const parts = [];
      for await (const part of response) parts.push(part);
      resolve(Buffer.concat(parts));
    });
    sent.on('error', reject);
  });
}

/**
 * Starts the target, calls `use`, and always stops the target.
 * @template T
 * @param {TargetOptions} options
 * @param {(target: RunningTarget) => Promise<T>} use
 * @returns {Promise<T>}
 */
export async function withTarget(options, use) {
  const target = await startTarget(options);
  try {
    return await use(target);
  } finally {
    await target.stop();
  }
}

/** @param {TargetOptions} options */
function flagsOf({ bodyFile, bodiesFile, delayMs, serviceMs, freezeEveryMs, freezeForMs, ...rest }) {
  const ms = (/** @type {number | undefined} */ value) => (value === undefined ? undefined : `${value}ms`);
  const given = {
    body: bodyFile,
    bodies: bodiesFile,
    delay: ms(delayMs),
    spread: ms(rest.spreadMs),
    seed: rest.seed,
    service: ms(serviceMs),
    'freeze-every': ms(freezeEveryMs),
    'freeze-for': ms(freezeForMs),
    'hang-every': rest.hangEvery,
    skip: rest.skip,
    cert: rest.tls?.certFile,
    key: rest.tls?.keyFile,
    record: rest.record,
    spin: rest.spin,
  };
  return Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [`-${name}=${value}`]));
}

/** @param {Buffer} raw little-endian int64, int64 and uint32 each @returns {Arrivals} */
function readArrivals(raw) {
  const view = new DataView(raw.buffer, raw.byteOffset, raw.length);
  const count = raw.byteLength / ARRIVAL_BYTES;
  const atNs = new BigInt64Array(count);
  const heldNs = new BigInt64Array(count);
  const connection = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    atNs[i] = view.getBigInt64(i * ARRIVAL_BYTES, true);
    heldNs[i] = view.getBigInt64(i * ARRIVAL_BYTES + 8, true);
    connection[i] = view.getUint32(i * ARRIVAL_BYTES + 16, true);
  }
  return { atNs, heldNs, connection };
}
