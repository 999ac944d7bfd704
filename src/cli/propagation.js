/** `propagation`: how long revocations take to be seen by OCSP, at one node or at several. */
import { planPropagation, propagationOptions } from '../campaigns/propagation/propagation-plan.js';
import { describeExitCodes } from '../common/errors.js';
import { readOptions } from '../common/options.js';
import { reporters } from '../report/index.js';
import { readEnvironment } from '../vault/environment.js';
import { partition } from './arguments.js';
import { checkKind, checkOutputs, outputOptionsFor, report } from './output.js';
import { endWith, exitCodeOf } from './process.js';

/** @import { Command } from './arguments.js' */

const GROUP = 'Requirements and results';

/** All formats: those that cannot show a propagation are refused with their own message. */
const outputOptions = outputOptionsFor(undefined, GROUP);

/** @type {Command} */
export const command = {
  options: { ...propagationOptions, ...outputOptionsFor('propagation', GROUP) },
  examples: [
    'propagation --dev --certificates 20',
    "propagation --certificates 300 --require 'p99<2s' --out propagation.html",
    'propagation --node http://10.0.0.1:8200 --node http://10.0.0.2:8200 --poll 10ms',
  ],
  epilogue: `Revoked certificates stay in storage and on the CRL. See docs/propagation.md.\n\n${describeExitCodes()}`,
  async run(given, line) {
    const [asked, planned] = partition(given, outputOptions);
    const { out, format, quiet } = readOptions(outputOptions, asked);
    checkOutputs(out, 'propagation');
    checkKind(reporters[format], 'propagation', `--format ${format}`);
    const environment = readEnvironment();
    const plan = planPropagation(planned, environment);
    const [{ measurePropagation }, { withProgress }] = await Promise.all([
      import('../campaigns/propagation/propagate.js'),
      import('./showing.js'),
    ]);
    return withProgress(quiet, async ({ onEvent, close, interrupt }) => {
      const { stop: signal, cutOff } = interrupt;
      const options = { token: environment.token, signal, cutOff, onEvent, command: line };
      const found = await measurePropagation(plan, options);
      close();
      return endWith(exitCodeOf(found), await report(found, { out, format }));
    });
  },
};
