/** `calibrate`: what this machine can honestly measure. */
import { calibrationOptions } from '../campaigns/calibrate/calibrate-options.js';
import { EXIT, usageError } from '../common/errors.js';
import { readOptions } from '../common/options.js';
import { onInterrupt } from './process.js';

/** @import { Calibration } from '../campaigns/calibrate/calibrate.js' */
/** @import { OptionSpec } from '../common/options.js' */
/** @import { Command } from './arguments.js' */

const GROUP = 'Results';

/** @type {Record<string, OptionSpec>} */
const outputOptions = {
  format: {
    type: 'choice',
    group: GROUP,
    choices: ['text', 'json'],
    defaultText: 'text',
    describe: 'Format of standard output',
  },
  json: { type: 'flag', group: GROUP, describe: 'Same as --format json' },
  quiet: { type: 'flag', group: GROUP, describe: 'No progress on standard error' },
};

/** @type {Command} */
export const command = {
  options: { ...calibrationOptions, ...outputOptions },
  examples: ['calibrate', 'calibrate --concurrency 50 --threads 2 --pacing spin --json'],
  epilogue:
    'Takes about 40 seconds and sends only to a target of its own on loopback. Run it on the machine that will do ' +
    'the testing, while nothing else runs there.',
  async run(given) {
    const { isJson, quiet, calibration } = split(given);
    const [{ calibrate }, { createProgress }] = await Promise.all([
      import('../campaigns/calibrate/calibrate.js'),
      import('../live/view.js'),
    ]);
    const { stderr } = process;
    const progress = createProgress({ stream: stderr, isTTY: stderr.isTTY, columns: stderr.columns, quiet });
    const interrupt = onInterrupt(process, () => progress.close());
    try {
      const found = await calibrate(calibration, { signal: interrupt.stop, onEvent: progress.event });
      progress.close();
      process.stdout.write(isJson ? `${JSON.stringify(found, null, 2)}\n` : await textOf(found));
      return EXIT.ok;
    } finally {
      progress.close();
      interrupt.release();
    }
  },
};

/** @param {Calibration} found */
async function textOf(found) {
  return (await import('../campaigns/calibrate/report.js')).render(found);
}

/** @param {Record<string, unknown>} given */
function split(given) {
  const isOutput = (/** @type {[string, unknown]} */ [key]) => Object.hasOwn(outputOptions, key);
  const entries = Object.entries(given);
  const { format, json, quiet } = readOptions(outputOptions, Object.fromEntries(entries.filter(isOutput)));
  if (json && format === 'text') {
    throw usageError('contradiction', '--json and --format text are both given.', 'Give one of them.');
  }
  const calibration = Object.fromEntries(entries.filter((entry) => !isOutput(entry)));
  return { isJson: json || format === 'json', quiet, calibration };
}
