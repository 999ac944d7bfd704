/** Runs our command and samples its memory. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { pinned, shareCores } from './cores.js';
import { BIN } from './ours.js';
import { readTree } from './process-tree.js';

/** @import { Subject } from './subject.js' */

const SAMPLE_EVERY_MS = 50;

/**
 * @typedef {object} Watched
 * @property {string} stdout
 * @property {string} stderr
 * @property {number | null} code
 * @property {number} peakMb peak memory of it and its children together, megabytes
 */
/**
 * @typedef {object} Running
 * @property {number} pid
 * @property {(signal: NodeJS.Signals) => void} kill
 * @property {Promise<Watched>} ended
 */

/**
 * @param {string[]} args of node; the command's own follow BIN
 * @param {{limitSeconds?: number, env?: Record<string, string>}} [options]
 * @returns {Running}
 */
export function startWatched(args, { limitSeconds = 900, env = {} } = {}) {
  const [command, ...rest] = pinned(shareCores().generator, [process.execPath, ...args]);
  const child = spawn(command, rest, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const pid = /** @type {number} */ (child.pid);
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const limit = setTimeout(kill, limitSeconds * 1000);
  const output = { stdout: '', stderr: '' };
  for (const name of /** @type {const} */ (['stdout', 'stderr'])) {
    child[name].setEncoding('utf8').on('data', (text) => {
      output[name] += text;
    });
  }
  let peakMb = 0;
  const sample = () => {
    const usage = readTree(pid);
    if (usage === null) return;
    // For a single process, the kernel's high-water mark includes peaks between samples.
    peakMb = Math.max(peakMb, usage.residentMb, usage.highestMb);
  };
  const sampling = setInterval(sample, SAMPLE_EVERY_MS);
  const ended = once(child, 'close').then(([code, signal]) => {
    clearInterval(sampling);
    clearTimeout(limit);
    process.removeListener('exit', kill);
    if (signal === 'SIGKILL') throw new Error(`${args.join(' ')} did not exit within ${limitSeconds} s`);
    return { ...output, code, peakMb };
  });
  return { pid, kill: (signal) => void child.kill(signal), ended };
}

/**
 * @param {Subject} subject
 * @param {string} url of the responder
 * @param {Record<string, string | number>} options of the command, without their dashes
 */
export function startWatchedOcsp(subject, url, options) {
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  const about = ['--cert', subject.cert, '--issuer', subject.issuer, '--ocsp-url', url];
  return startWatched([BIN, 'ocsp', ...about, ...flags, '--format', 'json', '--quiet']);
}
