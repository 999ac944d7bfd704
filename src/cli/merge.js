/** `merge`: the results of all parts of one plan (`--shard`) -> the result of the plan. What adds them is loaded when it does. */
import { readOptions } from '../common/options.js';
import { clean } from '../report/layout.js';
import { refuseOverwrite } from './input-files.js';
import { checkOutputs, outputOptions, writeOutputs } from './output.js';
import { exitCodeOf } from './process.js';

/** @import { OptionSpec } from '../common/options.js' */
/** @import { Command } from './arguments.js' */

const GROUP = 'Results';

/** @type {Record<string, OptionSpec>} */
const options = {
  'allow-interrupted': {
    type: 'flag',
    group: 'Parts',
    describe: 'Accept parts that were interrupted or killed',
  },
  out: { ...outputOptions.out, group: GROUP },
  format: { ...outputOptions.format, group: GROUP },
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
    const { allowInterrupted, ...outputs } = readOptions(options, given);
    const files = /** @type {string[]} */ (given.files);
    checkOutputs(outputs.out, 'result');
    refuseOverwrite(outputs.out, files);
    const [{ readResults }, { mergeResults }] = await Promise.all([
      import('../result/read-document.js'),
      import('../result/parts/merge-results.js'),
    ]);
    const read = await readResults(files);
    const result = mergeResults(
      read.map((part) => part.result),
      { names: read.map(({ name }) => name), allowInterrupted, command: line, onWarning: warn },
    );
    await writeOutputs(result, outputs);
    return exitCodeOf(result);
  },
};

/** @param {string} text */
function warn(text) {
  process.stderr.write(`Warning: ${clean(text)}\n`);
}
