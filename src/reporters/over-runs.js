/** Figures over runs as cells of tables; shared by the reporters for people. */
import {
  deviationText,
  differenceText,
  figureText,
  intervalText,
  pText,
  varianceText,
} from '../results/runs/figures.js';
import { VARIANCE_KEYS } from '../results/runs/run-metrics.js';
import { differenceTo } from './comparison-phrases.js';

/** @typedef {import('../results/comparison/comparison-schema.js').Comparison} Comparison */
/** @typedef {import('../results/comparison/comparison-schema.js').ComparedMetric} ComparedMetric */
/** @typedef {import('../results/runs/run-metrics.js').MetricSummary} MetricSummary */
/** @typedef {import('../results/runs/run-metrics.js').Unit} Unit */

/** What `spreadCells` are, where there is little room. */
export const SPREAD_LABELS = Object.freeze(['mean', 'std dev', 'variance', 'min', 'max']);

/** The same in full. */
export const SPREAD_TITLES = Object.freeze(['Mean', 'Standard deviation', 'Variance', 'Min', 'Max']);

/**
 * @param {Unit} unit
 * @param {MetricSummary} summary
 * @returns {string[]} as SPREAD_LABELS
 */
export function spreadCells(unit, summary) {
  return [
    figureText(unit, summary.mean),
    deviationText(unit, summary),
    varianceText(unit, summary),
    figureText(unit, summary.min),
    figureText(unit, summary.max),
  ];
}

/**
 * @param {Comparison} comparison
 * @param {(group: number) => string} nameOf
 * @returns {string[][]} rows: metric and group, and `spreadCells`
 */
export function varianceRows({ groups, metrics }, nameOf) {
  return metrics
    .filter(({ key }) => VARIANCE_KEYS.includes(key))
    .flatMap(({ key, label, unit }) =>
      groups.map((group, i) => [`${label}${nameOf(i)}`, ...spreadCells(unit, group.metrics[key])]),
    );
}

/**
 * @param {Comparison} comparison
 * @param {ComparedMetric} metric
 * @param {number} other index of a group that is not the base
 * @returns {string[]} metric, median of the base, median of the other, difference, interval, p
 */
export function differenceCells(comparison, metric, other) {
  const { differencePercent, interval, pValue } = differenceTo(metric, other);
  return [
    metric.label,
    medianText(comparison, metric, 0),
    medianText(comparison, metric, other),
    differenceText(metric.unit, differencePercent),
    intervalText(metric.unit, interval),
    pText(pValue),
  ];
}

/**
 * @param {Comparison} comparison
 * @param {ComparedMetric} metric
 * @param {number} group index
 */
export function medianText({ groups }, { key, unit }, group) {
  return figureText(unit, groups[group].metrics[key].median);
}
