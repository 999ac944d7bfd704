/** Sentences about charts, for those who do not see them and those who do. */

/** Said of a chart that has a shaded part. */
export const AFTER_NOTE = 'The shaded part is the wait for the last answers.';

/** Said of a chart with more moments than it has room for. */
export const DENSE_NOTE =
  'Where seconds lie too close to be told apart, the area goes from the least to the greatest of them, the line through their middle.';

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
 * @returns {[number, number]} the least and the greatest; infinite where there is no number
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

/** @param {(string | false)[]} parts @returns {string} those there are, with spaces between */
export function sentences(...parts) {
  return parts.filter((part) => part !== false && part !== '').join(' ');
}

/** @param {string} text @returns {string} as a sentence or heading begins: `Mean`, `p99 service` */
export function titled(text) {
  return /^p\d/.test(text) ? text : `${text[0].toUpperCase()}${text.slice(1)}`;
}
