/** What `compare` takes, and what its help says. */
import { reporters } from '../report/index.js';

const GROUP = 'Comparison';
const RESULTS = 'Results';

/** Reporters that can show a comparison, by name. */
const able = Object.entries(reporters).filter(([, { kinds }]) => kinds.includes('comparison'));
const extensions = able.map(([, { extension }]) => extension).join(', ');

/** @type {import('../options.js').OptionSpec} */
export const withOption = {
  type: 'file',
  group: GROUP,
  placeholder: 'FILE...',
  several: true,
  describe: 'Results of another group; repeatable, each time for one more group',
};

/** @type {Record<string, import('../options.js').OptionSpec>} */
export const otherOptions = {
  name: {
    type: 'text',
    group: GROUP,
    placeholder: 'LABEL',
    repeatable: true,
    describe: 'What to call a group, the base first; repeatable',
    defaultText: 'what the names of its files have in common',
  },
  'allow-invalid': {
    type: 'flag',
    group: GROUP,
    describe: 'Take runs all the same that were interrupted, or whose measurement is invalid',
  },
  'leave-out-invalid': {
    type: 'flag',
    group: GROUP,
    describe: 'Compare the other runs; without either of these flags, such runs are refused',
  },
  seed: {
    type: 'integer',
    group: GROUP,
    placeholder: 'N',
    default: 1,
    max: 0xffff_ffff,
    describe: 'Seed of the bootstrap; the same files and the same seed give the same comparison',
  },
  'fail-if': {
    type: 'text',
    group: RESULTS,
    placeholder: 'EXPR',
    repeatable: true,
    describe:
      "What must not be, e.g. 'p99 slower by 10%': exit code 99 where it is shown, and where there are too few runs " +
      'to show it; repeatable',
  },
  out: {
    type: 'file',
    group: RESULTS,
    placeholder: 'FILE',
    repeatable: true,
    describe: `Write the comparison to a file; its extension picks the format (${extensions}); repeatable`,
  },
  format: {
    type: 'choice',
    group: RESULTS,
    choices: able.map(([name]) => name),
    default: 'text',
    describe: 'Form of the comparison on standard output',
  },
};

/** One text for each paragraph: it is wrapped as wide as the terminal is. */
export const EPILOGUE = [
  'One run is one sample, however many requests it sent: make each group of several runs, with --repeat or one file per ' +
    'run, and let the groups take turns. A file of --repeat counts as all its runs. A difference is shown where the ' +
    'Mann-Whitney test gives p < 0.05: 4 and 4 runs can be enough for that, 3 and 3 never. The interval is of the ' +
    'difference of the medians, by a bootstrap over runs.',
  '',
  'Of a group that is shown to have more errors than another, no time and no rate is called better than those of the other: ' +
    'failing fast is not answering fast.',
  '',
  '--fail-if METRIC DIRECTION [by X%]',
  '  METRIC     mean, p50, p90, p95, p99, p99.9, max, min, p99 service, rate or errors',
  '  DIRECTION  slower or faster of times; higher, lower, worse or better of all',
  '  by X%      the medians differ by at least as much, and the difference is shown; of errors, X is',
  '             percentage points: from 0.1 % to 0.2 % is 0.1',
  '',
  'It is not proven, neither passed nor failed, where there are too few runs for any difference to be shown, where errors ' +
    'make times incomparable, and where it did not come to pass but half of the runs of a group or more are left out.',
  '',
  'Exit codes:',
  '    0  compared; no --fail-if came to pass',
  '    1  wrong usage, or files that cannot be read or compared, invalid runs among them',
  '   99  a --fail-if came to pass, or is not proven',
].join('\n');
