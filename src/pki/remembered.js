/** A Map that forgets its oldest entry when it is full. */

/**
 * @template V
 */
export class Remembered {
  /** @type {Map<string, V>} */
  #entries = new Map();
  #max;

  /** @param {number} max entries; 0 remembers nothing */
  constructor(max) {
    this.#max = max;
  }

  /** @param {string} key */
  get(key) {
    return this.#entries.get(key);
  }

  /**
   * @param {string} key
   * @param {V} value
   * @returns {V} value
   */
  set(key, value) {
    if (this.#max <= 0) return value;
    if (this.#entries.size >= this.#max && !this.#entries.has(key)) {
      const oldest = this.#entries.keys().next();
      if (!oldest.done) this.#entries.delete(oldest.value);
    }
    this.#entries.set(key, value);
    return value;
  }
}
