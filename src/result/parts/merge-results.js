/**
 * The results of all parts of one plan (`--shard`) -> the result of the plan, as one run of all their threads would have given
 * it: what the parts' recorders handed in is restored from their results, and goes the way that it goes in a run.
 */
import { usageError } from '../../common/errors.js';
import { total } from '../../common/sums.js';
import { createSeconds } from '../../engine/recording/seconds.js';
import { mergeTallies } from '../../engine/recording/tally.js';
import { createDuePerSecond, scheduleOf } from '../../plan/due.js';
import { parseRequirement } from '../../plan/requirements.js';
import { partName, shareOf } from '../../plan/shard-part.js';
import { observe, ownLossesOf } from '../../verdict/observed.js';
import { buildBlock } from '../build.js';
import { findUnreadable } from '../check/check-latency.js';
import { concludeWith } from '../conclude.js';
import { secondsOf, tallyOf } from './merge-block.js';
import { orderParts } from './parts.js';
import { problemsOfParts, startedApart, watchedOfParts } from './watched-parts.js';
/** @import { Plan } from '../../plan/plan.js' */
/** @import { Schedule } from '../../plan/schedule.js' */
/** @import { RunFacts } from '../build.js' */
/** @import { Result } from '../schema.js' */
/** @import { Part } from './parts.js' */

/**
 * @typedef {object} MergeOptions
 * @property {string[]} [names] what to call the results in errors, e.g. their files
 * @property {boolean} [allowInterrupted] take parts that were not run to their end
 * @property {string} [command] the command line, for the result
 * @property {(text: string) => void} [onWarning]
 */

/**
 * @param {readonly Result[]} results of all parts, in any order
 * @param {MergeOptions} [options]
 * @returns {Result}
 * @throws {PkiLoadError} where they are not the parts of one plan
 */
export function mergeResults(results, { names = [], allowInterrupted, command, onWarning } = {}) {
  const named = results.map((result, i) => ({ name: names[i] ?? `Result ${i + 1}`, result }));
  const parts = orderParts(named, allowInterrupted);
  for (const text of warnings(parts)) onWarning?.(text);
  const plan = planOf(parts);
  const schedule = scheduleOf(plan.load);
  if (schedule !== null) checkPlanned(parts, schedule);
  try {
    return addUp(parts, plan, schedule, command ?? parts[0].result.command);
  } catch (error) {
    // Files are checked when they are read; who hands in results of his own learns here which of them is broken.
    throw unreadable(parts, error) ?? error;
  }
}

/**
 * @param {Part[]} parts
 * @param {Plan} plan
 * @param {Schedule | null} schedule null: a closed loop has none
 * @param {string} command
 * @returns {Result}
 */
function addUp(parts, plan, schedule, command) {
  const { operations, ...late } = mergeTallies(parts.map(({ result, merge }) => tallyOf(result, merge)));
  const watched = watchedOfParts(parts, late);
  const facts = { ...factsOf(parts, plan), ownLosses: ownLossesOf(operations, watched) };
  const block = buildBlock(operations, facts);
  const seconds = addSeconds(parts);
  const { load } = plan;
  const apart = startedApart(parts, facts.windowMs);
  const seen = observe({ load, operations, block, facts, seconds, watched, targetIsLocal: false, apart });
  const sum = concludeWith(
    { ...seen, problems: problemsOfParts(parts) },
    {
      plan,
      target: targetOf(parts),
      command,
      startedAt: new Date(Math.min(...parts.map(({ result }) => Date.parse(result.startedAt)))),
      startedAtNs: 0n,
      operations,
      block,
      facts,
      seconds,
      dueIn: schedule === null ? null : createDuePerSecond(schedule, null, load.warmupMs),
    },
  );
  return withParts(sum, parts);
}

/** @param {Part[]} parts @param {unknown} cause */
function unreadable(parts, cause) {
  for (const { name, result } of parts) {
    const place = findUnreadable(result);
    if (place === null) continue;
    return usageError(
      'inconsistent_result',
      `${name} does not add up: ${place} cannot be read.`,
      'Give the file as vault-pki-load wrote it.',
      cause,
    );
  }
}

/** @param {Part[]} parts @returns {string[]} sentences */
function warnings(parts) {
  const versions = distinct(parts.map(({ result }) => result.tool.version));
  if (versions.length === 1) return [];
  return [`The parts were run with different versions of vault-pki-load: ${versions.join(', ')}.`];
}

/** @param {Part[]} parts @param {Plan} plan @returns {RunFacts} */
function factsOf(parts, { load }) {
  const results = parts.map(({ result }) => result);
  return {
    planned: total(results.map(({ totals }) => totals.planned)),
    neverSent: total(results.map(({ totals }) => totals.planned - totals.sent - totals.dropped)),
    windowMs: Math.max(...parts.map(({ merge }) => merge.windowMs)),
    endedMs: Math.max(...parts.map(({ merge }) => merge.endedMs)),
    model: load.model,
    arrivals: load.arrivals,
    warmupMs: load.warmupMs,
    interrupted: results.some(({ interrupted, unfinished }) => interrupted || unfinished === true),
    units: Object.fromEntries(
      Object.entries(results[0].operations).map(([name, { unit, things }]) => [
        name,
        unit ?? things ?? 'responses',
      ]),
    ),
    meanings: Object.fromEntries(
      results.flatMap(({ outcomeDetails }) =>
        Object.entries(outcomeDetails).flatMap(([name, { meaning }]) =>
          meaning === undefined ? [] : [[name, meaning]],
        ),
      ),
    ),
  };
}

/** @param {Part[]} parts */
function addSeconds(parts) {
  const seconds = createSeconds(parts.length, { joins: true });
  for (const { result, merge } of parts) for (const row of secondsOf(result, merge)) seconds.add(row);
  seconds.closeAll();
  return seconds.rows;
}

/**
 * The blocks about the machine: there may be as many machines as parts.
 *
 * @param {Result} sum
 * @param {Part[]} parts
 * @returns {Result}
 */
function withParts({ startedAtMonotonicNs, ...sum }, parts) {
  const environments = parts.map(({ result }) => result.environment);
  // Notes that no operation's block has, e.g. of requirements that were not judged.
  const notes = distinct(
    [sum, ...parts.map(({ result }) => result)].flatMap(({ verification }) => verification.notes ?? []),
  );
  return {
    ...sum,
    verification: { ...sum.verification, notes },
    environment: {
      node: distinct(environments.map(({ node }) => node)).join(', '),
      platform: distinct(environments.map(({ platform }) => platform)).join(', '),
      cpus: Math.min(...environments.map(({ cpus }) => cpus)),
    },
    merged: parts.map(({ shard, result }) => ({
      index: shard.index,
      startedAt: result.startedAt,
      durationSeconds: result.durationSeconds,
      command: result.command,
      tool: { version: result.tool.version },
      sent: result.totals.sent,
      threads: result.load.threads,
      environment: result.environment,
      verdict: result.measurement.verdict,
    })),
  };
}

/** @param {string[]} texts @returns {string[]} each once */
function distinct(texts) {
  return [...new Set(texts)];
}

/** @param {Part[]} parts @returns {Plan} the whole one; threads are those of all parts */
export function planOf(parts) {
  const [{ result }] = parts;
  const { load, requirements, ...rest } = /** @type {any} */ (result.plan);
  return {
    ...rest,
    mix: rest.mix ?? null,
    load: {
      ...load,
      threads: total(parts.map(({ result: { load: own } }) => own.threads)),
      shard: null,
      startAt: load.startAt ?? null,
      stages: load.stages ?? null,
    },
    requirements: requirements.map((/** @type {string} */ text) => parseRequirement(text)),
  };
}

/**
 * In an open loop the plan determines how many requests each part has.
 *
 * @param {Part[]} parts
 * @param {Schedule} schedule of the whole plan
 */
function checkPlanned(parts, { count, firstMeasured }) {
  for (const { name, shard, result } of parts) {
    const planned = shareOf(count, shard) - shareOf(firstMeasured, shard);
    if (result.totals.planned === planned) continue;
    throw usageError(
      'inconsistent_result',
      `${name} does not add up: ${partName(shard)} of its plan has ${planned} requests, but totals.planned is ${result.totals.planned}.`,
      'Give the file as vault-pki-load wrote it.',
    );
  }
}

/**
 * @param {Part[]} parts that do not contradict each other; a target may not have reported its product
 * @returns {Result['target']}
 */
function targetOf(parts) {
  const targets = parts.map(({ result }) => result.target);
  const told = (/** @type {'product' | 'version'} */ key) =>
    targets.find((target) => target[key] !== null)?.[key] ?? null;
  return { ...targets[0], product: told('product'), version: told('version') };
}
