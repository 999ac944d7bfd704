/** What a run showed of one operation, of one stage, or of one operation in one stage: for requirements that are about no more. */

import { foldStages } from '../engine/recording/tally.js';
import { isEven } from '../plan/stages.js';
import { buildBlock, buildView, factsOfEach, rateWindowMs } from './build.js';
import { cellsOf, factsOf, stageWindowMs } from './stages.js';

/** @typedef {import('../engine/recording/tally.js').CellTally} CellTally */

/** Of so many one more or less is a hundredth of the rate. */
const LEAST_ARRIVALS = 100;

/**
 * @param {{operation?: string, stage?: string}} scope names that the plan has
 * @param {object} run
 * @param {CellTally[]} run.cells by stage
 * @param {readonly import('./stages.js').StageSpan[]} run.stages
 * @param {import('./build.js').RunFacts} run.facts
 * @param {import('../plan/plan.js').LoadPlan} run.load
 * @param {boolean} run.isValid the measurement is not invalid
 * @returns {import('./requirements/judge.js').RunView}
 */
export function scopedView({ operation, stage }, { cells, stages, facts, load, isValid }) {
  const inScope = cells.filter(({ name }) => operation === undefined || name === operation);
  const index = stages.findIndex(({ name }) => name === stage);
  const own = index < 0 ? foldStages(inScope, stages) : cellsOf(inScope, index, stages[index]);
  const inTime = index < 0 ? facts : factsOf(own, stages[index], facts);
  const all = index < 0 ? foldStages(cells, stages) : cellsOf(cells, index, stages[index]);
  const ownFacts = operation === undefined ? inTime : factsOfEach(all, inTime)(own[0]);
  // Over the same time as the rates that the result has of them.
  const windowMs =
    index < 0
      ? rateWindowMs(foldStages(cells, stages), facts)
      : stageWindowMs(cells, index, stages[index], facts);
  const view = buildView(own, buildBlock(own, ownFacts, windowMs), ownFacts, load, isValid);
  // Which of the requests are an operation's is drawn at random: its share of what was offered is not known beforehand.
  if (operation !== undefined && all.length > 1) return { ...view, offeredPerSecond: null };
  if (index < 0 || !isEven(load, index)) return view;
  return { ...view, ...levelOffered(view, stages[index].level.most, ownFacts) };
}

/**
 * Where a stage that is the same all the time begins and ends between two arrivals it has one fewer than its level in its time: that is no
 * lack of load, if it has so many that one is not seen in its rate; if it has fewer, they do not tell.
 *
 * @param {Pick<import('./requirements/judge.js').RunView, 'offeredPerSecond'>} view what was offered on average
 * @param {number} level a second
 * @param {import('./build.js').RunFacts} facts of the stage
 * @returns {Partial<import('./requirements/judge.js').RunView>}
 */
function levelOffered({ offeredPerSecond }, level, { windowMs }) {
  if (offeredPerSecond === null) return {};
  const [planned, atLevel] = [offeredPerSecond, level].map((rate) => (rate * windowMs) / 1000);
  if (atLevel - planned >= 1) return {};
  return planned < LEAST_ARRIVALS
    ? { perhapsOfferedPerSecond: level }
    : { offeredPerSecond: level, offeredAs: 'level' };
}
