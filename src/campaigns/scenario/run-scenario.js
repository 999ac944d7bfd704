/** Runs the steps of a scenario in turn. If a target refuses, runs on the other targets continue. */
import { PkiLoadError } from '../../common/errors.js';
import { pauseFor, waitUnlessStopped } from '../../common/stop.js';
import { groupBy } from '../../common/sums.js';
import { planOfRun } from '../../plan/plan.js';
/** @import { Live } from '../../live/thread.js' */
/** @import { Plan } from '../../plan/plan.js' */
/** @import { createScenarioSummary } from '../../result/scenario/scenario-result.js' */
/** @import { Result } from '../../result/schema.js' */

/**
 * `pauseMs`: between runs; `refused`: errors of steps that cannot run; `broken`: the next run will throw; `between`: called between runs, with the last step
 * @typedef {{steps: readonly {name: string, run: string, target: string, plan: Plan}[], repeat: number, pauseMs: number,
 *   refused: ReadonlyMap<number, PkiLoadError>, stop: AbortSignal, broken?: AbortSignal, runOnce: (step: number, plan: Plan) => Promise<Result>,
 *   live: Pick<Live, 'event' | 'finish' | 'next' | 'abandon'>, between: (step: number) => Promise<unknown>,
 *   summary: Pick<ReturnType<typeof createScenarioSummary>, 'add' | 'fail'>}} Context
 */

/** @param {Context} context @returns `fault`: the error that ended it, if it is not in `refused`; undefined: none */
export async function runScenario({ steps, repeat, pauseMs, live, stop, summary, ...context }) {
  /** @type {Map<number, PkiLoadError>} */
  const refused = new Map();
  const refuse = (/** @type {number} */ step, /** @type {PkiLoadError} */ error) => {
    refused.set(step, error);
    summary.fail(step, error);
    live.event({ type: 'warning', text: `Nothing more is sent for ${steps[step].name}: ${error.full}` });
  };
  /** @param {boolean} interrupted @param {unknown} [fault] */
  const ended = (interrupted, fault) => ({ interrupted, refused, fault });
  for (const [step, error] of context.refused) refuse(step, error);
  let hasResult = false;
  /** @type {number | null} */
  let previous = null;
  const count = steps.length * repeat;
  for (const { i, step, number } of turnsOf(steps, repeat)) {
    if (refused.has(step)) continue;
    const { run, target } = steps[step];
    const plan = planOfRun(steps[step].plan, number);
    if (previous !== null && !stop.aborted) {
      await context.between(previous);
      await waitUnlessStopped(live.next(plan), stop);
      await pauseFor(pauseMs, stop, context.broken);
    }
    if (stop.aborted) return ended(true);
    const which = repeat === 1 ? '' : `, repeat ${number + 1} of ${repeat}`;
    live.event({ type: 'notice', text: `Run ${i + 1} of ${count}: ${run} on ${target}${which}:` });
    previous = step;
    try {
      const result = await context.runOnce(step, plan);
      await live.finish(result);
      summary.add(step, result);
      hasResult = true;
      if (result.interrupted) return ended(true);
    } catch (error) {
      if (hasResult || i < count - 1) await live.abandon();
      if (stop.aborted) return ended(true);
      if (!(error instanceof PkiLoadError)) return ended(false, error);
      if (error.code === 'interrupted') return ended(true);
      // Without one of its parts, a joined run cannot go on.
      if (error.code === 'part_lost') return ended(false, error);
      refuse(step, error);
    }
  }
  return ended(false);
}

/**
 * Alternates the order of targets (A1 B1 B2 A2), so that drift (heat, a filling disk) affects all equally.
 * @param {readonly {run: string}[]} steps all targets of the first run, then all of the next @param {number} repeat
 * @returns {Generator<{i: number, step: number, number: number}>} index of a turn and of a step, and number of its repeat, from 0
 */
export function* turnsOf(steps, repeat) {
  const runs = groupBy([...steps.keys()], (step) => steps[step].run);
  for (let i = 0, number = 0; number < repeat; number++)
    for (const run of runs)
      for (const at of run.keys()) yield { i: i++, step: run[(at + number) % run.length], number };
}
