/** Names of moments: seconds by number in a short run, `0:03:20` from the start in a long one. */
import { formatCount } from '../../../common/units.js';

/** Longer runs use the clock. */
const LONGEST_IN_SECONDS = 180;

/** @typedef {{second: number, span?: number}} Moment a second, or the first of `span` seconds */
/**
 * @typedef {object} Clock
 * @property {string} heading of a column of moments
 * @property {(moment: Moment) => string} name in that column: `12`, `10 to 19`, `11:00:00 to 11:14:59`
 * @property {(moment: Moment) => string} phrase in a sentence: `second 12`, `seconds 10 to 19`, `11:00:00 to 11:14:59`
 * @property {(moment: Moment) => string} place `in second 12`, `at 11:00:00`, `between 11:00:00 and 11:14:59`
 */

/**
 * @param {number} seconds length of the run
 * @returns {Clock}
 */
export function clockOf(seconds) {
  const isLong = seconds > LONGEST_IN_SECONDS;
  const text = isLong ? clockText : formatCount;
  const ends = (/** @type {Moment} */ { second, span = 1 }) =>
    span === 1 ? [text(second)] : [text(second), text(second + span - 1)];
  const name = (/** @type {Moment} */ moment) => ends(moment).join(' to ');
  const phrase = (/** @type {Moment} */ moment) =>
    isLong ? name(moment) : `second${ends(moment).length > 1 ? 's' : ''} ${name(moment)}`;
  return {
    heading: isLong ? 'Time since the start' : 'Second',
    name,
    phrase,
    place(moment) {
      if (!isLong) return `in ${phrase(moment)}`;
      return ends(moment).length > 1 ? `between ${ends(moment).join(' and ')}` : `at ${name(moment)}`;
    },
  };
}

/** @param {number} second @returns {string} `0:03:20` */
function clockText(second) {
  const twoDigits = (/** @type {number} */ value) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(second / 3600), Math.floor((second % 3600) / 60)];
  return `${formatCount(hours)}:${twoDigits(minutes)}:${twoDigits(second % 60)}`;
}
