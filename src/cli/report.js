/** `report`: any form of report, of results that were saved as JSON. */
import { EXIT } from '../common/errors.js';
import { readOptions } from '../common/options.js';
import { reporters } from '../report/index.js';
import { nameGroups, runsIn } from './input-files.js';
import { checkKind, checkOutputs, outputOptionsFor, refuseOverwrite, report } from './output.js';
import { endWith } from './process.js';

/** @import { Document } from '../result/document.js' */
/** @import { ReadDocument } from '../result/read-document.js' */
/** @import { Command } from './arguments.js' */

const { out, format } = outputOptionsFor();
const options = { out, format };

/** @type {Record<string, [problem: string, remedy: string]>} by kind of document */
const NO_RUN_OF_A_SET = {
  comparison: ['a comparison, which is no run of a set', 'Report it alone.'],
  propagation: ['a measurement of propagation, which is no run of a set', 'Report it alone.'],
  search: ['a search, which is no run of a set', 'Report it alone.'],
  'scenario-result': [
    'of several runs or targets, which are no runs of one set',
    'Report it alone, or give the files beside it, of one run and target each.',
  ],
};

/** @type {Command} */
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
    const outputs = /** @type {{out: string[], format: string}} */ (readOptions(options, given));
    const files = /** @type {string[]} */ (given.files);
    // The kind of a single file is known once it is read, perhaps from a pipe that blocks.
    const kind = files.length > 1 ? 'run-set' : undefined;
    checkOutputs(outputs.out, kind);
    refuseOverwrite(outputs.out, files);
    if (kind !== undefined) checkKind(reporters[outputs.format], kind, `--format ${outputs.format}`);
    const { readDocuments } = await import('../result/read-document.js');
    return endWith(EXIT.ok, await report(await joinRuns(await readDocuments(files)), outputs));
  },
};

/** @param {ReadDocument[]} read @returns {Promise<Document>} */
async function joinRuns(read) {
  if (read.length === 1) return read[0].document;
  const [{ makeRunSet }, { refuseParts, refuseSameRun }] = await Promise.all([
    import('../result/runs/run-set.js'),
    import('../result/comparison/admit.js'),
  ]);
  const [name] = nameGroups([read.map(({ path }) => path)], []);
  const runs = (await runsIn(read, 'cannot_combine', NO_RUN_OF_A_SET)).flat();
  refuseParts(runs);
  refuseSameRun([{ name, runs }]);
  const results = runs.map(({ result }) => result);
  return makeRunSet(name, results);
}
