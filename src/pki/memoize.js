/** Characters of all keys: what was parsed from a key takes up to 20 times its memory. */
const MAX_CHARACTERS = 1_500_000;

/**
 * Caches the results of `make`. For bytes, a latin1 string is a faster key than a hash in JavaScript.
 * @template T
 * @param {number} max beyond it, or with longer keys in all, the oldest results are dropped @param {(key: string) => T} make
 */
export function memoize(max, make) {
  const results = /** @type {Map<string, T>} */ (new Map());
  let characters = 0;
  return (/** @type {string} */ key) => {
    const cached = results.get(key);
    if (cached !== undefined) return cached;
    const result = make(key);
    results.set(key, result);
    characters += key.length;
    for (const [oldest] of results) {
      if (results.size <= max && characters <= MAX_CHARACTERS) break;
      results.delete(oldest);
      characters -= oldest.length;
    }
    return result;
  };
}
