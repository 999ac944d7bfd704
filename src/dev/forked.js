/** Runs a module of this tool in a child process, which exits with its parent. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** @import { ChildProcess } from 'node:child_process' */

const RESPONDS_WITHIN_MS = 20_000;
const STOPS_WITHIN_MS = 2000;

/** @param {URL} entry must exit when its IPC channel closes @param {object} [options] sent to it @param {NodeJS.ProcessEnv} [env] */
export async function startChild(entry, options, env = process.env) {
  const child = fork(fileURLToPath(entry), [], {
    ...{ execArgv: [], serialization: 'advanced', env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
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
