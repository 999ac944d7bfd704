/** A calibration's target: a process of its own, so that it does not share an event loop with the generator. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { PkiLoadError } from '../../common/errors.js';

/** @import { ChildProcess } from 'node:child_process' */

const ENTRY = fileURLToPath(new URL('target-child.js', import.meta.url));
const RESPONDS_WITHIN_MS = 20_000;
const STOPS_WITHIN_MS = 2000;
/** An ended process refuses connections before its parent receives `exit`. */
const EXIT_WITHIN_MS = 3000;
const ENDED = 'its process has ended';

/**
 * What the target recorded, in ms on its clock. `arrivedMs`: when it noticed each request, in that order; `answeredMs`: NaN: never;
 * `cpu`: CPU time of its process so far, every few milliseconds; `baseNs`: zero of all its times, on the machine's monotonic clock
 * (`process.hrtime`), which processes share.
 * @typedef {{arrivedMs: Float64Array, answeredMs: Float64Array, cpu: {atMs: number, cpuMs: number}[], baseNs: bigint}} Seen
 */
/** @typedef {{begin?: number, end?: true}} Order `begin`: with this delay in ms */
/** @typedef {{url: string, pki: {url: string, token: string}}} TargetInfo `pki`: the embedded PKI server, which issues the certificates */
/** @typedef {Awaited<ReturnType<typeof startCalibrationTarget>>} Target */

export async function startCalibrationTarget() {
  const child = fork(ENTRY, [], {
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  try {
    const { ready } = await nextMessage(child);
    return {
      .../** @type {TargetInfo} */ (ready),
      begin: (/** @type {number} */ delayMs) => order(child, { begin: delayMs }),
      /** @returns {Promise<Seen>} since `begin` */
      end: async () => (await order(child, { end: true })).seen,
      /** @param {unknown} error of a measurement @returns {Promise<unknown>} it, or the target's end where that caused it */
      causeOf: async (error) => ((await isEnding(child)) ? failed(ENDED) : error),
      stop: () => stop(child),
    };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

/** @param {ChildProcess} child @param {Order} what */
function order(child, what) {
  const response = nextMessage(child);
  child.send(what, () => {});
  return response;
}

/** @param {ChildProcess} child @returns {Promise<any>} */
async function nextMessage(child) {
  if (hasEnded(child)) throw failed(ENDED);
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(RESPONDS_WITHIN_MS)]);
  const ended = once(child, 'exit', { signal }).then(() => [null]);
  try {
    const [message] = await Promise.race([once(child, 'message', { signal }), ended]);
    if (message === null) throw new Error(ENDED);
    return message;
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    throw failed(signal.aborted ? `no response within ${RESPONDS_WITHIN_MS / 1000} s` : message);
  } finally {
    over.abort();
  }
}

/** @param {ChildProcess} child */
const hasEnded = ({ exitCode, signalCode }) => exitCode !== null || signalCode !== null;

/** @param {ChildProcess} child */
async function isEnding(child) {
  if (hasEnded(child)) return true;
  return Promise.race([once(child, 'exit').then(() => true), wait(EXIT_WITHIN_MS, false, { ref: false })]);
}

/** @param {string} why */
function failed(why) {
  return new PkiLoadError('calibration_target_failed', `The calibration's own target failed: ${why}.`);
}

/** @param {ChildProcess} child @returns {Promise<void>} when the process has ended */
async function stop(child) {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  if (child.connected) child.disconnect();
  const timer = setTimeout(() => child.kill('SIGKILL'), STOPS_WITHIN_MS);
  await ended;
  clearTimeout(timer);
}
