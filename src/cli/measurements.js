/** `calibrate` and `propagation`: measurements that are not runs. */
import { calibrationOptions } from '../campaigns/calibrate/calibrate-options.js';
import { planPropagation, propagationOptions } from '../campaigns/propagation/propagation-plan.js';
import { describeExitCodes, EXIT, rejectIf } from '../common/errors.js';
import { inGroup, option, readOptions } from '../common/options.js';
import { readEnvironment } from '../vault/environment.js';
import { omit } from './arguments.js';
import { checkOutputs, outputOptionsFor, writeReports } from './output.js';
import { endWith, exitCodeOf, onInterrupt } from './process.js';

/** @import { View } from '../live/view.js' */
/** @import { Command } from './arguments.js' */
/** @import { Interrupt } from './process.js' */

const propagationOutputs = outputOptionsFor('propagation', 'Requirements and results');

/** @type {Command} */
export const propagation = {
  options: { ...propagationOptions, ...propagationOutputs },
  examples: [
    'propagation --dev --certificates 20',
    "propagation --certificates 300 --require 'p99<2s' --out propagation.html",
    'propagation --node http://10.0.0.1:8200 --node http://10.0.0.2:8200 --poll 10ms',
  ],
  epilogue: `Revoked certificates stay in storage and on the CRL. See docs/propagation.md.\n\n${describeExitCodes()}`,
  async run(given, line) {
    const { out, format, quiet } = readOptions(propagationOutputs, given);
    const environment = readEnvironment();
    const plan = planPropagation(omit(given, propagationOutputs), environment);
    const { listFiles } = await import('../http/tls.js');
    checkOutputs({ out, format }, 'propagation', listFiles(plan.target.tls));
    const { measurePropagation } = await import('../campaigns/propagation/propagate.js');
    return withProgress(quiet, async ({ onEvent, close, interrupt }) => {
      const { stop: signal, cutOff } = interrupt;
      const options = { token: environment.token, signal, cutOff, onEvent, command: line };
      const result = await measurePropagation(plan, options);
      close();
      return endWith(exitCodeOf(result), await writeReports(result, { out, format }));
    });
  },
};

const calibrationOutputs = inGroup('Results', {
  format: option('choice', 'Format of standard output', { choices: ['text', 'json'], defaultText: 'text' }),
  json: { type: 'flag', describe: 'Same as --format json' },
  quiet: { type: 'flag', describe: 'No progress and notices on standard error, only warnings' },
});

/** @type {Command} */
export const calibrate = {
  options: { ...calibrationOptions, ...calibrationOutputs },
  examples: ['calibrate', 'calibrate --concurrency 50 --threads 2 --pacing spin --json'],
  epilogue:
    'Takes about 40 seconds and sends only to its own target on loopback. Run it on an otherwise idle load-testing machine.',
  async run(given) {
    const { format, json, quiet } = readOptions(calibrationOutputs, given);
    rejectIf(json && format === 'text', '--json and --format text are both given.', 'Use one of them.');
    const campaign = await import('../campaigns/calibrate/calibrate.js');
    const { render } = await import('../campaigns/calibrate/report.js');
    return withProgress(quiet, async ({ onEvent, close, interrupt }) => {
      interrupt.attach(close);
      const options = { signal: interrupt.stop, onEvent };
      const calibration = await campaign.calibrate(omit(given, calibrationOutputs), options);
      close();
      const isJson = json || format === 'json';
      process.stdout.write(isJson ? `${JSON.stringify(calibration, null, 2)}\n` : render(calibration));
      return EXIT.ok;
    });
  },
};

/**
 * Shows progress on this thread.
 * @param {boolean} quiet
 * @param {(context: {onEvent: View['event'], close: () => void, interrupt: Interrupt}) => Promise<number>} act
 */
async function withProgress(quiet, act) {
  const { createView } = await import('../live/view.js');
  const { isTTY = false, columns } = process.stderr;
  const write = (/** @type {string} */ text) => process.stderr.write(text);
  const progress = createView({ write, terminal: { isTTY, columns }, quiet });
  const interrupt = onInterrupt(process);
  interrupt.attach((text) => progress.event({ type: 'warning', text }));
  try {
    return await act({ onEvent: progress.event, close: progress.close, interrupt });
  } finally {
    progress.close();
    interrupt.release();
  }
}
