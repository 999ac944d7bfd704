/**
 * Serials seen in this run, shared by all threads, in a fixed piece of memory: a table of 64-bit fingerprints with
 * open addressing. Two serials with one fingerprint would be called a repeat; among a million that happens once in
 * 3 x 10^7 runs.
 */

/** 2^21 places of 8 bytes: 16 MiB; three quarters of them are used. */
const PLACES = 1 << 21;

/** From this many serials on, new ones are no longer remembered, so their repeats go unnoticed. */
export const MAX_SERIALS = (PLACES / 4) * 3;

/** @returns {SharedArrayBuffer} */
export function createSerialMemory() {
  return new SharedArrayBuffer((PLACES + 1) * 8);
}

/**
 * @param {SharedArrayBuffer} memory
 */
export function openSerialSet(memory) {
  const table = new BigInt64Array(memory, 8);
  const count = new Int32Array(memory, 0, 1);
  return {
    /** @returns {boolean} new serials are no longer remembered */
    isFull: () => Atomics.load(count, 0) >= MAX_SERIALS,
    /**
     * @param {Uint8Array} serial
     * @returns {'new' | 'repeated' | 'full'} full: not there before, and no longer remembered
     */
    add(serial) {
      const print = fingerprint(serial);
      let place = Number(BigInt.asUintN(21, print >> 7n));
      for (;;) {
        const found = Atomics.load(table, place);
        if (found === print) return 'repeated';
        if (found === 0n) {
          if (Atomics.load(count, 0) >= MAX_SERIALS) return 'full';
          const before = Atomics.compareExchange(table, place, 0n, print);
          if (before === 0n) {
            Atomics.add(count, 0, 1);
            return 'new';
          }
          if (before === print) return 'repeated';
        }
        place = (place + 1) % PLACES;
      }
    },
  };
}

/**
 * FNV-1a over 64 bits as two 32-bit halves with different offsets; never zero.
 *
 * @param {Uint8Array} bytes
 */
function fingerprint(bytes) {
  let low = 0x811c9dc5;
  let high = 0xcbf29ce4;
  for (const byte of bytes) {
    low = Math.imul(low ^ byte, 0x01000193);
    high = Math.imul(high ^ byte ^ (low >>> 24), 0x01000193);
  }
  const value = (BigInt(high | 0) << 32n) | BigInt(low >>> 0);
  return value === 0n ? 1n : value;
}
