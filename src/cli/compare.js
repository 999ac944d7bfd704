/** `compare`: compares groups of saved runs. */
import { describeExitCodes, EXIT, usageError } from '../common/errors.js';
import { inGroup, option, readOne, readOptions } from '../common/options.js';
import { total } from '../common/sums.js';
import { missingIn, nameGroups, runsIn } from './input-files.js';
import { checkOutputs, outputOptionsFor, writeReports } from './output.js';
import { endWith } from './process.js';

/** @import { Command } from './arguments.js' */

const { quiet: _, ...outputOptions } = outputOptionsFor('comparison');

const { with: withOption, ...comparisonOptions } = inGroup('Comparison', {
  with: option('file', 'Results of another group; repeatable', { placeholder: 'FILE...', several: true }),
  name: {
    ...{ type: 'text', placeholder: 'LABEL', repeatable: true },
    describe: 'Name of a group, the base first; repeatable',
    defaultText: 'common part of its file names',
  },
  'allow-invalid': { type: 'flag', describe: 'Include interrupted and invalid runs' },
  'leave-out-invalid': { type: 'flag', describe: 'Leave out interrupted and invalid runs' },
  seed: { type: 'integer', default: 1, max: 0xffff_ffff, describe: 'Seed of the bootstrap' },
});

const otherOptions = {
  ...comparisonOptions,
  ...inGroup('Results', {
    'fail-if': {
      ...{ type: 'text', placeholder: 'EXPR', repeatable: true },
      describe: "Exit with 99 if this is shown or not proven: 'p99 slower by 10%'; repeatable",
    },
  }),
  ...outputOptions,
};

const EPILOGUE = `--fail-if METRIC DIRECTION [by X%]
  METRIC     rate, errors, p99 service, or a figure of the response times such as mean, p50, p99.9 or max
  DIRECTION  slower or faster for times; higher, lower, worse or better for all
  by X%      difference of the medians; for errors, percentage points

At least 4 runs per group are needed to show a difference (p < 0.05). See docs/compare.md.

${describeExitCodes({
  0: 'every --fail-if passed',
  1: 'wrong usage, or files that cannot be read or compared, such as invalid runs',
  99: 'a --fail-if fired or is not proven',
})}`;

/** @type {Command} */
export const command = {
  options: { with: withOption, ...otherOptions },
  positionals: {
    name: 'files',
    describe: 'Result files of the base group (--out FILE.json); - is standard input',
    min: 1,
    missing: 'compare needs the base before --with: compare BASE.json... --with NEW.json...',
  },
  examples: [
    'compare base-*.json --with new-*.json',
    "compare base.json --with new.json --fail-if 'p99 slower by 10%' --fail-if 'errors higher'",
    'compare consul.json --with raft.json --with etcd.json --name consul --name raft --name etcd --out storage.html',
  ],
  epilogue: EPILOGUE,
  async run(given, line) {
    const { name: labels, failIf, seed, out, format, ...admission } = readOptions(otherOptions, given);
    const paths = pathsOf(given);
    checkOutputs({ out }, 'comparison', paths.flat());
    const names = nameGroups(paths, labels);
    const { compareGroups } = await import('../result/comparison/compare.js');
    const { parseFailIf } = await import('../result/comparison/fail-if.js');
    const { readDocuments } = await import('../result/read-document.js');
    // Checked before files are read.
    for (const text of failIf) parseFailIf(text);
    const read = await readDocuments(paths.flat());
    const [runs, missing] = [await runsIn(read), missingIn(read)];
    const groups = paths.map(({ length }, i) => ({
      name: names[i],
      runs: runs.splice(0, length).flat(),
      missing: total(missing.splice(0, length)),
    }));
    const origin = { createdAt: new Date().toISOString(), command: line };
    const comparison = compareGroups(groups, { ...admission, seed, failIf, ...origin });
    const hasPassed = comparison.failIf.every(({ verdict }) => verdict === 'passed');
    return endWith(hasPassed ? EXIT.ok : EXIT.requirement, await writeReports(comparison, { out, format }));
  },
};

/** @param {Record<string, unknown>} given @returns {string[][]} the base first */
function pathsOf({ files, with: others = [] }) {
  const groups = [files, .../** @type {unknown[]} */ (others)].map((group, i) =>
    [group].flat().map((path) => readOne(withOption, i === 0 ? 'FILE' : '--with', path)),
  );
  if (groups.length > 1 && groups.every(({ length }) => length > 0)) return groups;
  const remedy = 'Add other results: vault-pki-load compare BASE.json... --with NEW.json...';
  throw usageError('nothing_to_compare', 'There is nothing to compare the base with.', remedy);
}
