/** Phrases that the summaries of charts share. */

/** Of a chart with a shaded end. */
export const AFTER_NOTE = 'Shaded: the wait for the last responses.';

/** Of a chart with more moments than pixels. */
export const DENSE_NOTE =
  'Where seconds share a pixel, the area spans their smallest to largest value, and the line follows the median.';

/**
 * @param {(number | null | undefined)[]} values at least one is a number
 * @param {(value: number) => string} text
 * @returns {string} `1.2 ms`, `between 1.2 ms and 3.4 ms`
 */
export function between(values, text) {
  const [low, high] = extent(values).map(text);
  return low === high ? low : `between ${low} and ${high}`;
}

/**
 * @param {Iterable<number | null | undefined>} values
 * @returns {[number, number]} smallest and largest; infinite where there is no number
 */
export function extent(values) {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (value === null || value === undefined) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

/** @param {(string | false)[]} parts @returns {string} joined with spaces, empty ones left out */
export function sentences(...parts) {
  return parts.filter((part) => part !== false && part !== '').join(' ');
}

/** @param {string} text @returns {string} capitalised, but for `p99` */
export function titled(text) {
  return /^p\d/.test(text) ? text : `${text[0].toUpperCase()}${text.slice(1)}`;
}
