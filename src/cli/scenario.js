/** `run FILE`: a scenario, its runs one after the other, each on every target in turn. */
import { readFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { commonOptions } from '../common-options.js';
import { EXIT, usageError } from '../errors.js';
import { readOptions } from '../options.js';
import { readEnvironment } from '../vault/environment.js';
import { runPlan, splitOptions } from './operation.js';
import { readRunOptions, runOptions } from './run-options.js';
import { withSetup } from './scenario-setup.js';
import { plannedForSearch } from './search-options.js';

/** @typedef {import('../scenario/read.js').ReadScenario} ReadScenario */
/** @typedef {import('./scenario-run.js').Step} Step */

/** @type {Record<string, import('../options.js').OptionSpec>} */
const scenarioOptions = {
  'dry-run': {
    type: 'flag',
    group: 'Scenario',
    describe: 'Say what would be run and left behind, and send nothing',
  },
};

/** A part of a run would need the other parts' scenario. */
const { shard: _shard, 'start-at': _startAt, ...ownCommon } = commonOptions;

/** @type {import('./declare.js').Command} */
export const command = {
  options: { ...scenarioOptions, ...ownCommon, ...runOptions },
  positionals: { name: 'files', describe: 'A scenario, YAML or JSON', min: 1 },
  examples: [
    'run examples/constellation.yaml --dev',
    'run scenario.yaml --dry-run',
    'run scenario.yaml --url https://vault.example.com:8200 --repeat 10 --out result.json --out result.html',
  ],
  epilogue: [
    'Flags win over what the scenario says; --rate, --duration, --requests and --ramp-up take the place of its stages.',
    '',
    'Of several runs or targets, result.json holds the tables of all of them together, and each has a file of its own beside it:',
    'result-NAME.json. Formats that show one run or one set of runs (.csv, .hlog, .hgrm, .prom) are written for each alone. Repeats',
    'take turns: all runs on all targets, then all of them again, another target first. A target that refuses is left out, and the',
    'others go on.',
    '',
    'What the scenario has set up (setup) is made on each target first and taken away at the end, also after Ctrl-C.',
    'Exit codes are those of issue; of several runs, the worst: 130, 1, 2, 98, 99, 0.',
  ].join('\n'),
  async run({ files, 'dry-run': dryRun, ...given }, line) {
    const [file, ...more] = /** @type {string[]} */ (files);
    if (more.length > 0)
      throw usageError('bad_usage', 'More than one scenario is given.', 'Run one at a time.');
    // Seconds into a run V8 would collect the garbage of threads that have little to do, on all cores at once, and arrivals would wait.
    setFlagsFromString('--no-memory-reducer');
    const { dryRun: isDry } = readOptions(scenarioOptions, { 'dry-run': dryRun });
    const scenario = await read(file);
    const { planned, asked } = splitOptions(given);
    const count = scenario.runs.length * scenario.targets.length;
    const settings = await readRunOptions(wanted(scenario, count, asked), count);
    const flags = plannedForSearch(settings.search ?? null, planned);
    const steps = await stepsOf(scenario, flags);
    if (isDry) {
      const { describeSteps } = await import('../scenario/describe.js');
      process.stdout.write(await describeSteps(scenario, steps, settings));
      return EXIT.ok;
    }
    return withSetup(scenario, steps, settings, async (refused) => {
      if (settings.search) {
        const { searchSteps } = await import('./scenario-search.js');
        return searchSteps({ steps, settings, line, refused, given: flags });
      }
      if (steps.length > 1) {
        const { runSteps } = await import('./scenario-run.js');
        return runSteps({ scenario, steps, settings, line, refused });
      }
      const [{ plan, token }] = steps;
      for (const error of refused.values()) throw error;
      return (await runPlan(plan, { token, settings, line })).code;
    });
  },
};

/**
 * @param {ReadScenario} scenario
 * @param {number} steps
 * @param {Record<string, unknown>} asked flags: they win
 * @returns {Record<string, unknown>} options of the run
 */
function wanted({ repeat, pauseMs, out }, steps, asked) {
  // A search runs a plan as often as it needs.
  const isSearch = asked['find-max-rate'] !== undefined || asked['max-concurrency'] !== undefined;
  const isRepeated = Number(asked.repeat ?? repeat) * steps > 1 && !isSearch;
  return {
    ...(repeat > 1 && !isSearch ? { repeat } : {}),
    ...(isRepeated && pauseMs > 0 ? { pause: pauseMs / 1000 } : {}),
    ...(out.length > 0 ? { out } : {}),
    ...asked,
  };
}

/** @param {string} file @returns {Promise<ReadScenario>} */
async function read(file) {
  const { readScenario } = await import('../scenario/read.js');
  return readScenario(await textOf(file), file, process.env);
}

/** @param {string} file */
async function textOf(file) {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    const what =
      code === 'ENOENT' ? 'is not there' : code === 'EISDIR' ? 'is a folder' : `cannot be read (${code})`;
    throw usageError('cannot_read', `${file} ${what}.`, 'Check the path.', error);
  }
}

/**
 * @param {ReadScenario} scenario
 * @param {Record<string, unknown>} flags
 * @returns {Promise<Step[]>} all targets of the first run, then all of the next
 */
async function stepsOf({ runs, targets }, flags) {
  if (targets.length > 1 && flags.url !== undefined) {
    throw usageError(
      'contradiction',
      `--url names one target, but the scenario has ${targets.length}.`,
      'Leave --url out, or the targets of the scenario but one.',
    );
  }
  const { planRun } = await import('../scenario/plan.js');
  const environment = readEnvironment();
  /** @type {Step[]} */
  const steps = [];
  for (const run of runs) {
    for (const target of targets) {
      const plan = await planRun(run, target, flags, environment);
      const names = [runs.length > 1 ? run.name : null, target.name].filter((name) => name !== null);
      steps.push({
        name: names.join('-') || run.name,
        run: run.name,
        target: target.name ?? (plan.dev ? 'embedded server' : plan.target.url),
        plan,
        token: target.tokenEnv === null || plan.dev ? environment.token : tokenIn(target.tokenEnv),
      });
    }
  }
  return steps;
}

/** @param {string} variable @returns {string} a secret */
function tokenIn(variable) {
  const token = process.env[variable];
  if (token) return token;
  throw usageError(
    'no_token',
    `The environment variable ${variable} (token-env) is not set.`,
    `Set ${variable}.`,
  );
}
