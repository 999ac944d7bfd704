/** Tests whether a series of figures, one per second, drifts. Robust against outliers and ties. */
import { normalUpperTail } from '../common/normal.js';
import { median } from '../common/sums.js';
import { isConstant, stagesOf } from '../plan/stages.js';

/** @import { Second } from '../engine/recording/seconds.js' */
/** @import { LoadPlan } from '../plan/load.js' */

/** @typedef {{from: number, to: number, stage?: string}} Drift fitted values at both ends */

/** Two-sided significance, and the relative change over the series that gets a remark. */
const P = 0.001;
const CHANGE = 0.25;
/** With fewer, the test cannot reach its significance. */
const MIN_VALUES = 8;
/** A long run has too many pairs: its seconds are reduced to at most this many medians. */
const MAX_VALUES = 240;
/** A median that moves by less than this counts as constant: no machine is steadier. */
const MIN_DRIFT_MS = 0.1;

/**
 * Mann-Kendall test with the correction for ties (Kendall, Rank Correlation Methods, 1975): S counts the
 * pairs that rise minus those that fall; var S = (n(n-1)(2n+5) - sum t(t-1)(2t+5)) / 18 over groups of t
 * equal values; z = (|S| - 1) / sd.
 * @param {number[]} values @returns {number} two-sided p
 */
export function mannKendall(values) {
  const n = values.length;
  let s = 0;
  for (let j = 1; j < n; j++) for (let i = 0; i < j; i++) s += Math.sign(values[j] - values[i]);
  /** @type {Map<number, number>} */
  const ties = new Map();
  for (const value of values) ties.set(value, (ties.get(value) ?? 0) + 1);
  const term = (/** @type {number} */ t) => t * (t - 1) * (2 * t + 5);
  const tied = [...ties.values()].reduce((sum, t) => sum + term(t), 0);
  const variance = (term(n) - tied) / 18;
  if (variance <= 0 || s === 0) return 1;
  return 2 * normalUpperTail((Math.abs(s) - 1) / Math.sqrt(variance));
}

/** Theil-Sen line: median slope, median residual. @param {number[]} values at least two @returns {Drift} */
export function fitLine(values) {
  /** @type {number[]} */
  const slopes = [];
  for (let j = 1; j < values.length; j++) {
    for (let i = 0; i < j; i++) slopes.push((values[j] - values[i]) / (j - i));
  }
  const slope = median(slopes);
  const from = median(values.map((value, i) => value - slope * i));
  return { from, to: from + slope * (values.length - 1) };
}

/** @param {number[]} values in time order @param {number} [limit] of the change @returns {Drift | null} */
export function findDrift(values, limit = 0) {
  if (values.length < MIN_VALUES) return null;
  const width = Math.ceil(values.length / MAX_VALUES);
  const series = Array.from({ length: Math.floor(values.length / width) }, (_, i) =>
    median(values.slice(i * width, (i + 1) * width)),
  );
  if (mannKendall(series) >= P) return null;
  const { from, to } = fitLine(series);
  const change = Math.abs(to - from);
  const base = Math.max(Math.min(from, to), 0);
  return change > limit && change >= CHANGE * base ? { from: Math.max(0, from), to: Math.max(0, to) } : null;
}

/**
 * A rising rate (--ramp-up) raises the latency by design, and in an open loop the schedule determines how many
 * succeed. In a plan with stages, each constant stage is tested on its own.
 * @param {LoadPlan} load @param {{windowMs: number}} facts @param {Second[]} seconds
 * @returns {{latencyDrift: Drift | null, rateDrift: Drift | null}} of the first stage that has one
 */
export function driftsOf(load, { windowMs }, seconds) {
  const stages = stagesOf(load).flatMap(({ name, startMs, endMs }, i) =>
    // Its first second still has responses to requests of the stage before.
    isConstant(load, i)
      ? { first: Math.ceil(startMs / 1000) + (i === 0 ? 0 : 1), endMs, name: { stage: name } }
      : [],
  );
  const first = Math.ceil(Math.max(0, load.rampUpMs - load.warmupMs) / 1000);
  for (const span of load.stages === null ? [{ first, endMs: windowMs, name: {} }] : stages) {
    const rows = seconds.slice(span.first, Math.floor(Math.min(span.endMs, windowMs) / 1000));
    const medians = rows.flatMap(({ p50 }) => p50 ?? []);
    const latency = findDrift(medians, MIN_DRIFT_MS);
    const rate = load.model === 'open' ? null : findDrift(rows.map(({ succeeded }) => succeeded));
    if (latency === null && rate === null) continue;
    return {
      latencyDrift: latency && { ...latency, ...span.name },
      rateDrift: rate && { ...rate, ...span.name },
    };
  }
  return { latencyDrift: null, rateDrift: null };
}
