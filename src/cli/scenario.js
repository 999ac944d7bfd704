/** `run FILE`: a scenario, its runs one after the other, each on every target in turn. */
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { commonOptions } from '../common-options.js';
import { EXIT, usageError } from '../errors.js';
import { readOptions } from '../options.js';
import { readEnvironment } from '../vault/environment.js';
import { runPlan, splitOptions } from './operation.js';
import { readRunOptions, runOptions } from './run-options.js';
import { worstOf } from './runs.js';

/** @typedef {import('../scenario/read.js').ReadScenario} ReadScenario */
/** @typedef {{name: string, plan: Readonly<import('../plan.js').Plan>, token: string | null}} Step a run on a target */

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
    'Of several runs or targets, each has files of its own: result.json becomes result-NAME.json.',
    'Exit codes are those of issue; of several runs, the worst.',
  ].join('\n'),
  async run({ files, 'dry-run': dryRun, ...given }, line) {
    const [file, ...more] = /** @type {string[]} */ (files);
    if (more.length > 0)
      throw usageError('bad_usage', 'More than one scenario is given.', 'Run one at a time.');
    const { dryRun: isDry } = readOptions(scenarioOptions, { 'dry-run': dryRun });
    const scenario = await read(file);
    const { planned, asked } = splitOptions(given);
    const settings = await readRunOptions({
      ...(scenario.repeat > 1 ? { repeat: scenario.repeat } : {}),
      ...(scenario.repeat > 1 && scenario.pauseMs > 0 ? { pause: scenario.pauseMs / 1000 } : {}),
      ...(scenario.out.length > 0 ? { out: scenario.out } : {}),
      ...asked,
    });
    const steps = await stepsOf(scenario, planned);
    if (isDry) {
      const { describeSteps } = await import('../scenario/describe.js');
      process.stdout.write(describeSteps(scenario, steps, settings));
      return EXIT.ok;
    }
    /** @type {number[]} */
    const codes = [];
    for (const { name, plan, token } of steps) {
      const own =
        steps.length === 1 ? settings : { ...settings, out: settings.out.map((path) => named(path, name)) };
      const { code } = await runPlan(plan, { token, settings: own, line });
      codes.push(code);
      if (code === EXIT.interrupted) break;
    }
    return worstOf(codes);
  },
};

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
 * Targets take turns within each run: what a machine does meanwhile falls on all of them.
 *
 * @param {ReadScenario} scenario
 * @param {Record<string, unknown>} flags
 * @returns {Promise<Step[]>}
 */
async function stepsOf({ runs, targets }, flags) {
  const { planRun } = await import('../scenario/plan.js');
  const environment = readEnvironment();
  /** @type {Step[]} */
  const steps = [];
  for (const run of runs) {
    for (const target of targets) {
      const names = [runs.length > 1 ? run.name : null, target.name].filter((name) => name !== null);
      steps.push({
        name: names.join('-') || run.name,
        plan: await planRun(run, target, flags, environment),
        token: target.tokenEnv === null ? environment.token : tokenIn(target.tokenEnv),
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

/**
 * @param {string} path
 * @param {string} name of a run or a target
 * @returns {string} `result.json` -> `result-ramp-up.json`
 */
function named(path, name) {
  const extension = extname(path);
  const plain = name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
  return `${path.slice(0, path.length - extension.length)}-${plain}${extension}`;
}
