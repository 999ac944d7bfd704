/** Explains why a search ended. */
import { PkiLoadError } from '../../common/errors.js';
import { maxOf, minOf } from '../../common/sums.js';
import { formatCount, formatDuration, formatRate } from '../../common/units.js';
import { formatPercent } from '../wording.js';

/** @import { Search, SearchStep } from './search-schema.js' */

/** @typedef {Omit<Search, 'explanation'>} Unexplained */

/** A failed level this near above the confirmed one takes precedence over a lower one that was not offered. */
const STILL_NEAR = 0.05;

/** Matches reasons that already end with a remedy. */
const OWN_REMEDY = /(?:or|\.) [Rr]aise --[a-z-]+\.$/;

/** @param {Search['searched']} searched @param {number} level @returns {string} `120/s`, `16 in flight` */
export const levelText = (searched, level) =>
  searched === 'rate' ? formatRate(level) : `${formatCount(level)} in flight`;

/** @param {Unexplained} search @returns {string} sentences */
export function explain(search) {
  const missed = search.requirements.flatMap(({ text, beyond }) => (beyond ? [text] : []));
  const why = ENDS[search.why](search, (level) => levelText(search.searched, level));
  if (missed.length === 0) return why;
  return `${why} The run that confirmed the answer did not show ${missed.join(', ')} to be met.`;
}

/** @param {Search} search before the failed step @param {unknown} error not quoted if unexpected @returns {Search} */
export function endWithError({ unfinished, explanation, ...soFar }, error) {
  const { code, full } =
    error instanceof PkiLoadError ? error : { code: 'internal_error', full: 'An internal error.' };
  const search = { ...soFar, why: /** @type {const} */ ('broken off'), failure: { code, text: full } };
  return { ...search, explanation: explain(search) };
}

/** @type {Record<Search['why'], (search: Unexplained, format: (level: number) => string) => string>} */
const ENDS = {
  bracketed({ bracket: { confirmed, above } }, format) {
    if (confirmed === null || above === null) return '';
    const width = formatPercent(above.level / confirmed - 1);
    return `At ${format(above.level)}, ${width} more, a requirement was ${above.verdict}: the limit lies in between.`;
  },
  flat: () => 'With more requests in flight, throughput no longer grew.',
  requirement: ({ bracket: { above } }, format) =>
    `With more requests in flight, a requirement is ${above === null ? 'not met' : `${above.verdict}, as at ${format(above.level)}`}.`,
  highest: ({ settings }, format) =>
    `Every requirement was met at the highest level allowed, ${format(settings.highest)}: the target may handle more.`,
  generator(search, format) {
    const { searched, steps, bracket } = search;
    const { confirmed, above } = bracket;
    if (confirmed === null || above === null) {
      const levels = steps.length === 0 ? 'any level' : `even ${format(lowestOf(steps))}`;
      return `The tool could not offer ${levels} as planned, which shows nothing about the target. ${reasonAt(search)}`;
    }
    const last = lastOfEach(steps);
    const failed = last.filter(({ level, verdict }) => level > confirmed && verdict === 'not met');
    const less = () => `, but less than ${format(lowestOf(failed))}, where a requirement was not met`;
    const below = failed.length === 0 ? '' : less();
    const reason = reasonAt(search, above.level);
    const bound = searched === 'rate' ? '--max-rate' : '--max-concurrency';
    const advice = ` Run the tool with more CPU or on another machine, or bound the search with ${bound}.`;
    const remedy = OWN_REMEDY.test(reason) ? '' : advice;
    return `The tool could not offer ${format(above.level)} as planned: the target may handle more${below}. ${reason}${remedy}`;
  },
  lowest: (search, format) =>
    `Even ${format(lowestOf(search.steps))}, the lowest level tried, failed. ${reasonAt(search)}`,
  unconfirmed({ searched, steps }, format) {
    const last = steps[steps.length - 1];
    const time = formatDuration(last.seconds * 1000);
    const at = `${searched === 'rate' ? 'At' : 'With'} ${format(last.level)}`;
    if (last.verdict === 'met') {
      const best = formatRate(last.perSecond);
      const { perSecond, level } = bestBefore(steps);
      return `${at} the target reached ${best} in a run of ${time}, clearly less than the ${formatRate(perSecond)} of a shorter run with ${formatCount(level)} in flight. Find out why the target slows down in longer runs, or use longer steps (--duration).`;
    }
    if (!lacksSamples(last)) return `Longer runs did not confirm the shorter ones: ${last.reason}`;
    return `${at} a run of ${time} has too few requests for the requirements: ${last.reason} Require a lower percentile, allow more errors, or use longer runs (--duration).`;
  },
  interrupted: () => 'The search was interrupted: no level was confirmed.',
  'broken off': ({ failure }) =>
    `The search failed, and no level was confirmed. ${failure?.text ?? ''}`.trim(),
  'going on': () => 'The search was still running when this was written.',
};

/** @param {readonly SearchStep[]} steps */
const lowestOf = (steps) => minOf(steps.map(({ level }) => level));

/** @template {{level: number}} T @param {readonly T[]} steps @returns {T[]} the last step of each level */
export const lastOfEach = (steps) => [...new Map(steps.map((step) => [step.level, step])).values()];

/** @param {{verdict: string, isStarved?: boolean}} step @returns {boolean} */
export const lacksSamples = ({ verdict, isStarved = false }) => verdict === 'not proven' && isStarved;

/** @param {{verdict: string, isStarved?: boolean}} step */
export const isPassing = (step) => step.verdict === 'met' || lacksSamples(step);

/** @param {Unexplained} search @param {number} [at] level; default: any */
const reasonAt = ({ steps }, at) =>
  steps.findLast(({ level, verdict }) => level === (at ?? level) && verdict !== 'met')?.reason ?? '';

/** @param {SearchStep[]} steps @returns {SearchStep} the fastest shorter step, below refuted levels */
function bestBefore(steps) {
  const confirmations = lastOfEach(steps.filter(({ phase }) => phase === 'confirmation'));
  const broken = lowestOf(confirmations.filter(({ verdict }) => verdict !== 'met'));
  const shorter = steps.filter((one) => one.phase !== 'confirmation' && isPassing(one) && one.level < broken);
  return shorter.reduce((most, step) => (step.perSecond > most.perSecond ? step : most), shorter[0]);
}

/**
 * @param {readonly (Pick<SearchStep, 'level' | 'verdict'> & {isStarved?: boolean})[]} steps @param {number} level
 * @returns {Search['bracket']['above']} the lowest level above that did not pass its last step; if it was not
 *   offered, the lowest failed one instead, if within STILL_NEAR
 */
export function lowestAbove(steps, level) {
  const above = lastOfEach(steps)
    .filter((step) => step.level > level && !isPassing(step))
    .sort((a, b) => a.level - b.level);
  if (above.length === 0) return null;
  const failed = above.find(({ verdict }) => verdict !== 'not offered');
  const lowest = failed !== undefined && failed.level <= (1 + STILL_NEAR) * level ? failed : above[0];
  return { level: lowest.level, verdict: lowest.verdict };
}

/** Of a rate. @param {Search['bracket']['above']} above the confirmed level @returns {Search['why']} */
export function whyEnded(above) {
  if (above === null) return 'highest';
  return above.verdict === 'not offered' ? 'generator' : 'bracketed';
}

/** @param {Search['searched']} searched @param {readonly SearchStep[]} steps @param {number | null} confirmed level */
export function findBracket(searched, steps, confirmed) {
  const met = steps.filter(({ verdict }) => verdict === 'met');
  const highestMet = met.length === 0 ? null : maxOf(met.map(({ level }) => level));
  const isPeak = searched === 'concurrency' && met.length > 0;
  return {
    bracket: { confirmed, highestMet, above: lowestAbove(steps, confirmed ?? highestMet ?? 0) },
    peakPerSecond: isPeak ? maxOf(met.map(({ perSecond }) => perSecond)) : null,
  };
}
