/** Executes the steps of a scenario, runs or searches, one after the other, and writes their files. */
import { runScenario } from '../campaigns/scenario/run-scenario.js';
import { EXIT, PkiLoadError, usageError } from '../common/errors.js';
import { interruptedError } from '../common/stop.js';
import { reporterForFile, reporters } from '../report/index.js';
import { createRunSet } from '../result/runs/run-set.js';
import { createScenarioSummary } from '../result/scenario/scenario-result.js';
import { run } from '../run.js';
import { startLiveSession } from './live-session.js';
import { checkOutputs, withRemarks, writeFiles, writeReports } from './output.js';
import { endWith, exitCodeOf, worstOf, writeLine, writeWarning } from './process.js';
import { quietly } from './quiet-v8.js';
import { searchPlan } from './search.js';
/** @import { ReadScenario } from '../campaigns/scenario/read.js' */
/** @import { Step } from '../campaigns/scenario/scenario-steps.js' */
/** @import { SearchSettings } from '../campaigns/search/search-options.js' */
/** @import { RunSettings } from './operation.js' */
/** @import { Runner as Joined } from './join.js' */
/** @import { Interrupt } from './process.js' */
/** @import { LiveSession } from './live-session.js' */

/**
 * @typedef {{scenario: ReadScenario, steps: readonly Step[], settings: RunSettings, files: ReturnType<typeof scenarioFiles>}} Given
 *   `steps`: more than one
 */
/** @typedef {Pick<Joined, 'run' | 'broken' | 'ofStep'>} Runner default: this process alone */
/** @typedef {ReadonlyMap<number, PkiLoadError>} Refused errors of steps that cannot run */

/** @param {Given} given @param {Refused} refused @param {Interrupt} interrupt @param {Runner} [runner] @returns the worst exit code, refusals included */
export async function runSteps(given, refused, interrupt, runner) {
  const { steps, settings } = given;
  // Files contain more than the current run, so they are written between runs, not by the live thread.
  const live = await startLiveSession(
    steps[0].plan,
    { ...settings, out: [], repeat: steps.length * settings.repeat },
    interrupt,
  );
  return runAll(given, refused, { interrupt, live, runner }).finally(live.close);
}

/** @param {Given} given @param {Refused} refused @param {{interrupt: Interrupt, live: LiveSession, runner?: Runner}} context */
async function runAll({ scenario, steps, settings, files }, refused, { interrupt, live, runner = { run } }) {
  const { command, repeat, pauseMs } = settings;
  const { stop, cutOff } = interrupt;
  const { name, description } = scenario;
  const startMs = performance.now();
  const summary = createScenarioSummary({ name, description, command, startedAt: new Date(), repeat, steps });
  const remarks = [...new Set(steps.flatMap((step) => step.remarks))];
  const combined = (/** @type {{interrupted?: boolean, unfinished?: boolean}} */ state) =>
    withRemarks(summary.result({ ...state, durationMs: performance.now() - startMs }), remarks);
  const resultsSoFar = () => steps.flatMap((_, step) => summary.resultsOf(step));
  /** @param {number} step @returns {Promise<unknown[]>} failures */
  async function writeStep(step) {
    const results = summary.resultsOf(step);
    if (results.length === 0) return [];
    const document = repeat === 1 ? results[0] : createRunSet(steps[step].name, [...results], repeat);
    return writeFiles(withRemarks(document, steps[step].remarks), files.perStep[step]);
  }
  const observers = { onEvent: quietly(live.event), live: live.hook, onClosing: live.onClosing };
  const options = { signal: stop, cutOff, command, ...observers };
  const ended = await runScenario({
    ...{ steps, repeat, pauseMs, refused, live, stop, broken: runner.broken, summary },
    runOnce: (i, plan) =>
      (runner.ofStep?.(i) ?? runner).run(plan, {
        ...options,
        token: steps[i].token,
        mayReach: steps[i].mayReach,
      }),
    /** The final writes report files that cannot be written. */
    async between(step) {
      // A run without a result does not overwrite existing files.
      if (resultsSoFar().length === 0) return;
      await writeStep(step);
      await writeFiles(combined({ unfinished: true }), files.combined);
    },
  });
  const results = resultsSoFar();
  // Without any result, there is an error and no report, as with a single run.
  if (results.length === 0)
    throw ended.fault ?? (ended.interrupted ? interruptedError() : [...ended.refused.values()][0]);
  live.event({ type: 'notice', text: 'All runs are done. Computing their summary.' });
  const whole = combined({ interrupted: ended.interrupted });
  const failures = await writeFiles(whole, files.combined);
  for (const step of steps.keys()) failures.push(...(await writeStep(step)));
  failures.push(...(await writeReports(whole, { ...settings, out: [] })));
  if (ended.fault !== undefined) throw ended.fault;
  const codes = [...results.map(exitCodeOf), ...[...ended.refused.values()].map(({ exitCode }) => exitCode)];
  return endWith(worstOf(ended.interrupted ? [EXIT.interrupted] : codes), failures, live.warn);
}

/** @param {readonly string[]} names of the steps @param {Pick<RunSettings, 'out' | 'format'>} settings @throws {PkiLoadError} */
export function scenarioFiles(names, { out, format }) {
  const perStep = pathsOf(names, out);
  const combined = out.filter((path) => reporterForFile(path).kinds.includes('scenario-result'));
  const paths = [...combined, ...perStep.flat()];
  checkOutputs({ out: [], format }, 'scenario-result');
  checkOutputs({ out: paths });
  return { combined, perStep, paths };
}

/** Formats in which several documents can follow one another. */
const SEQUENTIAL = ['text', 'md'];

/**
 * No document can contain several searches. @param {readonly string[]} names of the steps
 * @param {Pick<RunSettings, 'out' | 'format'>} settings @returns {string[][]} paths of the files of each
 */
export function searchFiles(names, { out, format }) {
  if (names.length > 1 && !SEQUENTIAL.includes(format)) {
    const problem = `--format ${format} prints one document, but there are ${names.length} searches.`;
    const remedy = `Use --out FILE${reporters[format].extension}, which writes one file per search, or --format text or md.`;
    throw usageError('several_documents', problem, remedy);
  }
  const paths = names.length === 1 ? [out] : pathsOf(names, out);
  checkOutputs({ out: paths.flat() }, 'search');
  return paths;
}

/** @param {readonly string[]} names of steps @param {string[]} out @returns {string[][]} `result.json` -> `result-ramp-up.json` */
export function pathsOf(names, out) {
  /** @type {Set<string>} */
  const suffixes = new Set();
  for (const name of names) {
    const words = (name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['step']).join('-');
    let suffix = words;
    for (let i = 2; suffixes.has(suffix); i++) suffix = `${words}-${i}`;
    suffixes.add(suffix);
  }
  return [...suffixes].map((name) => out.map((path) => path.replace(/(\.[^./]*)?$/, `-${name}$1`)));
}

/**
 * Runs the search of each step (with `searchSettings`), one after the other. After a signal, no further search starts.
 * @param {Pick<Given, 'steps' | 'settings'> & {outs: readonly string[][]}} given `outs`: the files of each
 * @param {Refused} refused @param {Interrupt} interrupt @param {Joined} [runner] @param {typeof searchPlan} [search] replaced in tests
 * @returns {Promise<number>} the worst exit code
 */
export async function searchSteps(
  { steps, outs, settings },
  refused,
  interrupt,
  runner,
  search = searchPlan,
) {
  const codes = [];
  for (const [i, { name, plan, token, searchSettings, remarks, mayReach }] of steps.entries()) {
    if (interrupt.stop.aborted) {
      writeWarning('Interrupted: the remaining searches were not run.');
      codes.push(EXIT.interrupted);
      break;
    }
    try {
      if (steps.length > 1 && !settings.quiet) writeLine(`Search ${i + 1} of ${steps.length}: ${name}:`);
      const error = refused.get(i);
      if (error !== undefined) throw error;
      const own = { ...settings, out: outs[i] };
      const joined = runner?.ofStep?.(i) ?? runner;
      const context = { token, mayReach, interrupt, remarks, runner: joined, settings: own };
      codes.push(
        await search(plan, { ...context, searchSettings: /** @type {SearchSettings} */ (searchSettings) }),
      );
    } catch (error) {
      if (steps.length === 1 || !(error instanceof PkiLoadError)) throw error;
      codes.push(error.exitCode);
      writeWarning(`${name}: ${error.full}`);
    }
  }
  return worstOf(codes);
}
