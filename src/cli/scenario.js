/** `run FILE`: a scenario, its runs one after the other, each on every target in turn. */
import { readFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { searchOptions } from '../campaigns/search/search-options.js';
import { EXIT, usageError } from '../common/errors.js';
import { readOptions } from '../common/options.js';
import { commonOptions } from '../plan/common-options.js';
import { refuseOverwrite } from './input-files.js';
import { runPlan, splitOptions } from './operation.js';
import { readRunOptions, runOptions } from './run-options.js';
import { withSetup } from './scenario-setup.js';

/** @import { ReadScenario } from '../campaigns/scenario/read.js' */
/** @import { Step } from '../campaigns/scenario/scenario-steps.js' */
/** @import { OptionSpec } from '../common/options.js' */
/** @import { Command } from './arguments.js' */
/** @import { RunSettings } from './run-options.js' */

/**
 * @typedef {object} Job
 * @property {string[]} paths of all that will be written
 * @property {Parameters<typeof withSetup>[3]} act gives the exit code
 */

/** @type {Record<string, OptionSpec>} */
const scenarioOptions = {
  only: {
    type: 'text',
    group: 'Scenario',
    placeholder: 'NAME',
    repeatable: true,
    describe: 'Run only this run of the scenario; repeatable',
  },
  'dry-run': {
    type: 'flag',
    group: 'Scenario',
    describe: 'Print what would be sent and left behind, and send nothing',
  },
};

/** A part of a run would need the other parts' scenario. */
const { shard: _shard, 'start-at': _startAt, ...ownCommon } = commonOptions;

/** @type {Command} */
export const command = {
  options: { ...scenarioOptions, ...ownCommon, ...runOptions },
  positionals: { name: 'files', describe: 'A scenario, YAML or JSON', min: 1 },
  examples: [
    'run examples/constellation.yaml --dev',
    'run scenario.yaml --dry-run',
    "run examples/cerberus.yaml --only 'continuous increase' --find-max-rate --require 'p95<300ms'",
    'run scenario.yaml --url https://vault.example.com:8200 --repeat 10 --out result.json --out result.html',
  ],
  epilogue:
    'Flags override the file; --rate, --concurrency (model: closed) and searches replace its stages. The exit code of several runs is the ' +
    'worst: 130, 1, 2, 98, 99, 0. See docs/scenarios.md.',
  async run({ files, 'dry-run': dryRun, only, ...given }, line) {
    const [file, ...more] = /** @type {string[]} */ (files);
    if (more.length > 0)
      throw usageError('bad_usage', 'More than one scenario is given.', 'Run one at a time.');
    // Seconds into a run V8 would collect the garbage of threads that have little to do, on all cores at once, and arrivals would wait.
    setFlagsFromString('--no-memory-reducer');
    const own = readOptions(scenarioOptions, { 'dry-run': dryRun, only });
    const scenario = await read(file, own.only);
    const { planned, asked } = splitOptions(given);
    const count = scenario.runs.length * scenario.targets.length;
    const settings = await readRunOptions(wanted(scenario, count, asked), count);
    const { stepsOf } = await import('../campaigns/scenario/scenario-steps.js');
    const steps = await stepsOf(scenario, planned, settings);
    const { paths, act } = await prepare(scenario, steps, settings, line);
    refuseOverwrite(paths, [file]);
    if (own.dryRun) {
      const { describeSteps } = await import('../campaigns/scenario/describe.js');
      process.stdout.write(await describeSteps(scenario, steps, settings));
      return EXIT.ok;
    }
    for (const text of new Set(steps.flatMap(({ remarks }) => remarks)))
      process.stderr.write(`Warning: ${text}\n`);
    return withSetup(scenario, steps, settings, act);
  },
};

/**
 * @param {ReadScenario} scenario
 * @param {Step[]} steps
 * @param {RunSettings} settings
 * @param {string} line the command line
 * @returns {Promise<Job>}
 * @throws {PkiLoadError} what could not be written
 */
async function prepare(scenario, steps, settings, line) {
  const { scenarioFiles, searchFiles } = await import('./scenario-run.js');
  const names = steps.map(({ name }) => name);
  if (settings.search) {
    const outs = searchFiles(names, settings);
    const { searchSteps } = await import('./scenario-run.js');
    return {
      paths: outs.flat(),
      act: (refused, heard) => searchSteps({ steps, outs, settings, line, refused, heard }),
    };
  }
  if (steps.length > 1) {
    const files = scenarioFiles(names, settings);
    const { runSteps } = await import('./scenario-run.js');
    return {
      paths: files.paths,
      act: (refused, heard) => runSteps({ scenario, steps, settings, line, files, refused, heard }),
    };
  }
  const [{ plan, token, remarks }] = steps;
  return {
    paths: settings.out,
    async act(refused, heard) {
      for (const error of refused.values()) throw error;
      return (await runPlan(plan, { token, settings, line, heard, remarks })).code;
    },
  };
}

/**
 * @param {ReadScenario} scenario
 * @param {number} steps
 * @param {Record<string, unknown>} asked flags: they win
 * @returns {Record<string, unknown>} options of the run
 */
function wanted({ repeat, pauseMs, out }, steps, asked) {
  // A search runs a plan as often as it needs.
  const { findMaxRate, maxConcurrency } = readOptions(searchOptions, asked);
  const isSearch = findMaxRate || maxConcurrency !== null;
  const isRepeated = Number(asked.repeat ?? repeat) * steps > 1 && !isSearch;
  return {
    ...(repeat > 1 && !isSearch ? { repeat } : {}),
    ...((isRepeated || isSearch) && pauseMs > 0 ? { pause: pauseMs / 1000 } : {}),
    ...(out.length > 0 ? { out } : {}),
    ...asked,
  };
}

/** @param {string} file @param {string[]} only names of runs; none: all @returns {Promise<ReadScenario>} */
async function read(file, only) {
  const [{ readScenario }, { onlyRuns }] = await Promise.all([
    import('../campaigns/scenario/read.js'),
    import('../campaigns/scenario/read.js'),
  ]);
  const scenario = await readScenario(await textOf(file), file, process.env);
  return { ...scenario, runs: onlyRuns(scenario.runs, only) };
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
