/**
 * The runs of a scenario of several steps, one after the other. A target that refuses does not end the runs on the others, and no
 * result is lost. Prints nothing, writes nothing.
 */
import { PkiLoadError } from '../../common/errors.js';
import { unlessStopped } from '../../common/stop.js';
import { pauseFor } from '../repeat.js';
/** @import { Live } from '../../live/thread.js' */
/** @import { Plan } from '../../plan/plan.js' */
/** @import { Result } from '../../result/schema.js' */

/** @typedef {{name: string, run: string, target: string}} Step a run on a target */
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

/** @param {Context} context */
export async function runScenario(context) {
  const { steps, repeat, pauseMs, live, stop } = context;
  /** @type {Map<number, PkiLoadError>} */
  const refused = new Map();
  const refuse = (/** @type {number} */ step, /** @type {PkiLoadError} */ error) => {
    refused.set(step, error);
    context.onRefused(step, error);
    live.event({ type: 'warning', text: `Nothing more is sent for ${steps[step].name}: ${error.full}` });
  };
  /** `fault`: an error that ended it and is no target's refusal; undefined: none @param {boolean} interrupted @param {unknown} [fault] */
  const ended = (interrupted, fault) => ({ interrupted, refused, fault });
  for (const [step, error] of context.refused ?? []) refuse(step, error);
  const turns = turnsOf(steps, repeat);
  let hasResult = false;
  /** @type {number | null} */
  let previous = null;
  for (const [i, { step, number }] of turns.entries()) {
    if (refused.has(step)) continue;
    if (previous !== null && !stop.aborted) {
      await context.between(previous);
      const next = live.next(context.planOf(step, number));
      await Promise.all([pauseFor(pauseMs, stop), unlessStopped(next, stop)]);
    }
    if (stop.aborted) return ended(true);
    const { run, target } = steps[step];
    const which = repeat === 1 ? '' : `, ${number + 1} of ${repeat}`;
    live.event({ type: 'notice', text: `Run ${i + 1} of ${turns.length}: ${run} on ${target}${which}:` });
    previous = step;
    try {
      const result = await context.runOnce(step, number);
      await live.finish(result);
      context.onResult(step, result);
      hasResult = true;
      if (result.interrupted) return ended(true);
    } catch (error) {
      if (hasResult || i < turns.length - 1) await live.abandon();
      if (stop.aborted) return ended(true);
      if (!(error instanceof PkiLoadError)) return ended(false, error);
      if (error.code === 'interrupted') return ended(true);
      refuse(step, error);
    }
  }
  return ended(false);
}

/**
 * Alternates the order of targets (A1 B1 B2 A2), so that drift of the machine (it warms up, a disk fills)
 * affects all targets equally.
 * @param {readonly {run: string}[]} steps all targets of the first run, then all of the next
 * @param {number} repeat of it all
 * @returns {{step: number, number: number}[]} index of a step, and which of its repeats, from 0
 */
export function turnsOf(steps, repeat) {
  const runs = [...new Set(steps.map(({ run }) => run))].map((run) =>
    steps.flatMap((step, i) => (step.run === run ? [i] : [])),
  );
  return Array.from({ length: repeat }, (_, number) =>
    runs.flatMap((own) => own.map((_step, i) => ({ step: own[(i + number) % own.length], number }))),
  ).flat();
}
