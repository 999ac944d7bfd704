/** Where lines go: a terminal whose last lines are drawn over again, or a log. */

/**
 * @typedef {object} Screen
 * @property {(lines: string[]) => void} lines stay
 * @property {(picture: string) => void} show takes the place of the last one
 * @property {(columns: number, rows: number) => void} resize
 * @property {() => void} clear takes the last picture away
 * @property {Promise<void>} isReady from then on pictures are drawn
 */

/** In a log: a line at the first second and then this often. */
const PLAIN_EVERY_MS = 5000;

/** Seconds come about once a second; one this much early still counts as due. */
const JITTER_MS = 500;

/**
 * @param {(text: string) => void} write
 * @param {() => number} now
 * @returns {Screen}
 */
export function plainScreen(write, now) {
  let nextAt = Number.NEGATIVE_INFINITY;
  return {
    lines: (lines) => write(`${lines.join('\n')}\n`),
    show(line) {
      const time = now();
      if (time < nextAt - JITTER_MS) return;
      nextAt = time + PLAIN_EVERY_MS;
      write(`${line}\n`);
    },
    resize() {},
    // What was written stays; what comes next is another thing, and is not held back.
    clear() {
      nextAt = Number.NEGATIVE_INFINITY;
    },
    isReady: Promise.resolve(),
  };
}

/**
 * log-update is loaded only here; until it is there, nothing is drawn. It works on another thread than the main one too: all
 * it needs of a stream is to write, and to know its size.
 *
 * @param {(text: string) => void} write
 * @param {import('./view.js').Terminal} terminal
 * @returns {Screen}
 */
export function liveScreen(write, { columns, rows }) {
  const stream = {
    isTTY: true,
    columns,
    rows,
    /** @param {string} text */
    write(text) {
      write(text);
      return true;
    },
  };
  /** @type {ReturnType<typeof import('log-update').createLogUpdate> | null} */
  let log = null;
  let current = '';
  const load = async () => {
    const { createLogUpdate } = await import('log-update');
    // A hidden cursor would bring signal handlers with it (signal-exit), which can end the process on the first Ctrl-C.
    log = createLogUpdate(/** @type {NodeJS.WritableStream} */ (/** @type {unknown} */ (stream)), {
      showCursor: true,
    });
    if (current !== '') log(current);
  };
  return {
    lines(lines) {
      log?.clear();
      write(`${lines.join('\n')}\n`);
      if (current !== '') log?.(current);
    },
    show(picture) {
      current = picture;
      log?.(picture);
    },
    resize(newColumns, newRows) {
      stream.columns = newColumns;
      stream.rows = newRows;
    },
    clear() {
      if (current === '') return;
      current = '';
      log?.clear();
      log?.done();
    },
    // Without log-update there is a run without a live view, which is better than no run.
    isReady: load().catch(() => {}),
  };
}
