/**
 * Caches the results of `make`. For bytes, a latin1 string is a faster key than a hash in JavaScript.
 * @template {{} | null} T
 * @param {number} max beyond it, the oldest results are dropped @param {(key: string) => T} make
 * @param {number} [maxCharacters] of all keys together: a parsed result can take 20 times the memory of its key
 */
export function memoize(max, make, maxCharacters = Number.POSITIVE_INFINITY) {
  const results = /** @type {Map<string, T>} */ (new Map());
  let characters = 0;
  return (/** @type {string} */ key) => {
    const cached = results.get(key);
    if (cached !== undefined) return cached;
    const result = make(key);
    if (key.length > maxCharacters) return result;
    results.set(key, result);
    characters += key.length;
    for (const [oldest] of results) {
      if (results.size <= max && characters <= maxCharacters) break;
      results.delete(oldest);
      characters -= oldest.length;
    }
    return result;
  };
}
