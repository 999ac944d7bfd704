/** Maps that forget their oldest entry when they are full: by text, and by bytes. */

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

/** Octets from one that goes into the hash to the next. */
const STRIDE = 8;

/**
 * By bytes, for the same answers coming again and again: finding one makes nothing. Bytes are compared in full; the hash
 * looks at one octet in eight, since a signature differs everywhere. Of two with one hash the later stays.
 *
 * @template V
 */
export class RememberedBytes {
  /** @type {Map<number, {bytes: Buffer, value: V}>} */
  #entries = new Map();
  #max;
  /** What was found or set last. @type {{bytes: Buffer, value: V} | undefined} */
  #last;

  /** @param {number} max entries; 0 remembers nothing */
  constructor(max) {
    this.#max = max;
  }

  /** @param {Uint8Array} bytes @returns {V | undefined} */
  get(bytes) {
    if (this.#last?.bytes.equals(bytes)) return this.#last.value;
    const entry = this.#entries.get(hashOf(bytes));
    if (entry === undefined || !entry.bytes.equals(bytes)) return undefined;
    this.#last = entry;
    return entry.value;
  }

  /**
   * @param {Buffer} bytes that nobody changes any more
   * @param {V} value
   * @returns {V} value
   */
  set(bytes, value) {
    if (this.#max <= 0) return value;
    const hash = hashOf(bytes);
    if (this.#entries.size >= this.#max && !this.#entries.has(hash)) {
      const oldest = this.#entries.keys().next();
      if (!oldest.done) this.#entries.delete(oldest.value);
    }
    this.#last = { bytes, value };
    this.#entries.set(hash, this.#last);
    return value;
  }
}

/**
 * FNV-1a (Fowler, Noll, Vo) over some of the octets.
 *
 * @param {Uint8Array} bytes
 */
function hashOf(bytes) {
  let hash = 0x811c9dc5 ^ bytes.length;
  for (let i = bytes.length - 1; i >= 0; i -= STRIDE) hash = Math.imul(hash ^ bytes[i], 0x01000193);
  return hash;
}
