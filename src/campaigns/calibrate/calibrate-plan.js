/** Options of a calibration -> values, and the Plan of each of its measurements. */
import { usageError } from '../../common/errors.js';
import { camelCase, readOptions } from '../../common/options.js';
import { makePlan } from '../../plan/plan.js';
import { readEnvironment } from '../../vault/environment.js';
import { calibrationOptions } from './calibrate-options.js';

/** @import { Operation } from '../../operations/index.js' */
/** @import { Plan } from '../../plan/plan.js' */
/** @import { TargetInfo } from './target.js' */

/**
 * @typedef {object} CalibrationOptions
 * @property {number} concurrency
 * @property {number} threads
 * @property {'auto' | 'spin' | 'sleep'} pacing
 * @property {number} duration ms, of each measurement
 * @property {number} maxLateness ms
 */

/** A request without an answer for so long has failed, and an overload is worked off for as long at most. */
const TIMEOUT_MS = 1000;

/** @param {Record<string, unknown>} given by kebab- or camelCase name @returns {CalibrationOptions} */
export function readCalibrationOptions(given) {
  const known = new Set(Object.keys(calibrationOptions).flatMap((name) => [name, camelCase(name)]));
  const unknown = Object.keys(given).find((key) => given[key] !== undefined && !known.has(key));
  if (unknown !== undefined) {
    throw usageError(
      'unknown_option',
      `calibrate has no option ${JSON.stringify(unknown)}.`,
      `It has ${Object.keys(calibrationOptions).join(', ')}.`,
    );
  }
  return /** @type {any} */ (readOptions(calibrationOptions, given));
}

/**
 * What a user would run who asks an OCSP responder about one certificate. Nothing of this machine's environment is in it.
 *
 * @param {Operation} operation `ocsp`
 * @param {CalibrationOptions} options
 * @param {TargetInfo} target
 * @param {number | null} ratePerSecond null: closed loop
 * @returns {Readonly<Plan>}
 */
export function planOf(operation, { concurrency, threads, pacing, duration }, { url, pki }, ratePerSecond) {
  const load = {
    ...(ratePerSecond === null ? {} : { rate: ratePerSecond, pacing }),
    concurrency,
    threads,
    duration: duration / 1000,
    timeoutMs: TIMEOUT_MS,
    seed: 1,
  };
  const subject = { url: pki.url, ocspUrl: url, role: 'example-dot-com-ec' };
  return makePlan(operation, { ...load, ...subject }, readEnvironment({}));
}
