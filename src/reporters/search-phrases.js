/** What reports say of a search in words; shared by those for people. */

import { levelText } from '../results/search/explain.js';
import { formatPercent } from '../results/wording.js';
import { formatCount, formatDuration, formatLatency } from '../units.js';
import { perHourText, perSecondText, targetPhrase, timeText } from './phrases.js';

/** @typedef {import('../results/search/search-schema.js').Search} Search */
/** @typedef {import('../results/search/search-schema.js').SearchStep} SearchStep */

/** @param {Search} search @returns {string} what is looked for, as a heading */
export function searchTitle({ searched }) {
  return searched === 'rate' ? 'Highest rate' : 'Peak throughput';
}

/**
 * @param {Search} search
 * @returns {string} the answer: `118/s = 424,800 an hour`; `1,234/s with 16 in flight`. Where the target did not come to its limit
 *   that is a lower bound, and said to be one
 */
export function answerPhrase({ searched, answer, bracket, unfinished, why }) {
  if (answer !== null) {
    const { level, perSecond } = answer;
    const found =
      searched === 'rate'
        ? `${levelText(searched, level)} = ${perHourText(level * 3600)} an hour`
        : `${perSecondText(perSecond)} with ${levelText(searched, level)}`;
    if (why === 'generator') return `unknown, but at least ${found}: the tool could not offer more`;
    return why === 'highest' ? `at least ${found}: more was not allowed` : found;
  }
  if (why === 'generator') return 'unknown: the tool could not honestly offer the load';
  const met = bracket.highestMet === null ? '' : `; met up to ${levelText(searched, bracket.highestMet)}`;
  return unfinished ? `not known yet${met}` : `none was confirmed${met}`;
}

/**
 * @param {Search} search
 * @returns {string} between which levels the answer lies, and how it is known
 */
export function certaintyPhrase({ searched, answer, bracket: { above } }) {
  if (answer === null) return '';
  const over = formatDuration(answer.seconds * 1000);
  const confirmed = `confirmed by a run of ${over} with ${formatCount(answer.requests)} requests`;
  if (above === null)
    return searched === 'rate' ? `${confirmed}; no higher level was found to fail` : confirmed;
  const wider = formatPercent(above.level / answer.level - 1);
  return `${confirmed}; ${levelText(searched, above.level)} (${wider} more) was ${above.verdict}`;
}

/**
 * @param {Search} search with an answer
 * @param {number} i place of a requirement
 * @returns {'met' | 'not met' | 'not proven'} at the answer
 */
export function requirementVerdict({ requirements, confirmation }, i) {
  if (!requirements[i].beyond) return 'met';
  return confirmation?.requirements[i]?.verdict === 'not proven' ? 'not proven' : 'not met';
}

/** @param {Search} search @returns {string} `ocsp on http://127.0.0.1:8200 (Vault 1.21.1)` */
export function searchSubject({ name, target }) {
  return target === null ? name : `${name} on ${targetPhrase(target)}`;
}

/**
 * @param {Search['searched']} searched
 * @param {SearchStep} step
 * @returns {string} a line of progress
 */
export function stepPhrase(searched, { level, verdict, p50Ms, p99Ms, errorShare, perSecond, reason }) {
  const rate = searched === 'rate' ? '' : `, ${perSecondText(perSecond)}`;
  const figures = `p50 ${timeText(p50Ms)}, p99 ${timeText(p99Ms)}${rate}, errors ${shareText(errorShare)}`;
  const why = verdict === 'met' ? '' : ` ${reason}`;
  return `${levelText(searched, level)}: ${verdict}; ${figures}.${why}`;
}

/** @param {number | null} share */
export function shareText(share) {
  if (share === null) return '–';
  return share === 0 ? 'none' : formatPercent(share);
}

/**
 * @param {Search} search
 * @returns {SearchStep[]} the last at each level, ascending: what the knee is drawn from
 */
export function byLevel({ steps }) {
  return [...new Map(steps.map((step) => [step.level, step])).values()].sort((a, b) => a.level - b.level);
}

/**
 * @param {Search} search
 * @returns {string} what a step brought, as a table says it
 */
export function levelHeading({ searched }) {
  return searched === 'rate' ? 'Rate' : 'In flight';
}

/**
 * @param {Search} search
 * @param {number} level
 */
export function levelCell({ searched }, level) {
  return searched === 'rate' ? levelText(searched, level) : formatCount(level);
}

/**
 * @param {SearchStep[]} steps by level
 * @returns {string} what is to be seen in the knee
 */
export function kneePhrase(steps) {
  const good = steps.filter(({ verdict }) => verdict === 'met');
  const at = (/** @type {SearchStep} */ { p50Ms, p99Ms }) =>
    `p50 ${p50Ms === null ? '–' : formatLatency(p50Ms)}, p99 ${p99Ms === null ? '–' : formatLatency(p99Ms)}`;
  if (good.length === 0) return 'No level was met.';
  const [first, last] = [good[0], good[good.length - 1]];
  const beyond = steps.find(({ level, verdict }) => level > last.level && verdict === 'not met');
  const up = first === last ? '' : ` ${at(first)} at the lowest level that was met,`;
  const above = beyond === undefined ? '' : `; ${at(beyond)} at the first above it that was not`;
  return `Response times:${up} ${at(last)} at the highest${above}.`;
}
