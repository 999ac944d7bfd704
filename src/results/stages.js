/** Stages of a plan -> what each of them showed, as if it had been a run of its own. */
import { buildBlock } from './build.js';

/** @typedef {import('./merge.js').MergedOperation} MergedOperation */
/** @typedef {import('./build.js').RunFacts} RunFacts */
/** @typedef {import('./schema.js').StageBlock} StageBlock */
/**
 * @typedef {object} StageFacts
 * @property {string} name
 * @property {number} startMs from the start of the measured part
 * @property {number} endMs as planned
 * @property {number | null} due arrivals that the plan has in it; null: a closed loop plans none
 */

/**
 * @param {MergedOperation[]} cells all operations of the first stage, then all of the next
 * @param {readonly StageFacts[]} stages
 * @param {RunFacts} facts of the run
 * @returns {StageBlock[]}
 */
export function buildStages(cells, stages, facts) {
  return stages.map((stage, i) => {
    const own = cellsOf(cells, i, stage);
    const inTime = factsOf(own, stage, facts);
    return {
      name: stage.name,
      startSeconds: stage.startMs / 1000,
      seconds: inTime.windowMs / 1000,
      ...buildBlock(own, inTime),
      operations: Object.fromEntries(
        own.map((one) => [one.name, buildBlock([one], factsOf([one], { ...stage, due: null }, facts))]),
      ),
    };
  });
}

/**
 * @param {MergedOperation[]} cells
 * @param {number} index of the stage
 * @param {Pick<StageFacts, 'startMs'>} stage
 * @returns {MergedOperation[]} times from the start of the stage
 */
export function cellsOf(cells, index, { startMs }) {
  const second = Math.floor(startMs / 1000);
  return cells
    .filter(({ stage }) => stage === index)
    .map((cell) => ({
      ...cell,
      lastSuccessMs: Math.max(0, cell.lastSuccessMs - startMs),
      perSecond: {
        sent: cell.perSecond.sent.slice(second),
        succeeded: cell.perSecond.succeeded.slice(second),
        failed: cell.perSecond.failed.slice(second),
      },
    }));
}

/**
 * @param {MergedOperation[]} own of the stage
 * @param {StageFacts} stage
 * @param {RunFacts} facts of the run
 * @returns {RunFacts}
 */
export function factsOf(own, { startMs, endMs, due }, facts) {
  const settled = own.reduce(
    (sum, { outcomes, dropped }) =>
      sum +
      dropped +
      Object.entries(outcomes).reduce(
        (all, [name, { count }]) => all + (name === 'never_sent' ? 0 : count),
        0,
      ),
    0,
  );
  const planned = Math.max(due ?? 0, settled + own.reduce((sum, { neverSentDue }) => sum + neverSentDue, 0));
  const lengthMs = Number.isFinite(endMs) ? endMs - startMs : facts.windowMs - startMs;
  return {
    ...facts,
    planned,
    neverSent: planned - settled,
    windowMs: Math.max(0, Math.min(lengthMs, facts.windowMs - startMs)),
    endedMs: Math.max(0, facts.endedMs - startMs),
  };
}
