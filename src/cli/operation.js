/**
 * One command for each operation: options -> Plan -> run -> reports -> exit code. The code of a run is loaded on demand, so that
 * `--help` and wrong usage need not wait for it.
 */
import { setFlagsFromString } from 'node:v8';
import { plannedForSearch, searchSettings } from '../campaigns/search/search-options.js';
import { describeExitCodes, EXIT, PkiLoadError } from '../common/errors.js';
import { loadOperation } from '../operations/index.js';
import { commonOptions } from '../plan/common-options.js';
import { DEFAULT_URL, makePlan, planOfRun } from '../plan/plan.js';
import { readEnvironment } from '../vault/environment.js';
import { partition } from './arguments.js';
import { onInterrupt } from './process.js';
import { checkRepeat, readRunOptions, runOptions } from './run-options.js';

/** @import { Operation } from '../operations/index.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { Command } from './arguments.js' */
/** @import { Interrupt } from './process.js' */
/** @import { RunSettings } from './run-options.js' */

const EPILOGUE = `The token comes from BAO_TOKEN, VAULT_TOKEN or ~/.vault-token, never from a flag.\n\n${describeExitCodes()}`;

/** @param {string} name @returns {Promise<Command>} */
export async function operationCommand(name) {
  const operation = await loadOperation(name);
  return {
    options: { ...operation.options, ...commonOptions, ...runOptions },
    examples: operation.examples,
    epilogue: EPILOGUE,
    run: (given, line) => execute(operation, given, line),
  };
}

/** @param {Operation} operation @param {Record<string, unknown>} given @param {string} line */
async function execute(operation, given, line) {
  keepV8Quiet();
  const [asked, planned] = partition(given, runOptions);
  const settings = await readRunOptions(asked, { line });
  const environment = readEnvironment();
  const plan = makePlan(operation, plannedForSearch(settings.search, planned), environment);
  const interrupt = onInterrupt(process);
  const how = { token: environment.token, settings, interrupt };
  try {
    if (settings.search) {
      const { searchPlan } = await import('./search.js');
      return await searchPlan(plan, { ...how, asked: searchSettings(plan, settings, planned) });
    }
    checkRepeat(settings, plan.load);
    return await runPlan(plan, how);
  } catch (error) {
    if (plan.target.url !== DEFAULT_URL || !(error instanceof PkiLoadError)) throw error;
    if (settings.search || error.code !== 'connection_refused') throw error;
    const { code, message, exitCode } = error;
    const remedy = `${error.remedy} To try the tool without a Vault, add --dev.`;
    throw new PkiLoadError(code, message, { remedy, exitCode });
  } finally {
    interrupt.release();
  }
}

/**
 * Keeps V8 from work of its own during a run. Seconds into it, V8 would collect the garbage of threads that have little to do, on all cores
 * at once, and arrivals would wait. When it begins, V8 would optimise undici's WebAssembly parser in the background, for 35 MB and 100 ms of
 * CPU. The main thread has its memory reducer by now: it shrinks the young generation, which would double again over the next half hour, as
 * if 30 MB had leaked; so let it grow back at once.
 */
export function keepV8Quiet() {
  setFlagsFromString('--no-memory-reducer');
  setFlagsFromString('--liftoff-only');
  setFlagsFromString('--semi-space-growth-factor=16');
}

/**
 * Runs a plan, once or several times, shows progress, and writes the results.
 * @param {Plan} plan
 * @param {object} how
 * @param {string | null} how.token a secret
 * @param {RunSettings} how.settings
 * @param {Interrupt} how.interrupt
 * @param {readonly string[]} [how.remarks] see withRemarks
 * @returns {Promise<number>} exit code
 */
export async function runPlan(plan, { token, settings, interrupt, remarks }) {
  const { stop, cutOff } = interrupt;
  const [{ run }, { runRepeatedly, startShowing }] = await Promise.all([
    import('../run.js'),
    import('./showing.js'),
  ]);
  const live = await startShowing(plan, settings, interrupt);
  const options = { token, signal: stop, cutOff, command: settings.command };
  const runOnce = (/** @type {number} */ number) =>
    run(planOfRun(plan, number), { ...options, onEvent: live.event, live: live.hook });
  try {
    return await runRepeatedly({ name: plan.operation, settings, runOnce, live, stop, remarks });
  } catch (error) {
    if (!stop.aborted || !(error instanceof PkiLoadError) || error.code === 'interrupted') throw error;
    const { code, message, remedy } = error;
    throw new PkiLoadError(code, message, { remedy, exitCode: EXIT.interrupted });
  } finally {
    await live.close();
  }
}
