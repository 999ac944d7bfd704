/** --find-max-rate, --max-concurrency: steps one after the other; what is known is written after each. */
import { EXIT, PkiLoadError } from '../errors.js';
import { stepPhrase } from '../reporters/search-phrases.js';
import { levelText } from '../results/search/explain.js';
import { checkSearchable, findMax } from '../search/find-max.js';
import { openSteps } from '../search/steps.js';
import { formatDuration } from '../units.js';
import { withExitCode } from './exit-code.js';
import { onInterrupt } from './interrupt.js';
import { appendSummary, print, writeFiles } from './output.js';
import { withRemarks } from './remarks.js';
import { withoutQuery } from './run-options.js';
import { startShowing } from './showing.js';

/** @typedef {import('../plan.js').Plan} Plan */
/** @typedef {import('../results/search/search-schema.js').Search} Search */
/** @typedef {import('./run-options.js').RunSettings} RunSettings */
/** @typedef {Awaited<ReturnType<typeof startShowing>>} Live */

/**
 * Searches, shows how it goes, and writes what it found.
 *
 * @param {Plan} plan its rate, or in a search in a closed loop its concurrency, is where the search begins
 * @param {object} how
 * @param {string | null} how.token a secret
 * @param {RunSettings} how.settings
 * @param {string} how.line the command line
 * @param {import('../search/step-plan.js').SearchSettings} how.asked
 * @param {AbortController} [how.heard] see onInterrupt
 * @param {readonly string[]} [how.remarks] see withRemarks
 * @returns {Promise<{code: number, search: Search}>}
 */
export async function searchPlan(plan, { token, settings, line, asked, heard, remarks = [] }) {
  checkSearchable(plan, asked);
  const command = withoutQuery(line, settings.otlp);
  const shown = showSteps(settings, command);
  const interrupt = onInterrupt(process, (text) => shown.event({ type: 'warning', text }), heard);
  const { stop, cutOff } = interrupt;
  const steps = openSteps(plan, {
    ...{ token, command, cutOff, signal: stop, recoverMs: asked.recoverMs },
    onEvent: shown.event,
  });
  /** @type {Search | null} */
  let soFar = null;
  try {
    const found = await findMax(plan, asked, {
      command,
      isStopped: () => stop.aborted,
      runStep: (stepPlan, place) =>
        shown.during(stepPlan, place, asked.of, stop, (how) => steps.run(stepPlan, how)),
      async onStep(document, step) {
        soFar = withRemarks(document, remarks);
        shown.event({ type: 'notice', text: stepPhrase(asked.of, step) });
        if (!step.recovery.recovered) {
          const waited = formatDuration(step.recovery.seconds * 1000);
          const text = `The target had not recovered ${waited} after the step before: this one began all the same.`;
          shown.event({ type: 'warning', text });
        }
        // What cannot be written is said when it is tried for the last time.
        await writeFiles(soFar, settings.out);
      },
    });
    await steps.close();
    const search = withRemarks(found, remarks);
    if (search.steps.length === 0 && stop.aborted) {
      throw new PkiLoadError('interrupted', 'Interrupted before a step was over.', {
        exitCode: EXIT.interrupted,
      });
    }
    soFar = null;
    const code = exitCodeOfSearch(search);
    await reportTo(search, settings, code);
    return { code, search };
  } catch (error) {
    // What the steps before have shown is not lost with the one that could not begin.
    if (soFar !== null) await print(soFar, settings.format);
    throw error;
  } finally {
    interrupt.over(shown.cutShort);
    await steps.close();
    await shown.close();
    interrupt.release();
  }
}

/**
 * @param {Search} search
 * @returns {number} see EXIT
 */
export function exitCodeOfSearch({ interrupted, answer, why, steps, requirements }) {
  if (interrupted) return EXIT.interrupted;
  // A rate at which only the tool gave up is not what was looked for, however good it looks.
  if (why === 'generator') return EXIT.invalidMeasurement;
  if (answer === null) {
    return steps.at(-1)?.verdict === 'not offered' ? EXIT.invalidMeasurement : EXIT.requirement;
  }
  // A rate that was required has to be reached.
  return requirements.some(({ beyond }) => beyond) ? EXIT.requirement : EXIT.ok;
}

/**
 * @param {Search} search
 * @param {RunSettings} settings
 * @param {number} code of the search, which tells more than that some file could not be written
 */
async function reportTo(search, { out, format, summary }, code) {
  const failures = await writeFiles(search, out);
  await print(search, format);
  if (summary !== null) failures.push(...(await appendSummary(search, summary)));
  if (failures.length > 0) throw withExitCode(failures[0], code);
}

/**
 * Each step is shown as a run is; what comes between is said by whoever showed the last one.
 *
 * @param {RunSettings} settings
 * @param {string} command
 */
function showSteps(settings, command) {
  /** @type {Live | null} */
  let live = null;
  /** @type {import('../run.js').RunEvent[]} */
  const early = [];
  const { stderr } = process;
  const onResize = () => live?.resize(stderr.columns, stderr.rows);
  stderr.on('resize', onResize);
  /** @param {import('../run.js').RunEvent} event */
  function event(event) {
    if (event.type === 'result') return;
    if (live === null) early.push(event);
    else live.event(event);
  }
  return {
    event,
    /**
     * @template T
     * @param {Plan} plan
     * @param {import('../search/find-max.js').StepPlace} place
     * @param {Search['searched']} of
     * @param {AbortSignal} stop
     * @param {(how: {onEvent: typeof event, live?: import('../run.js').LiveHook}) => Promise<T & import('../search/steps.js').StepEnd>} run
     * @returns {Promise<(T & import('../search/steps.js').StepEnd) | null>} null: stopped before anything was sent
     */
    async during(plan, { number, level, phase }, of, stop, run) {
      await live?.close();
      live = await startShowing(plan, { ...settings, out: [], repeat: 1 }, command);
      for (const one of early.splice(0)) live.event(one);
      const seconds = formatDuration(plan.load.durationMs ?? 0);
      event({ type: 'notice', text: `Step ${number} (${phase}): ${levelText(of, level)} for ${seconds}.` });
      try {
        const ended = await run({ onEvent: event, live: live.hook });
        await live.finish(ended.result);
        return ended;
      } catch (error) {
        await live.abandon();
        if (stop.aborted && error instanceof PkiLoadError && error.code === 'interrupted') return null;
        throw error;
      }
    },
    cutShort: () => live?.cutShort(),
    async close() {
      stderr.off('resize', onResize);
      await live?.close();
    },
  };
}
