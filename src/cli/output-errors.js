/** Standard output and error that cannot be written to. They end nothing: what was set up is still to be removed. */
import { EXIT } from '../common/errors.js';

/** The reader of a pipe or socket has gone away. */
const GONE = new Set(['EPIPE', 'ECONNRESET']);

/** What a terminal says that was hung up; of a file it would be a fault of the disk. */
const HUNG_UP = 'EIO';

/** @typedef {Pick<NodeJS.WriteStream, 'on' | 'write'> & {isTTY?: boolean}} Stream */

/**
 * A reader that is gone is told nothing more. Another fault of standard output is told once, and is exit code 1 where it would be 0 else;
 * of standard error there is nobody to tell.
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
