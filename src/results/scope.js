/** What a run showed of one operation, of one stage, or of one operation in one stage: for requirements that are about no more. */
import { buildBlock, buildView } from './build.js';
import { foldStages } from './merge.js';
import { cellsOf, factsOf } from './stages.js';

/** @typedef {import('./merge.js').MergedOperation} MergedOperation */

/**
 * @param {{operation?: string, stage?: string}} scope names that the plan has
 * @param {object} run
 * @param {MergedOperation[]} run.cells by stage
 * @param {readonly import('./stages.js').StageFacts[]} run.stages
 * @param {import('./build.js').RunFacts} run.facts
 * @param {import('../plan.js').LoadPlan} run.load
 * @param {boolean} run.isValid the measurement is not invalid
 * @returns {import('./requirements/judge.js').RunView}
 */
export function scopedView({ operation, stage }, { cells, stages, facts, load, isValid }) {
  const index = stages.findIndex(({ name }) => name === stage);
  const inScope = (/** @type {MergedOperation} */ { name }) => operation === undefined || name === operation;
  if (index < 0) {
    const own = foldStages(cells.filter(inScope));
    const whole = { name: '', startMs: 0, endMs: Number.POSITIVE_INFINITY, due: null };
    return view(own, factsOf(own, whole, facts), { load, isValid, offeredPerSecond: null });
  }
  const own = cellsOf(cells, index, stages[index]).filter(inScope);
  const due = operation === undefined ? stages[index].due : null;
  const offeredPerSecond = operation === undefined ? evenRateOf(load, index) : null;
  return view(own, factsOf(own, { ...stages[index], due }, facts), { load, isValid, offeredPerSecond });
}

/**
 * @param {MergedOperation[]} own
 * @param {import('./build.js').RunFacts} facts
 * @param {{load: import('../plan.js').LoadPlan, isValid: boolean, offeredPerSecond: number | null}} more
 */
function view(own, facts, { load, isValid, offeredPerSecond }) {
  return { ...buildView(own, buildBlock(own, facts), facts, load, isValid), offeredPerSecond };
}

/**
 * @param {import('../plan.js').LoadPlan} load
 * @param {number} index of a stage
 * @returns {number | null} null: it is not the same all the time, or a closed loop's
 */
function evenRateOf({ model, stages }, index) {
  const levels = new Set(stages?.[index].lines.flatMap(({ from, to }) => [from, to]));
  return model === 'open' && levels.size === 1 ? [...levels][0] : null;
}
