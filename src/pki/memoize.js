/**
 * Caches the results of `make`. For bytes, a latin1 string is a faster key than a hash in JavaScript.
 * @template T
 * @param {number} max beyond it, the oldest result is dropped @param {(key: string) => T} make
 */
export function memoize(max, make) {
  const results = /** @type {Map<string, T>} */ (new Map());
  return (/** @type {string} */ key) => {
    const cached = results.get(key);
    if (cached !== undefined) return cached;
    const result = make(key);
    results.set(key, result);
    if (results.size > max) results.delete(/** @type {string} */ (results.keys().next().value));
    return result;
  };
}
