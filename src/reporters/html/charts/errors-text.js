/** What the chart of errors says in words. */
import { formatCount, formatDuration } from '../../../units.js';
import { counted } from '../../phrases.js';
import { clockOf } from '../clock.js';
import { sentences } from '../words.js';

/** @typedef {import('../../../results/schema.js').Result} Result */
/** @typedef {{second: number, span: number, counts: number[]}} Bar one count per outcome, the lowest first */

/**
 * @param {Bar[]} bars
 * @param {number} failed
 * @param {Result['totals']} totals
 */
export function summariseErrors(bars, failed, totals) {
  const last = bars[bars.length - 1];
  const clock = clockOf(last.second + last.span);
  const isBad = (/** @type {Bar} */ bar) => totalOf(bar) > 0;
  const bad = bars.filter(isBad);
  const worst = bars.reduce((most, bar) => (totalOf(bar) > totalOf(most) ? bar : most));
  const each = bars[0].span === 1 ? 'second' : formatDuration(bars[0].span * 1000);
  const isEven = bad.every((bar) => totalOf(bar) === totalOf(worst));
  const where =
    bad.length === 1
      ? `${failed === 1 ? '' : 'all '}${clock.place(worst)}`
      : isEven
        ? `${formatCount(totalOf(worst))} in each ${each} that has any, first ${clock.place(bad[0])}`
        : `at most ${formatCount(totalOf(worst))} in a ${each}, first ${clock.place(worst)}`;
  return sentences(
    `${counted(failed, 'request')} failed, ${where}.`,
    bad.length > 1 &&
      bad.length < bars.length &&
      `${formatCount(bars.length - bad.length)} of ${formatCount(bars.length)} bars are empty: nothing failed there.`,
    unsentPhrase(totals),
  );
}

/**
 * @param {Result['totals']} totals
 * @returns {string} what of the errors belongs to no second; empty where that is nothing
 */
export function unsentPhrase({ dropped, neverSentDue }) {
  const parts = [
    dropped > 0 ? `${counted(dropped, 'request')} ${dropped === 1 ? 'was' : 'were'} dropped` : '',
    neverSentDue > 0
      ? `${counted(neverSentDue, 'request')} ${neverSentDue === 1 ? 'was' : 'were'} due and never sent`
      : '',
  ].filter((part) => part !== '');
  if (parts.length === 0) return '';
  const one = dropped + neverSentDue === 1;
  return `${parts.join(' and ')}: not drawn, as ${one ? 'it belongs' : 'they belong'} to no second.`;
}

/** @param {Bar} bar */
export function totalOf({ counts }) {
  return counts.reduce((sum, count) => sum + count, 0);
}
