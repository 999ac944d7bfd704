/** The hash covers one octet in so many: a signature differs everywhere. */
const STRIDE = 8;

/**
 * Values by bytes, for the same responses again and again: a look-up allocates nothing. Bytes are compared in full; of two with one hash
 * the later stays. When it is full, the oldest is forgotten.
 * @template V
 */
export class RememberedBytes {
  /** @type {Map<number, {bytes: Buffer, value: V}>} */
  #entries = new Map();
  /** Found or set last. @type {{bytes: Buffer, value: V} | undefined} */
  #last;
  #max;

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

  /** @param {Buffer} bytes that never change again @param {V} value @returns {V} value */
  set(bytes, value) {
    if (this.#max === 0) return value;
    const hash = hashOf(bytes);
    this.#last = { bytes, value };
    this.#entries.set(hash, this.#last);
    if (this.#entries.size > this.#max) this.#entries.delete(Number(this.#entries.keys().next().value));
    return value;
  }
}

/** FNV-1a (Fowler, Noll, Vo) over some of the octets. @param {Uint8Array} bytes */
function hashOf(bytes) {
  let hash = 0x811c9dc5 ^ bytes.length;
  for (let i = bytes.length - 1; i >= 0; i -= STRIDE) hash = Math.imul(hash ^ bytes[i], 0x01000193);
  return hash;
}
