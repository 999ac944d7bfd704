/** The embedded server in a process of its own, so that it does not share a core's event loop with the load. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { usageError } from '../common/errors.js';

/** @import { DevServer, DevServerOptions } from './server.js' */
/** @import { ChildProcess } from 'node:child_process' */

const ENTRY = fileURLToPath(new URL('child.js', import.meta.url));
const START_MS = 20_000;
const STOP_MS = 2000;

/**
 * @typedef {Omit<DevServer, 'close'>} DevServerInfo
 * @typedef {{ready?: DevServerInfo, failed?: {code: string, message: string, remedy?: string}}} ChildMessage one of both
 * @typedef {Awaited<ReturnType<typeof startDevServer>>} SpawnedDevServer
 */

/**
 * Starts the server in a child process. The child does not keep this process alive, and ends with it.
 * @param {DevServerOptions} [options]
 * @throws {PkiLoadError} if it cannot start, e.g. because the port is in use
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
  const error = (/** @type {string} */ why, /** @type {unknown} */ cause) =>
    usageError('dev_server_failed', `The embedded server did not start: ${why}.`, undefined, cause);
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const { ready, failed } = await new Promise((resolve, reject) => {
    timer = setTimeout(() => reject(error(`no response within ${START_MS / 1000} s`, null)), START_MS);
    child.once('message', (message) => resolve(/** @type {ChildMessage} */ (message)));
    child.once('error', (cause) => reject(error(cause.message, cause)));
    child.once('exit', (code, signal) =>
      reject(error(`its process ended with ${signal ?? `code ${code}`}`, null)),
    );
  }).finally(() => clearTimeout(timer));
  if (ready !== undefined) return ready;
  throw usageError(failed.code, failed.message, failed.remedy);
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
