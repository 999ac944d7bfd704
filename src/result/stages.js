/** Stages of a plan -> what each of them showed, as if it had been a run of its own. */
import { total } from '../common/sums.js';
import { foldStages, plannedOf } from '../engine/recording/tally.js';
import { isEven } from '../plan/stages.js';
import { buildBlock, buildView, factsOfEach, rateWindowMs } from './build.js';
/** @import { CellTally } from '../engine/recording/tally.js' */
/** @import { LoadPlan } from '../plan/load.js' */
/** @import { StageSpan } from '../plan/stages.js' */
/** @import { RunFacts } from './build.js' */
/** @import { RunView } from './requirements/judge.js' */
/** @import { StageBlock } from './schema.js' */

/**
 * @param {CellTally[]} cells all operations of the first stage, then all of the next
 * @param {readonly StageSpan[]} stages
 * @param {RunFacts} facts of the run
 * @returns {StageBlock[]}
 */
export function buildStages(cells, stages, facts) {
  return stages.map((stage, i) => {
    const own = cellsOf(cells, i, stage);
    const inTime = factsOf(own, stage, facts);
    const windowMs = stageWindowMs(cells, i, stage, facts);
    const factsOfOperation = factsOfEach(own, inTime);
    return {
      name: stage.name,
      startSeconds: stage.startMs / 1000,
      seconds: inTime.windowMs / 1000,
      level: { ...stage.level },
      windowSeconds: windowMs / 1000,
      ...buildBlock(own, inTime, windowMs),
      operations: Object.fromEntries(
        own.map((one) => [one.name, buildBlock([one], factsOfOperation(one), windowMs)]),
      ),
    };
  });
}

/**
 * @param {CellTally[]} cells of all stages
 * @param {number} index of the stage
 * @param {StageSpan} stage
 * @param {RunFacts} facts of the run
 * @returns {number} ms that the rates of the stage are reckoned over, those of its operations too
 */
function stageWindowMs(cells, index, stage, facts) {
  const own = cellsOf(cells, index, stage);
  const before = cells.filter((cell) => cell.stage === index - 1);
  const carriedOver = total(before.map(({ successesAfter }) => successesAfter));
  return rateWindowMs(own, { ...factsOf(own, stage, facts), carriedOver });
}

/**
 * @param {CellTally[]} cells
 * @param {number} index of the stage
 * @param {Pick<StageSpan, 'startMs'>} stage
 * @returns {CellTally[]} their last successes from the start of the stage; seconds are those of the run
 */
export function cellsOf(cells, index, { startMs }) {
  return cells
    .filter(({ stage }) => stage === index)
    .map((cell) => ({ ...cell, lastSuccessMs: Math.max(0, cell.lastSuccessMs - startMs) }));
}

/**
 * @param {CellTally[]} own of the stage
 * @param {StageSpan} stage
 * @param {RunFacts} facts of the run
 * @returns {RunFacts}
 */
export function factsOf(own, { startMs, endMs }, { allOnTime, ...facts }) {
  const goesOn = allOnTime !== undefined && facts.windowMs < endMs;
  return {
    ...facts,
    ...plannedOf(own, facts),
    // A stage that was over by then was not.
    interrupted: facts.interrupted && facts.windowMs < endMs,
    startMs,
    windowMs: Math.max(0, Math.min(endMs, facts.windowMs) - startMs),
    endedMs: Math.max(0, facts.endedMs - startMs),
    ...(goesOn ? { allOnTime } : {}),
  };
}

/** Of so many one more or less is a hundredth of the rate. */
const LEAST_ARRIVALS = 100;

/**
 * @param {{operation?: string, stage?: string}} scope names that the plan has
 * @param {object} run
 * @param {CellTally[]} run.cells by stage
 * @param {readonly StageSpan[]} run.stages
 * @param {RunFacts} run.facts
 * @param {LoadPlan} run.load
 * @param {boolean} run.isValid the measurement is not invalid
 * @returns {RunView}
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
  // Which of the requests are an operation's is drawn at random: its share of the offered rate is not known beforehand.
  if (operation !== undefined && all.length > 1) return { ...view, offeredPerSecond: null };
  if (index < 0 || !isEven(load, index)) return view;
  return { ...view, ...levelOffered(view, stages[index].level.most, ownFacts) };
}

/**
 * Where a stage that is the same all the time begins and ends between two arrivals it has one fewer than its level in its time: that is no
 * lack of load, if it has so many that one does not show in its rate; fewer cannot show it.
 *
 * @param {Pick<RunView, 'offeredPerSecond'>} view the mean offered rate
 * @param {number} level a second
 * @param {RunFacts} facts of the stage
 * @returns {Partial<RunView>}
 */
function levelOffered({ offeredPerSecond }, level, { windowMs }) {
  if (offeredPerSecond === null) return {};
  const [planned, atLevel] = [offeredPerSecond, level].map((rate) => (rate * windowMs) / 1000);
  if (atLevel - planned >= 1) return {};
  return planned < LEAST_ARRIVALS
    ? { perhapsOfferedPerSecond: level }
    : { offeredPerSecond: level, offeredAs: 'level' };
}
