/** Everything a run found out -> Result, the one source of every report. */
import { availableParallelism } from 'node:os';
import { total } from '../common/sums.js';
import { TOOL_VERSION } from '../common/version.js';
import { buildBlock, buildTimeline, buildView, factsOfEach, rateWindowMs } from './build.js';
import { SCHEMA_ID } from './document.js';
import { deferRequirement, judgeRequirement } from './requirements/judge.js';
import { buildStages, scopedView } from './stages.js';
/** @import { Second } from '../engine/recording/seconds.js' */
/** @import { CellTally } from '../engine/recording/tally.js' */
/** @import { LoadPlan } from '../plan/load.js' */
/** @import { Plan, PlannedRequirement } from '../plan/plan.js' */
/** @import { StageSpan } from '../plan/stages.js' */
/** @import { Measurement } from '../verdict/measurement-schema.js' */
/** @import { RunFacts } from './build.js' */
/** @import { MergeBlock } from './parts/merge-block-schema.js' */
/** @import { OperationBlock, Result } from './schema.js' */

/**
 * @param {object} parts
 * @param {Plan} parts.plan
 * @param {Result['target']} parts.target
 * @param {string} parts.command
 * @param {Date} parts.startedAt start of the measured part
 * @param {bigint} parts.startedAtNs the same instant on the clock of `process.hrtime.bigint()`
 * @param {CellTally[]} parts.operations over all stages
 * @param {CellTally[]} [parts.cells] by stage
 * @param {readonly StageSpan[]} [parts.stages] none: the plan has none
 * @param {OperationBlock} parts.block the whole
 * @param {RunFacts} parts.facts
 * @param {Second[]} parts.seconds
 * @param {Parameters<typeof buildTimeline>[2]} [parts.dueIn]
 * @param {Measurement} parts.measurement
 * @param {boolean} [parts.unfinished] the run goes on
 * @param {MergeBlock} [parts.merge] of a part of a plan
 * @returns {Result}
 */
export function buildResult({
  plan,
  target,
  command,
  startedAt,
  startedAtNs,
  operations,
  cells = operations,
  stages = [],
  block,
  facts,
  seconds,
  dueIn = null,
  measurement,
  unfinished = false,
  merge,
}) {
  const { requirements, load, ...rest } = plan;
  const isValid = measurement.verdict !== 'invalid';
  const windowMs = rateWindowMs(operations, facts);
  const factsOf = factsOfEach(operations, facts);
  const view = buildView(operations, block, facts, load, isValid);
  const viewFor = (/** @type {PlannedRequirement} */ { operation, stage }) =>
    operation === undefined && stage === undefined
      ? view
      : scopedView({ operation, stage }, { cells, stages, facts, load, isValid });
  return {
    schema: SCHEMA_ID,
    tool: { version: TOOL_VERSION },
    startedAt: startedAt.toISOString(),
    startedAtMonotonicNs: String(startedAtNs),
    durationSeconds: (unfinished ? facts.endedMs : Math.max(facts.endedMs, facts.windowMs)) / 1000,
    windowSeconds: windowMs / 1000,
    interrupted: facts.interrupted,
    ...(unfinished ? { unfinished: /** @type {const} */ (true) } : {}),
    command,
    plan: { ...rest, load, requirements: requirements.map(({ text }) => text) },
    ...(load.shard ? { shard: { ...load.shard } } : {}),
    target,
    load: loadOf(load),
    warmup: { seconds: load.warmupMs / 1000, sent: total(operations.map(({ warmup }) => warmup)) },
    ...block,
    operations: Object.fromEntries(
      operations.map((one) => [
        one.name,
        {
          ...buildBlock([one], factsOf(one), windowMs),
          unit: facts.units[one.name],
        },
      ]),
    ),
    ...(stages.length === 0 ? {} : { stages: buildStages(cells, stages, facts) }),
    timeline: buildTimeline(operations, seconds, dueIn),
    requirements: requirements.map((requirement) =>
      load.shard
        ? deferRequirement(requirement, load.shard)
        : judgeRequirement(requirement, viewFor(requirement)),
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

/** @param {LoadPlan} load @returns {Result['load']} */
function loadOf({ stages, ...load }) {
  return { ...load, ...(stages === null ? {} : { stageCount: stages.length }) };
}
