/**
 * The runs of a scenario of several steps, one after the other. What one target refuses does not end those on the others, and what
 * was measured is never lost. Prints nothing, writes nothing.
 */
import { EXIT, PkiLoadError } from '../../common/errors.js';
import { interrupted, unlessStopped } from '../../common/stop.js';
import { pauseFor } from '../repeat.js';
/** @import { Live } from '../../live/thread.js' */
/** @import { Plan } from '../../plan/plan.js' */
/** @import { Result } from '../../result/schema.js' */

/** @typedef {{name: string, run: string, target: string, plan: Plan}} Step a run on a target */
/**
 * @typedef {object} Context
 * @property {readonly Step[]} steps
 * @property {number} repeat
 * @property {number} pauseMs between runs
 * @property {(step: number, number: number) => Promise<Result>} runOnce
 * @property {(step: number, number: number) => Plan} planOf that run
 * @property {Pick<Live, 'event' | 'finish' | 'next' | 'abandon'>} live
 * @property {AbortSignal} stop
 * @property {ReadonlyMap<number, PkiLoadError>} [refused] steps that cannot be run, and why
 * @property {(step: number, result: Result) => unknown} onResult it was shown
 * @property {(step: number, error: PkiLoadError) => unknown} onRefused nothing more is sent for the step
 * @property {(step: number) => Promise<unknown>} between runs: results so far may be written
 */

/**
 * @param {Context} context
 * @returns {Promise<{interrupted: boolean, refused: Map<number, PkiLoadError>, fault: unknown}>} `fault`: what broke it off that is no
 *   target's refusal; undefined where nothing did
 */
export async function runScenario(context) {
  const { steps, repeat, live, stop, onResult, onRefused } = context;
  /** @type {Map<number, PkiLoadError>} */
  const refused = new Map();
  const refuse = (/** @type {number} */ step, /** @type {PkiLoadError} */ error) => {
    refused.set(step, error);
    onRefused(step, error);
    live.event({ type: 'warning', text: `Nothing more is sent for ${steps[step].name}: ${error.full}` });
  };
  for (const [step, error] of context.refused ?? []) refuse(step, error);
  const turns = turnsOf(steps, repeat);
  let made = 0;
  /** Of the run before. @type {number | null} */
  let last = null;
  for (const [i, { step, number }] of turns.entries()) {
    if (refused.has(step)) continue;
    if (stop.aborted) return { interrupted: true, refused, fault: undefined };
    if (last !== null) await goOn(context, last, { step, number });
    if (stop.aborted) return { interrupted: true, refused, fault: undefined };
    live.event({ type: 'notice', text: announcement(steps[step], { i, of: turns.length, number, repeat }) });
    last = step;
    try {
      const result = await context.runOnce(step, number);
      await live.finish(result);
      onResult(step, result);
      made++;
      if (result.interrupted) return { interrupted: true, refused, fault: undefined };
    } catch (error) {
      if (made > 0 || i < turns.length - 1) await live.abandon();
      if (stop.aborted || isInterruption(error)) return { interrupted: true, refused, fault: undefined };
      if (!(error instanceof PkiLoadError)) return { interrupted: false, refused, fault: error };
      refuse(step, error);
    }
  }
  return { interrupted: false, refused, fault: undefined };
}

/** @param {Context} context @param {number} last step that was run @param {Turn} turn that comes */
async function goOn({ live, stop, pauseMs, between, planOf }, last, { step, number }) {
  await between(last);
  await Promise.all([pauseFor(pauseMs, stop), unlessStopped(live.next(null, planOf(step, number)), stop)]);
}

/** @param {Step} step @param {{i: number, of: number, number: number, repeat: number}} place */
function announcement({ run, target }, { i, of, number, repeat }) {
  const which = repeat === 1 ? '' : `, ${number + 1} of ${repeat}`;
  return `Run ${i + 1} of ${of}: ${run} on ${target}${which}:`;
}

/** @param {unknown} error */
function isInterruption(error) {
  return error instanceof PkiLoadError && error.code === 'interrupted';
}

/** @typedef {{step: number, number: number}} Turn index of a step, and which of its repeats, from 0 */

/**
 * Targets take turns, and another one begins each time: with A1 B1 B2 A2 what a machine does meanwhile (it warms up, a disk fills)
 * falls on all alike.
 *
 * @param {readonly {run: string}[]} steps all targets of the first run, then all of the next
 * @param {number} repeat of it all
 * @returns {Turn[]}
 */
export function turnsOf(steps, repeat) {
  const runs = [...new Set(steps.map(({ run }) => run))].map((run) =>
    steps.flatMap((step, i) => (step.run === run ? [i] : [])),
  );
  return Array.from({ length: repeat }, (_, number) =>
    runs.flatMap((targets) =>
      targets.map((_step, i) => ({ step: targets[(i + number) % targets.length], number })),
    ),
  ).flat();
}

/**
 * @param {Awaited<ReturnType<typeof runScenario>>} ended without a result
 * @returns {unknown} the error to throw
 */
export function whyNothing({ fault, interrupted: isInterrupted, refused }) {
  if (fault !== undefined) return fault;
  return isInterrupted ? interrupted() : [...refused.values()][0];
}

/**
 * A search for each step, one after the other.
 *
 * @template {{name: string}} Planned
 * @param {object} given
 * @param {readonly Planned[]} given.steps
 * @param {boolean} given.quiet
 * @param {ReadonlyMap<number, PkiLoadError>} given.refused steps that cannot be run, and why
 * @param {AbortSignal} given.stop no other search begins after it
 * @param {(text: string) => void} given.say
 * @param {(step: Planned, i: number) => Promise<{code: number}>} given.search
 * @returns {Promise<number[]>} exit codes
 */
export async function searchEach({ steps, quiet, refused, stop, say, search }) {
  /** @type {number[]} */
  const codes = [];
  for (const [i, step] of steps.entries()) {
    if (stop.aborted) {
      say('Warning: Interrupted: not all searches were made.');
      return [...codes, EXIT.interrupted];
    }
    const error = refused.get(i);
    if (error !== undefined && steps.length === 1) throw error;
    if (steps.length > 1 && !quiet) say(`Search ${i + 1} of ${steps.length}: ${step.name}:`);
    try {
      if (error !== undefined) throw error;
      codes.push((await search(step, i)).code);
    } catch (thrown) {
      if (steps.length === 1 || !(thrown instanceof PkiLoadError)) throw thrown;
      codes.push(thrown.exitCode);
      say(`Warning: ${step.name}: ${thrown.full}`);
    }
  }
  return codes;
}
