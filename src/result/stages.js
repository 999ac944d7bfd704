/** Stages of a plan -> what each of them showed, as if it had been a run of its own. */

import { total } from '../common/sums.js';
import { plannedOf } from '../engine/recording/tally.js';
import { buildBlock, factsOfEach, rateWindowMs } from './build.js';

/** @typedef {import('../engine/recording/tally.js').CellTally} CellTally */
/** @typedef {import('./build.js').RunFacts} RunFacts */
/** @typedef {import('./schema.js').StageBlock} StageBlock */
/** @typedef {import('../plan/stages.js').StageSpan} StageSpan */

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
export function stageWindowMs(cells, index, stage, facts) {
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
