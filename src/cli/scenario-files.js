/** Files of a scenario with several steps: the summary in the file that was named, each step's own results beside it. */
import { extname } from 'node:path';
import { usageError } from '../common/errors.js';
import { reporterForFile, reporters } from '../report/index.js';
import { makeRunSet } from '../result/runs/run-set.js';
import { appendSummary, checkKind, checkOutputs, print, withRemarks, writeFiles } from './output.js';

/** @typedef {import('../result/schema.js').Result} Result */
/** @typedef {import('../result/scenario/scenario-schema.js').ScenarioResult} ScenarioResult */
/** @typedef {import('./run-options.js').RunSettings} RunSettings */

/** Several documents may follow one another in these. */
const SEQUENTIAL = ['text', 'md'];

/**
 * Says before anything runs what could not be written afterwards.
 *
 * @param {readonly string[]} names of the steps
 * @param {RunSettings} settings
 */
export function scenarioFiles(names, { out, format, repeat, summary }) {
  const plain = plainNames(names);
  const own = plain.map((name) => out.map((path) => named(path, name)));
  const together = out.filter((path) => reporterForFile(path).kinds.includes('scenario-result'));
  checkKind(reporters[format], 'scenario-result', `--format ${format}`);
  checkOutputs([...together, ...own.flat()]);
  return {
    /** All that will be written. */
    paths: [...together, ...own.flat()],
    /**
     * @param {number} step
     * @param {readonly Result[]} results that it has given so far
     * @param {readonly string[]} remarks see withRemarks
     * @returns {Promise<unknown[]>} why some files could not be written
     */
    async writeStep(step, results, remarks) {
      if (results.length === 0 || out.length === 0) return [];
      const document = repeat === 1 ? results[0] : makeRunSet(names[step], [...results]);
      return writeFiles(withRemarks(document, remarks), own[step]);
    },
    /** @param {ScenarioResult} scenario @returns {Promise<unknown[]>} why some files could not be written */
    writeSummary: (scenario) => writeFiles(scenario, together),
    /** @param {ScenarioResult} scenario @returns {Promise<unknown[]>} why something could not be written */
    async show(scenario) {
      await print(scenario, format);
      return summary === null ? [] : appendSummary(scenario, summary);
    },
  };
}

/**
 * As for runs; nothing tells of all searches together.
 *
 * @param {readonly string[]} names of the steps
 * @param {Pick<RunSettings, 'out' | 'format'>} settings
 * @returns {string[][]} paths of the files of each
 */
export function searchFiles(names, { out, format }) {
  if (names.length > 1 && !SEQUENTIAL.includes(format)) {
    throw usageError(
      'several_documents',
      `--format ${format} prints one document, but there are ${names.length} searches.`,
      `Use --out FILE${reporters[format].extension}, which writes a file for each, or --format ${SEQUENTIAL.join(' or ')}.`,
    );
  }
  const paths =
    names.length === 1 ? [out] : plainNames(names).map((name) => out.map((path) => named(path, name)));
  checkOutputs(paths.flat(), 'search');
  return paths;
}

/**
 * @param {string} path
 * @param {string} name
 * @returns {string} `result.json` -> `result-ramp-up.json`
 */
export function named(path, name) {
  const extension = extname(path);
  return `${path.slice(0, path.length - extension.length)}-${name}${extension}`;
}

/**
 * @param {readonly string[]} names
 * @returns {string[]} fit for files, and no two the same
 */
export function plainNames(names) {
  /** @type {string[]} */
  const plain = [];
  for (const name of names) {
    const own =
      name
        .toLowerCase()
        .replace(/[^\p{L}\p{N}]+/gu, '-')
        .replace(/^-|-$/g, '') || 'step';
    let free = own;
    for (let i = 2; plain.includes(free); i++) free = `${own}-${i}`;
    plain.push(free);
  }
  return plain;
}
