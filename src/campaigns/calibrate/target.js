/** A calibration's target: a process of its own, so that it does not share an event loop with the generator. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { PkiLoadError } from '../../common/errors.js';

/** @import { Recorded } from './known-delay.js' */
/** @import { ChildProcess } from 'node:child_process' */

const ENTRY = fileURLToPath(new URL('target-child.js', import.meta.url));
const ANSWERS_WITHIN_MS = 20_000;
const STOPS_WITHIN_MS = 2000;
/** An ended process refuses connections before its parent receives `exit`. */
const END_IS_TOLD_WITHIN_MS = 3000;
const ENDED = 'its process has ended';

/**
 * @typedef {Recorded & {cpu: {atMs: number, cpuMs: number}[], baseNs: bigint}} Seen
 *   `cpu`: CPU time of the target's process so far, every few milliseconds; `baseNs`: zero of all its times, on the
 *   machine's monotonic clock (`process.hrtime`), which processes share
 */
/** @typedef {{begin?: number, end?: true}} Order `begin`: with this delay */
/**
 * @typedef {object} TargetInfo
 * @property {string} url of the known-delay server
 * @property {{url: string, token: string}} pki the embedded PKI server, which issues the certificates
 */

/**
 * @returns {Promise<TargetInfo & {begin: (delayMs: number) => Promise<void>,
 *   end: () => Promise<Seen>, causeOf: (error: unknown) => Promise<unknown>, stop: () => Promise<void>}>} `causeOf`: an error of a
 *   measurement, or the target's end where that is behind it
 */
export async function startCalibrationTarget() {
  const child = fork(ENTRY, [], {
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  try {
    const { ready } = await answerOf(child);
    return {
      ...ready,
      async begin(delayMs) {
        await order(child, { begin: delayMs });
      },
      async end() {
        return (await order(child, { end: true })).seen;
      },
      causeOf: async (error) => ((await hasEnded(child)) ? failed(ENDED) : error),
      stop: () => stop(child),
    };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

/** @param {ChildProcess} child @param {Order} what */
function order(child, what) {
  const answer = answerOf(child);
  child.send(what, () => {});
  return answer;
}

/** @param {ChildProcess} child @returns {Promise<any>} its next message */
function answerOf(child) {
  return new Promise((resolve, reject) => {
    const fail = (/** @type {string} */ why) => settle(() => reject(failed(why)));
    const onMessage = (/** @type {any} */ message) =>
      message.failed === undefined ? settle(() => resolve(message)) : fail(message.failed);
    const onExit = () => fail(ENDED);
    const onError = (/** @type {Error} */ error) => fail(error.message);
    const timer = setTimeout(() => fail(`no answer within ${ANSWERS_WITHIN_MS / 1000} s`), ANSWERS_WITHIN_MS);
    /** @param {() => void} act */
    function settle(act) {
      clearTimeout(timer);
      child.off('message', onMessage).off('exit', onExit).off('error', onError);
      act();
    }
    child.on('message', onMessage).on('exit', onExit).on('error', onError);
    if (child.exitCode !== null || child.signalCode !== null) onExit();
  });
}

/** @param {ChildProcess} child */
async function hasEnded(child) {
  if (child.exitCode !== null || child.signalCode !== null) return true;
  const exit = once(child, 'exit').then(() => true);
  return Promise.race([exit, wait(END_IS_TOLD_WITHIN_MS, false, { ref: false })]);
}

/** @param {string} why */
function failed(why) {
  return new PkiLoadError('calibration_target_failed', `The calibration's own target failed: ${why}.`);
}

/** @param {ChildProcess} child @returns {Promise<void>} when the process has ended */
async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  if (child.connected) child.disconnect();
  const timer = setTimeout(() => child.kill('SIGKILL'), STOPS_WITHIN_MS);
  await ended;
  clearTimeout(timer);
}
