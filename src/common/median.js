/** @param {ArrayLike<number>} values at least one @returns {number} of an even number of values, the mean of the middle two */
export function median(values) {
  const sorted = Float64Array.from(values).sort();
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
