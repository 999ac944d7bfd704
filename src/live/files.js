/** Rewrites the files of `--out` during the run, so that a killed run loses nothing. */
import { fileFault, whatIsAt, writeWhole } from '../common/whole-file.js';
import { renderDocument, reporterForFile } from '../report/index.js';

/** @import { Result } from '../result/schema.js' */

/** Writing takes at most a tenth of the time; half of it, where the files would otherwise be older than FRESH_MS. */
const SHARE = 0.1;
const LARGEST_SHARE = 0.5;
const FRESH_MS = 3000;

/**
 * @param {string[]} paths pipes and devices are written at the end only
 * @param {object} context
 * @param {(text: string) => void} context.onWarning why a file is not written; once per file
 * @param {() => number} [context.now] ms, monotonic
 * @param {(path: string, result: Result) => Promise<void>} [context.writeOne]
 */
export function createFiles(paths, { onWarning, now = () => performance.now(), writeOne = writeFile }) {
  const own = paths.filter((path) => whatIsAt(path) === 'file');
  /** @type {Set<string>} */
  const warned = new Set();
  let nextAt = Number.NEGATIVE_INFINITY;
  let isStopped = false;
  /** Not written yet. @type {Result | null} */
  let waiting = null;
  /** @type {Promise<void> | null} */
  let underWay = null;
  /** @type {NodeJS.Timeout | undefined} */
  let timer;

  /** @param {Result} result */
  async function writeAll(result) {
    const began = now();
    for (const path of own) {
      if (isStopped) break;
      try {
        await writeOne(path, result);
      } catch (error) {
        if (!warned.has(path)) onWarning(describe(path, error));
        warned.add(path);
      }
    }
    const tookMs = now() - began;
    nextAt = began + Math.min(tookMs / SHARE, Math.max(FRESH_MS, tookMs / LARGEST_SHARE));
  }

  function writeNext() {
    clearTimeout(timer);
    if (isStopped || waiting === null || underWay !== null) return;
    const leftMs = nextAt - now();
    if (leftMs > 0) {
      timer = setTimeout(writeNext, leftMs).unref();
      return;
    }
    const result = waiting;
    waiting = null;
    underWay = writeAll(result).finally(() => {
      underWay = null;
      writeNext();
    });
  }

  return {
    /** Loads the reporters before the run. */
    async prepare() {
      for (const path of own) await reporterForFile(path).load();
    },
    /** @param {Result} result so far; written when the last write is over and its pause has passed, unless a newer one replaces it */
    write(result) {
      if (isStopped) return;
      waiting = result;
      writeNext();
    },
    /** Resolves when the last write is over. */
    async stop() {
      isStopped = true;
      waiting = null;
      clearTimeout(timer);
      await underWay;
    },
    /** Another run begins. */
    resume() {
      isStopped = false;
      nextAt = Number.NEGATIVE_INFINITY;
    },
  };
}

/**
 * @param {string[]} paths of JSON
 * @param {Pick<ReturnType<typeof import('./set-text.js').createSetText>, 'pieces'>} set of which a run goes on
 * @param {Parameters<typeof createFiles>[1]} context
 */
export function createSetFiles(paths, set, context) {
  return createFiles(paths, {
    ...context,
    writeOne: async (path, result) => writeWhole(path, set.pieces(result)),
  });
}

/** @param {string} path @param {Result} result */
async function writeFile(path, result) {
  writeWhole(path, await renderDocument(reporterForFile(path).name, result, {}));
}

/** @param {string} path @param {unknown} error */
function describe(path, error) {
  const { why, remedy } = fileFault(path, error);
  return `--out ${path} cannot be written: ${why}. Trying again during the run. ${remedy}`;
}
