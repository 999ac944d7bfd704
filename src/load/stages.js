/** When the stages of a plan begin and end, in milliseconds from the start of the measured part. */

import { createDueCounter } from './due.js';

/** @typedef {{name: string | null, startMs: number, endMs: number}} Span `name` null: the whole measured part, which has no stages */

/**
 * @param {Pick<import('../plan.js').LoadPlan, 'stages'>} load
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
 * @returns {(ms: number) => number} from the start of the measured part -> which stage that is; what comes later is the last's
 */
export function createStageFinder(spans) {
  const last = spans.length - 1;
  if (last === 0) return () => 0;
  /** Where the last look was: samples come nearly in order. */
  let near = 0;
  return (ms) => {
    while (near < last && ms >= spans[near].endMs - TOLERANCE_MS) near++;
    while (near > 0 && ms < spans[near].startMs - TOLERANCE_MS) near--;
    return near;
  };
}

/**
 * @param {import('../plan.js').LoadPlan} load
 * @param {import('./pacing/schedule.js').Schedule | null} schedule of the whole plan; null: a closed loop
 * @returns {import('../results/stages.js').StageFacts[]} none where the plan has no stages
 */
export function stageFacts(load, schedule) {
  if (load.stages === null) return [];
  const counter = schedule === null ? null : createDueCounter(schedule, load.shard);
  const until = (/** @type {number} */ ms) => counter?.until(load.warmupMs + ms) ?? 0;
  return spansOf(load, null).map(({ name, startMs, endMs }) => ({
    name: String(name),
    startMs,
    endMs,
    due: counter === null ? null : until(endMs) - until(startMs),
  }));
}
