/** `report` converts saved results to any format; `merge` adds up the parts of a plan. */
import { EXIT } from '../common/errors.js';
import { inGroup, readOptions } from '../common/options.js';
import { total } from '../common/sums.js';
import { missingIn, nameGroups, runsIn } from './input-files.js';
import { checkOutputs, outputOptionsFor, writeReports } from './output.js';
import { endWith, exitCodeOf, writeWarning } from './process.js';

/** @import { Document } from '../result/document.js' */
/** @import { ReadDocument } from '../result/read-document.js' */
/** @import { Command } from './arguments.js' */

const { quiet: _, ...options } = outputOptionsFor();

/** @type {Command} */
export const report = {
  options,
  positionals: { name: 'files', describe: 'Result file (--out FILE.json); - is standard input', min: 1 },
  examples: ['report r.json', 'report r.json --out r.html --out r.md', 'report run-*.json --out runs.html'],
  epilogue:
    'Reports several results as one set of runs, with a warning if their settings differ. The exit code is 0 whatever the results.',
  async run(given) {
    const outputs = /** @type {{out: string[], format: string}} */ (readOptions(options, given));
    const files = /** @type {string[]} */ (given.files);
    // Reading a single file reveals its kind, but may block if it is a pipe.
    checkOutputs(outputs, files.length > 1 ? 'run-set' : undefined, files);
    const { readDocuments } = await import('../result/read-document.js');
    return endWith(EXIT.ok, await writeReports(await joinRuns(await readDocuments(files)), outputs));
  },
};

/** @param {ReadDocument[]} read @returns {Promise<Document>} */
async function joinRuns(read) {
  if (read.length === 1) return read[0].document;
  const { createRunSet } = await import('../result/runs/run-set.js');
  const { refuseParts, refuseSameRun } = await import('../result/comparison/admit.js');
  const [name] = nameGroups([read.map(({ path }) => path)], []);
  const runs = (await runsIn(read)).flat();
  refuseParts(runs);
  refuseSameRun([{ name, runs }]);
  const results = runs.map(({ result }) => result);
  return createRunSet(name, results, results.length + total(missingIn(read)));
}

const mergeOptions = {
  ...inGroup('Parts', {
    'allow-interrupted': { type: 'flag', describe: 'Accept parts that were interrupted or killed' },
  }),
  ...options,
};

/** @type {Command} */
export const merge = {
  options: mergeOptions,
  positionals: { name: 'files', describe: 'Result of a part (--out FILE.json); - is standard input', min: 1 },
  examples: [
    'ocsp --rate 8000/s --seed 1 --start-at 14:30:00 --shard 0/2 --out part-0.json',
    'ocsp --rate 8000/s --seed 1 --start-at 14:30:00 --shard 1/2 --out part-1.json',
    'merge part-0.json part-1.json --out whole.json --out whole.html',
  ],
  epilogue:
    'Split a plan with --shard K/N and the same options, --seed and --start-at everywhere. The exit code is the same as for one run with the merged result. ' +
    'See docs/machines.md.',
  async run(given, line) {
    const { allowInterrupted, out, format } = readOptions(mergeOptions, given);
    const files = /** @type {string[]} */ (given.files);
    checkOutputs({ out }, 'result', files);
    const { readResults } = await import('../result/read-document.js');
    const { mergeResults } = await import('../result/parts/merge-results.js');
    const read = await readResults(files);
    const names = read.map(({ name }) => name);
    const options = { names, allowInterrupted, command: line, onWarning: writeWarning };
    const results = read.map(({ result }) => result);
    const merged = mergeResults(results, options);
    return endWith(exitCodeOf(merged), await writeReports(merged, { out, format }));
  },
};
