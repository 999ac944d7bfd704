/** A scenario of several steps, run to its end: shown, written after each run, and reported as a whole. */

import { extname } from 'node:path';
import { runScenario, searchEach, turnsOf, whyNothing } from '../campaigns/scenario/run-scenario.js';
import { EXIT, PkiLoadError, usageError } from '../common/errors.js';
import { planOfRun } from '../plan/plan.js';
import { reporterForFile, reporters } from '../report/index.js';
import { makeRunSet } from '../result/runs/run-set.js';
import { createScenarioSummary } from '../result/scenario/scenario-result.js';
import { run } from '../run.js';
import { appendSummary, checkKind, checkOutputs, print, withRemarks, writeFiles } from './output.js';
import { exitCodeOf, worstOf } from './process.js';
import { withoutQuery } from './run-options.js';
import { searchPlan } from './search.js';
import { whileShown } from './showing.js';
/** @import { ReadScenario } from '../campaigns/scenario/read.js' */
/** @import { Step } from '../campaigns/scenario/scenario-steps.js' */
/** @import { SearchSettings } from '../campaigns/search/step-plan.js' */
/** @import { ScenarioResult } from '../result/scenario/scenario-schema.js' */
/** @import { Result } from '../result/schema.js' */
/** @import { RunSettings } from './run-options.js' */
/** @import { Live } from './showing.js' */

/** @typedef {ReturnType<typeof scenarioFiles>} ScenarioFiles */
/**
 * @typedef {object} Given
 * @property {ReadScenario} scenario
 * @property {readonly Step[]} steps more than one
 * @property {RunSettings} settings
 * @property {string} line the command line
 * @property {ScenarioFiles} files
 * @property {ReadonlyMap<number, PkiLoadError>} refused steps that cannot be run, and why
 * @property {AbortController} heard see onInterrupt
 */

/**
 * @param {Given} given
 * @returns {Promise<number>} exit code: of the worst of the runs; of a target that refused, its error's
 */
export async function runSteps(given) {
  const { steps, settings, line, heard } = given;
  const command = withoutQuery(line, settings.otlp);
  const turns = turnsOf(steps, settings.repeat).length;
  // Files hold more than the run in progress: they are written here, between runs.
  const shown = { ...settings, out: [], repeat: turns };
  return whileShown([steps[0].plan, shown, command], heard, (live, signals) =>
    measureAll(given, { command, live, ...signals }),
  );
}

/**
 * @param {Given} given
 * @param {object} with_
 * @param {string} with_.command
 * @param {Live} with_.live
 * @param {AbortSignal} with_.stop
 * @param {AbortSignal} with_.cutOff
 */
async function measureAll(given, { command, live, stop, cutOff }) {
  const { steps, settings, refused } = given;
  const { repeat, pauseMs } = settings;
  const report = openReport(given, command);
  const planOf = (/** @type {number} */ step, /** @type {number} */ number) =>
    planOfRun(steps[step].plan, number);
  const ended = await runScenario({
    steps,
    repeat,
    pauseMs,
    refused,
    live,
    stop,
    planOf,
    runOnce: (step, number) =>
      run(planOf(step, number), {
        token: steps[step].token,
        signal: stop,
        cutOff,
        command,
        // The result goes there when it is finished with.
        onEvent: (one) => one.type !== 'result' && live.event(one),
        live: live.hook,
      }),
    onResult: report.add,
    onRefused: (step, { code, full }) => report.fail(step, { code, text: full }),
    between: report.writeSoFar,
  });
  const results = report.results();
  // Nothing was measured anywhere: as with a single run, that is an error and no report.
  if (results.length === 0) throw whyNothing(ended);
  live.event({ type: 'notice', text: 'All runs are over; their summary is being computed.' });
  const failures = await report.writeAll(ended);
  const codes = [
    ...results.map(exitCodeOf),
    ...[...ended.refused.values()].map(({ exitCode }) => exitCode),
    ...(ended.interrupted ? [EXIT.interrupted] : []),
  ];
  if (ended.fault !== undefined) throw ended.fault;
  return conclude(failures, worstOf(codes), live);
}

/**
 * Results of steps -> their files and the summary.
 *
 * @param {Given} given
 * @param {string} command
 */
function openReport({ scenario: { name, description }, steps, settings: { repeat }, files }, command) {
  const startedAt = new Date();
  const begunMs = performance.now();
  const summary = createScenarioSummary({
    ...{ name, description, command, startedAt, repeat },
    steps: steps.map(({ name: own, run: of, target, plan }) => ({
      ...{ name: own, run: of, target, load: plan.load },
    })),
  });
  const remarks = [...new Set(steps.flatMap((step) => step.remarks))];
  const together = (/** @type {{interrupted?: boolean, unfinished?: boolean}} */ how) =>
    withRemarks(summary.result({ ...how, durationMs: performance.now() - begunMs }), remarks);
  const writeStep = (/** @type {number} */ step) =>
    files.writeStep(step, summary.resultsOf(step), steps[step].remarks);
  return {
    add: summary.add,
    fail: summary.fail,
    results: () => steps.flatMap((_, step) => summary.resultsOf(step)),
    /** Between runs; the last attempt reports files that cannot be written. @param {number} step that was run last */
    async writeSoFar(step) {
      // A run without a result does not overwrite existing files.
      if (steps.every((_, i) => summary.resultsOf(i).length === 0)) return;
      await writeStep(step);
      await files.writeSummary(together({ unfinished: true }));
    },
    /** @param {{interrupted: boolean}} how @returns {Promise<unknown[]>} why something could not be written */
    async writeAll({ interrupted }) {
      const scenario = together({ interrupted });
      const failures = await files.writeSummary(scenario);
      for (const step of steps.keys()) failures.push(...(await writeStep(step)));
      failures.push(...(await files.show(scenario)));
      return failures;
    },
  };
}

/**
 * The exit code of the runs wins over that of a file that could not be written.
 *
 * @param {unknown[]} failures
 * @param {number} code
 * @param {Live} live
 */
function conclude(failures, code, live) {
  for (const failure of failures) {
    live.event({
      type: 'warning',
      text: failure instanceof PkiLoadError ? failure.full : String(failure),
    });
  }
  return failures.length > 0 && code === EXIT.ok ? EXIT.usage : code;
}

/** Several documents may follow one another in these. */
const SEQUENTIAL = ['text', 'md'];

/**
 * Says before anything runs what could not be written afterwards.
 *
 * @param {readonly string[]} names of the steps
 * @param {RunSettings} settings
 */
export function scenarioFiles(names, { out, format, repeat, summary }) {
  const plain = plainNames(names);
  const own = plain.map((name) => out.map((path) => named(path, name)));
  const together = out.filter((path) => reporterForFile(path).kinds.includes('scenario-result'));
  checkKind(reporters[format], 'scenario-result', `--format ${format}`);
  checkOutputs([...together, ...own.flat()]);
  return {
    /** All that will be written. */
    paths: [...together, ...own.flat()],
    /**
     * @param {number} step
     * @param {readonly Result[]} results that it has given so far
     * @param {readonly string[]} remarks see withRemarks
     * @returns {Promise<unknown[]>} why some files could not be written
     */
    async writeStep(step, results, remarks) {
      if (results.length === 0 || out.length === 0) return [];
      const document = repeat === 1 ? results[0] : makeRunSet(names[step], [...results]);
      return writeFiles(withRemarks(document, remarks), own[step]);
    },
    /** @param {ScenarioResult} scenario @returns {Promise<unknown[]>} why some files could not be written */
    writeSummary: (scenario) => writeFiles(scenario, together),
    /** @param {ScenarioResult} scenario @returns {Promise<unknown[]>} why something could not be written */
    async show(scenario) {
      await print(scenario, format);
      return summary === null ? [] : appendSummary(scenario, summary);
    },
  };
}

/**
 * As for runs, but there is no document of all searches.
 *
 * @param {readonly string[]} names of the steps
 * @param {Pick<RunSettings, 'out' | 'format'>} settings
 * @returns {string[][]} paths of the files of each
 */
export function searchFiles(names, { out, format }) {
  if (names.length > 1 && !SEQUENTIAL.includes(format)) {
    throw usageError(
      'several_documents',
      `--format ${format} prints one document, but there are ${names.length} searches.`,
      `Use --out FILE${reporters[format].extension}, which writes a file for each, or --format ${SEQUENTIAL.join(' or ')}.`,
    );
  }
  const paths =
    names.length === 1 ? [out] : plainNames(names).map((name) => out.map((path) => named(path, name)));
  checkOutputs(paths.flat(), 'search');
  return paths;
}

/** @param {string} path @param {string} name @returns {string} `result.json` -> `result-ramp-up.json` */
export function named(path, name) {
  const extension = extname(path);
  return `${path.slice(0, path.length - extension.length)}-${name}${extension}`;
}

/** @param {readonly string[]} names @returns {string[]} fit for files, and no two the same */
export function plainNames(names) {
  /** @type {string[]} */
  const plain = [];
  for (const name of names) {
    const own =
      name
        .toLowerCase()
        .replace(/[^\p{L}\p{N}]+/gu, '-')
        .replace(/^-|-$/g, '') || 'step';
    let free = own;
    for (let i = 2; plain.includes(free); i++) free = `${own}-${i}`;
    plain.push(free);
  }
  return plain;
}

/**
 * @param {object} given
 * @param {readonly Step[]} given.steps whose `asked` is not null
 * @param {readonly string[][]} given.outs paths of the files of each
 * @param {RunSettings} given.settings
 * @param {string} given.line the command line
 * @param {ReadonlyMap<number, import('../common/errors.js').PkiLoadError>} given.refused steps that cannot be run, and why
 * @param {AbortController} given.heard see onInterrupt; after a signal no other search begins
 * @param {typeof searchPlan} [search] what tests replace
 * @returns {Promise<number>} exit code: of the worst of them
 */
export async function searchSteps({ steps, outs, settings, line, refused, heard }, search = searchPlan) {
  const codes = await searchEach({
    ...{ steps, quiet: settings.quiet, refused, stop: heard.signal },
    say: (text) => void process.stderr.write(`${text}\n`),
    search: ({ plan, token, asked, remarks }, i) =>
      search(plan, {
        ...{ token, line, heard, remarks, settings: { ...settings, out: outs[i] } },
        asked: /** @type {SearchSettings} */ (asked),
      }),
  });
  return worstOf(codes);
}
