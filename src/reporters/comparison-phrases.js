/** What comparisons and run sets say in words; shared by the reporters for people. */
import { differenceText } from '../results/figures.js';
import { counted, subjectPhrase } from './phrases.js';

/** @typedef {import('../results/comparison-schema.js').Comparison} Comparison */
/** @typedef {import('../results/comparison-schema.js').ComparedGroup} ComparedGroup */
/** @typedef {import('../results/comparison-schema.js').ComparedMetric} ComparedMetric */
/** @typedef {import('../results/comparison-schema.js').Difference} Difference */
/** @typedef {import('../results/run-summary.js').RunSetSummary} RunSetSummary */
/** @typedef {'bad' | 'good' | 'none' | 'unsure'} Worth */
/** @typedef {{verdict: string, worth: Worth, text: string}} Conclusion */

/** In which conclusions are told. @type {readonly Worth[]} */
const ORDER = ['bad', 'good', 'none', 'unsure'];

/** The worst first: what is said of a requirement over runs. */
const VERDICTS = Object.freeze(['not met', 'not proven', 'met']);

/**
 * @param {{lowerIsBetter: boolean}} metric
 * @param {Difference['verdict']} verdict
 * @returns {Worth}
 */
export function worthOf({ lowerIsBetter }, verdict) {
  if (verdict === 'not enough runs') return 'unsure';
  if (verdict === 'no difference shown') return 'none';
  if (verdict === 'better' || verdict === 'worse') return verdict === 'better' ? 'good' : 'bad';
  const rose = verdict === 'slower' || verdict === 'higher';
  return rose === lowerIsBetter ? 'bad' : 'good';
}

/**
 * @param {ComparedMetric} metric
 * @param {number} other index of a group that is not the base
 * @returns {Difference}
 */
export function differenceTo(metric, other) {
  const found = metric.comparisons.find((difference) => difference.other === other);
  if (found === undefined) throw new Error(`${metric.key} of group ${other} is not compared`);
  return found;
}

/**
 * Metrics by verdict, the worst first.
 *
 * @param {Comparison} comparison
 * @param {number} other index of a group that is not the base
 * @returns {Conclusion[]} text: `p99 +10.3 %, mean +8.30 %`
 */
export function conclusions({ metrics }, other) {
  /** @type {Map<string, Conclusion & {metrics: string[]}>} */
  const found = new Map();
  for (const metric of metrics) {
    const { verdict, differencePercent } = differenceTo(metric, other);
    const worth = worthOf(metric, verdict);
    /** @type {Conclusion & {metrics: string[]}} */
    const conclusion = found.get(worth + verdict) ?? { verdict, worth, text: '', metrics: [] };
    const isShown = worth === 'bad' || worth === 'good';
    const by =
      isShown && differencePercent !== null ? ` ${differenceText(metric.unit, differencePercent)}` : '';
    conclusion.metrics.push(`${metric.label}${by}`);
    found.set(worth + verdict, conclusion);
  }
  return [...found.values()]
    .map(({ verdict, worth, metrics: told }) => ({ verdict, worth, text: told.join(', ') }))
    .sort((a, b) => ORDER.indexOf(a.worth) - ORDER.indexOf(b.worth));
}

/**
 * @param {ComparedGroup} group
 * @returns {string} `10 runs`, `9 of 10 runs`
 */
export function runsPhrase({ runs, used }) {
  return used === runs ? counted(runs, 'run') : `${used} of ${counted(runs, 'run')}`;
}

/**
 * @param {Comparison} comparison
 * @returns {string} `raft, etcd beside consul`
 */
export function headlineOf({ groups: [base, ...others] }) {
  return `${others.map(({ name }) => name).join(', ')} beside ${base.name}`;
}

/**
 * @param {ComparedMetric} metric
 * @param {number} group index
 * @returns {'best' | 'best median' | null}
 */
export function rankOf({ best, bestMedian }, group) {
  if (best === group) return 'best';
  return best === null && bestMedian === group ? 'best median' : null;
}

/**
 * @param {import('../results/run-set.js').RunSet} runSet
 * @returns {string} what the first run was: `ocsp on http://127.0.0.1:8200 (Vault 1.21.1), open loop at 20/s, 20 s`
 */
export function runSetPhrase({ runs }) {
  const [first] = runs;
  return first === undefined ? 'nothing was run' : subjectPhrase(first);
}

/**
 * @param {RunSetSummary} summary
 * @returns {string} `10 runs`, `10 runs, of which 9 count`
 */
export function runSetCount({ runs, used }) {
  const all = counted(runs, 'run');
  return used.length === runs ? all : `${all}, of which ${used.length === 0 ? 'none' : used.length} count`;
}

/**
 * @param {RunSetSummary['requirements'][number]} requirement
 * @returns {{verdict: string, text: string}} the worst verdict, and `p99<200ms: not met in 1 run, met in 9 runs`
 */
export function requirementOverRuns({ text, verdicts }) {
  const given = VERDICTS.filter((verdict) => (verdicts[verdict] ?? 0) > 0);
  const parts = given.map((verdict) => `${verdict} in ${counted(verdicts[verdict], 'run')}`);
  return { verdict: given[0] ?? 'not proven', text: `${text}: ${parts.join(', ')}` };
}
