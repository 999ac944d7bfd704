/** The embedded server in a process of its own, so that it does not share a core's event loop with the load. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { usageError } from '../common/errors.js';

/** @import { DevServer } from './server.js' */
/** @import { ChildProcess } from 'node:child_process' */

const ENTRY = fileURLToPath(new URL('child.js', import.meta.url));
const START_MS = 20_000;
const STOP_MS = 2000;

/**
 * @typedef {import('./server.js').DevServerOptions} DevServerOptions
 * @typedef {Omit<DevServer, 'close'>} DevServerInfo
 * @typedef {object} ChildMessage one of both
 * @property {DevServerInfo} [ready]
 * @property {{code: string, message: string, remedy?: string}} [failed]
 * @typedef {DevServerInfo & {pid: number, stop: () => Promise<void>}} SpawnedDevServer
 */

/**
 * Starts the server in a child process. The child does not keep this process alive, and ends with it.
 * @param {DevServerOptions} [options]
 * @returns {Promise<SpawnedDevServer>}
 * @throws {PkiLoadError} when it cannot start, e.g. because the port is in use
 */
export async function startDevServer(options = {}) {
  const child = fork(ENTRY, [], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, UV_THREADPOOL_SIZE: String(Math.max(4, availableParallelism())) },
  });
  try {
    // A message, not an argument: arguments show in process lists, and the token is among the options.
    child.send(options, () => {});
    const info = await untilReady(child);
    child.unref();
    child.channel?.unref();
    return { ...info, pid: /** @type {number} */ (child.pid), stop: () => stop(child) };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

/** @param {ChildProcess} child @returns {Promise<DevServerInfo>} */
async function untilReady(child) {
  const failed = (/** @type {string} */ why, /** @type {unknown} */ cause) =>
    usageError('dev_server_failed', `The embedded server did not start: ${why}.`, undefined, cause);
  const first = new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('error', (error) => reject(failed(error.message, error)));
    child.once('exit', (code, signal) =>
      reject(failed(`its process ended with ${signal ?? `code ${code}`}`, undefined)),
    );
  });
  const timeout = new AbortController();
  const late = sleep(START_MS, null, { signal: timeout.signal });
  const message = /** @type {ChildMessage | null} */ (
    await Promise.race([first, late]).finally(() => timeout.abort())
  );
  if (message?.ready !== undefined) return message.ready;
  if (message?.failed === undefined) throw failed(`no response within ${START_MS / 1000} s`, undefined);
  throw usageError(message.failed.code, message.failed.message, message.failed.remedy);
}

/** @param {ChildProcess} child @returns {Promise<void>} when the process has ended; may be called again */
async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  const ended = once(child, 'exit');
  if (child.connected) child.disconnect();
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(timer);
}
