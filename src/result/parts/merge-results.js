/**
 * Results of all parts of a plan (`--shard`) -> the result of the plan, as if one run had used all their threads:
 * restores the recorder tallies of the parts from their results, and concludes them like those of a run.
 */

import { sanitizeText } from '../../common/sanitize.js';
import { maxOf, minOf, sumArrays, total } from '../../common/sums.js';
import { formatDuration } from '../../common/units.js';
import { createSeconds } from '../../engine/recording/seconds.js';
import { foldStages, mergeTallies } from '../../engine/recording/tally.js';
import { createDuePerSecond, scheduleOf } from '../../plan/due.js';
import { inFlightBetween, offeredBetween } from '../../plan/schedule.js';
import { partName, shareOf } from '../../plan/shard-part.js';
import { stagesOf } from '../../plan/stages.js';
import { countToolErrors, machineOf, mergeCounted, observe } from '../../verdict/observed.js';
import { REASONS } from '../../verdict/reasons.js';
import { buildBlock } from '../build.js';
import { findUnreadable } from '../check/check-latency.js';
import { concludeWith } from '../conclude.js';
import { assertConsistent } from '../declared.js';
import { secondsOf, tallyOf } from './merge-block.js';
import { orderParts, requirementAt } from './parts.js';

/** @import { Plan } from '../../plan/plan.js' */
/** @import { Schedule } from '../../plan/schedule.js' */
/** @import { Observed } from '../../verdict/observed.js' */
/** @import { RunFacts } from '../rates.js' */
/** @import { Result } from '../schema.js' */
/** @import { MissingPart, Part } from './parts.js' */

/** Parts may start this far apart, as clocks differ, or by one clock: more is a remark, and more than this share of the run makes it invalid. */
const [MAX_APART_MS, MAX_APART_BY_ONE_MS, MAX_APART] = [1000, 10, 0.05];

/**
 * @param {readonly Result[]} results of all parts, in any order @param {object} [options]
 * @param {string[]} [options.names] of the results in errors, e.g. their files
 * @param {boolean} [options.allowInterrupted] accept unfinished parts
 * @param {readonly MissingPart[]} [options.missing] parts without a result, or with a part of it, which make the measurement invalid
 * @param {boolean} [options.haveOneClock] their times of start are by one clock
 * @param {string} [options.command] the command line, for the result
 * @param {(text: string) => void} [options.onWarning]
 * @returns {Result} @throws {PkiLoadError} if they are not the parts of one plan
 */
export function mergeResults(results, { names = [], missing = [], ...options } = {}) {
  const { allowInterrupted, haveOneClock = false, command, onWarning } = options;
  const named = results.map((result, i) => ({ name: names[i] ?? `Result ${i + 1}`, result }));
  const parts = orderParts(named, allowInterrupted, missing);
  // Joined parts are stopped by messages, and part 0 knows which were lost or interrupted.
  const incomplete = haveOneClock ? missing : [...missing, ...cutShort(parts, missing)];
  const versions = [...new Set(parts.map(({ result }) => result.tool.version))].join(', ');
  if (versions !== parts[0].result.tool.version)
    onWarning?.(sanitizeText(`The parts come from different versions of vault-pki-load: ${versions}.`));
  try {
    return mergeParts(parts, {
      missing: incomplete,
      haveOneClock,
      command: command ?? parts[0].result.command,
    });
  } catch (error) {
    // Files were checked when read; in results from a library caller, this finds the broken one.
    for (const { name, result } of parts) assertConsistent('result', name, findUnreadable(result), error);
    throw error;
  }
}

/** @param {Part[]} parts @param {{missing: readonly MissingPart[], haveOneClock: boolean, command: string}} options @returns {Result} */
function mergeParts(parts, { missing, haveOneClock, command }) {
  const plan = planOf(parts);
  const { load } = plan;
  const { of } = parts[0].shard;
  const schedule = scheduleOf(load);
  if (schedule !== null) checkPlanned(parts, schedule);
  const tallies = parts.map(({ result, merge }) => tallyOf(result, merge));
  const { cells, ...lateness } = mergeTallies(tallies);
  const stages = stagesOf(load);
  const operations = foldStages(cells, stages);
  const watches = parts.map(({ merge }) => ({
    forgone: 0,
    limited: 0,
    stalledMs: 0,
    stalledStage: null,
    warmupOverlapMs: 0,
    handshakes: {},
    ...merge.watch,
  }));
  const machine = machineOf(watches.map((watch) => watch.machine));
  const watched = { ...mergeCounted(watches), ...lateness, machine };
  const partFacts = factsOf(parts, plan, missing.length > 0);
  const facts = { ...partFacts, toolErrors: countToolErrors(watched, partFacts) };
  const block = buildBlock(operations, facts);
  const joined = createSeconds({ threads: parts.length, shard: null });
  for (const { result, merge } of parts) for (const row of secondsOf(result, merge)) joined.add(row);
  joined.closeAll();
  const seconds = joined.rows;
  const apart = startedApart(parts, facts.windowMs, haveOneClock);
  const found = {
    apart,
    endedApart: endedApart(parts, load),
    missing: missing.map(({ index, why }) => ({ why, part: partName({ index, of }) })),
    invalid: parts.filter(hasShare).flatMap(whyInvalid),
    busyParts: busyOf(parts),
  };
  const seen = observe({ load, operations, block, facts, seconds, watched, targetIsLocal: false, ...found });
  const startedAt = new Date(minOf(parts.map(startOf)));
  const dueIn = schedule === null ? null : duePerSecond(parts, missing, schedule, load.warmupMs);
  const times = { startedAt, startedAtNs: 0n };
  const run = { plan, target: targetOf(parts), command, ...times, operations, cells, stages };
  return withParts(concludeWith(seen, { ...run, block, facts, seconds, dueIn }), parts);
}

/**
 * Parts that were stopped while others went on: after that, a share of the load is missing. The file of a killed part lacks
 * the requests that had no response yet.
 * @param {Part[]} parts @param {readonly MissingPart[]} known @returns {MissingPart[]}
 */
function cutShort(parts, known) {
  const lastMs = maxOf(parts.map(({ merge }) => merge.windowMs));
  return parts.flatMap(({ shard: { index }, result: { interrupted, unfinished }, merge: { windowMs } }) => {
    const isShort = unfinished === true || (interrupted && windowMs < (1 - MAX_APART) * lastMs);
    if (!isShort || known.some((one) => one.index === index)) return [];
    return {
      index,
      why: `it was ${unfinished === true ? 'cut off' : 'interrupted'} after ${formatDuration(windowMs)}`,
    };
  });
}

/** @param {Part[]} parts @param {readonly MissingPart[]} missing @param {Schedule} schedule @param {number} warmupMs */
function duePerSecond(parts, missing, schedule, warmupMs) {
  if (missing.length === 0) return createDuePerSecond(schedule, null, warmupMs);
  const each = parts.map(({ shard }) => createDuePerSecond(schedule, shard, warmupMs));
  return (/** @type {number} */ seconds) => sumArrays(each.map((dueIn) => dueIn(seconds)));
}

/** Whether the part has anything to send: with few requests or connections, some have not. @param {Part} part */
function hasShare({ shard, result: { totals, load } }) {
  if (load.model === 'open') return totals.planned > 0;
  return [load.concurrency, load.requests ?? shard.of].every((all) => shareOf(all, shard) > 0);
}

/** @param {Part} part @returns {{part: string, why: string, isJudgedOnSum: boolean}[]} none: its measurement is valid */
function whyInvalid(part) {
  const [reason, ...others] = part.result.measurement.reasons.filter(({ grade }) => grade === 'invalid');
  if (reason === undefined) return [];
  const isJudgedOnSum = others.length === 0 && reason.code === 'load_not_offered' && isOnlyDisplaced(part);
  return [{ part: partName(part.shard), why: reason.text, isJudgedOnSum }];
}

/** A few requests sent in another second are many of a small part, but may be few of the plan. @param {Part} part */
function isOnlyDisplaced({ merge: { watch, windowMs }, result: { totals, load, outcomes, interrupted } }) {
  const seen = { forgone: 0, ...watch, ...totals, windowMs, outcomes, interrupted, model: load.model };
  const onTime = { ...seen, displaced: { second: 0, tenth: 0 } };
  return REASONS.load_not_offered(/** @type {any} */ (onTime)) === null;
}

/** @param {Part[]} parts @returns {string[]} parts with `busy_machine`; none: the part with the highest send lag */
function busyOf(parts) {
  const busy = parts.filter(({ result }) =>
    result.measurement.reasons.some(({ code }) => code === 'busy_machine'),
  );
  const latest = (/** @type {Part} */ { result }) => result.latencyMs.sendLag.max ?? 0;
  const found = busy.length > 0 ? busy : parts.toSorted((a, b) => latest(b) - latest(a)).slice(0, 1);
  return found.map(({ shard }) => partName(shard));
}

/** Seconds are added by their number, not by clock time. @param {Part[]} parts @param {number} windowMs @param {boolean} haveOneClock @returns {Observed['apart']} */
function startedApart(parts, windowMs, haveOneClock) {
  const byStart = parts.toSorted((a, b) => startOf(a) - startOf(b));
  const [first, last] = [byStart[0], byStart[parts.length - 1]];
  const errorOf = (/** @type {Part} */ { result }) => result.clockErrorMs ?? 0;
  const [worst, next = worst] = parts.toSorted((a, b) => errorOf(b) - errorOf(a));
  const [knownMs, unknownMs] = [startOf(last) - startOf(first), errorOf(worst) + errorOf(next)];
  const apartMs = knownMs + unknownMs;
  const isTooFar = apartMs > MAX_APART * windowMs;
  if (apartMs <= (haveOneClock ? MAX_APART_BY_ONE_MS : MAX_APART_MS) && !isTooFar) return null;
  const known = `By ${haveOneClock ? 'the clock of part 0' : 'their clocks'}, ${partName(last.shard)} started sending ${formatDuration(knownMs)} after ${partName(first.shard)}`;
  const unknown = `Messages between part 0 and ${partName(worst.shard)} took so long that they may have started sending ${formatDuration(apartMs)} apart`;
  return {
    grade: isTooFar ? 'invalid' : 'remark',
    text: `${knownMs < unknownMs ? unknown : known}, so the target was not under full load the whole time.`,
    remedy: haveOneClock
      ? 'Repeat the run if the network or a busy machine delayed the message to start. Parts that are far from part 0 need a longer run.'
      : 'Use the same --start-at for all parts, and synchronize the clocks of the machines.',
  };
}

/** Parts that have sent their share of a number of requests wait for the others. @param {Part[]} parts @param {Plan['load']} load @returns {Observed['endedApart']} */
function endedApart(parts, { model, requests }) {
  if (model !== 'closed' || requests === null) return null;
  const senders = parts.filter(({ result }) => result.totals.sent > 0);
  const byEnd = senders.toSorted((a, b) => a.merge.endedMs - b.merge.endedMs);
  const [first, last] = [byEnd[0], byEnd[byEnd.length - 1]];
  if (first === undefined || last.merge.endedMs * (1 - MAX_APART) <= first.merge.endedMs) return null;
  const [early, late] = [first, last].map(({ merge }) => formatDuration(merge.endedMs));
  return {
    text: `Each part had the same number of requests: ${partName(first.shard)} was done after ${early}, ${partName(last.shard)} after ${late}. Until then the others did not send, so the rate is lower than they could send.`,
    remedy: 'Use --duration in place of --requests: all parts then send to the end.',
  };
}

/** @param {Part} part @returns {number} Unix time in ms */
const startOf = ({ result }) => Date.parse(result.startedAt);

/** @param {Part[]} parts @param {Plan} plan @param {boolean} isIncomplete @returns {RunFacts} */
function factsOf(parts, { load }, isIncomplete) {
  const results = parts.map(({ result }) => result);
  const operations = Object.entries(results[0].operations);
  const units = operations.map(([name, { unit, things = 'responses' }]) => [name, unit ?? things]);
  const details = results.flatMap(({ outcomeDetails }) => Object.entries(outcomeDetails));
  const meanings = details.flatMap(([name, { meaning }]) => (meaning ? [[name, meaning]] : []));
  const { model, arrivals, warmupMs, timeoutMs } = load;
  const windowMs = maxOf(parts.map(({ merge }) => merge.windowMs));
  return {
    planned: total(results.map(({ totals }) => totals.planned)),
    neverSent: total(results.map(({ totals }) => totals.planned - totals.sent - totals.dropped)),
    windowMs,
    isIncomplete,
    offeredPerSecond: isIncomplete ? null : offeredBetween(load, 0, windowMs),
    concurrency: inFlightBetween(load, 0, windowMs),
    endedMs: maxOf(parts.map(({ merge }) => merge.endedMs)),
    ...{ model, arrivals, warmupMs, timeoutMs },
    interrupted: results.some(({ interrupted, unfinished }) => interrupted || unfinished === true),
    units: Object.fromEntries(units),
    meanings: Object.fromEntries(meanings),
  };
}

/** @param {Result} sum @param {Part[]} parts @returns {Result} */
function withParts({ startedAtMonotonicNs, ...sum }, parts) {
  const results = parts.map(({ result }) => result);
  const all = (/** @type {'node' | 'platform'} */ key) =>
    [...new Set(results.map(({ environment }) => environment[key]))].join(', ');
  const cpus = minOf(results.map(({ environment }) => environment.cpus));
  // Includes notes missing from the blocks of operations, e.g. on requirements not judged.
  const notes = [sum, ...results].flatMap(({ verification }) => verification.notes ?? []);
  return {
    ...sum,
    verification: { ...sum.verification, notes: [...new Set(notes)] },
    environment: { node: all('node'), platform: all('platform'), cpus },
    merged: parts.map(({ shard, result }) => ({
      index: shard.index,
      of: shard.of,
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

/** @param {Part[]} parts @returns {Plan} the whole one; threads are those of all parts */
function planOf(parts) {
  const { result } = parts[0];
  const { load, requirements, ...rest } = /** @type {any} */ (result.plan);
  const threads = total(parts.map(({ result }) => result.load.threads));
  const { startAt = null, stages = null } = load;
  return {
    ...rest,
    mix: rest.mix ?? null,
    load: { ...load, threads, shard: null, startAt, stages },
    requirements: requirements.map((/** @type {string} */ _, /** @type {number} */ i) =>
      requirementAt(result, i),
    ),
  };
}

/** In an open loop the plan determines the counts. @param {Part[]} parts @param {Schedule} schedule of the whole plan */
function checkPlanned(parts, { count, firstMeasured }) {
  for (const { name, shard, result } of parts) {
    const planned = shareOf(count, shard) - shareOf(firstMeasured, shard);
    const problem = `${partName(shard)} of its plan has ${planned} requests, but totals.planned is ${result.totals.planned}`;
    if (result.totals.planned !== planned) assertConsistent('result', name, problem);
  }
}

/** @param {Part[]} parts some may lack the product @returns {Result['target']} */
function targetOf(parts) {
  const targets = parts.map(({ result }) => result.target);
  const find = (/** @type {'product' | 'version'} */ key) =>
    targets.find((target) => target[key] !== null)?.[key] ?? null;
  return { ...targets[0], product: find('product'), version: find('version') };
}
