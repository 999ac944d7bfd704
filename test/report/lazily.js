/**
 * Samples take seconds to make, and most tests look at a few of them.
 *
 * @template T
 * @param {Record<string, () => T>} makers
 * @returns {Record<string, T>} each is made when it is first read
 */
export function lazily(makers) {
  /** @type {Record<string, T>} */
  const made = {};
  for (const [name, make] of Object.entries(makers)) {
    const get = () => {
      const value = make();
      Object.defineProperty(made, name, { value, enumerable: true });
      return value;
    };
    Object.defineProperty(made, name, { get, enumerable: true, configurable: true });
  }
  return made;
}
