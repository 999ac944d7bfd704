/** When the stages of a plan begin and end, in milliseconds from the start of the measured part. */
import { createDueCounter } from './due.js';
/** @import { LoadPlan } from './load.js' */
/** @import { Schedule } from './schedule.js' */

/** @typedef {{name: string, startMs: number, endMs: number, level: {least: number, most: number}}} StageSpan as planned, times from the start of the measured part */
/** @typedef {{name: string | null, startMs: number, endMs: number}} Span `name` null: the whole measured part, which has no stages */

/**
 * @param {Pick<LoadPlan, 'stages'>} load
 * @param {number | null} measuredMs planned length of the measured part; null: the requests decide
 * @returns {Span[]} at least one
 */
export function spansOf({ stages }, measuredMs) {
  if (stages === null) return [{ name: null, startMs: 0, endMs: measuredMs ?? Number.POSITIVE_INFINITY }];
  let startMs = 0;
  return stages.map(({ name, lines }) => {
    const span = {
      name,
      startMs,
      endMs: startMs + lines.reduce((sum, { durationMs }) => sum + durationMs, 0),
    };
    startMs = span.endMs;
    return span;
  });
}

/** Rounding must not carry an arrival into another stage than the one that it was planned in: see due.js. */
const TOLERANCE_MS = 1e-6;

/**
 * @param {readonly Span[]} spans
 * @returns {(ms: number) => number} from the start of the measured part -> its stage; later times belong to the last
 */
export function createStageFinder(spans) {
  const last = spans.length - 1;
  if (last === 0) return () => 0;
  /** Stage of the last sample: samples come nearly in order. */
  let near = 0;
  return (ms) => {
    while (near < last && ms >= spans[near].endMs - TOLERANCE_MS) near++;
    while (near > 0 && ms < spans[near].startMs - TOLERANCE_MS) near--;
    return near;
  };
}

/** @param {Pick<LoadPlan, 'stages'>} load @returns {StageSpan[]} none where the plan has no stages */
export function stagesOf(load) {
  const { stages } = load;
  if (stages === null) return [];
  return spansOf(load, null).map((span, i) => {
    const levels = stages[i].lines.flatMap(({ from, to }) => [from, to]);
    const level = { least: Math.min(...levels), most: Math.max(...levels) };
    return { ...span, name: stages[i].name, level };
  });
}

/**
 * @param {Pick<LoadPlan, 'stages'>} load
 * @param {number} index of a stage
 * @returns {boolean} the same all the time
 */
export function isEven({ stages }, index) {
  return new Set(stages?.[index].lines.flatMap(({ from, to }) => [from, to])).size === 1;
}

/**
 * @param {Pick<LoadPlan, 'stages' | 'warmupMs' | 'rampUpMs'>} load of an open loop
 * @returns {number} ms from time zero: from then to the end the rate does not rise, so that no more should be under way. Its end,
 *   where it rises to the last
 */
export function settledFrom({ stages, warmupMs, rampUpMs }) {
  let ms = Math.max(warmupMs, rampUpMs);
  if (stages === null) return ms;
  let [startMs, level] = [warmupMs, Number.POSITIVE_INFINITY];
  for (const { durationMs, from, to } of stages.flatMap(({ lines }) => lines)) {
    if (from > level) ms = startMs;
    startMs += durationMs;
    if (to > from) ms = startMs;
    level = to;
  }
  return ms;
}

/**
 * @param {LoadPlan} load
 * @param {Schedule | null} schedule of the whole plan; null: a closed loop
 * @returns {(StageSpan & {due: number | null})[]} with the arrivals that this part of the plan has in
 *   each; null: a closed loop plans none
 */
export function stageFacts(load, schedule) {
  const counter = schedule === null ? null : createDueCounter(schedule, load.shard);
  const until = (/** @type {number} */ ms) => counter?.until(load.warmupMs + ms) ?? 0;
  return stagesOf(load).map((span) => ({
    ...span,
    due: counter === null ? null : until(span.endMs) - until(span.startMs),
  }));
}
