/** How a run is shown, written and served while it goes on: by the live thread, and where that is lost, as lines of a log. */

import { startLive } from '../live/thread.js';
import { createProgress } from '../live/view.js';
import { reporterForFile } from '../report/index.js';

/** @typedef {Omit<import('../live/thread.js').Live, 'hook'> & {hook?: import('../run.js').LiveHook}} Live */

/**
 * @param {import('../plan/plan.js').Plan} plan
 * @param {import('./run-options.js').RunSettings} settings
 * @param {string} command the command line, for the result
 * @param {{stderr?: import('node:tty').WriteStream, env?: NodeJS.ProcessEnv, start?: typeof startLive}} [system]
 * @returns {Promise<Live>} on a thread of its own, where there is anything to do but to warn
 */
export async function startShowing(
  plan,
  { out, metrics, otlp, quiet, repeat },
  command,
  { stderr = process.stderr, env = process.env, start = startLive } = {},
) {
  if (quiet && out.length === 0 && metrics === null && otlp === null) return showWarnings(stderr);
  const isTTY = Boolean(stderr.isTTY) && env.TERM !== 'dumb';
  const { columns, rows } = stderr;
  /** Instead of the thread, once it is lost. @type {ReturnType<typeof createProgress> | null} */
  let lines = null;
  const live = await start(
    {
      plan,
      command,
      runs: repeat,
      outs: repeat === 1 ? out : out.filter(isJson),
      metrics,
      otlp,
      terminal: { isTTY, columns, rows, color: isTTY && !env.NO_COLOR },
      quiet,
    },
    ({ message }) => {
      lines = createProgress({ stream: stderr, quiet });
      const what = `How the run goes cannot be shown, written or served as before (${message})`;
      lines.event({ type: 'warning', text: `${what}; it goes on, and its result is written at the end.` });
    },
  );
  return { ...live, event: (event) => (lines ?? live).event(event) };
}

/**
 * While one of several runs goes on, only JSON is rewritten: it holds all that other forms show, and those are made of all runs
 * between them.
 *
 * @param {string} path
 */
function isJson(path) {
  return reporterForFile(path).name === 'json';
}

/**
 * @param {NodeJS.WritableStream} stream
 * @returns {Live}
 */
function showWarnings(stream) {
  const { event, close } = createProgress({ stream, quiet: true });
  const nothing = async () => {};
  return {
    event,
    resize() {},
    finish: nothing,
    next: nothing,
    abandon: nothing,
    cutShort() {},
    close: async () => close(),
  };
}
