/**
 * What reports rely on, checked before a file is trusted. A comparison names groups by their place: each exists, has figures
 * for each metric, and is compared with the base once. And the bookkeeping of a measurement of propagation.
 */
import { total } from '../../common/sums.js';
import { checkHistogram } from './check-latency.js';
/** @import { Comparison } from '../comparison/comparison-schema.js' */
/** @import { DelayBlock, Propagation } from '../propagation/propagation-schema.js' */
/** @import { LatencyBlock } from '../schema.js' */

/**
 * @param {Pick<Comparison, 'groups' | 'metrics'>} comparison
 * @returns {string[]} one sentence per broken identity; empty when all hold
 */
export function checkComparison({ groups, metrics }) {
  const keys = metrics.map(({ key }) => key);
  const twice = keys.filter((key, i) => keys.indexOf(key) !== i);
  return [
    ...twice.map((key) => `the metric ${key} is there twice`),
    ...metrics.flatMap((metric) => [...checkMetric(groups, metric)]),
  ];
}

/** @param {Comparison['groups']} groups @param {Comparison['metrics'][number]} metric */
function* checkMetric(groups, { key, comparisons, best, bestMedian }) {
  for (const { name, metrics } of groups)
    if (!Object.hasOwn(metrics, key)) yield `the group ${JSON.stringify(name)} has no figures for ${key}`;
  const named = [...comparisons.flatMap(({ base, other }) => [base, other]), best ?? 0, bestMedian ?? 0];
  for (const index of new Set(named.filter((one) => one >= groups.length)))
    yield `${key} names group ${index}, but there are only ${groups.length} groups`;
  for (const { base, other } of comparisons)
    if (base === other) yield `${key} compares group ${other} with itself`;
  for (const i of groups.keys()) {
    const { length } = comparisons.filter(({ other }) => other === i);
    if (i > 0 && length !== 1) yield `${key} of group ${i} is compared ${length} times, not once`;
  }
}

/** @param {Propagation} found valid by its schema @returns {string[]} one sentence per broken identity; empty when all hold */
export function checkPropagation(found) {
  return [...propagationProblems(found)];
}

/** @param {Propagation} found */
function* propagationProblems({ certificates, rows, nodes, everywhere, revokeMs }) {
  const { begun, planned, outcomes } = certificates;
  const revoked = rows.filter(({ outcome }) => outcome === 'revoked').length;
  if (begun !== rows.length) yield 'certificates.begun is not the number of rows';
  if (sumOf(outcomes) !== begun) yield 'certificates.outcomes do not add up to certificates.begun';
  if (begun > planned) yield 'more certificates were begun than planned';
  if (everywhere.revoked !== revoked) yield 'everywhere.revoked is not the number of rows that are revoked';
  if (rows.some((row) => row.nodes.length > 0 && row.nodes.length !== nodes.length))
    yield 'a row has not as many nodes as there are';
  if (rows.some((row) => row.nodes.some(({ interval }) => interval && interval.lowerMs > interval.upperMs)))
    yield 'an interval ends before it begins';
  yield* checkDelay('everywhere', everywhere);
  yield* checkDistribution('revokeMs', revokeMs, revokeMs.count);
  for (const [i, node] of nodes.entries()) {
    const { delay, asked, answers } = node;
    const name = `nodes.${i}`;
    yield* checkDelay(`${name}.delay`, delay);
    if (delay.revoked !== (node.outcomes.revoked ?? 0))
      yield `${name}.delay.revoked is not ${name}.outcomes.revoked`;
    const own = rows.filter((row) => row.nodes[i] !== undefined);
    if (sumOf(node.outcomes) !== own.length) yield `${name}.outcomes do not add up to its rows`;
    if (sumOf(answers) !== asked.looks + asked.polls)
      yield `${name}.answers do not add up to the requests that were sent`;
  }
}

/** @param {string} name @param {DelayBlock} delay */
function* checkDelay(name, { revoked, beforeAnswered, sinceAnswered, sinceSent, widthMs }) {
  if (beforeAnswered > revoked) yield `${name}.beforeAnswered is more than ${name}.revoked`;
  for (const [key, { lower, upper }] of Object.entries({ sinceAnswered, sinceSent })) {
    yield* checkDistribution(`${name}.${key}.lower`, lower, revoked);
    yield* checkDistribution(`${name}.${key}.upper`, upper, revoked);
  }
  yield* checkDistribution(`${name}.widthMs`, widthMs, revoked);
}

/** @param {string} name @param {LatencyBlock} block @param {number} expected */
function* checkDistribution(name, { count, histogram }, expected) {
  if (count !== expected) yield `${name}.count is ${count}, not ${expected}`;
  yield* checkHistogram(`${name}.histogram`, histogram, count);
}

/** @param {Record<string, number>} counts */
function sumOf(counts) {
  return total(Object.values(counts));
}
