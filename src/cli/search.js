/** `--find-max-rate` and `--max-concurrency`: runs the steps and writes the document after each. */
import { checkSearchable, findMax } from '../campaigns/search/find-max.js';
import { openSteps } from '../campaigns/search/steps.js';
import { EXIT, PkiLoadError } from '../common/errors.js';
import { interruptedError, waitUnlessStopped } from '../common/stop.js';
import { formatDuration } from '../common/units.js';
import { stepPhrase } from '../report/describe/search.js';
import { endWithError, levelText } from '../result/search/explain.js';
import { startLiveSession } from './live-session.js';
import { withRemarks, writeFiles, writeReports } from './output.js';
import { endWith, textOf } from './process.js';

/** @import { StepPosition } from '../campaigns/search/find-max.js' */
/** @import { SearchSettings } from '../campaigns/search/search-options.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { Search } from '../result/search/search-schema.js' */
/** @import { RunContext } from './operation.js' */

/** @param {Plan} plan with the first level @param {RunContext & {searchSettings: SearchSettings}} context @returns exit code */
export async function searchPlan(plan, { settings, searchSettings, interrupt, remarks = [], ...access }) {
  checkSearchable(plan, searchSettings);
  const [{ stop, cutOff }, { command }] = [interrupt, settings];
  // Progress shows each step as a run; files contain the whole search.
  const live = await startLiveSession(plan, { ...settings, out: [], repeat: Infinity }, interrupt);
  const options = { ...access, command, cutOff, signal: stop, recoverMs: searchSettings.recoverMs };
  const steps = openSteps(plan, { ...options, onEvent: live.event });
  /** @type {Search | null} */
  let soFar = null;

  /** Returns null if stopped before anything was sent. @param {Plan} stepPlan @param {StepPosition} position */
  async function runStep(stepPlan, { number, level, phase }) {
    await waitUnlessStopped(live.next(stepPlan), stop);
    if (stop.aborted) return null;
    const duration = formatDuration(stepPlan.load.durationMs ?? 0);
    const text = `Step ${number} (${phase}): ${levelText(searchSettings.of, level)} for ${duration}.`;
    live.event({ type: 'notice', text });
    try {
      const ended = await steps.run(stepPlan, { onEvent: live.event, live: live.hook });
      await live.finish(ended.result);
      return ended;
    } catch (error) {
      await live.abandon();
      if (stop.aborted && error instanceof PkiLoadError && error.code === 'interrupted') return null;
      throw error;
    }
  }

  /** @param {Search} document so far @param {Search['steps'][number]} step the last one */
  async function onStep(document, step) {
    soFar = document;
    live.event({ type: 'notice', text: stepPhrase(searchSettings.of, step) });
    if (!step.recovery.recovered) {
      const waited = formatDuration(step.recovery.seconds * 1000);
      live.warn(`The target had not recovered ${waited} after the previous step; this step started anyway.`);
    }
    // The final write reports files that cannot be written.
    await writeFiles(withRemarks(document, remarks), settings.out);
  }

  try {
    const isStopped = () => stop.aborted;
    const result = await findMax(plan, searchSettings, { command, isStopped, runStep, onStep });
    if (result.steps.length === 0 && stop.aborted)
      throw interruptedError('Interrupted before a step was complete.');
    soFar = null;
    const search = withRemarks(result, remarks);
    return endWith(exitCodeOfSearch(search), await writeReports(search, settings), live.warn);
  } catch (error) {
    // Report the steps so far.
    const broken = soFar && withRemarks(endWithError(soFar, error), remarks);
    for (const failure of broken ? await writeReports(broken, settings) : []) live.warn(textOf(failure));
    throw error;
  } finally {
    live.onClosing(steps.close());
    await live.close();
  }
}

/** @param {Search} search @returns {number} see EXIT */
export function exitCodeOfSearch({ interrupted, answer, why, steps, requirements }) {
  if (interrupted) return EXIT.interrupted;
  // The tool reached its own limit, not that of the target.
  if (why === 'generator') return EXIT.invalidMeasurement;
  if (answer === null)
    return steps.at(-1)?.verdict === 'not offered' ? EXIT.invalidMeasurement : EXIT.requirement;
  return requirements.some(({ beyond }) => beyond) ? EXIT.requirement : EXIT.ok;
}
