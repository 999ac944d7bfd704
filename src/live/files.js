/** Rewrites the files of `--out` during the run, so that a killed run loses nothing. */
import { describeWriteError, fileTypeAt, writeAtomically } from '../common/atomic-write.js';
import { renderContent, reporterForFile } from '../report/index.js';
import { createRunSet } from '../result/runs/run-set.js';

/** @import { Result } from '../result/schema.js' */

/** Writing may take a tenth of the time; up to half if the files would otherwise be older than FRESH_MS. */
const SHARE = 0.1;
const MAX_SHARE = 0.5;
const FRESH_MS = 3000;

/**
 * @param {string[]} paths pipes and devices are written only at the end @param {object} context
 * @param {(text: string) => void} context.onWarning why a file is not written; once per file
 * @param {string | null} [context.setName] name of the set of all runs (`--repeat`); null: a single run
 * @param {number} [context.runs] planned
 * @param {() => number} [context.now] ms, monotonic @param {typeof writeOne} [context.write]
 */
export function createFiles(paths, { onWarning, setName = null, runs, ...system }) {
  const { now = () => performance.now(), write = writeOne } = system;
  const files = paths.filter((path) => fileTypeAt(path) === 'file');
  const finished = /** @type {Result[]} */ ([]);
  const warned = /** @type {Set<string>} */ (new Set());
  let nextAtMs = Number.NEGATIVE_INFINITY;
  let isStopping = false;
  /** Not written yet. @type {Result | null} */
  let waiting = null;
  let underWay = /** @type {Promise<void> | null} */ (null);
  /** @type {NodeJS.Timeout | undefined} */
  let timer;

  /** @param {string} path @param {unknown} error */
  function warn(path, error) {
    if (warned.has(path)) return;
    warned.add(path);
    const { why, remedy } = describeWriteError(path, error);
    onWarning(`--out ${path} cannot be written: ${why}. Retrying during the run. ${remedy}`);
  }

  /** @param {Result} result */
  async function writeAll(result) {
    const startMs = now();
    const document = setName === null ? result : createRunSet(setName, [...finished, result], runs);
    for (const path of files) {
      if (!isStopping) await write(path, document).catch((error) => warn(path, error));
    }
    const tookMs = now() - startMs;
    nextAtMs = startMs + Math.min(tookMs / SHARE, Math.max(FRESH_MS, tookMs / MAX_SHARE));
  }

  function writeNext() {
    clearTimeout(timer);
    if (waiting === null || underWay !== null) return;
    const leftMs = nextAtMs - now();
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
      for (const path of files) await reporterForFile(path).load();
    },
    /** Writes it after the current write and a pause, unless a newer result arrives. @param {Result} result so far */
    write(result) {
      waiting = result;
      writeNext();
    },
    /** @param {Result} result of a finished run */
    add(result) {
      if (setName !== null) finished.push(result);
    },
    /** Resolves when no file is being written. Another run may follow. */
    async stop() {
      isStopping = true;
      waiting = null;
      clearTimeout(timer);
      await underWay;
      isStopping = false;
      nextAtMs = Number.NEGATIVE_INFINITY;
    },
  };
}

/** @param {string} path @param {Parameters<typeof renderContent>[1]} document */
async function writeOne(path, document) {
  writeAtomically(path, await renderContent(reporterForFile(path).name, document, {}));
}
