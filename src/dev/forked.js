/** Runs a module of this tool in a child process, which exits with its parent. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** @import { ChildProcess } from 'node:child_process' */
/** @import { Socket } from 'node:net' */

const RESPONDS_WITHIN_MS = 20_000;
const STOPS_WITHIN_MS = 2000;

/** The environment of a child: no tokens, which a core dump would contain. */
const INHERITED =
  /^(?:LD_LIBRARY_PATH|NODE_(?:EXTRA_CA_CERTS|OPTIONS|V8_COVERAGE)|OPENSSL_(?:CONF|MODULES)|PATH|SSL_CERT_(?:DIR|FILE)|TMPDIR)$/;

/** @param {URL} entry must exit when its IPC channel closes @param {object} [options] sent to it @param {Record<string, string>} [variables] */
export async function startChild(entry, options, variables = {}) {
  const inherited = Object.entries(process.env).filter(([name]) => INHERITED.test(name));
  const child = fork(fileURLToPath(entry), [], {
    ...{ execArgv: [], serialization: 'advanced' },
    env: { ...Object.fromEntries(inherited), ...variables },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  // Not the terminal itself: when it has hung up, Node 20 aborts at exit.
  const stderr = /** @type {Socket} */ (child.stderr);
  stderr.on('data', (text) => process.stderr.write(text)).unref();
  // Not as an argument: process lists show arguments, and the options may contain a token.
  if (options !== undefined) child.send(options, () => {});
  try {
    return { child, first: await nextMessage(child) };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

/** @param {ChildProcess} child */
export const hasEnded = ({ exitCode, signalCode }) => exitCode !== null || signalCode !== null;

/** @param {ChildProcess} child @returns {Promise<any>} @throws {Error} if the child exits first, or sends nothing for 20 s */
export async function nextMessage(child) {
  const [timeout, over] = [AbortSignal.timeout(RESPONDS_WITHIN_MS), new AbortController()];
  const signal = AbortSignal.any([timeout, over.signal]);
  const ended = hasEnded(child)
    ? Promise.resolve([child.exitCode, child.signalCode])
    : once(child, 'exit', { signal });
  const failed = ended.then(([code, killedBy]) => {
    throw new Error(`its process exited with ${killedBy ?? `code ${code}`}`);
  });
  try {
    const [message] = await Promise.race([once(child, 'message', { signal }), failed]);
    return message;
  } catch (error) {
    throw timeout.aborted ? new Error(`no response within ${RESPONDS_WITHIN_MS / 1000} s`) : error;
  } finally {
    over.abort(); // removes the listeners
  }
}

/** @param {ChildProcess} child @returns {Promise<void>} after the child has exited; may be called again */
export async function stopChild(child) {
  if (hasEnded(child)) return;
  child.ref();
  const ended = once(child, 'exit');
  if (child.connected) child.disconnect();
  const timer = setTimeout(() => child.kill('SIGKILL'), STOPS_WITHIN_MS);
  await ended;
  clearTimeout(timer);
}
