/** The stages of a plan: their times, levels and planned requests, from the plan alone. */
import { maxOf, minOf, total } from '../common/sums.js';
import { createDueCounter } from './due.js';
import { createProfile, TOLERANCE_MS } from './schedule.js';
import { share, shareOf } from './shard-part.js';
/** @import { LoadPlan } from './load.js' */
/** @import { Schedule } from './schedule.js' */

/** @typedef {{name: string, startMs: number, endMs: number, level: {least: number, most: number}}} StageSpan */
/** @typedef {StageSpan | {name: null, startMs: number, endMs: number}} Span name null: no stages */

/** @param {Pick<LoadPlan, 'stages'>} load @param {number | null} measuredMs null: unknown @returns {Span[]} */
export function stageTimesOf(load, measuredMs) {
  if (load.stages === null) return [{ name: null, startMs: 0, endMs: measuredMs ?? Infinity }];
  return stagesOf(load);
}

/** @param {Pick<LoadPlan, 'stages'>} load @returns {StageSpan[]} none if the plan has no stages */
export function stagesOf({ stages }) {
  let endMs = 0;
  return (stages ?? []).map(({ name, lines }) => {
    const startMs = endMs;
    endMs += total(lines.map(({ durationMs }) => durationMs));
    const levels = lines.flatMap(({ from, to }) => [from, to]);
    return { name, startMs, endMs, level: { least: minOf(levels), most: maxOf(levels) } };
  });
}

/** @param {Pick<LoadPlan, 'stages'>} load @param {number} index @returns {boolean} the stage has a constant level */
export function isConstant(load, index) {
  const { level } = stagesOf(load)[index];
  return level.least === level.most;
}

/**
 * Rounding must not move an arrival into another stage than the planned one: see due.js.
 * @param {readonly Span[]} spans
 * @returns {(ms: number) => number} time from the start of the measured phase -> stage; after the end, the last
 */
export function createStageFinder(spans) {
  const last = spans.length - 1;
  if (last === 0) return () => 0;
  /** Stage of the last sample: samples arrive nearly in order. */
  let near = 0;
  return (ms) => {
    while (near < last && ms >= spans[near].endMs - TOLERANCE_MS) near++;
    while (near > 0 && ms < spans[near].startMs - TOLERANCE_MS) near--;
    return near;
  };
}

/**
 * @param {Pick<LoadPlan, 'stages' | 'warmupMs' | 'rampUpMs'>} load of an open loop
 * @returns {number} ms from time zero: after this the rate does not rise, nor should the number in flight
 */
export function settledFrom({ stages, warmupMs, rampUpMs }) {
  let ms = Math.max(warmupMs, rampUpMs);
  let [startMs, level] = [warmupMs, Number.POSITIVE_INFINITY];
  for (const { durationMs, from, to } of (stages ?? []).flatMap(({ lines }) => lines)) {
    if (from > level) ms = startMs;
    startMs += durationMs;
    if (to > from) ms = startMs;
    level = to;
  }
  return ms;
}

/**
 * @param {LoadPlan} load @param {Schedule | null} schedule of the whole plan; null: a closed loop
 * @returns {(StageSpan & {due: number | null})[]} `due`: arrivals of this part of the plan; null: closed loop
 */
export function stageFacts(load, schedule) {
  const bounds = schedule && stageBounds(load, schedule).map((index) => shareOf(index, load.shard));
  return stagesOf(load).map((span, i) => ({ ...span, due: bounds && bounds[i + 1] - bounds[i] }));
}

/** Rounding errors must not keep a ramp from reaching its level. */
const LEVEL_TOLERANCE = 1e-9;

/**
 * @param {Pick<LoadPlan, 'stages' | 'warmupMs'>} load a closed loop @param {number} shard @param {number} shards
 * @returns null: limited only by the connections
 */
export function createInFlight({ stages, warmupMs }, shard, shards) {
  if (stages === null) return null;
  const lines = stages.flatMap((stage) => stage.lines);
  // Here the profile's rate is a number of requests in flight.
  const { ratePerSecond: levelAt } = createProfile(lines);
  return {
    /** Maximum in flight of this shard. @param {number} ms from time zero */
    at(ms) {
      const level = ms < warmupMs ? lines[0].from : levelAt(ms - warmupMs);
      return share(Math.floor(level + LEVEL_TOLERANCE), shard, shards);
    },
  };
}

/** @typedef {{count: number, memberOf: (index: number) => number}} Members of the mix */
/** @typedef {{next: number, step: number, count: number}} Unsent `count` indexes: `next`, `next + step`, ... */

/**
 * The recorders' counts are compared with these. With several operations, visits every index, 50 ns each.
 * @param {LoadPlan} load @param {Schedule} schedule of the whole plan @param {Members} members
 * @returns {number[]} measured requests of this part of the plan, by place in the tally's list of cells
 */
export function countPlanned(load, schedule, members) {
  const { index: next, of: step } = load.shard ?? { index: 0, of: 1 };
  return countCells(stageBounds(load, schedule), { next, step }, members);
}

/**
 * @param {LoadPlan} load @param {Schedule | null} schedule of the whole plan; null: a closed loop
 * @param {Members} members @param {readonly Unsent[]} unsent measured requests of each thread, neither sent nor dropped
 * @returns {number[]} ordered as in countPlanned; a closed loop counts all in its last stage
 */
export function countUnsent(load, schedule, members, unsent) {
  const bounds = schedule === null ? null : stageBounds(load, schedule);
  const stages = stageTimesOf(load, null).length;
  const counts = new Array(stages * members.count).fill(0);
  for (const { next, step, count } of unsent) {
    if (count === 0) continue;
    const inLast = [...new Array(stages).fill(next), next + count * step];
    const cells = countCells(bounds ?? inLast, { next, step }, members);
    for (const [cell, ofCell] of cells.entries()) counts[cell] += ofCell;
  }
  return counts;
}

/** @param {LoadPlan} load @param {Schedule} schedule @returns {number[]} first index of each stage; end of the last */
function stageBounds(load, schedule) {
  const { until } = createDueCounter(schedule, null);
  const ends = stageTimesOf(load, null).slice(0, -1);
  const inner = ends.map(({ endMs }) => Math.max(schedule.firstMeasured, until(load.warmupMs + endMs)));
  return [schedule.firstMeasured, ...inner, schedule.count];
}

/** @param {readonly number[]} bounds @param {{next: number, step: number}} indexes @param {Members} members */
function countCells(bounds, { next, step }, { count: width, memberOf }) {
  /** @type {number[]} */
  const counts = new Array((bounds.length - 1) * width).fill(0);
  for (let stage = 0; stage + 1 < bounds.length; stage++) {
    const [from, to] = [bounds[stage], bounds[stage + 1]];
    const first = from <= next ? next : next + Math.ceil((from - next) / step) * step;
    if (width === 1) counts[stage] = Math.max(0, Math.ceil((to - first) / step));
    else for (let index = first; index < to; index += step) counts[stage * width + memberOf(index)]++;
  }
  return counts;
}
