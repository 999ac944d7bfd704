/** `report`: any form of report, of results that were saved as JSON. What reads and shows them is loaded when it does. */
import { EXIT, usageError } from '../errors.js';
import { readOptions } from '../options.js';
import { reporters } from '../reporters/index.js';
import { isComparison, isResult } from '../results/document.js';
import { nameGroups } from './group-names.js';
import { checkKind, checkOutputs, outputOptions, writeOutputs } from './output.js';

/** @typedef {import('../results/document.js').Document} Document */
/** @typedef {import('../results/read-document.js').ReadDocument} ReadDocument */
/** @typedef {import('../results/schema.js').Result} Result */

const GROUP = 'Results';

/** @type {Record<string, import('../options.js').OptionSpec>} */
const options = {
  out: { ...outputOptions.out, group: GROUP },
  format: { ...outputOptions.format, group: GROUP },
};

/** @type {import('./declare.js').Command} */
export const command = {
  options,
  positionals: {
    name: 'files',
    describe: 'A result, as --out FILE.json or --format json wrote it; - is standard input',
    min: 1,
  },
  examples: ['report r.json', 'report r.json --out r.html --out r.md', 'report run-*.json --out runs.html'],
  epilogue:
    'Several results are reported as one set of runs. A set of runs and a comparison, as --repeat and compare write them, ' +
    'can be reported too. The exit code is 0, whatever the reports say.',
  async run(given) {
    const outputs = readOptions(options, given);
    const files = /** @type {string[]} */ (given.files);
    // What a single file holds shows when it is read, perhaps from a pipe that waits for us.
    const kind = files.length > 1 ? 'run-set' : undefined;
    checkOutputs(outputs.out, kind);
    if (kind !== undefined) checkKind(reporters[outputs.format], kind, `--format ${outputs.format}`);
    const { readDocuments } = await import('../results/read-document.js');
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
  const { makeRunSet } = await import('../results/run-set.js');
  const [name] = nameGroups([read.map(({ path }) => path)], []);
  return makeRunSet(name, read.flatMap(runsOf));
}

/**
 * @param {ReadDocument} read
 * @returns {Result[]}
 */
function runsOf({ document, name }) {
  if (isComparison(document)) {
    throw usageError(
      'cannot_combine',
      `${name} is a comparison, which is no run of a set.`,
      'Report it alone.',
    );
  }
  const runs = isResult(document) ? [document] : document.runs;
  const shard = runs.flatMap((run) => run.shard ?? [])[0];
  if (shard === undefined) return runs;
  throw usageError(
    'parts_in_set',
    `${name} is part ${shard.index} of ${shard.of} of a plan, not a run of its own.`,
    'Add the parts first: vault-pki-load merge FILE...',
  );
}
