/** `propagation`: how long revocations take to be seen by OCSP, at one node or at several. */

import { planPropagation, propagationOptions } from '../campaigns/propagation/propagation-plan.js';
import { describeExitCodes } from '../common/errors.js';
import { camelCase, readOptions } from '../common/options.js';
import { reporters } from '../report/index.js';
import { readEnvironment } from '../vault/environment.js';
import { checkKind, checkOutputs, outputOptions, print, writeFiles } from './output.js';
import { exitCodeOf, onInterrupt, withExitCode } from './process.js';

/** @import { Command } from './arguments.js' */

/** Reporters that can show a propagation, by name. */
const able = Object.entries(reporters).filter(([, { kinds }]) => kinds.includes('propagation'));

/** Options in the help; the others are refused with their own messages. @type {typeof outputOptions} */
const shownOptions = {
  ...outputOptions,
  out: {
    ...outputOptions.out,
    describe: `Write the result to a file; its extension picks the format (${able.map(([, { extension }]) => extension).join(', ')}); repeatable`,
  },
  format: { ...outputOptions.format, choices: able.map(([name]) => name) },
};

/** @type {Command} */
export const command = {
  options: { ...propagationOptions, ...shownOptions },
  examples: [
    'propagation --dev --certificates 20',
    "propagation --certificates 300 --require 'p99<2s' --out propagation.html",
    'propagation --node http://10.0.0.1:8200 --node http://10.0.0.2:8200 --poll 10ms',
  ],
  epilogue: `Revoked certificates stay in storage and on the CRL. See docs/propagation.md.\n\n${describeExitCodes()}`,
  async run(given, line) {
    const { asked, planned } = split(given);
    const { out, format, quiet } = readOptions(outputOptions, asked);
    checkOutputs(out, 'propagation');
    checkKind(reporters[format], 'propagation', `--format ${format}`);
    const environment = readEnvironment();
    const plan = planPropagation(planned, environment);
    const [{ measurePropagation }, { createProgress }] = await Promise.all([
      import('../campaigns/propagation/propagate.js'),
      import('../live/view.js'),
    ]);
    const { stderr } = process;
    const progress = createProgress({ stream: stderr, isTTY: stderr.isTTY, columns: stderr.columns, quiet });
    const interrupt = onInterrupt(process, (text) => progress.event({ type: 'warning', text }));
    try {
      const found = await measurePropagation(plan, {
        token: environment.token,
        signal: interrupt.stop,
        cutOff: interrupt.cutOff,
        onEvent: progress.event,
        command: line,
      });
      progress.close();
      const failures = await writeFiles(found, out);
      await print(found, format);
      const code = exitCodeOf(found);
      if (failures.length > 0) throw withExitCode(failures[0], code);
      return code;
    } finally {
      progress.close();
      interrupt.release();
    }
  },
};

/** @param {Record<string, unknown>} given */
function split(given) {
  const aliases = new Set(Object.values(propagationOptions).flatMap(({ alias = [] }) => alias));
  const own = Object.entries(given).filter(([key]) => !aliases.has(key));
  const isAsked = (/** @type {[string, unknown]} */ [key]) =>
    Object.hasOwn(outputOptions, key) || Object.keys(outputOptions).map(camelCase).includes(key);
  return {
    asked: Object.fromEntries(own.filter(isAsked)),
    planned: Object.fromEntries(own.filter((entry) => !isAsked(entry))),
  };
}
