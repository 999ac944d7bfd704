/**
 * Captures packets on the loopback interface during a run, with the Go program in target/wire. The kernel timestamps the
 * packets, so their times are correct even on a busy machine.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { buildTarget } from './target/build.js';

/**
 * @typedef {object} Exchange a request and its response, by the last segment of each
 * @property {bigint} requestAtNs CLOCK_MONOTONIC, as process.hrtime
 * @property {bigint | null} responseAtNs null: no response
 * @property {number} port of the client
 */

const RECORD_BYTES = 20;

/** @param {string} bench @throws {Error} without root */
export function requireRoot(bench) {
  if (process.getuid?.() === 0) return;
  throw new Error(`The bench ${bench} captures packets and needs root. Run it as root.`);
}

/**
 * @template T
 * @param {string} url of the server
 * @param {() => Promise<T>} work
 * @returns {Promise<{value: T, exchanges: Exchange[]}>} `exchanges` in order of the requests
 * @throws {Error} if the kernel dropped packets
 */
export async function withCapture(url, work) {
  const { wire } = await buildTarget();
  const child = spawn(wire, ['-port', new URL(url).port], { stdio: ['pipe', 'pipe', 'pipe'] });
  /** @type {Buffer[]} */
  const chunks = [];
  let problem = '';
  const listening = new Promise((resolve) => {
    child.stdout.on('data', (chunk) => void resolve(chunks.push(chunk)));
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    problem += text;
  });
  const closed = once(child, 'close');
  await Promise.race([listening, closed]);
  if (child.exitCode !== null) throw new Error(`The capture exited with code ${child.exitCode}. ${problem}`);
  try {
    const value = await work();
    child.stdin.end();
    const [code] = await closed;
    if (code !== 0) throw new Error(`The capture exited with code ${code}. ${problem}`);
    return { value, exchanges: readExchanges(Buffer.concat(chunks)) };
  } finally {
    child.stdin.end();
    await closed;
  }
}

/** @param {Buffer} raw two lines of JSON, then little-endian int64, int64 and uint32 each */
function readExchanges(raw) {
  const start = raw.indexOf('\n', raw.indexOf('\n') + 1) + 1;
  const count = (raw.length - start) / RECORD_BYTES;
  return Array.from({ length: count }, (_, i) => {
    const at = start + i * RECORD_BYTES;
    const responseAtNs = raw.readBigInt64LE(at + 8);
    return {
      requestAtNs: raw.readBigInt64LE(at),
      responseAtNs: responseAtNs === 0n ? null : responseAtNs,
      port: raw.readUInt32LE(at + 16),
    };
  }).sort((a, b) => (a.requestAtNs < b.requestAtNs ? -1 : 1));
}
