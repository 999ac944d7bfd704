/**
 * What a report of a comparison takes for granted, checked before a file is trusted: groups are named by their place, so the
 * place must be there; each group has figures for each metric; each but the base is compared with it, once.
 */
import { decodeHistogram } from '../../common/histogram.js';
import { total } from '../../common/sums.js';
/** @import { Comparison } from '../comparison/comparison-schema.js' */
/** @import { DelayBlock, Propagation, PropagationNode } from '../propagation/propagation-schema.js' */
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
    ...metrics.flatMap((metric) => [...checkSummaries(groups, metric), ...checkDifferences(groups, metric)]),
  ];
}

/** @param {Comparison['groups']} groups @param {Comparison['metrics'][number]} metric */
function checkSummaries(groups, { key }) {
  return groups.flatMap(({ name, metrics }) =>
    Object.hasOwn(metrics, key) ? [] : [`the group ${JSON.stringify(name)} has no figures for ${key}`],
  );
}

/** @param {Comparison['groups']} groups @param {Comparison['metrics'][number]} metric */
function checkDifferences(groups, { key, comparisons, best, bestMedian }) {
  const { length } = groups;
  const named = [...comparisons.flatMap(({ base, other }) => [base, other]), best ?? 0, bestMedian ?? 0];
  const gone = named.filter((index) => index >= length);
  const times = groups.map((_, i) => comparisons.filter(({ other }) => other === i).length);
  return [
    ...[...new Set(gone)].map((index) => `${key} names group ${index}, but there are only ${length} groups`),
    ...comparisons.flatMap(({ base, other }) =>
      base === other ? [`${key} compares group ${other} with itself`] : [],
    ),
    ...times.flatMap((count, i) =>
      i === 0 || count === 1 ? [] : [`${key} of group ${i} is compared ${count} times, not once`],
    ),
  ];
}

/**
 * @param {Propagation} found valid by its schema
 * @returns {string[]} sentences without a full stop; none where all adds up
 */
export function checkPropagation(found) {
  const { certificates, rows, nodes, everywhere, revokeMs } = found;
  const revoked = rows.filter(({ outcome }) => outcome === 'revoked').length;
  return [
    ...unless(certificates.begun === rows.length, 'certificates.begun is not the number of rows'),
    ...unless(
      sum(certificates.outcomes) === certificates.begun,
      'certificates.outcomes do not add up to certificates.begun',
    ),
    ...unless(certificates.begun <= certificates.planned, 'more certificates were begun than planned'),
    ...unless(
      everywhere.revoked === revoked,
      'everywhere.revoked is not the number of rows that are revoked',
    ),
    ...unless(
      rows.every((row) => row.nodes.length === 0 || row.nodes.length === nodes.length),
      'a row has not as many nodes as there are',
    ),
    ...unless(
      rows.every((row) =>
        row.nodes.every(({ interval }) => interval === null || interval.lowerMs <= interval.upperMs),
      ),
      'an interval ends before it begins',
    ),
    ...checkDelay('everywhere', everywhere),
    ...checkHistogram('revokeMs', revokeMs),
    ...nodes.flatMap((node, i) => checkNode(`nodes.${i}`, node, i, rows)),
  ];
}

/**
 * @param {string} name
 * @param {PropagationNode} node
 * @param {number} number
 * @param {Propagation['rows']} rows
 */
function checkNode(name, { delay, asked, answers, outcomes }, number, rows) {
  const own = rows.flatMap((row) => row.nodes[number] ?? []);
  return [
    ...checkDelay(`${name}.delay`, delay),
    ...unless(
      delay.revoked === (outcomes.revoked ?? 0),
      `${name}.delay.revoked is not its number of outcomes`,
    ),
    ...unless(sum(outcomes) === own.length, `${name}.outcomes do not add up to its rows`),
    ...unless(sum(answers) === asked.looks + asked.polls, `${name}.answers do not add up to what was asked`),
  ];
}

/** @param {string} name @param {DelayBlock} delay */
function checkDelay(name, { revoked, beforeAnswered, sinceAnswered, sinceSent, widthMs }) {
  const blocks = Object.entries({
    'sinceAnswered.lower': sinceAnswered.lower,
    'sinceAnswered.upper': sinceAnswered.upper,
    'sinceSent.lower': sinceSent.lower,
    'sinceSent.upper': sinceSent.upper,
    widthMs,
  });
  return [
    ...unless(beforeAnswered <= revoked, `${name}.beforeAnswered is more than all`),
    ...blocks.flatMap(([key, block]) => [
      ...unless(block.count === revoked, `${name}.${key}.count is not ${name}.revoked`),
      ...checkHistogram(`${name}.${key}`, block),
    ]),
  ];
}

/** @param {string} name @param {LatencyBlock} block */
function checkHistogram(name, { count, histogram }) {
  if (histogram === null) return unless(count === 0, `${name} has no histogram`);
  try {
    return unless(decodeHistogram(histogram).totalCount === count, `${name}.histogram has another count`);
  } catch {
    return [`${name}.histogram cannot be read`];
  }
}

/** @param {Record<string, number>} counts */
function sum(counts) {
  return total(Object.values(counts));
}

/** @param {boolean} holds @param {string} problem */
function unless(holds, problem) {
  return holds ? [] : [problem];
}
