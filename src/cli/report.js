/** `report`: any form of report, of results that were saved as JSON. What reads and shows them is loaded when it does. */
import { EXIT, usageError } from '../common/errors.js';
import { readOptions } from '../common/options.js';
import { reporters } from '../report/index.js';
import { isComparison, isPropagation, isResult, isScenarioResult, isSearch } from '../result/document.js';
import { nameGroups, refuseOverwrite } from './input-files.js';
import { checkKind, checkOutputs, outputOptions, writeOutputs } from './output.js';

/** @typedef {import('../result/document.js').Document} Document */
/** @typedef {import('../result/read-document.js').ReadDocument} ReadDocument */
/** @typedef {import('../result/runs/run-metrics.js').NamedRun} NamedRun */

const GROUP = 'Results';

/** @type {Record<string, import('../common/options.js').OptionSpec>} */
const options = {
  out: { ...outputOptions.out, group: GROUP },
  format: { ...outputOptions.format, group: GROUP },
};

/** @type {import('./arguments.js').Command} */
export const command = {
  options,
  positionals: {
    name: 'files',
    describe: 'Result (--out FILE.json); - is standard input',
    min: 1,
  },
  examples: ['report r.json', 'report r.json --out r.html --out r.md', 'report run-*.json --out runs.html'],
  epilogue:
    'Several results are reported as one set of runs, with a warning if they were not made alike. The exit code is 0, whatever the results.',
  async run(given) {
    const outputs = readOptions(options, given);
    const files = /** @type {string[]} */ (given.files);
    // What a single file holds shows when it is read, perhaps from a pipe that waits for us.
    const kind = files.length > 1 ? 'run-set' : undefined;
    checkOutputs(outputs.out, kind);
    refuseOverwrite(outputs.out, files);
    if (kind !== undefined) checkKind(reporters[outputs.format], kind, `--format ${outputs.format}`);
    const { readDocuments } = await import('../result/read-document.js');
    await writeOutputs(await together(await readDocuments(files)), outputs);
    return EXIT.ok;
  },
};

/**
 * @param {ReadDocument[]} read
 * @returns {Promise<Document>}
 */
async function together(read) {
  if (read.length === 1) return read[0].document;
  const [{ makeRunSet }, { namedRuns }, { refuseSameRun }, { refuseParts }] = await Promise.all([
    import('../result/runs/run-set.js'),
    import('../result/runs/run-summary.js'),
    import('../result/runs/same-run.js'),
    import('../result/comparison/admit.js'),
  ]);
  const [name] = nameGroups([read.map(({ path }) => path)], []);
  /** @type {(one: ReadDocument) => NamedRun[]} */
  const runsOf = ({ document, name: file }) => {
    if (isComparison(document)) {
      throw usageError(
        'cannot_combine',
        `${file} is a comparison, which is no run of a set.`,
        'Report it alone.',
      );
    }
    if (isPropagation(document)) {
      throw usageError(
        'cannot_combine',
        `${file} is a measurement of propagation, which is no run of a set.`,
        'Report it alone.',
      );
    }
    if (isSearch(document)) {
      throw usageError(
        'cannot_combine',
        `${file} is a search, which is no run of a set.`,
        'Report it alone.',
      );
    }
    if (isScenarioResult(document)) {
      throw usageError(
        'cannot_combine',
        `${file} is of several runs or targets, which are no runs of one set.`,
        'Report it alone, or give the files beside it, of one run and target each.',
      );
    }
    if (isResult(document)) return [{ name: file, result: document }];
    return namedRuns(document.runs).map((run) => ({ ...run, name: `${file}, ${run.name}` }));
  };
  const runs = read.flatMap(runsOf);
  refuseParts(runs);
  refuseSameRun([{ name, runs }]);
  return makeRunSet(
    name,
    runs.map(({ result }) => result),
  );
}
