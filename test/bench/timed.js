/** Runs a command, and returns its output and its CPU time, including threads and children. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { pinned } from './cores.js';

/** @import { Readable } from 'node:stream' */

/**
 * @typedef {object} Ended
 * @property {string} stdout
 * @property {string} stderr
 * @property {number} code
 * @property {number} cpuSeconds user and system time, including startup; resolution 10 ms
 */

/** A shell waits for the command, then prints the CPU time of its children to descriptor 3. */
const SHELL = '"$@"; code=$?; times >&3; exit $code';

/**
 * @param {string[]} command
 * @param {object} [options]
 * @param {Record<string, string>} [options.env] in addition to PATH and HOME
 * @param {string | null} [options.cores] as `taskset -c` takes them
 * @param {number} [options.limitSeconds] then the command and its children are killed
 * @returns {Promise<Ended>}
 */
export async function runTimed(command, { env = {}, cores = null, limitSeconds = 600 } = {}) {
  const { PATH, HOME } = process.env;
  const child = spawn('sh', ['-c', SHELL, 'sh', ...pinned(cores, command)], {
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const kill = () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  };
  const limit = setTimeout(kill, limitSeconds * 1000);
  process.once('exit', kill);
  const outputs = ['', '', ''];
  for (const [i, stream] of child.stdio.slice(1).entries()) {
    /** @type {Readable} */ (stream).setEncoding('utf8').on('data', (text) => {
      outputs[i] += text;
    });
  }
  const [code, signal] = await once(child, 'close');
  clearTimeout(limit);
  process.removeListener('exit', kill);
  const [stdout, stderr, times] = outputs;
  if (signal !== null)
    throw new Error(`${command[0]} was killed by ${signal} after ${limitSeconds} s: ${stderr}`);
  return { stdout, stderr, code, cpuSeconds: readTimes(times) };
}

/**
 * @param {string} text of the shell's `times`: user and system time of the shell, then of its children, as `0m1.25s`
 * @returns {number} seconds of the children
 */
function readTimes(text) {
  const all = [...text.matchAll(/(\d+)m([\d.]+)s/g)].map(([, m, s]) => Number(m) * 60 + Number(s));
  if (all.length !== 4) throw new Error(`The shell's times cannot be read: ${text}`);
  return all[2] + all[3];
}
