/** `merge`: the results of all parts of one plan (`--shard`) -> the result of the plan. */
import { readOptions } from '../common/options.js';
import { checkOutputs, outputOptionsFor, refuseOverwrite, report } from './output.js';
import { endWith, exitCodeOf, writeWarning } from './process.js';

/** @import { OptionSpec } from '../common/options.js' */
/** @import { Command } from './arguments.js' */

const { out, format } = outputOptionsFor();

/** @type {Record<string, OptionSpec>} */
const options = {
  'allow-interrupted': {
    type: 'flag',
    group: 'Parts',
    describe: 'Accept parts that were interrupted or killed',
  },
  out,
  format,
};

const EPILOGUE =
  'Split a plan with --shard K/N and the same options, --seed and --start-at everywhere. The exit code is that of a run with the merged result. ' +
  'See docs/machines.md.';

/** @type {Command} */
export const command = {
  options,
  positionals: {
    name: 'files',
    describe: 'Result of a part (--out FILE.json); - is standard input',
    min: 1,
  },
  examples: [
    'ocsp --rate 8000/s --seed 1 --start-at 14:30:00 --shard 0/2 --out part-0.json',
    'ocsp --rate 8000/s --seed 1 --start-at 14:30:00 --shard 1/2 --out part-1.json',
    'merge part-0.json part-1.json --out whole.json --out whole.html',
  ],
  epilogue: EPILOGUE,
  async run(given, line) {
    const { allowInterrupted, out: paths, format: printed } = readOptions(options, given);
    const files = /** @type {string[]} */ (given.files);
    checkOutputs(paths, 'result');
    refuseOverwrite(paths, files);
    const [{ readResults }, { mergeResults }] = await Promise.all([
      import('../result/read-document.js'),
      import('../result/parts/merge-results.js'),
    ]);
    const read = await readResults(files);
    const result = mergeResults(
      read.map((part) => part.result),
      { names: read.map(({ name }) => name), allowInterrupted, command: line, onWarning: writeWarning },
    );
    return endWith(exitCodeOf(result), await report(result, { out: paths, format: printed }));
  },
};
