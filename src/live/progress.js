/** The view of what goes on in this thread itself: a calibration, or a run of which next to nothing is to be shown. */
import { createView } from './view.js';

/**
 * @param {object} options
 * @param {NodeJS.WritableStream} options.stream
 * @param {boolean} [options.isTTY]
 * @param {number} [options.columns] of the terminal
 * @param {boolean} [options.quiet] nothing but warnings
 * @param {() => number} [options.now] milliseconds, monotonic
 * @returns {Pick<import('./view.js').View, 'event' | 'close'>}
 */
export function createProgress({ stream, isTTY = false, columns, quiet, now }) {
  const write = (/** @type {string} */ text) => void stream.write(text);
  return createView({ write, terminal: { isTTY, columns }, quiet, now });
}
