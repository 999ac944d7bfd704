/**
 * A function that remembers its results. A latin1 string makes a faster key of bytes than a hash written in JavaScript.
 * @template T
 * @param {number} max results; with more, the oldest is dropped
 * @param {(key: string) => T} make
 */
export function remember(max, make) {
  const results = /** @type {Map<string, T>} */ (new Map());
  return (/** @type {string} */ key) => {
    const known = results.get(key);
    if (known !== undefined) return known;
    const result = make(key);
    results.set(key, result);
    if (results.size > max) results.delete(/** @type {string} */ (results.keys().next().value));
    return result;
  };
}
