/** How a run goes, a line at a time: for logs, and for terminals that are too narrow for more. */

import { formatCount, formatDuration, formatLatency } from '../common/units.js';
import { perHourText, perSecondText, targetPhrase } from '../report/describe/words.js';
import { clean } from '../report/layout.js';

/** @typedef {import('../engine/interval.js').IntervalEvent} IntervalEvent */
/** @typedef {Pick<import('../plan/plan.js').LoadPlan, 'ratePerSecond' | 'rampUpMs' | 'shard'> & Partial<Pick<import('../plan/plan.js').LoadPlan, 'model' | 'warmupMs' | 'stages'>>} OfferedLoad */
/** @typedef {{type: 'start', plan: {operation: string, load?: OfferedLoad, requirements?: readonly Pick<import('../plan/requirements.js').Requirement, 'rateUnit'>[]}, target: {url: string, product?: string | null, version?: string | null}, planned: number | null}} StartEvent */
/** @typedef {{type: 'notice' | 'warning', text: string}} TextEvent */
/** @typedef {{type: 'progress', label: string, done: number, total: number}} PreparationEvent before time zero */
/** @typedef {{type: 'result', result: import('../result/schema.js').Result}} ResultEvent */
/** @typedef {StartEvent | IntervalEvent | TextEvent | PreparationEvent | ResultEvent} LiveEvent */

const PHASES = { warmup: 'warm-up ', measuring: '', draining: 'last answers ' };

/** @param {StartEvent} event */
export function startLine({ plan, target, planned }) {
  const size = planned === null ? '' : `: ${formatCount(planned)} request${planned === 1 ? '' : 's'} planned`;
  return `${plan.operation} on ${targetPhrase(target)}${size}`;
}

/**
 * @param {PreparationEvent} event
 * @param {number} width
 */
export function preparationLine({ label, done, total }, width) {
  return fit([clean(label), `${formatCount(done)} of ${formatCount(total)}`], width);
}

/**
 * The parts that matter most come first; what does not fit is left out, whole.
 *
 * @param {import('./panel.js').Picture} picture
 * @param {number} width
 */
export function intervalLine(picture, width) {
  const { elapsedMs, totalMs, phase, inFlight, waiting, p99Ms, errors } = picture.interval;
  const total = totalMs === null || phase === 'draining' ? '' : `/${formatDuration(totalMs)}`;
  const { achieved, offered } = rateTexts(picture);
  const measured = [
    offered === null ? achieved : `${achieved} of ${offered}`,
    `p99 ${p99Ms === null ? '–' : formatLatency(p99Ms)}`,
    ...standing(picture.requirements),
  ];
  const parts = [
    `${PHASES[phase]}${wholeSeconds(elapsedMs)}${total}`,
    ...(phase === 'warmup' ? ['not measured yet'] : measured),
    ...(picture.stage === null ? [] : [`stage ${clean(picture.stage.name)}`]),
    ...errorParts(errors),
    `${formatCount(inFlight)} in flight`,
    ...(waiting > 0 ? [`${formatCount(waiting)} waiting`] : []),
  ];
  return fit(parts, width);
}

/**
 * Both in the same unit: per second where that is a readable number, else per hour.
 *
 * @param {Pick<import('./panel.js').Picture, 'achievedPerSecond' | 'offeredPerSecond'>} picture
 * @returns {{achieved: string, offered: string | null}}
 */
export function rateTexts({ achievedPerSecond, offeredPerSecond }) {
  const isSlow = offeredPerSecond !== null && offeredPerSecond > 0 && offeredPerSecond < 1;
  const text = (/** @type {number} */ rate) =>
    isSlow ? `${perHourText(rate * 3600)}/h` : perSecondText(rate);
  return {
    achieved: text(achievedPerSecond),
    offered: offeredPerSecond === null ? null : text(offeredPerSecond),
  };
}

/**
 * @param {import('./panel.js').JudgedRequirement[]} requirements
 * @returns {string[]} one, the worst news first: the first that is not met is named
 */
function standing(requirements) {
  if (requirements.length === 0) return [];
  const failed = requirements.filter(({ verdict }) => verdict === 'not met');
  if (failed.length > 0) {
    const more = failed.length > 1 ? ` and ${failed.length - 1} more` : '';
    return [`${clean(failed[0].text)}${more} not met so far`];
  }
  return [requirements.every(({ verdict }) => verdict === 'met') ? 'met so far' : 'not proven yet'];
}

/**
 * @param {number} ms
 * @returns {string} `0 s`, `7 s`, `1 min 5 s`
 */
export function wholeSeconds(ms) {
  const text = formatDuration(Math.round(ms / 1000) * 1000);
  return text === '0 ms' ? '0 s' : text;
}

/**
 * @param {Record<string, number>} errors by outcome
 * @returns {string[]} how many, then each kind, the most frequent first
 */
export function errorParts(errors) {
  const found = Object.entries(errors).filter(([, count]) => count > 0);
  if (found.length === 0) return ['no errors'];
  const total = found.reduce((sum, [, count]) => sum + count, 0);
  const worst = found
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${clean(name)} ${formatCount(count)}`);
  return [`${formatCount(total)} error${total === 1 ? '' : 's'}`, ...worst];
}

/**
 * @param {string[]} parts
 * @param {number} width
 */
function fit(parts, width) {
  let line = parts[0].slice(0, width);
  for (const part of parts.slice(1)) {
    if (line.length + 2 + part.length > width) break;
    line += `  ${part}`;
  }
  return line;
}
