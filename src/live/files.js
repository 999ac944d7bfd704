/** Rewrites the files of `--out` during the run, so that a killed run loses nothing. */
import { fileFault, whatIsAt, writeWhole } from '../common/whole-file.js';
import { renderDocument, reporterForFile } from '../report/index.js';
import { makeRunSet } from '../result/runs/run-set.js';

/** @import { RunSet } from '../result/runs/run-set.js' */
/** @import { Result } from '../result/schema.js' */

/** Writing takes at most a tenth of the time; half of it if the files would otherwise be older than FRESH_MS. */
const SHARE = 0.1;
const LARGEST_SHARE = 0.5;
const FRESH_MS = 3000;

/**
 * @param {string[]} paths pipes and devices are written at the end only
 * @param {object} context
 * @param {(text: string) => void} context.onWarning why a file is not written; once per file
 * @param {string | null} [context.setName] of several runs: the files are JSON of all of them; null: there is one run
 * @param {() => void} [context.collect] after each file
 * @param {() => number} [context.now] ms, monotonic
 * @param {(path: string, result: Result) => Promise<void>} [context.writeOne]
 */
export function createFiles(
  paths,
  { onWarning, setName = null, collect = () => {}, now = () => performance.now(), writeOne },
) {
  const files = paths.filter((path) => whatIsAt(path) === 'file');
  const set = setName === null ? null : createSetText(setName);
  /** @type {Set<string>} */
  const warned = new Set();
  let nextAtMs = Number.NEGATIVE_INFINITY;
  let isStopped = false;
  /** Not written yet. @type {Result | null} */
  let waiting = null;
  /** @type {Promise<void> | null} */
  let underWay = null;
  /** @type {NodeJS.Timeout | undefined} */
  let timer;

  /** @param {string} path @param {Result} result */
  async function writeFile(path, result) {
    if (writeOne !== undefined) return writeOne(path, result);
    const content = set?.pieces(result) ?? (await renderDocument(reporterForFile(path).name, result, {}));
    writeWhole(path, content);
  }

  /** @param {Result} result */
  async function writeAll(result) {
    const beganMs = now();
    for (const path of files) {
      if (isStopped) break;
      try {
        await writeFile(path, result);
      } catch (error) {
        const { why, remedy } = fileFault(path, error);
        const text = `--out ${path} cannot be written: ${why}. Trying again during the run. ${remedy}`;
        if (!warned.has(path)) onWarning(text);
        warned.add(path);
      }
      collect();
    }
    const tookMs = now() - beganMs;
    nextAtMs = beganMs + Math.min(tookMs / SHARE, Math.max(FRESH_MS, tookMs / LARGEST_SHARE));
  }

  function writeNext() {
    clearTimeout(timer);
    if (isStopped || waiting === null || underWay !== null) return;
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
    /** @param {Result} result so far; written when the last write is over and its pause has passed, unless a newer one replaces it */
    write(result) {
      if (isStopped) return;
      waiting = result;
      writeNext();
    },
    /** @param {Result} result of a finished run */
    add: (result) => set?.add(result),
    /** @param {RunSet['summary']} summary of all finished runs */
    summarise: (summary) => set?.summarise(summary),
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
      nextAtMs = Number.NEGATIVE_INFINITY;
    },
  };
}

/**
 * The JSON of a set of runs (`--repeat`) during one of them. Finished runs are kept as text, and their summary comes from the main
 * thread, so rewriting the file costs no more than for a single run.
 * @param {string} name of the set
 */
export function createSetText(name) {
  /** @type {Buffer[]} */
  const finished = [];
  /** Of the finished runs. @type {RunSet['summary'] | null} */
  let summary = null;
  return {
    /** @param {Result} result of a finished run */
    add(result) {
      finished.push(Buffer.from(`${entryText(result)},\n`));
    },
    /** @param {RunSet['summary']} ofAll of all finished runs */
    summarise(ofAll) {
      summary = ofAll;
    },
    /**
     * @param {Result} result of the current run
     * @returns {(string | Buffer)[]} together, the text that the JSON reporter would write for the whole set
     */
    pieces(result) {
      const { runs: _, ...alone } = makeRunSet(name, [result]);
      if (summary !== null) {
        // The current run is no sample yet: it is left out.
        const run = `run ${finished.length + 1}`;
        const leftOut = [...summary.leftOut, ...alone.summary.leftOut.map((one) => ({ ...one, run }))];
        alone.summary = { ...summary, leftOut };
      }
      return [
        `${JSON.stringify(alone, null, 2).slice(0, -2)},\n  "runs": [\n`,
        ...finished,
        `${entryText(result)}\n  ]\n}\n`,
      ];
    },
  };
}

/** @param {Result} result */
function entryText(result) {
  return `    ${JSON.stringify(result, null, 2).replaceAll('\n', '\n    ')}`;
}
