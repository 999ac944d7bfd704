/**
 * One command for each operation: options -> Plan -> run -> reports -> exit code. What runs is loaded when it does, so that
 * `--help` and wrong usage need not wait for it.
 */
import { setFlagsFromString } from 'node:v8';
import { plannedForSearch, searchSettings } from '../campaigns/search/search-options.js';
import { describeExitCodes, EXIT, PkiLoadError } from '../common/errors.js';
import { loadOperation } from '../operations/index.js';
import { commonOptions } from '../plan/common-options.js';
import { DEFAULT_URL, makePlan, planOfRun } from '../plan/plan.js';
import { readEnvironment } from '../vault/environment.js';
import { checkRepeat, readRunOptions, runOptions, withoutQuery } from './run-options.js';

/** @import { Operation } from '../operations/index.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { Command } from './arguments.js' */
/** @import { RunSettings } from './run-options.js' */

const EPILOGUE = `The token comes from BAO_TOKEN, VAULT_TOKEN or ~/.vault-token, never from a flag.\n\n${describeExitCodes()}`;

/** @param {string} name @returns {Promise<Command>} */
export async function operationCommand(name) {
  const operation = await loadOperation(name);
  const options = { ...operation.options, ...commonOptions, ...runOptions };
  return {
    options,
    examples: operation.examples,
    epilogue: EPILOGUE,
    run: (given, line) => execute(operation, given, line),
  };
}

/** @param {Operation} operation @param {Record<string, unknown>} given @param {string} line */
async function execute(operation, given, line) {
  // Seconds into a run V8 would collect the garbage of threads that have little to do, on all cores at once, and arrivals would wait.
  setFlagsFromString('--no-memory-reducer');
  const { planned, asked } = splitOptions(given);
  const settings = await readRunOptions(asked);
  const environment = readEnvironment();
  const plan = makePlan(operation, plannedForSearch(settings.search ?? null, planned), environment);
  if (settings.search) {
    const { searchPlan } = await import('./search.js');
    const search = searchSettings(plan, settings, planned);
    return (await searchPlan(plan, { token: environment.token, settings, line, asked: search })).code;
  }
  checkRepeat(settings, plan.load);
  try {
    return (await runPlan(plan, { token: environment.token, settings, line })).code;
  } catch (error) {
    throw plan.target.url === DEFAULT_URL ? namingDev(error) : error;
  }
}

/** @param {unknown} error @returns {unknown} names --dev as well where nothing listens */
function namingDev(error) {
  if (!(error instanceof PkiLoadError) || error.code !== 'connection_refused') return error;
  const { code, message, remedy, exitCode } = error;
  return new PkiLoadError(code, message, {
    remedy: `${remedy} To try the tool without a Vault, add --dev.`,
    exitCode,
  });
}

/**
 * Runs a plan, once or several times, shows progress, and writes the results.
 *
 * @param {Plan} plan
 * @param {object} how
 * @param {string | null} how.token a secret
 * @param {RunSettings} how.settings
 * @param {string} how.line the command line
 * @param {AbortController} [how.heard] see onInterrupt
 * @param {readonly string[]} [how.remarks] see withRemarks
 * @returns {ReturnType<typeof import('./showing.js').runAll>}
 */
export async function runPlan(plan, { token, settings, line, heard, remarks }) {
  const command = withoutQuery(line, settings.otlp);
  const [{ run }, { runAll, whileShown }] = await Promise.all([import('../run.js'), import('./showing.js')]);
  return whileShown([plan, settings, command], heard, async (live, { stop, cutOff }) => {
    const runOnce = (/** @type {number} */ number) =>
      run(planOfRun(plan, number), {
        ...{ token, signal: stop, cutOff, command, live: live.hook },
        // `live.finish` passes the result on.
        onEvent: (one) => one.type !== 'result' && live.event(one),
      });
    try {
      return await runAll({ name: plan.operation, settings, runOnce, live, stop, remarks });
    } catch (error) {
      if (!stop.aborted || !(error instanceof PkiLoadError) || error.code === 'interrupted') throw error;
      const { code, message, remedy } = error;
      throw new PkiLoadError(code, message, { remedy, exitCode: EXIT.interrupted });
    }
  });
}

/**
 * @param {Record<string, unknown>} given
 * @returns {{planned: Record<string, unknown>, asked: Record<string, unknown>}}
 */
export function splitOptions(given) {
  const aliases = new Set(
    Object.values({ ...commonOptions, ...runOptions }).flatMap(({ alias = [] }) => alias),
  );
  const own = Object.entries(given).filter(([key]) => !aliases.has(key));
  const isAsked = (/** @type {[string, unknown]} */ [key]) => Object.hasOwn(runOptions, key);
  return {
    planned: Object.fromEntries(own.filter((entry) => !isAsked(entry))),
    asked: Object.fromEntries(own.filter(isAsked)),
  };
}
