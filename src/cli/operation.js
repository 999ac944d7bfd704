/**
 * One command for each operation: options -> Plan -> run -> reports -> exit code. What runs is loaded when it does, so that
 * `--help` and wrong usage need not wait for it.
 */
import { commonOptions } from '../common-options.js';
import { EXIT, PkiLoadError } from '../errors.js';
import { loadOperation } from '../operations/index.js';
import { readOptions } from '../options.js';
import { makePlan } from '../plan.js';
import { createProgress } from '../reporters/progress.js';
import { readEnvironment } from '../vault/environment.js';
import { exitCodeOf } from './exit-code.js';
import { onInterrupt } from './interrupt.js';
import { checkOutputs, outputOptions, writeOutputs } from './output.js';

const EPILOGUE = [
  'The token comes from BAO_TOKEN, VAULT_TOKEN or ~/.vault-token; a flag would show it to others.',
  '',
  'Exit codes:',
  '    0  done, every requirement met',
  '    1  wrong usage or a local error: nothing was sent',
  '    2  the target refused or could not be reached before the run',
  '   98  the measurement is invalid',
  '   99  a requirement is not met or not proven',
  '  130  interrupted: what was measured until then is reported',
].join('\n');

/**
 * @param {string} name
 * @returns {Promise<import('./main.js').Command>}
 */
export async function operationCommand(name) {
  const operation = await loadOperation(name);
  const options = { ...operation.options, ...commonOptions, ...outputOptions };
  return {
    options,
    examples: operation.examples,
    epilogue: EPILOGUE,
    run: (given, line) => execute(operation, given, line),
  };
}

/**
 * @param {import('../operations/index.js').Operation} operation
 * @param {Record<string, unknown>} given
 * @param {string} line
 * @returns {Promise<number>}
 */
async function execute(operation, given, line) {
  const { planned, output } = split(given);
  const outputs = readOptions(outputOptions, output);
  checkOutputs(outputs.out);
  const environment = readEnvironment();
  const plan = makePlan(operation, planned, environment);
  const { stderr } = process;
  const progress = createProgress({
    stream: stderr,
    isTTY: stderr.isTTY,
    columns: stderr.columns,
    quiet: outputs.quiet,
  });
  const interrupt = onInterrupt(process, (text) => progress.event({ type: 'warning', text }));
  try {
    const { run } = await import('../run.js');
    const result = await run(plan, {
      token: environment.token,
      signal: interrupt.stop,
      cutOff: interrupt.cutOff,
      command: line,
      onEvent: progress.event,
    });
    progress.close();
    await writeOutputs(result, outputs);
    return exitCodeOf(result);
  } catch (error) {
    if (interrupt.stop.aborted && error instanceof PkiLoadError && error.code !== 'interrupted') {
      throw new PkiLoadError(error.code, error.message, { remedy: error.remedy, exitCode: EXIT.interrupted });
    }
    throw error;
  } finally {
    progress.close();
    interrupt.release();
  }
}

/**
 * @param {Record<string, unknown>} given
 * @returns {{planned: Record<string, unknown>, output: Record<string, unknown>}}
 */
function split(given) {
  const aliases = new Set(
    Object.values({ ...commonOptions, ...outputOptions }).flatMap(({ alias = [] }) => alias),
  );
  const own = Object.entries(given).filter(([key]) => !aliases.has(key));
  const isOutput = (/** @type {[string, unknown]} */ [key]) => Object.hasOwn(outputOptions, key);
  return {
    planned: Object.fromEntries(own.filter((entry) => !isOutput(entry))),
    output: Object.fromEntries(own.filter(isOutput)),
  };
}
