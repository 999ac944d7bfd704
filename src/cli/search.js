/** --find-max-rate, --max-concurrency: steps one after the other; writes the document after each. */

import { checkSearchable, findMax } from '../campaigns/search/find-max.js';
import { openSteps } from '../campaigns/search/steps.js';
import { EXIT, PkiLoadError } from '../common/errors.js';
import { unlessStopped } from '../common/stop.js';
import { formatDuration } from '../common/units.js';
import { createProgress } from '../live/view.js';
import { stepPhrase } from '../report/describe/search.js';
import { brokenOff, levelText } from '../result/search/explain.js';
import { appendSummary, print, withRemarks, writeFiles } from './output.js';
import { onInterrupt, withExitCode } from './process.js';
import { withoutQuery } from './run-options.js';
import { startShowing } from './showing.js';

/** @import { StepPlace } from '../campaigns/search/find-max.js' */
/** @import { SearchSettings } from '../campaigns/search/step-plan.js' */
/** @import { StepEnd } from '../campaigns/search/steps.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { Search } from '../result/search/search-schema.js' */
/** @import { LiveHook, RunEvent } from '../run.js' */
/** @import { RunSettings } from './run-options.js' */

/** @typedef {Awaited<ReturnType<typeof startShowing>>} Live */

const CLOSING = 'Removing what the search created. Press Ctrl-C again to end at once.';

/**
 * Searches, shows progress, and writes the document.
 *
 * @param {Plan} plan its rate, or in a search in a closed loop its concurrency, is where the search begins
 * @param {object} how
 * @param {string | null} how.token a secret
 * @param {RunSettings} how.settings
 * @param {string} how.line the command line
 * @param {SearchSettings} how.asked
 * @param {AbortController} [how.heard] see onInterrupt
 * @param {readonly string[]} [how.remarks] see withRemarks
 * @returns {Promise<{code: number, search: Search}>}
 */
export async function searchPlan(plan, { token, settings, line, asked, heard, remarks = [] }) {
  checkSearchable(plan, asked);
  const command = withoutQuery(line, settings.otlp);
  const shown = showSteps(settings, command);
  const warn = (/** @type {string} */ text) => shown.event({ type: 'warning', text });
  const interrupt = onInterrupt(process, warn, heard);
  const { stop, cutOff } = interrupt;
  const steps = openSteps(plan, {
    ...{ token, command, cutOff, signal: stop, recoverMs: asked.recoverMs },
    onEvent: shown.event,
  });
  try {
    return await searchAndReport({ plan, asked, command, settings, remarks }, { steps, shown, stop, warn });
  } finally {
    // All is reported: the clean-up may take minutes, and should not be cut short by mistake.
    interrupt.over(() => warn(CLOSING));
    await steps.close().catch((error) => warn(textOf(error)));
    interrupt.over(shown.cutShort);
    if (cutOff.aborted) shown.cutShort();
    await shown.close();
    interrupt.release();
  }
}

/**
 * @param {object} what
 * @param {Plan} what.plan
 * @param {SearchSettings} what.asked
 * @param {string} what.command
 * @param {RunSettings} what.settings
 * @param {readonly string[]} what.remarks
 * @param {object} how
 * @param {ReturnType<typeof openSteps>} how.steps
 * @param {ReturnType<typeof showSteps>} how.shown
 * @param {AbortSignal} how.stop
 * @param {(text: string) => void} how.warn
 * @returns {Promise<{code: number, search: Search}>}
 */
async function searchAndReport({ plan, asked, command, settings, remarks }, { steps, shown, stop, warn }) {
  /** @type {Search | null} */
  let soFar = null;
  const found = await findMax(plan, asked, {
    command,
    isStopped: () => stop.aborted,
    runStep: (stepPlan, place) =>
      shown.during(stepPlan, place, asked.of, stop, (how) => steps.run(stepPlan, how)),
    async onStep(document, step) {
      soFar = document;
      shown.event({ type: 'notice', text: stepPhrase(asked.of, step) });
      if (!step.recovery.recovered) {
        const waited = formatDuration(step.recovery.seconds * 1000);
        warn(`The target had not recovered ${waited} after the step before: this one began all the same.`);
      }
      // The last attempt reports files that cannot be written.
      await writeFiles(withRemarks(document, remarks), settings.out);
    },
  }).catch(async (error) => {
    // What the steps before have shown is not lost with the one that could not begin.
    const broken = soFar && withRemarks(brokenOff(soFar, error), remarks);
    for (const failure of broken ? await report(broken, settings) : []) warn(textOf(failure));
    throw error;
  });
  if (found.steps.length === 0 && stop.aborted) {
    throw new PkiLoadError('interrupted', 'Interrupted before a step was over.', {
      exitCode: EXIT.interrupted,
    });
  }
  const search = withRemarks(found, remarks);
  const code = exitCodeOfSearch(search);
  const failures = await report(search, settings);
  for (const failure of failures.slice(1)) warn(textOf(failure));
  if (failures.length > 0) throw withExitCode(failures[0], code);
  return { code, search };
}

/** @param {Search} search @returns {number} see EXIT */
export function exitCodeOfSearch({ interrupted, answer, why, steps, requirements }) {
  if (interrupted) return EXIT.interrupted;
  // A rate at which only the tool gave up is no result, however good it seems.
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
 * @returns {Promise<unknown[]>} why it could not be written somewhere
 */
async function report(search, { out, format, summary }) {
  const failures = await writeFiles(search, out);
  await print(search, format);
  if (summary !== null) failures.push(...(await appendSummary(search, summary)));
  return failures;
}

/** @param {unknown} failure */
function textOf(failure) {
  return failure instanceof PkiLoadError ? failure.full : String(failure);
}

/**
 * Each step has the view of a run; between steps there are lines.
 *
 * @param {RunSettings} settings
 * @param {string} command
 */
function showSteps(settings, command) {
  const { stderr } = process;
  const lines = createProgress({ stream: stderr, quiet: settings.quiet });
  /** @type {Live | null} */
  let live = null;
  /** Of the step before: its last metrics may be under way. @type {Live | null} */
  let before = null;
  const onResize = () => live?.resize(stderr.columns, stderr.rows);
  stderr.on('resize', onResize);
  /** @param {RunEvent} event */
  function event(event) {
    if (event.type !== 'result') (live ?? lines).event(event);
  }
  async function closeLast() {
    before = live ?? before;
    live = null;
    await before?.close();
  }
  return {
    event,
    /**
     * @template T
     * @param {Plan} plan
     * @param {StepPlace} place
     * @param {Search['searched']} of
     * @param {AbortSignal} stop
     * @param {(how: {onEvent: typeof event, live?: LiveHook}) => Promise<T & StepEnd>} run
     * @returns {Promise<(T & StepEnd) | null>} null: stopped before anything was sent
     */
    async during(plan, { number, level, phase }, of, stop, run) {
      await unlessStopped(closeLast(), stop);
      if (stop.aborted) return null;
      live = await startShowing(plan, { ...settings, out: [], repeat: 1 }, command);
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
    cutShort() {
      before?.cutShort();
      live?.cutShort();
    },
    async close() {
      stderr.off('resize', onResize);
      await closeLast();
    },
  };
}
