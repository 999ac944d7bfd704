/** Final reports of the shards -> the Result: merged, judged, checked. */
import { availableParallelism } from 'node:os';
import { total } from '../common/sums.js';
import { TOOL_VERSION } from '../common/version.js';
import { ENGINE_OUTCOMES } from '../engine/recording/recorder.js';
import { doneAfter, foldStages, mergeTallies, plannedOf, withPlanned } from '../engine/recording/tally.js';
import { factsOf } from '../engine/window.js';
import { TRANSPORT_MEANINGS } from '../http/failures.js';
import { createDuePerSecond, scheduleOf } from '../plan/due.js';
import { inFlightBetween, offeredBetween } from '../plan/schedule.js';
import { shardOfThread } from '../plan/shard-part.js';
import { countUnsent, isConstant, stagesOf } from '../plan/stages.js';
import {
  countToolErrors,
  describeObserved,
  isThisMachine,
  OF_ENDED_TOKEN,
  observe,
  TOKEN_ENDED,
  watchedOf,
} from '../verdict/observed.js';
import { judgeMeasurement } from '../verdict/reasons.js';
import { buildBlock, buildTimeline, buildView, measure } from './build.js';
import { checkResult } from './check/check.js';
import { mergeBlockOf } from './parts/merge-block.js';
import { factsOfEach, sumOf } from './rates.js';
import { deferRequirement, judgeRequirement } from './requirements/judge.js';
/** @import { Second } from '../engine/recording/seconds.js' */
/** @import { CellTally } from '../engine/recording/tally.js' */
/** @import { ShardEnd } from '../engine/shard.js' */
/** @import { MachineEnd } from '../engine/watch/machine.js' */
/** @import { Window } from '../engine/window.js' */
/** @import { Mix } from '../operations/mix.js' */
/** @import { LoadPlan } from '../plan/load.js' */
/** @import { Plan, PlannedRequirement } from '../plan/plan.js' */
/** @import { Schedule } from '../plan/schedule.js' */
/** @import { StageSpan } from '../plan/stages.js' */
/** @import { Observed } from '../verdict/observed.js' */
/** @import { RunFacts } from './rates.js' */
/** @import { RunView } from './requirements/judge.js' */
/** @import { Measurement, MergeBlock, OperationBlock, Result, StageBlock } from './schema.js' */

/**
 * `startedAt`, `startedAtNs`: start of the measured phase, by the wall clock and the monotonic clock; `stoppedMs`: the
 * interruption, from time zero; Infinity: none
 * @typedef {{ends: ShardEnd[], startedAt: Date, startedAtNs: bigint, stoppedMs: number, machine: MachineEnd}} SendResult
 */

/**
 * @param {{plan: Plan, mix: Mix, window: Window, target: Result['target'], command: string, seconds: Second[], sendResult: SendResult,
 *   tokenEnded?: readonly string[]}} run `tokenEnded`: operations whose token had ended by the end of the run
 */
export function conclude({ plan, mix, window, target, command, seconds, sendResult, tokenEnded = [] }) {
  const { load } = plan;
  const { ends, startedAt, startedAtNs, machine } = sendResult;
  // All operations of the first stage, then all of the next.
  const { cells: tallied, ...lateness } = mergeTallies(ends.map(({ tally }) => tally));
  for (const { name, outcomes, verification } of tallied)
    if (tokenEnded.includes(name) && OF_ENDED_TOKEN.some((outcome) => outcomes[outcome]))
      verification.notes.push(TOKEN_ENDED);
  const schedule = scheduleOf(load);
  const stages = stagesOf(load);
  const left = countLeft({ plan, mix, schedule, sendResult }, tallied.length);
  const cells = withPlanned(tallied, window.cells ?? null, left);
  const operations = foldStages(cells, stages);
  const watched = watchedOf(ends, lateness, machine);
  const engineFacts = factsOf(load, window, sendResult);
  const toolErrors = countToolErrors(watched, engineFacts);
  const facts = { ...engineFacts, ...unitsAndMeaningsOf(mix), toolErrors };
  const block = buildBlock(operations, facts);
  const targetIsLocal = isThisMachine(target.url);
  const dueIn = schedule === null ? null : createDuePerSecond(schedule, load.shard, load.warmupMs);
  const merge =
    load.shard === null ? undefined : mergeBlockOf({ cells, stages, facts, watched, machine, seconds });
  const run = { plan, target, command, startedAt, startedAtNs, operations, cells, stages };
  return concludeWith(observe({ load, operations, block, facts, seconds, watched, targetIsLocal }), {
    ...{ ...run, block, facts, seconds, dueIn, merge },
  });
}

/**
 * Judges, builds and checks; if the figures do not add up, the measurement is invalid.
 * @param {Observed} observed @param {Omit<Parameters<typeof buildResult>[0], 'measurement'>} run
 */
export function concludeWith(observed, run) {
  const build = (/** @type {string[]} */ found) => {
    const measurement = judgeMeasurement({ ...observed, problems: [...(observed.problems ?? []), ...found] });
    return buildResult({ ...run, measurement: { ...measurement, observed: describeObserved(observed) } });
  };
  const result = build([]);
  const problems = checkResult(result);
  return problems.length === 0 ? result : build(problems);
}

/**
 * @param {{plan: Plan, mix: Mix, schedule: Schedule | null, sendResult: SendResult}} run
 * @param {number} cells operations times stages
 * @returns {number[]} by cell: planned requests neither sent nor dropped
 */
function countLeft({ plan: { load }, mix, schedule, sendResult: { ends, stoppedMs } }, cells) {
  if (cells === 1) return [total(ends.map(({ neverSent }) => neverSent))];
  // A closed loop has unsent requests only if it was interrupted.
  const hasUnsent = load.model === 'open' || stoppedMs !== Number.POSITIVE_INFINITY;
  const unsent = ends.map(({ next, neverSent }, thread) => ({
    next,
    step: shardOfThread(load.shard, thread, load.threads).shards,
    count: hasUnsent ? neverSent : 0,
  }));
  return countUnsent(load, schedule, { count: mix.members.length, memberOf: mix.memberOf }, unsent);
}

/** @param {Pick<Mix, 'units' | 'outcomes'>} mix @returns {Pick<RunFacts, 'units' | 'meanings'>} */
export function unitsAndMeaningsOf({ units, outcomes }) {
  return { units, meanings: { ...TRANSPORT_MEANINGS, ...ENGINE_OUTCOMES, ...outcomes } };
}

/**
 * @param {Pick<SendResult, 'startedAt' | 'startedAtNs'> & {plan: Plan, target: Result['target'], command: string,
 *   operations: CellTally[], cells?: CellTally[], stages?: readonly StageSpan[], block: OperationBlock,
 *   facts: RunFacts, seconds: Second[], dueIn?: Parameters<typeof buildTimeline>[2], measurement: Measurement,
 *   unfinished?: boolean, merge?: MergeBlock}} run `operations`: over all stages; `cells`: by stage; `block`: the whole @returns {Result}
 */
export function buildResult(run) {
  const { plan, target, command, operations, block, facts, measurement, merge } = run;
  const { cells = operations, stages = [], unfinished = false } = run;
  const { requirements, load, ...rest } = plan;
  const { stages: shapes, ...loadAsRun } = load;
  const { shard } = load;
  const factsOfOne = factsOfEach(operations, facts);
  const isValid = measurement.verdict !== 'invalid';
  /** By scope: building a view sums up all histograms. @type {Map<string, RunView>} */
  const views = new Map();
  const viewFor = (/** @type {PlannedRequirement} */ scope) => {
    const key = JSON.stringify([scope.operation, scope.stage]);
    const view = views.get(key) ?? viewOf(scope, { cells, stages, facts, load, isValid });
    views.set(key, view);
    return view;
  };
  return {
    schema: 'vault-pki-load/result/1',
    tool: { version: TOOL_VERSION },
    startedAt: run.startedAt.toISOString(),
    startedAtMonotonicNs: String(run.startedAtNs),
    durationSeconds: (unfinished ? facts.endedMs : Math.max(facts.endedMs, facts.windowMs)) / 1000,
    interrupted: facts.interrupted,
    ...(unfinished ? { unfinished: /** @type {const} */ (true) } : {}),
    command,
    plan: { ...rest, load, requirements: requirements.map(({ text }) => text) },
    ...(shard ? { shard: { ...shard } } : {}),
    target,
    load: { ...loadAsRun, ...(shapes === null ? {} : { stageCount: shapes.length }) },
    warmup: { seconds: load.warmupMs / 1000, sent: total(operations.map(({ warmup }) => warmup)) },
    ...block,
    operations: Object.fromEntries(
      operations.map((one) => [
        one.name,
        { ...buildBlock([one], factsOfOne(one)), unit: facts.units[one.name] },
      ]),
    ),
    ...(stages.length === 0 ? {} : { stages: buildStages(cells, stages, facts, load) }),
    timeline: buildTimeline(operations, run.seconds, run.dueIn),
    requirements: requirements.map((one) =>
      shard ? deferRequirement(one, shard) : judgeRequirement(one, viewFor(one)),
    ),
    measurement,
    environment: {
      node: process.version,
      platform: `${process.platform} ${process.arch}`,
      cpus: availableParallelism(),
    },
    ...(merge === undefined ? {} : { merge }),
  };
}

/** @param {CellTally[]} cells @param {readonly StageSpan[]} stages @param {RunFacts} facts @param {LoadPlan} load @returns {StageBlock[]} */
function buildStages(cells, stages, facts, load) {
  return stages.map((stage, i) => {
    const { own, facts: ofStage } = stageOf(cells, i, stages, { facts, load });
    const factsOfOne = factsOfEach(own, ofStage);
    return {
      name: stage.name,
      startSeconds: stage.startMs / 1000,
      seconds: ofStage.windowMs / 1000,
      level: { ...stage.level },
      ...buildBlock(own, ofStage),
      operations: Object.fromEntries(own.map((one) => [one.name, buildBlock([one], factsOfOne(one))])),
    };
  });
}

/**
 * The cells of a stage (last successes count from its start, seconds from the start of the run), and its facts.
 * @param {CellTally[]} cells of all stages @param {number} index of the stage
 * @param {readonly Pick<StageSpan, 'startMs' | 'endMs'>[]} stages @param {{facts: RunFacts, load: LoadPlan}} run
 */
function stageOf(cells, index, stages, { facts: run, load }) {
  const { startMs, endMs } = stages[index];
  const { allOnTime, ...rest } = run;
  const isOpen = run.windowMs < endMs;
  const actualEndMs = Math.min(endMs, run.windowMs);
  const before = cells.filter(({ stage }) => stage === index - 1);
  const own = cells
    .filter(({ stage }) => stage === index)
    .map((cell, i) => ({
      ...cell,
      lastSuccessMs: Math.max(0, cell.lastSuccessMs - startMs),
      carriedOver: index === 0 ? 0 : doneAfter(before[i], stages[index - 1], actualEndMs),
    }));
  const facts = {
    ...rest,
    ...plannedOf(own, rest),
    // Of a stage that ended earlier, requests may still have waited for a connection.
    interrupted: run.interrupted && (isOpen || sumOf(own, 'neverSentDue') > 0),
    startMs,
    windowMs: Math.max(0, actualEndMs - startMs),
    // Without a rate of the whole, part of the plan is missing.
    offeredPerSecond: run.offeredPerSecond === null ? null : offeredBetween(load, startMs, actualEndMs),
    concurrency: inFlightBetween(load, startMs, actualEndMs),
    endedMs: Math.max(0, run.endedMs - startMs),
    ...(allOnTime !== undefined && isOpen ? { allOnTime } : {}),
  };
  return { own, facts };
}

/**
 * @param {{operation?: string, stage?: string}} scope names in the plan
 * @param {{cells: CellTally[], stages: readonly StageSpan[], facts: RunFacts, load: LoadPlan, isValid: boolean}} run
 *   `cells`: by stage; `isValid`: the measurement is
 * @returns {RunView}
 */
function viewOf({ operation, stage }, { cells, stages, facts, load, isValid }) {
  const index = stages.findIndex(({ name }) => name === stage);
  const folded = foldStages(cells, stages);
  const whole = index < 0 ? { own: folded, facts } : stageOf(cells, index, stages, { facts, load });
  const own = whole.own.filter(({ name }) => operation === undefined || name === operation);
  const ownFacts = operation === undefined ? whole.facts : factsOfEach(whole.own, whole.facts)(own[0]);
  const view = buildView(measure(own, ownFacts), load, isValid);
  return index >= 0 && isConstant(load, index) ? { ...view, offeredAs: undefined } : view;
}
