/** `report`: any form of report, of results that were saved as JSON. What reads and shows them is loaded when it does. */
import { EXIT } from '../common/errors.js';
import { readOptions } from '../common/options.js';
import { reporters } from '../report/index.js';
import { nameGroups, refuseOverwrite, runsIn } from './input-files.js';
import { checkKind, checkOutputs, outputOptions, writeOutputs } from './output.js';

/** @import { OptionSpec } from '../common/options.js' */
/** @import { Document } from '../result/document.js' */
/** @import { ReadDocument } from '../result/read-document.js' */
/** @import { Command } from './arguments.js' */

const GROUP = 'Results';

/** @type {Record<string, OptionSpec>} */
const options = {
  out: { ...outputOptions.out, group: GROUP },
  format: { ...outputOptions.format, group: GROUP },
};

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

/** @param {ReadDocument[]} read @returns {Promise<Document>} */
async function together(read) {
  if (read.length === 1) return read[0].document;
  const [{ makeRunSet }, { refuseSameRun }, { refuseParts }] = await Promise.all([
    import('../result/runs/run-set.js'),
    import('../result/runs/same-run.js'),
    import('../result/comparison/admit.js'),
  ]);
  const [name] = nameGroups([read.map(({ path }) => path)], []);
  const runs = (await runsIn(read, 'cannot_combine', NO_RUN_OF_A_SET)).flat();
  refuseParts(runs);
  refuseSameRun([{ name, runs }]);
  return makeRunSet(
    name,
    runs.map(({ result }) => result),
  );
}
