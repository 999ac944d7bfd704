/** A scenario of several steps, run to its end: shown, written after each run, and told together. */

import { runScenario, turnsOf, whyNothing } from '../campaigns/scenario/run-scenario.js';
import { EXIT, PkiLoadError } from '../common/errors.js';
import { planOfRun } from '../plan/plan.js';
import { createScenarioSummary } from '../result/scenario/scenario-result.js';
import { run } from '../run.js';
import { withRemarks } from './output.js';
import { exitCodeOf, onInterrupt, worstOf } from './process.js';
import { withoutQuery } from './run-options.js';
import { startShowing } from './showing.js';

/** @typedef {import('./run-options.js').RunSettings} RunSettings */
/** @typedef {ReturnType<typeof import('./scenario-files.js').scenarioFiles>} ScenarioFiles */
/** @typedef {import('../campaigns/scenario/scenario-steps.js').Step} Step */
/**
 * @typedef {object} Given
 * @property {import('../campaigns/scenario/read.js').ReadScenario} scenario
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
  // Files are written between runs, here: they are of more than the run that goes on.
  const live = await startShowing(steps[0].plan, { ...settings, out: [], repeat: turns }, command);
  const { stderr } = process;
  const onResize = () => live.resize(stderr.columns, stderr.rows);
  stderr.on('resize', onResize);
  const interrupt = onInterrupt(process, (text) => live.event({ type: 'warning', text }), heard);
  try {
    return await measureAll(given, { command, live, interrupt });
  } finally {
    stderr.off('resize', onResize);
    // All is reported: whoever does not want to wait for the last metrics loses nothing else by it.
    interrupt.over(live.cutShort);
    if (interrupt.cutOff.aborted) live.cutShort();
    await live.close();
    interrupt.release();
  }
}

/**
 * @param {Given} given
 * @param {object} with_
 * @param {string} with_.command
 * @param {import('./showing.js').Live} with_.live
 * @param {ReturnType<typeof onInterrupt>} with_.interrupt
 */
async function measureAll(given, { command, live, interrupt: { stop, cutOff } }) {
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
  live.event({ type: 'notice', text: 'All runs are over; what they say together is worked out.' });
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
    /** Between runs; what cannot be written is said when it is tried for the last time. @param {number} step that was run last */
    async writeSoFar(step) {
      // What was there before is not lost to a run that showed nothing.
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
 * What the runs have shown tells more than that some file could not be written.
 *
 * @param {unknown[]} failures
 * @param {number} code
 * @param {import('./showing.js').Live} live
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
