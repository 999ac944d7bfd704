/** Errors for the user: misuse, and refusals *before* the run; refusals *during* the run are outcomes. */
import { redactTokens, withoutSecrets } from './sanitize.js';

/** Exit codes of the command line. */
export const EXIT = Object.freeze({
  ok: 0,
  usage: 1,
  target: 2,
  invalidMeasurement: 98,
  requirement: 99,
  interrupted: 130,
});

const MEANINGS = Object.freeze({
  0: 'done, every requirement met',
  1: 'wrong usage or a local error',
  2: 'the target refused or could not be reached before the run',
  98: 'the measurement is invalid, or the tool itself limited a search',
  99: 'a requirement is not met or not proven',
  130: 'interrupted; the results so far were reported',
});

/** @param {Record<number, string>} [meanings] default: those of a run @returns {string} for `--help` */
export function describeExitCodes(meanings = MEANINGS) {
  const lines = Object.entries(meanings).map(([code, meaning]) => `  ${code.padStart(3)}  ${meaning}`);
  return `Exit codes:\n${lines.join('\n')}`;
}

/**
 * An error with a stable `code`, a message that names the culprit, and a `remedy`: the action to take.
 * Its message never contains a token, a private key or a stack trace.
 */
export class PkiLoadError extends Error {
  /**
   * @param {string} code stable, `snake_case`; callers may branch on it @param {string} message one sentence, names the culprit
   * @param {{remedy?: string, exitCode?: number, cause?: unknown}} [details]
   */
  constructor(code, message, { remedy, exitCode = EXIT.usage, cause } = {}) {
    super(withoutSecrets(message), cause === undefined ? undefined : { cause });
    this.name = 'PkiLoadError';
    this.code = code;
    this.remedy = remedy && withoutSecrets(remedy);
    this.exitCode = exitCode;
  }

  /** The message with its remedy, as the command line shows it. */
  get full() {
    return this.remedy === undefined ? this.message : `${this.message} ${this.remedy}`;
  }
}

/**
 * Wrong usage or a local problem, before the first request or after the last. Exit code 1.
 * @param {string} code @param {string} message @param {string} [remedy] @param {unknown} [cause]
 */
export function usageError(code, message, remedy, cause) {
  return new PkiLoadError(code, message, { remedy, cause });
}

/**
 * @param {string} name of the option @param {unknown} value @param {string} problem e.g. `not a number`
 * @param {string} [remedy] @param {string} [code]
 */
export function badValue(name, value, problem, remedy, code = 'bad_option') {
  return usageError(code, `${name} is ${quote(value)}, which is ${problem}.`, remedy);
}

/** @param {boolean} isWrong options contradict each other @param {string} problem @param {string} remedy */
export function rejectIf(isWrong, problem, remedy) {
  if (isWrong) throw usageError('contradiction', problem, remedy);
}

/** @param {unknown} value @returns {string} in quotation marks, the first 80 characters */
export function quote(value) {
  return JSON.stringify(redactTokens(String(value)).slice(0, 80));
}

/**
 * The target refused or could not be reached before the run. Exit code 2.
 * @param {string} code @param {string} message @param {string} [remedy] @param {unknown} [cause]
 */
export function targetError(code, message, remedy, cause) {
  return new PkiLoadError(code, message, { remedy, exitCode: EXIT.target, cause });
}

/** @type {Record<string, string>} */
const UNREADABLE = {
  ENOENT: 'was not found',
  ENOTDIR: 'was not found: part of its path is a file, not a directory',
  EISDIR: 'is a directory',
  EACCES: 'is not readable by this user',
};

/** @param {unknown} error a system error @returns {string} a predicate, to follow the file's name */
export function describeUnreadable(error) {
  const { code = 'unknown error' } = /** @type {NodeJS.ErrnoException} */ (error);
  return UNREADABLE[code] ?? `cannot be read (${code})`;
}

/** @param {unknown} thrown from a worker's `error` event, which keeps the properties but not the class */
export function restoreErrorClass(thrown) {
  const isOurs = thrown instanceof Error && thrown.name === 'PkiLoadError';
  return isOurs ? Object.setPrototypeOf(thrown, PkiLoadError.prototype) : thrown;
}
