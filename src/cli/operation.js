/** The command of each operation. Loads the code of a run on demand, so `--help` and usage errors are fast. */
import * as search from '../campaigns/search/search-options.js';
import { describeExitCodes, EXIT, PkiLoadError, rejectIf } from '../common/errors.js';
import { inGroup, option, readOptions } from '../common/options.js';
import { loadOperation } from '../operations/index.js';
import { commonOptions } from '../plan/common-options.js';
import { DEFAULT_URL, makePlan, planOfRun } from '../plan/plan.js';
import { readEnvironment } from '../vault/environment.js';
import { omit } from './arguments.js';
import { joinOptions, partFilesOf, readJoin, withOtherParts } from './join.js';
import { checkOutputs, outputOptionsFor, refuseOverwrite, summaryFile } from './output.js';
import { onInterrupt, withChanges } from './process.js';
import { keepV8Quiet, quietly } from './quiet-v8.js';

/** @import { Operation, PrepareContext } from '../operations/index.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { Command } from './arguments.js' */
/** @import { Runner } from './join.js' */
/** @import { Interrupt } from './process.js' */

/** @typedef {Awaited<ReturnType<typeof readRunOptions>>} RunSettings */
/**
 * `token`: a secret; `remarks`: see withRemarks
 * @typedef {{token: string | null, mayReach?: PrepareContext['mayReach'], settings: RunSettings, interrupt: Interrupt,
 *   remarks?: readonly string[], runner?: Runner}} RunContext `runner`: default, this process alone
 */

const GROUP = 'Requirements and results';

/** Options that are not part of the plan: outputs and repetition. */
export const runOptions = {
  ...outputOptionsFor(undefined, GROUP),
  ...inGroup(GROUP, {
    'github-summary': { type: 'flag', describe: 'Append the result to the summary of a GitHub Actions step' },
    metrics: option('text', 'Serve Prometheus metrics at /metrics', { placeholder: 'HOST:PORT' }),
    otlp: option('text', 'Push metrics to an OpenTelemetry receiver (OTLP/JSON)', { placeholder: 'URL' }),
    repeat: option('integer', 'Repeat the run N times, for compare', { default: 1, min: 1, max: 1000 }),
    pause: option('duration', 'Wait this long between runs or search steps', { default: 0, max: 86_400_000 }),
  }),
  ...search.searchOptions,
  ...joinOptions,
};

const EPILOGUE = `The token comes from BAO_TOKEN, VAULT_TOKEN or ~/.vault-token, never from a flag.\n\n${describeExitCodes()}`;

/** @param {string} name @returns {Promise<Command>} */
export async function operationCommand(name) {
  const operation = await loadOperation(name);
  return {
    options: { ...operation.options, ...commonOptions, ...runOptions },
    examples: operation.examples,
    epilogue: EPILOGUE,
    run: execute.bind(null, operation),
  };
}

/** @param {Operation} operation @param {Record<string, unknown>} given @param {string} line */
async function execute(operation, given, line) {
  keepV8Quiet();
  const settings = await readRunOptions(given, { line });
  const planned = plannedOf(given, settings);
  const environment = readEnvironment();
  const plan = makePlan(operation, search.plannedForSearch(settings.search, planned), environment);
  const specs = Object.entries({ ...operation.options, ...commonOptions });
  const files = specs.flatMap(
    ([name, { type }]) => (type === 'file' && name !== 'keep' && planned[name]) || [],
  );
  const inputs = [...files.map(String), ...(await otherFiles([plan], settings))];
  const kept = planned.keep ? [String(planned.keep)] : [];
  refuseOverwrite(kept, inputs, '--keep');
  refuseOverwrite([...settings.out, ...settings.partFiles], [...inputs, ...kept]);
  const { token } = environment;
  rejectSeveral(planned, settings.repeat, '--repeat is given');
  const interrupt = onInterrupt(process);
  try {
    return await withOtherParts(settings, [{ plan, token }], interrupt, async (interrupt, runner) => {
      const context = { token, settings, interrupt, runner };
      if (!settings.search) return runPlan(plan, context);
      const { searchPlan } = await import('./search.js');
      const searchSettings = search.readSearchSettings(plan, settings, planned);
      return searchPlan(plan, { ...context, searchSettings });
    });
  } catch (error) {
    const isRefused = error instanceof PkiLoadError && error.code === 'connection_refused';
    // The address may also be that of an OCSP responder.
    const isVault = isRefused && error.message.startsWith(`${DEFAULT_URL} `);
    if (!isVault || settings.search) throw error;
    throw withChanges(error, { remedy: `${error.remedy} To try the tool without a Vault, add --dev.` });
  } finally {
    interrupt.release();
  }
}

/** @param {Record<string, unknown>} given @param {Pick<RunSettings, 'join'>} settings @returns {Record<string, unknown>} options of the plan: that of all parts, if they are joined */
export const plannedOf = (given, { join }) =>
  omit(given, join === null ? runOptions : { ...runOptions, shard: commonOptions.shard });

/** @param {Record<string, unknown>} planned options @param {number} runs @param {string} why there are several */
export function rejectSeveral(planned, runs, why) {
  const single = ['shard', 'start-at'].find((name) => planned[name] !== undefined);
  const isMixed = single !== undefined && runs > 1;
  rejectIf(isMixed, `--${single} is for one run, but ${why}.`, 'Leave one of them out.');
}

/**
 * @param {Record<string, unknown>} given
 * @param {{line?: string, steps?: number}} [more] `line`: the command line, for results; `steps`: each runs `repeat` times
 * @throws {PkiLoadError} e.g. for an output that could not be written after the run
 */
export async function readRunOptions(given, { line = '', steps = 1 } = {}) {
  const options = readOptions(runOptions, given);
  const { githubSummary, metrics, pause, quiet, otlp, repeat } = options;
  const { out, format } = /** @type {{out: string[], format: string}} */ (options);
  const requestedSearch = search.readSearch(options, repeat);
  const kind = requestedSearch !== null ? 'search' : repeat > 1 ? 'run-set' : 'result';
  const join = readJoin(options, given);
  const partFiles = join === null || kind !== 'result' || steps > 1 ? [] : partFilesOf(out, join.part);
  checkOutputs({ out: [...out, ...partFiles], format }, kind);
  const isPauseUseless = pause > 0 && repeat * steps === 1 && requestedSearch === null;
  rejectIf(isPauseUseless, '--pause waits between runs, but there is only one.', 'Add e.g. --repeat 10.');
  if (otlp !== null) {
    const { parseOtlpUrl, readOtlpHeaders } = await import('../live/otlp.js');
    parseOtlpUrl(otlp);
    readOtlpHeaders(process.env);
  }
  return {
    ...{ command: line, out, format, quiet, otlp, repeat, search: requestedSearch },
    /** Between runs. @type {number} */
    pauseMs: pause,
    summary: githubSummary ? summaryFile() : null,
    join,
    /** Of a part, with its own result. */
    partFiles,
    metrics: metrics && (await import('../live/metrics-server.js')).parseListenAddress(metrics),
  };
}

/** @param {readonly Pick<Plan, 'target'>[]} plans @param {Pick<RunSettings, 'summary'>} settings @returns {Promise<string[]>} files that variables may name */
export async function otherFiles(plans, { summary }) {
  const { listFiles } = await import('../http/tls.js');
  const tls = plans.flatMap(({ target }) => listFiles(target.tls));
  return [...new Set([...tls, summary])].filter((path) => path !== null);
}

/** Runs a plan, shows progress, and writes the results. @param {Plan} plan @param {RunContext} context @returns exit code */
export async function runPlan(plan, { token, mayReach, settings, interrupt, remarks, runner }) {
  const { stop, cutOff } = interrupt;
  const { run } = runner ?? (await import('../run.js'));
  const { runRepeatedly, startLiveSession } = await import('./live-session.js');
  const live = await startLiveSession(plan, settings, interrupt);
  const { command } = settings;
  const showing = { onEvent: quietly(live.event), live: live.hook, onClosing: live.onClosing };
  const options = { token, mayReach, signal: stop, cutOff, command, ...showing };
  const runOnce = (/** @type {number} */ number) => run(planOfRun(plan, number), options);
  try {
    const ends = { stop, broken: runner?.broken };
    return await runRepeatedly({ name: plan.operation, settings, runOnce, live, ...ends, remarks });
  } catch (error) {
    if (!stop.aborted || !(error instanceof PkiLoadError)) throw error;
    throw withChanges(error, { exitCode: EXIT.interrupted });
  } finally {
    await live.close();
  }
}
