/** Sums of numbers, of records and of arrays. */

/** @param {number[]} values */
export function total(values) {
  return values.reduce((sum, value) => sum + value, 0);
}

/** @param {Record<string, number>[]} records @returns {Record<string, number>} */
export function sumRecords(records) {
  /** @type {Map<string, number>} */
  const sum = new Map();
  for (const [name, count] of records.flatMap(Object.entries)) sum.set(name, (sum.get(name) ?? 0) + count);
  return Object.fromEntries(sum);
}

/** @param {number[][]} arrays of different lengths */
export function sumArrays(arrays) {
  const length = Math.max(0, ...arrays.map((array) => array.length));
  return Array.from({ length }, (_, i) => total(arrays.map((array) => array[i] ?? 0)));
}
