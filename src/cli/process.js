/**
 * Signals, exit codes, and failing output. The first Ctrl-C, SIGTERM or hang-up stops sending, the second also
 * aborts requests in flight, the third ends the process at once.
 */
import { accessSync, closeSync, constants, fstatSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { isatty } from 'node:tty';
import { EXIT, PkiLoadError } from '../common/errors.js';
import { sanitizeText } from '../common/sanitize.js';
import { removeSignalHandlers, SIGNALS } from '../common/stop.js';

/** @import { Result } from '../result/schema.js' */

/** @typedef {ReturnType<typeof onInterrupt>} Interrupt */

/** Time limit for clean-up and report after the second Ctrl-C. */
const DEADLINE_MS = 30_000;

const NOT_WAITING =
  'Interrupted again: not waiting any longer. Press Ctrl-C a third time to end the process at once.';
const REPORTING =
  'Interrupted: waiting for the last responses, then reporting. Press Ctrl-C again to stop waiting.';

/** @typedef {{_handle?: {setBlocking?: (isBlocking: boolean) => void}}} Blocking `_handle`: internal to Node.js */

/** By a signal, as a normal exit would wait for threads, which a stopped terminal or a name server may block. */
function endAtOnce() {
  removeSignalHandlers();
  process.on('exit', () => {
    // Other programs may share the pipe; only a normal exit would reset it.
    for (const stream of [process.stdout, process.stderr]) setBlocking(stream, true);
    // 130 in a shell. The first process of a container ignores it, and then exits normally.
    process.kill(process.pid, 'SIGINT');
  });
  process.exit(EXIT.interrupted);
}

/**
 * A terminal that libuv could open again, for this process alone. After `su`, it may not, and others share the descriptor.
 * @param {NodeJS.WriteStream & {fd: number}} stream
 */
function isOwnTerminal({ isTTY, fd }) {
  if (!isTTY) return false;
  try {
    const path = readlinkSync(`/proc/self/fd/${fd}`);
    accessSync(path, constants.R_OK | constants.W_OK);
    // In another mount namespace, the path may be that of another terminal.
    const [there, here] = [statSync(path), fstatSync(fd)];
    return there.dev === here.dev && there.ino === here.ino;
  } catch {
    return false; // Also where there is no such file.
  }
}

/** Before process.exit, which would lose what a slow terminal has not taken. */
export function blockOutput() {
  removeSignalHandlers();
  for (const stream of [process.stdout, process.stderr]) if (stream.isTTY) setBlocking(stream, true);
}

/** @param {object} stream @param {boolean} isBlocking */
function setBlocking(stream, isBlocking) {
  /** @type {Blocking} */ (stream)._handle?.setBlocking?.(isBlocking);
}

/** @param {Pick<NodeJS.Process, 'on' | 'off'>} process @param {() => void} [end] */
export function onInterrupt(process, end = endAtOnce) {
  const stop = new AbortController();
  const cutOff = new AbortController();
  /** @type {(text: string) => void} */
  let print = writeLine;
  let message = REPORTING;
  /** @type {(() => void) | null} */
  let nextSignalCallback = null;
  let signals = 0;
  /** @type {NodeJS.Timeout | undefined} */
  let deadline;
  const onSignal = (/** @type {NodeJS.Signals} */ signal) => {
    // The shell and the system may each send one for the same terminal: only the first counts.
    if (signal === 'SIGHUP' && stop.signal.aborted) return;
    signals++;
    stop.abort();
    if (signals > 2) end();
    else if (nextSignalCallback !== null) {
      nextSignalCallback();
      nextSignalCallback = end;
    } else if (signals === 1) print(message);
    else {
      cutOff.abort();
      print(NOT_WAITING);
      deadline = setTimeout(end, DEADLINE_MS).unref();
    }
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    /** Aborted by the first signal. */
    stop: /** @type {AbortSignal} */ (stop.signal),
    /** Aborted by the second, while there are requests in flight. */
    cutOff: /** @type {AbortSignal} */ (cutOff.signal),
    /** Call it when interruptible work starts; the first signal then reports `newMessage`. @param {typeof print} newPrint */
    attach(newPrint, newMessage = REPORTING) {
      [print, message, nextSignalCallback] = [newPrint, newMessage, null];
    },
    /** Call it after this work: the next signal calls `newCallback`, the one after exits. @param {() => void} newCallback */
    onNextSignal(newCallback) {
      clearTimeout(deadline);
      nextSignalCallback = newCallback;
    },
    release() {
      clearTimeout(deadline);
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}

/** Blocks this thread on an unread pipe or a stopped terminal, so that it comes after what the live thread has still to write. @param {string} text */
export function printDocument(text) {
  const { stdout } = process;
  const restoreHandlers = removeSignalHandlers();
  const isOwn = isOwnTerminal(stdout);
  if (isOwn) setBlocking(stdout, true);
  stdout.write(text);
  if (isOwn) setBlocking(stdout, false);
  restoreHandlers();
}

/** @param {string} text a line for standard error; parts may come from a server or a file */
export function writeLine(text) {
  process.stderr.write(`${sanitizeText(text)}\n`);
}

/** @param {string} text */
export function writeWarning(text) {
  writeLine(`Warning: ${text}`);
}

/** @param {string} text lines; parts may come from a server or a file */
export const visibleLines = (text) => text.split('\n').map(sanitizeText).join('\n');

/**
 * @param {Pick<Result, 'interrupted' | 'measurement' | 'requirements' | 'shard'>} result of a run, or of another measurement
 * @returns {number} see EXIT; an interruption takes precedence. Parts of a plan (`--shard`) do not fail on requirements:
 *   `merge` judges all parts together
 */
export function exitCodeOf({ interrupted, measurement, requirements, shard }) {
  if (interrupted) return EXIT.interrupted;
  if (measurement.verdict === 'invalid') return EXIT.invalidMeasurement;
  const hasPassed = shard !== undefined || requirements.every(({ verdict }) => verdict === 'met');
  return hasPassed ? EXIT.ok : EXIT.requirement;
}

/** A target that could not be measured takes precedence over the results of other targets. */
const WORST_FIRST = [EXIT.interrupted, EXIT.usage, EXIT.target, EXIT.invalidMeasurement, EXIT.requirement];

/** @param {number[]} codes @returns {number} exit code of several runs together */
export const worstOf = (codes) => WORST_FIRST.find((code) => codes.includes(code)) ?? EXIT.ok;

/** @param {PkiLoadError} error @param {{remedy?: string, exitCode?: number}} changes */
export function withChanges({ code, message, remedy, exitCode, cause }, changes) {
  return new PkiLoadError(code, message, { remedy, exitCode, cause, ...changes });
}

/**
 * Throws the first failure and warns of the others. The exit code of the measurement takes precedence.
 * @param {number} code of the measurement @param {unknown[]} failures to write its document
 * @param {(text: string) => void} [warn]
 */
export function endWith(code, failures, warn = writeWarning) {
  const [first, ...others] = failures;
  for (const failure of others) warn(textOf(failure));
  if (first === undefined) return code;
  throw code !== EXIT.ok && first instanceof PkiLoadError ? withChanges(first, { exitCode: code }) : first;
}

/** @param {unknown} failure */
export const textOf = (failure) => (failure instanceof PkiLoadError ? failure.full : String(failure));

/**
 * If Node 20 cannot reset a terminal that has hung up, it aborts at exit, and the core dump may contain the token. It does not
 * reset closed descriptors.
 * @param {Pick<NodeJS.Process, 'on'>} process
 */
export function closeLostTerminals(process) {
  const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
  process.on('exit', () => {
    for (const descriptor of terminals) if (!isatty(descriptor)) closeSync(descriptor);
  });
}

/**
 * Ignores errors of standard error, and a closed pipe on standard output. Any other error of standard output is
 * reported once and turns exit code 0 into 1.
 * @param {NodeJS.Process} process
 */
export function handleOutputErrors(process) {
  const { stdout, stderr } = process;
  let isReported = false;
  // A stopped terminal (Ctrl-S) would block this thread, and with it the handlers of signals.
  for (const stream of [stdout, stderr]) if (isOwnTerminal(stream)) setBlocking(stream, false);
  stderr.on('error', () => {});
  stdout.on('error', (/** @type {NodeJS.ErrnoException} */ { code = 'unknown' }) => {
    // EIO: a terminal that hung up, or for a file, a disk error.
    if (isReported || ['EPIPE', 'ECONNRESET'].includes(code) || (code === 'EIO' && stdout.isTTY)) return;
    isReported = true;
    stderr.write(`vault-pki-load: Standard output cannot be written to (${code}).\n`);
    failAtExit(process);
  });
}

/**
 * If the disk is full after a part of a write to a file, Node.js reports no error: only the next write has one.
 * @param {NodeJS.WriteStream & {fd: number}} stdout
 */
export function writeInFull(stdout) {
  try {
    if (!fstatSync(stdout.fd).isFile()) return;
  } catch {
    return;
  }
  stdout._write = (chunk, encoding, callback) => {
    try {
      writeFileSync(stdout.fd, chunk, { encoding });
      callback();
    } catch (error) {
      callback(/** @type {Error} */ (error));
    }
  };
}

/** @this {NodeJS.Process} @param {number} ending */
function failIfOk(ending) {
  if (ending === EXIT.ok) this.exitCode = EXIT.usage;
}

/** Turns exit code 0 into 1. May be called again. @param {NodeJS.Process} process */
export function failAtExit(process) {
  process.off('exit', failIfOk).once('exit', failIfOk);
}
