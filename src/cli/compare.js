/** `compare`: groups of saved runs side by side. */
import { describeExitCodes, EXIT, usageError } from '../common/errors.js';
import { readOne, readOptions } from '../common/options.js';
import { leftOutOf } from '../report/describe/runs.js';
import { withoutSecrets } from '../vault/redact.js';
import { grouped } from './arguments.js';
import { nameGroups, runsIn } from './input-files.js';
import { checkOutputs, outputOptionsFor, refuseOverwrite, report } from './output.js';
import { endWith, writeLine } from './process.js';

/** @import { OptionSpec } from '../common/options.js' */
/** @import { Comparison } from '../result/comparison/comparison-schema.js' */
/** @import { RunGroup } from '../result/comparison/admit.js' */
/** @import { Command } from './arguments.js' */

const { out: outOption, format: formatOption } = outputOptionsFor('comparison');

/** @type {OptionSpec} */
const withOption = {
  ...{ type: 'file', group: 'Comparison', placeholder: 'FILE...', several: true },
  describe: 'Results of another group; repeatable',
};

/** @type {Record<string, OptionSpec>} */
const otherOptions = {
  ...grouped('Comparison', {
    name: {
      ...{ type: 'text', placeholder: 'LABEL', repeatable: true },
      describe: 'Name of a group, the base first; repeatable',
      defaultText: 'common part of its file names',
    },
    'allow-invalid': { type: 'flag', describe: 'Compare interrupted and invalid runs, too' },
    'leave-out-invalid': { type: 'flag', describe: 'Leave out interrupted and invalid runs' },
    seed: {
      ...{ type: 'integer', placeholder: 'N', default: 1, max: 0xffff_ffff },
      describe: 'Seed of the bootstrap',
    },
  }),
  'fail-if': {
    ...{ type: 'text', group: 'Results', placeholder: 'EXPR', repeatable: true },
    describe: "Exit with 99 if shown or not proven: 'p99 slower by 10%'; repeatable",
  },
  out: outOption,
  format: formatOption,
};

const EPILOGUE = `--fail-if METRIC DIRECTION [by X%]
  METRIC     mean, p50, p90, p95, p99, p99.9, max, min, p99 service, rate or errors
  DIRECTION  slower or faster for times; higher, lower, worse or better for all
  by X%      difference of the medians; for errors, percentage points

At least 4 runs per group are needed to show a difference (p < 0.05). See docs/compare.md.

${describeExitCodes({
  0: 'compared; no --fail-if fired',
  1: 'wrong usage, or files that cannot be read or compared, such as invalid runs',
  99: 'a --fail-if fired or is not proven',
})}`;

/** @type {Record<string, [problem: string, remedy: string]>} by kind of document */
const NOT_A_RUN = {
  comparison: ['a comparison, not the result of a run', 'Give the files that it was made of.'],
  propagation: ['a measurement of propagation, not the result of a run', 'Give the results of runs.'],
  search: ['a search, not the result of a run', 'Give results of runs; a search is reported with report.'],
  'scenario-result': [
    'of several runs or targets together, not the result of a run',
    'Give the files beside it, of one run and target each.',
  ],
};

/** @type {Command} */
export const command = {
  options: { with: withOption, ...otherOptions },
  positionals: {
    name: 'files',
    describe: 'Results of the base, as --out FILE.json wrote them; - is standard input',
    min: 1,
    checksItself: true,
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
    checkOutputs(out, 'comparison');
    refuseOverwrite(out, paths.flat());
    const names = nameGroups(paths, labels);
    const [{ compareGroups }, { parseFailIf }] = await Promise.all([
      import('../result/comparison/compare.js'),
      import('../result/comparison/fail-if.js'),
    ]);
    // Checks these before reading files.
    for (const text of failIf) parseFailIf(text);
    const groups = await readGroups(paths, names);
    const createdAt = new Date().toISOString();
    const command = withoutSecrets(line);
    const comparison = compareGroups(groups, { ...admission, seed, failIf, createdAt, command });
    const hasPassed = comparison.failIf.every(({ verdict }) => verdict === 'passed');
    const failures = await report(comparison, { out, format });
    if (format !== 'text') warn(comparison);
    return endWith(hasPassed ? EXIT.ok : EXIT.requirement, failures);
  },
};

/** @param {Record<string, unknown>} given @returns {string[][]} the base first */
function pathsOf({ files, with: others }) {
  const read = (/** @type {unknown} */ group, /** @type {string} */ what) =>
    listOf(group).map((path) => /** @type {string} */ (readOne(withOption, what, path)));
  const base = read(files, 'FILE');
  // One list for each --with; a lone text is a group of one.
  const more = listOf(others).map((group) => read(group, '--with'));
  if (base.length === 0) {
    throw usageError(
      'no_base',
      more.length === 0
        ? 'No result is given.'
        : 'No result of the base is given: all files behind --with are of the other group.',
      'Name those of the base first: vault-pki-load compare BASE.json... --with NEW.json...',
    );
  }
  if (more.length === 0 || more.some((group) => group.length === 0)) {
    throw usageError(
      'nothing_to_compare',
      'There is nothing to compare the base with.',
      'Name the other results: vault-pki-load compare BASE.json... --with NEW.json...',
    );
  }
  return [base, ...more];
}

/** @param {unknown} value @returns {unknown[]} */
function listOf(value) {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

/** @param {string[][]} paths @param {string[]} names @returns {Promise<RunGroup[]>} */
async function readGroups(paths, names) {
  const { readDocuments } = await import('../result/read-document.js');
  const runs = await runsIn(await readDocuments(paths.flat()), 'not_a_run', NOT_A_RUN);
  let from = 0;
  return paths.map((group, i) => {
    const own = runs.slice(from, from + group.length).flat();
    from += group.length;
    return { name: names[i], runs: own };
  });
}

/** Notes that the text contains go to standard error with other formats. @param {Comparison} comparison */
function warn({ warnings, groups, failIf }) {
  const leftOut = groups.flatMap((group) =>
    leftOutOf(group).map(({ run, why }) => `Left out of ${group.name}: ${run}: ${why}.`),
  );
  const failures = failIf
    .filter(({ verdict }) => verdict !== 'passed')
    .map(({ text, verdict, reason }) => {
      return `--fail-if '${text}' ${verdict === 'failed' ? 'fired' : 'is not proven'}: ${reason}`;
    });
  for (const text of [...leftOut, ...warnings.map((warning) => `Warning: ${warning}`), ...failures]) {
    writeLine(text);
  }
}
