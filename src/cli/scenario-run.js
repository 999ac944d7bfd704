/** A scenario of several steps: runs or searches one after the other, with the names and the content of their files. */
import { runScenario, turnsOf } from '../campaigns/scenario/run-scenario.js';
import { EXIT, PkiLoadError, usageError } from '../common/errors.js';
import { interrupted } from '../common/stop.js';
import { planOfRun } from '../plan/plan.js';
import { reporterForFile, reporters } from '../report/index.js';
import { makeRunSet } from '../result/runs/run-set.js';
import { createScenarioSummary } from '../result/scenario/scenario-result.js';
import { run } from '../run.js';
import { checkOutputs, withRemarks, writeFiles, writeReports } from './output.js';
import { endWith, exitCodeOf, worstOf, writeLine, writeWarning } from './process.js';
import { searchPlan } from './search.js';
import { startShowing } from './showing.js';
/** @import { ReadScenario } from '../campaigns/scenario/read.js' */
/** @import { Step } from '../campaigns/scenario/scenario-steps.js' */
/** @import { SearchSettings } from '../campaigns/search/search-options.js' */
/** @import { RunSettings } from './operation.js' */
/** @import { Interrupt } from './process.js' */
/** @import { Showing } from './showing.js' */

/**
 * @typedef {object} Given
 * @property {ReadScenario} scenario
 * @property {readonly Step[]} steps more than one
 * @property {RunSettings} settings
 * @property {ReturnType<typeof scenarioFiles>} files
 * @property {ReadonlyMap<number, PkiLoadError>} refused steps that cannot be run, and why
 * @property {Interrupt} interrupt
 */

/** @param {Given} given @returns {Promise<number>} exit code: of the worst of the runs; of a target that refused, its error's */
export async function runSteps(given) {
  const { steps, settings, interrupt } = given;
  const repeat = turnsOf(steps, settings.repeat).length;
  // Files hold more than the current run: they are written here, between runs.
  const live = await startShowing(steps[0].plan, { ...settings, out: [], repeat }, interrupt);
  try {
    return await measureAll(given, live);
  } finally {
    await live.close();
  }
}

/** @param {Given} given @param {Showing} live */
async function measureAll({ scenario, steps, settings, files, refused, interrupt }, live) {
  const { command, repeat, pauseMs } = settings;
  const { stop, cutOff } = interrupt;
  const { name, description } = scenario;
  const begunMs = performance.now();
  const summary = createScenarioSummary({
    ...{ name, description, command, startedAt: new Date(), repeat },
    steps: steps.map(({ plan, ...step }) => ({
      name: step.name,
      run: step.run,
      target: step.target,
      load: plan.load,
    })),
  });
  const remarks = [...new Set(steps.flatMap((step) => step.remarks))];
  const together = (/** @type {{interrupted?: boolean, unfinished?: boolean}} */ how) =>
    withRemarks(summary.result({ ...how, durationMs: performance.now() - begunMs }), remarks);
  const resultsSoFar = () => steps.flatMap((_, step) => summary.resultsOf(step));
  /** @param {number} step @returns {Promise<unknown[]>} failures */
  async function writeStep(step) {
    const results = summary.resultsOf(step);
    if (results.length === 0 || files.own[step].length === 0) return [];
    const document = repeat === 1 ? results[0] : makeRunSet(steps[step].name, [...results]);
    return writeFiles(withRemarks(document, steps[step].remarks), files.own[step]);
  }
  const planOf = (/** @type {number} */ step, /** @type {number} */ number) =>
    planOfRun(steps[step].plan, number);
  const options = { signal: stop, cutOff, command, onEvent: live.event, live: live.hook };
  const ended = await runScenario({
    ...{ steps, repeat, pauseMs, refused, live, stop, planOf },
    runOnce: (step, number) => run(planOf(step, number), { ...options, token: steps[step].token }),
    onResult: summary.add,
    onRefused: (step, { code, full }) => summary.fail(step, { code, text: full }),
    /** The last attempt reports files that cannot be written. */
    async between(step) {
      // A run without a result does not overwrite existing files.
      if (resultsSoFar().length === 0) return;
      await writeStep(step);
      await writeFiles(together({ unfinished: true }), files.together);
    },
  });
  const results = resultsSoFar();
  // Nothing was measured anywhere: as with a single run, that is an error and no report.
  if (results.length === 0)
    throw ended.fault ?? (ended.interrupted ? interrupted() : [...ended.refused.values()][0]);
  live.event({ type: 'notice', text: 'All runs are over; their summary is being computed.' });
  const whole = together({ interrupted: ended.interrupted });
  const failures = await writeFiles(whole, files.together);
  for (const step of steps.keys()) failures.push(...(await writeStep(step)));
  failures.push(...(await writeReports(whole, { ...settings, out: [] })));
  if (ended.fault !== undefined) throw ended.fault;
  const codes = [...results.map(exitCodeOf), ...[...ended.refused.values()].map(({ exitCode }) => exitCode)];
  if (ended.interrupted) codes.push(EXIT.interrupted);
  return endWith(worstOf(codes), failures, live.warn);
}

/**
 * Reports before the runs what could not be written after them.
 * @param {readonly string[]} names of the steps
 * @param {Pick<RunSettings, 'out' | 'format'>} settings
 */
export function scenarioFiles(names, { out, format }) {
  const own = pathsOf(names, out);
  const together = out.filter((path) => reporterForFile(path).kinds.includes('scenario-result'));
  const paths = [...together, ...own.flat()];
  checkOutputs({ out: [], format }, 'scenario-result');
  checkOutputs({ out: paths });
  return { together, own, paths };
}

/** Several documents may follow one another in these. */
const SEQUENTIAL = ['text', 'md'];

/**
 * As for runs, but there is no document of all searches.
 * @param {readonly string[]} names of the steps
 * @param {Pick<RunSettings, 'out' | 'format'>} settings @returns {string[][]} paths of the files of each
 */
export function searchFiles(names, { out, format }) {
  if (names.length > 1 && !SEQUENTIAL.includes(format)) {
    throw usageError(
      'several_documents',
      `--format ${format} prints one document, but there are ${names.length} searches.`,
      `Use --out FILE${reporters[format].extension}, which writes a file for each, or --format ${SEQUENTIAL.join(' or ')}.`,
    );
  }
  const paths = names.length === 1 ? [out] : pathsOf(names, out);
  checkOutputs({ out: paths.flat() }, 'search');
  return paths;
}

/** @param {readonly string[]} names of steps @param {string[]} out @returns {string[][]} `result.json` -> `result-ramp-up.json` */
export function pathsOf(names, out) {
  /** @type {string[]} */
  const plain = [];
  for (const name of names) {
    const words = name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-');
    const own = words.replace(/^-|-$/g, '') || 'step';
    let free = own;
    for (let i = 2; plain.includes(free); i++) free = `${own}-${i}`;
    plain.push(free);
  }
  return plain.map((name) => out.map((path) => path.replace(/(\.[^./]*)?$/, `-${name}$1`)));
}

/**
 * A search for each step, one after the other.
 * @param {Pick<Given, 'steps' | 'settings' | 'refused' | 'interrupt'> & {outs: readonly string[][]}} given `steps`: whose `asked` is
 *   not null; `outs`: paths of the files of each; `interrupt`: after a signal no other search begins
 * @param {typeof searchPlan} [search] replaced by tests
 * @returns {Promise<number>} exit code: of the worst of them
 */
export async function searchSteps({ steps, outs, settings, refused, interrupt }, search = searchPlan) {
  /** @type {number[]} */
  const codes = [];
  for (const [i, { name, plan, token, asked, remarks }] of steps.entries()) {
    if (interrupt.stop.aborted) {
      writeWarning('Interrupted before the last search.');
      codes.push(EXIT.interrupted);
      break;
    }
    try {
      if (steps.length > 1 && !settings.quiet) writeLine(`Search ${i + 1} of ${steps.length}: ${name}:`);
      const error = refused.get(i);
      if (error !== undefined) throw error;
      const context = { token, interrupt, remarks, settings: { ...settings, out: outs[i] } };
      codes.push(await search(plan, { ...context, asked: /** @type {SearchSettings} */ (asked) }));
    } catch (error) {
      if (steps.length === 1 || !(error instanceof PkiLoadError)) throw error;
      codes.push(error.exitCode);
      writeWarning(`${name}: ${error.full}`);
    }
  }
  return worstOf(codes);
}
