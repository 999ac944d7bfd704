/** Sums of numbers, records and arrays; the median; grouping. */

/** @param {readonly number[]} values */
export function total(values) {
  return values.reduce((sum, value) => sum + value, 0);
}

/** As arguments of Math.max, the values of a large file would overflow the call stack. @param {readonly number[]} values @param {number} [least] */
export const maxOf = (values, least = Number.NEGATIVE_INFINITY) =>
  values.reduce((most, value) => Math.max(most, value), least);

/** @param {readonly number[]} values */
export const minOf = (values) => values.reduce((least, value) => Math.min(least, value), Infinity);

/** @param {Record<string, number>[]} records @returns {Record<string, number>} */
export function sumRecords(records) {
  /** @type {Map<string, number>} */
  const sum = new Map();
  for (const [name, count] of records.flatMap(Object.entries)) sum.set(name, (sum.get(name) ?? 0) + count);
  return Object.fromEntries(sum);
}

/** @param {number[][]} arrays of any lengths */
export function sumArrays(arrays) {
  const lengths = arrays.map((array) => array.length);
  const sum = new Array(maxOf(lengths, 0)).fill(0);
  for (const array of arrays) {
    for (let i = 0; i < array.length; i++) sum[i] += array[i] ?? 0;
  }
  return sum;
}

/** @param {ArrayLike<number>} values at least one; of an even number, the mean of the middle two */
export function median(values) {
  const sorted = Float64Array.from(values).sort();
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** @template T @param {readonly T[]} values @param {(value: T) => unknown} keyOf @returns {T[][]} in first-seen order */
export function groupBy(values, keyOf) {
  /** @type {Map<unknown, T[]>} */
  const groups = new Map();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return [...groups.values()];
}
