/** Runs the embedded server in a child process, so that server and load do not share an event loop. */
import { availableParallelism } from 'node:os';
import { unpackError, usageError } from '../common/errors.js';
import { forkEntry, nextMessage, stopChild } from './forked.js';

/** @import { DevServer, DevServerOptions } from './server.js' */

const ENTRY = new URL('child.js', import.meta.url);

/**
 * @typedef {{ready: Omit<DevServer, 'close'>, failed?: undefined} | {ready?: undefined, failed: Error}} ChildMessage `failed`: a
 *   plain object, since a structured clone of an error loses its code
 * @typedef {Awaited<ReturnType<typeof startDevServer>>} SpawnedDevServer
 */

/**
 * Starts the server in a child process, which exits with this one and does not keep it alive.
 * @param {DevServerOptions} [options]
 * @throws {PkiLoadError} if it cannot start, e.g. because the port is in use
 */
export async function startDevServer(options = {}) {
  const UV_THREADPOOL_SIZE = String(Math.max(4, availableParallelism()));
  const child = forkEntry(ENTRY, { ...process.env, UV_THREADPOOL_SIZE });
  try {
    // Not as an argument: process lists show arguments, and the options contain the token.
    child.send(options, () => {});
    /** @type {ChildMessage} */
    const { ready, failed } = await nextMessage(child).catch((error) => {
      const message = `The embedded server did not start: ${error.message}.`;
      throw usageError('dev_server_failed', message, undefined, error);
    });
    if (ready === undefined) throw unpackError(Object.assign(new Error(), failed));
    child.unref();
    child.channel?.unref();
    return { ...ready, pid: /** @type {number} */ (child.pid), stop: () => stopChild(child) };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}
