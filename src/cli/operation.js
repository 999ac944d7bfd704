/**
 * One command for each operation: options -> Plan -> run -> reports -> exit code. What runs is loaded when it does, so that
 * `--help` and wrong usage need not wait for it.
 */
import { setFlagsFromString } from 'node:v8';
import { commonOptions } from '../common-options.js';
import { EXIT, PkiLoadError } from '../errors.js';
import { loadOperation } from '../operations/index.js';
import { makePlan, planOfRun } from '../plan.js';
import { readEnvironment } from '../vault/environment.js';
import { onInterrupt } from './interrupt.js';
import { checkRepeat, readRunOptions, runOptions, withoutQuery } from './run-options.js';

/** @typedef {Omit<import('../live/thread.js').Live, 'hook'> & {hook?: import('../run.js').LiveHook}} Live */

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
 * @returns {Promise<import('./declare.js').Command>}
 */
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

/**
 * @param {import('../operations/index.js').Operation} operation
 * @param {Record<string, unknown>} given
 * @param {string} line
 * @returns {Promise<number>}
 */
async function execute(operation, given, line) {
  // Seconds into a run V8 would collect the garbage of threads that have little to do, on all cores at once, and arrivals would wait.
  setFlagsFromString('--no-memory-reducer');
  const { planned, asked } = split(given);
  const settings = await readRunOptions(asked);
  const environment = readEnvironment();
  const plan = makePlan(operation, planned, environment);
  checkRepeat(settings, plan.load);
  const command = withoutQuery(line, settings.otlp);
  const [{ run }, { runAll }, live] = await Promise.all([
    import('../run.js'),
    import('./runs.js'),
    startShowing(plan, settings, command),
  ]);
  const { event, hook, resize, close } = live;
  const { stderr } = process;
  const onResize = () => resize(stderr.columns, stderr.rows);
  stderr.on('resize', onResize);
  const interrupt = onInterrupt(process, (text) => event({ type: 'warning', text }));
  const { stop, cutOff } = interrupt;
  const runOnce = (/** @type {number} */ number) =>
    run(planOfRun(plan, number), {
      token: environment.token,
      signal: stop,
      cutOff,
      command,
      // The result goes there when it is finished with.
      onEvent: (one) => one.type !== 'result' && event(one),
      live: hook,
    });
  try {
    return await runAll({ name: plan.operation, settings, runOnce, live, stop });
  } catch (error) {
    if (stop.aborted && error instanceof PkiLoadError && error.code !== 'interrupted') {
      throw new PkiLoadError(error.code, error.message, { remedy: error.remedy, exitCode: EXIT.interrupted });
    }
    throw error;
  } finally {
    stderr.off('resize', onResize);
    await close();
    interrupt.release();
  }
}

/**
 * @param {import('../plan.js').Plan} plan
 * @param {import('./run-options.js').RunSettings} settings
 * @param {string} command the command line, for the result
 * @returns {Promise<Live>} on a thread of its own, where there is anything to do but to warn
 */
async function startShowing(plan, { out, metrics, otlp, quiet, repeat }, command) {
  const { stderr, env } = process;
  if (quiet && out.length === 0 && metrics === null && otlp === null) return showWarnings(stderr);
  const { startLive } = await import('../live/thread.js');
  const isTTY = Boolean(stderr.isTTY) && env.TERM !== 'dumb';
  const { columns, rows } = stderr;
  return startLive(
    {
      operation: plan.operation,
      load: plan.load,
      judges: plan.requirements.length > 0,
      command,
      runs: repeat,
      outs: out,
      metrics,
      otlp,
      terminal: { isTTY, columns, rows, color: isTTY && !env.NO_COLOR },
      quiet,
    },
    ({ message }) =>
      stderr.write(`Warning: How the run goes cannot be shown any more (${message}); it goes on.\n`),
  );
}

/**
 * @param {NodeJS.WritableStream} stream
 * @returns {Promise<Live>}
 */
async function showWarnings(stream) {
  const { createProgress } = await import('../live/progress.js');
  const { event, close } = createProgress({ stream, quiet: true });
  return { event, resize() {}, finish: async () => {}, close: async () => close() };
}

/**
 * @param {Record<string, unknown>} given
 * @returns {{planned: Record<string, unknown>, asked: Record<string, unknown>}}
 */
function split(given) {
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
