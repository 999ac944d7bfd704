/** The calibration target: a separate process, so that it does not share an event loop with the generator. */
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { PkiLoadError } from '../../common/errors.js';
import { forkEntry, hasEnded, nextMessage, stopChild } from '../../dev/forked.js';

const ENTRY = new URL('target-child.js', import.meta.url);
/** A process that exits refuses connections before its parent receives `exit`. */
const EXIT_WITHIN_MS = 3000;

/**
 * The target's recording, in ms on its clock. `respondedMs` NaN: never; `cpu`: CPU time of its process so far,
 * every few milliseconds; `baseNs`: its time zero, by `process.hrtime`, which processes share
 * @typedef {{arrivedMs: Float64Array, respondedMs: Float64Array, cpu: {atMs: number, cpuMs: number}[], baseNs: bigint}} TargetRecording
 */
/** @typedef {{url: string, pki: {url: string, token: string}}} TargetInfo `pki`: the embedded server */
/** @typedef {Awaited<ReturnType<typeof startCalibrationTarget>>} Target */

export async function startCalibrationTarget() {
  const child = forkEntry(ENTRY);
  const next = () =>
    nextMessage(child).catch((error) => {
      throw failed(error.message);
    });
  try {
    const { ready } = await next();
    return {
      .../** @type {TargetInfo} */ (ready),
      /** Starts a recording. @param {number} delayMs @returns {Promise<TargetRecording>} the previous recording */
      record(delayMs) {
        const response = next();
        child.send(delayMs, () => {});
        return response;
      },
      /** Returns the error, or one that reports the exit of the target if that caused it. @param {unknown} error */
      async causeOf(error) {
        const exit = once(child, 'exit').then(() => true);
        const hasExited =
          hasEnded(child) || (await Promise.race([exit, wait(EXIT_WITHIN_MS, false, { ref: false })]));
        return hasExited ? failed('its process exited') : error;
      },
      stop: () => stopChild(child),
    };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

/** @param {string} why */
function failed(why) {
  return new PkiLoadError('calibration_target_failed', `The calibration target failed: ${why}.`);
}
