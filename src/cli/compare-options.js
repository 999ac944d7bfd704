/** What `compare` takes, and what its help says. */
import { describeExitCodes } from '../common/errors.js';
import { reporters } from '../report/index.js';

const GROUP = 'Comparison';
const RESULTS = 'Results';

/** Reporters that can show a comparison, by name. */
const able = Object.entries(reporters).filter(([, { kinds }]) => kinds.includes('comparison'));
const extensions = able.map(([, { extension }]) => extension).join(', ');

/** @type {import('../common/options.js').OptionSpec} */
export const withOption = {
  type: 'file',
  group: GROUP,
  placeholder: 'FILE...',
  several: true,
  describe: 'Results of another group; repeatable',
};

/** @type {Record<string, import('../common/options.js').OptionSpec>} */
export const otherOptions = {
  name: {
    type: 'text',
    group: GROUP,
    placeholder: 'LABEL',
    repeatable: true,
    describe: 'Name of a group, the base first; repeatable',
    defaultText: 'common part of its file names',
  },
  'allow-invalid': {
    type: 'flag',
    group: GROUP,
    describe: 'Compare interrupted and invalid runs, too',
  },
  'leave-out-invalid': {
    type: 'flag',
    group: GROUP,
    describe: 'Leave out interrupted and invalid runs',
  },
  seed: {
    type: 'integer',
    group: GROUP,
    placeholder: 'N',
    default: 1,
    max: 0xffff_ffff,
    describe: 'Seed of the bootstrap',
  },
  'fail-if': {
    type: 'text',
    group: RESULTS,
    placeholder: 'EXPR',
    repeatable: true,
    describe: "Exit with 99 if shown or not proven: 'p99 slower by 10%'; repeatable",
  },
  out: {
    type: 'file',
    group: RESULTS,
    placeholder: 'FILE',
    repeatable: true,
    describe: `Write the comparison to a file (${extensions}); repeatable`,
  },
  format: {
    type: 'choice',
    group: RESULTS,
    choices: able.map(([name]) => name),
    default: 'text',
    describe: 'Format of standard output',
  },
};

export const EPILOGUE = `--fail-if METRIC DIRECTION [by X%]
  METRIC     mean, p50, p90, p95, p99, p99.9, max, min, p99 service, rate or errors
  DIRECTION  slower or faster for times; higher, lower, worse or better for all
  by X%      difference of the medians; for errors, percentage points

At least 4 runs per group are needed to show a difference (p < 0.05). See docs/compare.md.

${describeExitCodes({
  0: 'compared; no --fail-if fired',
  1: 'wrong usage, or files that cannot be read or compared, such as invalid runs',
  99: 'a --fail-if fired or is not proven',
})}`;
