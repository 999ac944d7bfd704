/** Why a search ended, in words. */
import { PkiLoadError } from '../../common/errors.js';
import { formatCount, formatDuration, formatRate } from '../../common/units.js';
import { formatPercent } from '../wording.js';

/** @import { Search, SearchStep } from './search-schema.js' */

/** @typedef {Omit<Search, 'explanation'>} Unexplained */

/** Ends of reasons that have a remedy already. */
const OWN_REMEDY = /(?:\. Raise|: shorten) --[a-z-]+\.$/;

/** @param {Search['searched']} searched @param {number} level @returns {string} `120/s`, `16 in flight` */
export function levelText(searched, level) {
  return searched === 'rate' ? formatRate(level) : `${formatCount(level)} in flight`;
}

/** @param {Unexplained} search @returns {string} sentences */
export function explain(search) {
  const missed = search.requirements.flatMap(({ text, beyond }) => (beyond ? [text] : []));
  const why = ENDS[search.why](search, (level) => levelText(search.searched, level));
  if (missed.length === 0) return why;
  return `${why} The run that confirmed the answer did not show ${missed.join(', ')} to be met.`;
}

/** @param {Search} search before its next step failed @param {unknown} error an unexpected one is not quoted @returns {Search} */
export function brokenOff({ unfinished, explanation, ...soFar }, error) {
  const { code, full: text } =
    error instanceof PkiLoadError ? error : { code: 'internal_error', full: 'An internal error.' };
  const failure = { code, text };
  const search = { ...soFar, why: /** @type {const} */ ('broken off'), failure };
  return { ...search, explanation: explain(search) };
}

/** @type {Record<Search['why'], (search: Unexplained, text: (level: number) => string) => string>} */
const ENDS = {
  bracketed({ bracket: { confirmed, above } }, text) {
    if (confirmed === null || above === null) return '';
    const width = formatPercent(above.level / confirmed - 1);
    return `At ${text(above.level)}, ${width} more, a requirement was ${above.verdict}: the answer lies between.`;
  },
  flat: () => 'With more in flight the throughput no longer grew.',
  requirement: ({ bracket: { above } }, text) =>
    `With more in flight a requirement is ${above === null ? 'not met' : `${above.verdict}, as at ${text(above.level)}`}.`,
  highest: ({ settings }, text) =>
    `Every requirement was met at the highest level allowed, ${text(settings.highest)}: the target may take more.`,
  generator(search, text) {
    const { searched, steps, bracket } = search;
    const { confirmed, above } = bracket;
    if (confirmed === null || above === null) {
      const levels = steps.length === 0 ? 'any level' : `even ${text(lowestOf(steps))}`;
      return `The tool could not honestly offer ${levels}, which says nothing of the target. ${reasonAt(search)}`;
    }
    const isFailed = (/** @type {SearchStep} */ one) => one.level > confirmed && one.verdict === 'not met';
    const failed = lastOfEach(steps).filter(isFailed);
    const less = () => `, but less than ${text(lowestOf(failed))}, where a requirement was not met`;
    const below = failed.length === 0 ? '' : less();
    const reason = reasonAt(search, above.level);
    const bound = searched === 'rate' ? '--max-rate' : '--max-concurrency';
    const more = ` Give the tool more CPU or another machine, or bound the search with ${bound}.`;
    const remedy = OWN_REMEDY.test(reason) ? '' : more;
    return `The tool could not honestly offer ${text(above.level)}: the target may take more${below}. ${reason}${remedy}`;
  },
  lowest: (search, text) =>
    `Even ${text(lowestOf(search.steps))}, the lowest level tried, failed. ${reasonAt(search)}`,
  unconfirmed({ searched, steps }, text) {
    const last = steps[steps.length - 1];
    const time = formatDuration(last.seconds * 1000);
    const at = `${searched === 'rate' ? 'At' : 'With'} ${text(last.level)}`;
    if (last.verdict === 'met') {
      const best = formatRate(last.perSecond);
      const { perSecond, level } = bestBefore(steps);
      return `${at} it answered ${best} in a run of ${time}, clearly less than the ${formatRate(perSecond)} of a shorter one with ${formatCount(level)}. Look for what slows the target down in the long run, or have longer steps with --duration.`;
    }
    if (last.verdict !== 'not proven' || !last.isStarved)
      return `No longer run confirmed what shorter ones had shown: ${last.reason}`;
    return `${at} a run of ${time} has too few requests to prove what is required: ${last.reason} Ask for a lower percentile or allow more errors, or have longer runs with --duration.`;
  },
  interrupted: () => 'It was interrupted: no level was confirmed.',
  'broken off': ({ failure }) => `It broke off, and no level was confirmed. ${failure?.text ?? ''}`.trim(),
  'going on': () => 'The search was still going on when this was written.',
};

/** @param {readonly SearchStep[]} steps */
function lowestOf(steps) {
  return Math.min(...steps.map(({ level }) => level));
}

/** @param {SearchStep[]} steps @returns {SearchStep[]} the last of each level: some are tried again */
function lastOfEach(steps) {
  return [...new Map(steps.map((step) => [step.level, step])).values()];
}

/** @param {Unexplained} search @param {number} [at] level; any where it is left out */
function reasonAt({ steps }, at) {
  return steps.findLast(({ level, verdict }) => level === (at ?? level) && verdict !== 'met')?.reason ?? '';
}

/** @param {SearchStep[]} steps @returns {SearchStep} the highest throughput of a shorter step, below what longer ones refuted */
function bestBefore(steps) {
  const isFine = (/** @type {SearchStep} */ { verdict, isStarved }) =>
    verdict === 'met' || (verdict === 'not proven' && isStarved);
  const confirmations = lastOfEach(steps.filter(({ phase }) => phase === 'confirmation'));
  const broken = lowestOf(confirmations.filter(({ verdict }) => verdict !== 'met'));
  const shorter = steps.filter((one) => one.phase !== 'confirmation' && isFine(one) && one.level < broken);
  return shorter.reduce((most, step) => (step.perSecond > most.perSecond ? step : most), shorter[0]);
}
