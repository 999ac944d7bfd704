/** Why a search ended, in words. */

import { PkiLoadError } from '../../common/errors.js';
import { formatCount, formatDuration, formatRate } from '../../common/units.js';
import { formatPercent } from '../wording.js';
/** @import { Search } from './search-schema.js' */

/** @typedef {Omit<Search, 'explanation'>} Unexplained */

/** @param {Search['searched']} searched @param {number} level @returns {string} `120/s`, `16 in flight` */
export function levelText(searched, level) {
  return searched === 'rate' ? formatRate(level) : `${formatCount(level)} in flight`;
}

/** @param {Unexplained} search @returns {string} sentences */
export function explain(search) {
  const missed = search.requirements.filter(({ beyond }) => beyond);
  const texts = missed.map(({ text }) => text);
  return texts.length === 0
    ? whyEnded(search)
    : `${whyEnded(search)} The run that confirmed the answer did not show ${texts.join(', ')} to be met.`;
}

/**
 * @param {Search} search as it was when its next step could not be made
 * @param {unknown} error the reason; of an unexpected error the message is left out
 * @returns {Search} that does not go on
 */
export function brokenOff({ unfinished, explanation, ...soFar }, error) {
  const failure =
    error instanceof PkiLoadError
      ? { code: error.code, text: error.full }
      : { code: 'internal_error', text: 'An internal error.' };
  const search = { ...soFar, why: /** @type {const} */ ('broken off'), failure };
  return { ...search, explanation: explain(search) };
}

/** @param {Unexplained} search */
function whyEnded(search) {
  const { searched, why, settings, bracket, steps } = search;
  const text = (/** @type {number} */ level) => levelText(searched, level);
  const highest = text(settings.highest);
  switch (why) {
    case 'bracketed':
      return bracketText(search);
    case 'flat':
      return 'With more in flight the throughput no longer grew.';
    case 'requirement':
      return `With more in flight a requirement is ${aboveText(search)}`;
    case 'highest':
      return `All was well at the highest level allowed, ${highest}: the target may take more.`;
    case 'generator':
      return bracket.confirmed === null || bracket.above === null
        ? `The tool could not honestly offer ${levels(search)}, which says nothing of the target. ${lastReason(search)}`
        : generatorText(search, bracket.above.level);
    case 'lowest':
      return `Even ${text(Math.min(...steps.map(({ level }) => level)))}, the lowest level tried, did not do. ${lastReason(search)}`;
    case 'unconfirmed':
      return unconfirmedText(search);
    case 'interrupted':
      return 'It was interrupted: no level was confirmed.';
    case 'broken off':
      return `It broke off, and no level was confirmed. ${search.failure?.text ?? ''}`.trim();
    default:
      return 'The search was still going on when this was written.';
  }
}

/** @param {Unexplained} search */
function bracketText({ searched, bracket: { confirmed, above } }) {
  if (confirmed === null || above === null) return '';
  const width = formatPercent(above.level / confirmed - 1);
  return `At ${levelText(searched, above.level)}, ${width} more, a requirement was ${above.verdict}: the answer lies between.`;
}

/** Ends for which the sentence has a remedy. */
const OWN_REMEDY = /(?:\. Raise|: shorten) --[a-z-]+\.$/;

/** @param {Unexplained} search @param {number} level that could not be offered */
function generatorText(search, level) {
  const { searched } = search;
  const reason = reasonAt(search, level);
  const remedy = OWN_REMEDY.test(reason)
    ? ''
    : ` Give the tool more CPU or another machine, or bound the search with ${searched === 'rate' ? '--max-rate' : '--max-concurrency'}.`;
  return `The tool could not honestly offer ${levelText(searched, level)}: the target may take more${below(search)}. ${reason}${remedy}`;
}

/** @param {Unexplained} search */
function aboveText({ searched, bracket: { above } }) {
  return above === null ? 'not met.' : `${above.verdict}, as at ${levelText(searched, above.level)}.`;
}

/** @param {Unexplained} search */
function levels({ searched, steps }) {
  const tried = steps.map(({ level }) => level);
  return tried.length === 0 ? 'any level' : `even ${levelText(searched, Math.min(...tried))}`;
}

/** @param {Unexplained} search @returns {string} empty where no level failed that was offered */
function below({ searched, steps, bracket: { confirmed } }) {
  const last = [...new Map(steps.map((step) => [step.level, step])).values()];
  const failed = last.filter(({ level, verdict }) => level > Number(confirmed) && verdict === 'not met');
  if (failed.length === 0) return '';
  return `, but less than ${levelText(searched, Math.min(...failed.map(({ level }) => level)))}, where a requirement was not met`;
}

/** @param {Unexplained} search @param {number} at */
function reasonAt({ steps }, at) {
  return steps.findLast(({ level, verdict }) => level === at && verdict !== 'met')?.reason ?? '';
}

/** @param {Unexplained} search */
function unconfirmedText(search) {
  const { searched, steps } = search;
  const last = steps[steps.length - 1];
  const time = formatDuration(last.seconds * 1000);
  const at = `${searched === 'rate' ? 'At' : 'With'} ${levelText(searched, last.level)}`;
  if (last.verdict === 'met') return tooSlowText(search, { ...last, at, time });
  if (last.verdict !== 'not proven' || !last.isStarved)
    return `No longer run bore out what shorter ones had shown: ${last.reason}`;
  return `${at} a run of ${time} has too few requests to prove what is required: ${last.reason} Ask for a lower percentile or allow more errors, or have longer runs with --duration.`;
}

/**
 * Every requirement was met in the longer run, but it is not the peak that was seen before.
 *
 * @param {Unexplained} search of a closed loop
 * @param {{perSecond: number, at: string, time: string}} last
 */
function tooSlowText({ steps }, { perSecond, at, time }) {
  const confirmations = steps.filter(({ phase }) => phase === 'confirmation');
  // A confirmation may have been tried again: the last of each level counts.
  const last = [...new Map(confirmations.map((step) => [step.level, step])).values()];
  const broken = Math.min(...last.flatMap(({ verdict, level }) => (verdict === 'met' ? [] : level)));
  const shorter = steps.filter(
    ({ phase, verdict, isStarved, level }) =>
      phase !== 'confirmation' &&
      (verdict === 'met' || (verdict === 'not proven' && isStarved)) &&
      level < broken,
  );
  const best = shorter.reduce((most, step) => (step.perSecond > most.perSecond ? step : most), shorter[0]);
  return `${at} it answered ${formatRate(perSecond)} in a run of ${time}, clearly less than the ${formatRate(best.perSecond)} of a shorter one with ${formatCount(best.level)}. Look for what slows the target down in the long run, or have longer steps with --duration.`;
}

/** @param {Unexplained} search */
function lastReason({ steps }) {
  return steps.findLast(({ verdict }) => verdict !== 'met')?.reason ?? '';
}
