/** `run FILE`: runs a scenario on each of its targets. */
import { searchOptions } from '../campaigns/search/search-options.js';
import { EXIT } from '../common/errors.js';
import { createAddressFilter } from '../common/listen.js';
import { inGroup, option, readOptions } from '../common/options.js';
import { readBytes } from '../common/read-file.js';
import { commonOptions } from '../plan/common-options.js';
import { readEnvironment } from '../vault/environment.js';
import { omit } from './arguments.js';
import { withOtherParts } from './join.js';
import { otherFiles, plannedOf, readRunOptions, rejectSeveral, runOptions, runPlan } from './operation.js';
import { refuseOverwrite } from './output.js';
import { onInterrupt, visibleLines, writeLine, writeWarning } from './process.js';
import { keepV8Quiet } from './quiet-v8.js';

/** @import { ReadScenario } from '../campaigns/scenario/read.js' */
/** @import { Step } from '../campaigns/scenario/scenario-steps.js' */
/** @import { Allowed } from '../campaigns/scenario/variables.js' */
/** @import { Command } from './arguments.js' */
/** @import { Runner } from './join.js' */
/** @import { RunSettings } from './operation.js' */
/** @import { Interrupt } from './process.js' */
/** @import { Refused } from './scenario-run.js' */

/** @typedef {(refused: Refused, interrupt: Interrupt, runner?: Runner) => Promise<number>} Act returns the exit code */

const scenarioOptions = inGroup('Scenario', {
  only: { type: 'text', repeatable: true, describe: 'Execute only the run of this name; repeatable' },
  'allow-env': option('text', 'Let the scenario read this environment variable; repeatable', {
    repeatable: true,
  }),
  'allow-url': option('url', 'Let the scenario send requests to this address; repeatable', {
    ...{ repeatable: true, socket: true },
  }),
  'dry-run': { type: 'flag', describe: 'Print the planned load and its leftovers, but send nothing' },
});

/** @type {Command} */
export const command = {
  options: { ...scenarioOptions, ...commonOptions, ...runOptions },
  positionals: { name: 'files', describe: 'A scenario, YAML or JSON', min: 1, max: 1 },
  examples: [
    'run examples/constellation.yaml --dev',
    'run scenario.yaml --dry-run',
    "run examples/cerberus.yaml --only 'continuous increase' --find-max-rate --require 'p95<300ms'",
    'run scenario.yaml --url https://vault.example.com:8200 --repeat 10 --out result.json --out result.html',
  ],
  epilogue:
    'Flags override the file; --rate, --concurrency (model: closed) and searches replace its stages. The exit code of several runs is the ' +
    'worst: 130, 1, 2, 98, 99, 0. See docs/scenarios.md.',
  async run({ files, ...given }, line) {
    const [file] = /** @type {string[]} */ (files);
    keepV8Quiet();
    const { only, dryRun, ...allowed } = readOptions(scenarioOptions, given);
    const addresses = [...readEnvironment().addresses, given.url, ...allowed.allowUrl];
    const scenario = await read(file, only, { ...allowed, mayReach: createAddressFilter(addresses) });
    const count = scenario.runs.length * scenario.targets.length;
    const settings = await readRunOptions(withDefaults(scenario, count, given), { line, steps: count });
    const { stepsOf } = await import('../campaigns/scenario/scenario-steps.js');
    const { describeReads, describeSteps } = await import('../campaigns/scenario/describe.js');
    const planned = omit(plannedOf(given, settings), scenarioOptions);
    rejectSeveral(planned, count * settings.repeat, 'the scenario has several');
    const steps = await stepsOf(scenario, planned, { ...settings, ...allowed });
    const { paths, act } = await prepare(scenario, steps, settings);
    const plans = steps.map(({ plan }) => plan);
    const inputs = [file, ...(await otherFiles(plans, settings))];
    refuseOverwrite(paths, [...scenario.files, ...inputs]);
    const kept = plans.flatMap(({ mix }) => (mix ?? []).flatMap(({ options }) => options.keep ?? []));
    refuseOverwrite(new Set(kept), inputs, '--keep');
    if (dryRun) {
      process.stdout.write(visibleLines(await describeSteps(scenario, steps, settings)));
      return EXIT.ok;
    }
    const reads = describeReads(scenario.reads).join('; ');
    if (reads !== '' && !settings.quiet) writeLine(`The scenario uses ${reads}.`);
    for (const remark of new Set(steps.flatMap(({ remarks }) => remarks))) writeWarning(remark);
    return withSetup(scenario, steps, settings, act);
  },
};

/** @param {string} file @param {string[]} only names of runs; empty: all @param {Allowed} allowed @returns {Promise<ReadScenario>} */
async function read(file, only, allowed) {
  const content = readBytes(file, file, { maxMiB: 1 }).toString();
  const { onlyRuns, readScenario } = await import('../campaigns/scenario/read.js');
  const scenario = await readScenario(content, file, process.env, allowed);
  return { ...scenario, runs: onlyRuns(scenario.runs, only) };
}

/** @param {ReadScenario} scenario @param {number} steps @param {Record<string, unknown>} given flags, which override the scenario */
function withDefaults({ repeat, pauseMs, out }, steps, given) {
  // A search determines the number of runs.
  const { findMaxRate, maxConcurrency } = readOptions(searchOptions, given);
  const isSearch = findMaxRate || maxConcurrency !== null;
  const repeats = given.repeat === undefined ? repeat : readOptions(runOptions, given).repeat;
  const hasPauses = isSearch || repeats * steps > 1;
  return { ...(!isSearch && { repeat }), ...(hasPauses && { pause: pauseMs / 1000 }), out, ...given };
}

/**
 * @param {ReadScenario} scenario @param {Step[]} steps @param {RunSettings} settings
 * @returns {Promise<{paths: string[], act: Act}>} `paths`: of all files that `act` writes
 * @throws {PkiLoadError} for outputs that cannot be written
 */
async function prepare(scenario, steps, settings) {
  const { runSteps, scenarioFiles, searchFiles, searchSteps } = await import('./scenario-run.js');
  const names = steps.map(({ name }) => name);
  if (settings.search) {
    const outs = searchFiles(names, settings);
    return { paths: outs.flat(), act: (...args) => searchSteps({ steps, settings, outs }, ...args) };
  }
  if (steps.length > 1) {
    const files = scenarioFiles(names, settings);
    return { paths: files.paths, act: (...args) => runSteps({ scenario, steps, settings, files }, ...args) };
  }
  const [{ plan, remarks, ...access }] = steps;
  const act = /** @type {Act} */ async (refused, interrupt, runner) => {
    for (const error of refused.values()) throw error;
    return runPlan(plan, { ...access, settings, interrupt, remarks, runner });
  };
  return { paths: [...settings.out, ...settings.partFiles], act };
}

const AGAIN = 'Press Ctrl-C again to end at once.';

/**
 * Creates the setup of a scenario before its runs, and removes it after them, even if they fail.
 * @param {Pick<ReadScenario, 'setup'>} scenario @param {readonly Step[]} steps
 * @param {Parameters<typeof withOtherParts>[0]} settings @param {Act} act executes the runs @returns {Promise<number>} exit code
 */
export async function withSetup({ setup }, steps, settings, act) {
  const interrupt = onInterrupt(process);
  try {
    // Of several parts, part 0 creates the setup, for all.
    return await withOtherParts(settings, steps, interrupt, async (joined, runner) => {
      if (setup === null || steps.every(({ plan }) => plan.dev)) return act(new Map(), joined, runner);
      const { createScenarioSetup } = await import('../campaigns/scenario/run-setup.js');
      const { interruptible } = await import('./setup.js');
      const log = settings.quiet ? () => {} : writeLine;
      const made = createScenarioSetup(setup, steps, { log, warn: writeWarning, interruptible });
      const onExit = () => made.leftovers().forEach(writeWarning);
      process.once('exit', onExit);
      try {
        joined.onNextSignal(() => writeLine(`Interrupted: removing the setup. ${AGAIN}`));
        const refused = await made.setUp(
          AbortSignal.any([joined.stop, ...(runner?.broken ? [runner.broken] : [])]),
        );
        if (joined.stop.aborted) return EXIT.interrupted;
        // A part was lost: the next run says so.
        return await act(runner?.broken?.aborted ? new Map() : refused, joined, runner);
      } finally {
        const cutOff = new AbortController();
        const wasStopped = joined.stop.aborted;
        joined.onNextSignal(() => {
          writeLine(`Removing the setup. ${AGAIN}`);
          if (wasStopped) cutOff.abort();
        });
        await made.tearDown(joined.stop, AbortSignal.any([joined.cutOff, cutOff.signal]));
        process.off('exit', onExit);
      }
    });
  } finally {
    interrupt.release();
  }
}
