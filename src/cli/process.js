/**
 * How the process ends: signals, exit codes, output that fails. The first Ctrl-C, SIGTERM or hang-up stops sending, the second also
 * ends requests in flight, the third ends the process at once.
 */
import { EXIT, PkiLoadError } from '../common/errors.js';
/** @import { Result } from '../result/schema.js' */

export const SIGNALS = Object.freeze(/** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']));

/** Of a terminal that goes away there may be several, of its shell and of the system: only the first is one. @type {NodeJS.Signals} */
export const HANG_UP = 'SIGHUP';

/** So long the second Ctrl-C may take to tidy up and to report; then the process ends all the same. */
const LAST_WORDS_MS = 30_000;

/**
 * @param {Pick<NodeJS.Process, 'on' | 'off'> & {exit: (code: number) => void}} process
 * @param {(text: string) => void} say
 * @param {AbortController} [heard] aborted by every signal, also by one that is no interruption of the run any more; where it is aborted
 *   already, a signal came before, and that was the first
 * @returns {{stop: AbortSignal, cutOff: AbortSignal, over: (hurry: () => void) => void, release: () => void}} `over`: all is reported; from
 *   now on nothing but a signal ends the process before its time: the first calls `hurry`, and does not count as an interruption of the run
 */
export function onInterrupt(process, say, heard = new AbortController()) {
  const stop = new AbortController();
  const cutOff = new AbortController();
  /** @type {(() => void) | null} */
  let hurry = null;
  /** @type {NodeJS.Timeout | undefined} */
  let lastWords;
  const end = () => process.exit(EXIT.interrupted);
  if (heard.signal.aborted) stop.abort();
  const onSignal = (/** @type {NodeJS.Signals} */ signal) => {
    if (signal === HANG_UP && stop.signal.aborted) return;
    heard.abort();
    if (hurry !== null) {
      hurry();
      hurry = end;
    } else if (!stop.signal.aborted) {
      say('Interrupted: waiting for the last responses, then reporting. Press Ctrl-C again to end at once.');
      stop.abort();
    } else if (!cutOff.signal.aborted) {
      cutOff.abort();
      lastWords = setTimeout(end, LAST_WORDS_MS).unref();
    } else {
      end();
    }
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    stop: stop.signal,
    cutOff: cutOff.signal,
    over(whenSignalled) {
      clearTimeout(lastWords);
      hurry = whenSignalled;
    },
    release() {
      clearTimeout(lastWords);
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}

/**
 * @param {Pick<Result, 'interrupted' | 'measurement' | 'requirements' | 'shard'>} result of a run, or of another
 *   measurement
 * @returns {number} see EXIT; an interruption wins over requirements that it left unproven. A part of a plan (`--shard`)
 *   does not answer for requirements, which are judged on the sum of all parts
 */
export function exitCodeOf({ interrupted, measurement, requirements, shard }) {
  if (interrupted) return EXIT.interrupted;
  if (measurement.verdict === 'invalid') return EXIT.invalidMeasurement;
  if (shard !== undefined) return EXIT.ok;
  return requirements.every(({ verdict }) => verdict === 'met') ? EXIT.ok : EXIT.requirement;
}

/**
 * The exit code of the measurement wins over that of a file that could not be written.
 *
 * @param {unknown} failure
 * @param {number} code of the measurement
 */
export function withExitCode(failure, code) {
  if (code === EXIT.ok || !(failure instanceof PkiLoadError)) return failure;
  const { message, remedy, cause } = failure;
  return new PkiLoadError(failure.code, message, { remedy, exitCode: code, cause });
}

/** The reader of a pipe or socket has gone away. */
const GONE = new Set(['EPIPE', 'ECONNRESET']);

/** The error of a terminal that hung up; for a file it is a fault of the disk. */
const HUNG_UP = 'EIO';

/** @typedef {Pick<NodeJS.WriteStream, 'on' | 'write'> & {isTTY?: boolean}} Stream */

/**
 * A reader that is gone is no fault. Any other fault of standard output is reported once and turns exit code 0 into 1;
 * faults of standard error are ignored.
 *
 * @param {{stdout: Stream, stderr: Stream, once: (event: 'exit', listener: (code: number) => void) => unknown,
 *   exitCode?: number | string | null}} process
 */
export function handleOutputErrors(process) {
  const { stdout, stderr } = process;
  let isReported = false;
  stderr.on('error', () => {});
  stdout.on('error', (/** @type {NodeJS.ErrnoException} */ { code = 'unknown' }) => {
    if (isReported || GONE.has(code) || (code === HUNG_UP && stdout.isTTY)) return;
    isReported = true;
    stderr.write(`vault-pki-load: Standard output cannot be written to (${code}).\n`);
    process.once('exit', (ending) => {
      if (ending === EXIT.ok) process.exitCode = EXIT.usage;
    });
  });
}

/**
 * The worst first. An interruption wins over requirements that it left unproven, and a target of several that could not be
 * measured more than what others showed.
 */
const WORST_FIRST = [
  EXIT.interrupted,
  EXIT.usage,
  EXIT.target,
  EXIT.invalidMeasurement,
  EXIT.requirement,
  EXIT.ok,
];

/** @param {number[]} codes @returns {number} exit code of several runs together */
export function worstOf(codes) {
  return WORST_FIRST.find((code) => codes.includes(code)) ?? EXIT.ok;
}
