/** `calibrate`: what this machine can honestly measure. */
import { calibrationOptions } from '../campaigns/calibrate/calibrate-options.js';
import { EXIT, usageError } from '../common/errors.js';
import { readOptions } from '../common/options.js';
import { grouped, partition } from './arguments.js';

/** @import { Command } from './arguments.js' */

const outputOptions = grouped('Results', {
  format: {
    ...{ type: 'choice', choices: ['text', 'json'], defaultText: 'text' },
    describe: 'Format of standard output',
  },
  json: { type: 'flag', describe: 'Same as --format json' },
  quiet: { type: 'flag', describe: 'No progress on standard error' },
});

/** @type {Command} */
export const command = {
  options: { ...calibrationOptions, ...outputOptions },
  examples: ['calibrate', 'calibrate --concurrency 50 --threads 2 --pacing spin --json'],
  epilogue:
    'Takes about 40 seconds and sends only to a target of its own on loopback. Run it on the machine that will do ' +
    'the testing, while nothing else runs there.',
  async run(given) {
    const [outputs, calibration] = partition(given, outputOptions);
    const { format, json, quiet } = readOptions(outputOptions, outputs);
    if (json && format === 'text') {
      throw usageError('contradiction', '--json and --format text are both given.', 'Give one of them.');
    }
    const [{ calibrate }, { render }, { withProgress }] = await Promise.all([
      import('../campaigns/calibrate/calibrate.js'),
      import('../campaigns/calibrate/report.js'),
      import('./showing.js'),
    ]);
    return withProgress(quiet, async ({ onEvent, close, interrupt }) => {
      interrupt.attach(close);
      const found = await calibrate(calibration, { signal: interrupt.stop, onEvent });
      close();
      const isJson = json || format === 'json';
      process.stdout.write(isJson ? `${JSON.stringify(found, null, 2)}\n` : render(found));
      return EXIT.ok;
    });
  },
};
