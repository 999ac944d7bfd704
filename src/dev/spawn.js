/** Runs the embedded server in a child process, so that server and load do not share an event loop. */
import { availableParallelism } from 'node:os';
import { restoreErrorClass, usageError } from '../common/errors.js';
import { startChild, stopChild } from './forked.js';

/** @import { DevServer, DevServerOptions } from './server.js' */

const ENTRY = new URL('child.js', import.meta.url);

/**
 * @typedef {{ready: Omit<DevServer, 'close'>, failed?: undefined} | {ready?: undefined, failed: Error}} ChildMessage `failed`: a
 *   plain object, since a structured clone of an error loses its code
 * @typedef {Awaited<ReturnType<typeof startDevServer>>} SpawnedDevServer
 */

/**
 * @template {{url: string, mount: string, tls: {caCert: string | null}}} Target
 * @param {Readonly<Target>} target of a plan with `dev`; an https address asks for TLS @returns the server, as that target
 */
export async function startDevTarget(target) {
  const server = await startDevServer({ mount: target.mount, tls: target.url.startsWith('https:') });
  const { url, caFile } = server;
  return { server, target: { ...target, url, tls: { ...target.tls, caCert: caFile ?? target.tls.caCert } } };
}

/** The child process exits with this one and does not keep it alive. @param {DevServerOptions} [options] @throws {PkiLoadError} */
export async function startDevServer(options = {}) {
  const UV_THREADPOOL_SIZE = String(Math.max(4, availableParallelism()));
  const started = startChild(ENTRY, options, { UV_THREADPOOL_SIZE });
  const { child, first } = await started.catch((error) => {
    const message = `The embedded server did not start: ${error.message}.`;
    throw usageError('dev_server_failed', message, undefined, error);
  });
  const { ready, failed } = /** @type {ChildMessage} */ (first);
  // The child has ended itself.
  if (ready === undefined) throw restoreErrorClass(Object.assign(new Error(), failed));
  child.unref();
  child.channel?.unref();
  return { ...ready, pid: /** @type {number} */ (child.pid), stop: () => stopChild(child) };
}
