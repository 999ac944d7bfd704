/** The calibration target: a separate process, so that it does not share an event loop with the generator. */
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { PkiLoadError } from '../../common/errors.js';
import { hasEnded, nextMessage, startChild, stopChild } from '../../dev/forked.js';

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
  const fail = (/** @type {Error} */ { message }) => Promise.reject(failed(message));
  const { child, first } = await startChild(ENTRY).catch(fail);
  return {
    .../** @type {TargetInfo} */ (first.ready),
    /** Starts a recording. @param {number} delayMs @returns {Promise<TargetRecording>} the previous recording */
    record(delayMs) {
      const response = nextMessage(child).catch(fail);
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
}

/** @param {string} why */
function failed(why) {
  return new PkiLoadError('calibration_target_failed', `The calibration target failed: ${why}.`);
}
