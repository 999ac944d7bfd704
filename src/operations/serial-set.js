/**
 * The serials of a run, or other values that never repeat, in memory that all threads share: a hash table of 64-bit fingerprints
 * with open addressing.
 */
import { formatCount } from '../common/units.js';
import { allRequests, expectedRequests } from '../plan/due.js';

/** @import { LoadPlan } from '../plan/load.js' */
/** @import { PrepareContext } from './index.js' */

/** Slots of 8 bytes: at most 16 MiB. */
const [MIN_SLOTS, MAX_SLOTS] = [1 << 12, 1 << 21];

/** @param {number | null} [expected] number of serials; null: not known */
export function createSerialMemory(expected = null) {
  const wanted = Math.min(MAX_SLOTS, Math.max(MIN_SLOTS, 2 * (expected ?? MAX_SLOTS)));
  return new SharedArrayBuffer((2 ** Math.ceil(Math.log2(wanted)) + 1) * 8);
}

/** For the responses of a run, or of its part. @param {LoadPlan} load @param {PrepareContext['owns']} owns */
export const serialMemoryFor = (load, owns) =>
  createSerialMemory(allRequests(load) === null ? null : expectedRequests(load, owns));

/** @param {SharedArrayBuffer} memory */
export function openSerialSet(memory) {
  const table = new BigInt64Array(memory, 8);
  const count = new Int32Array(memory, 0, 1);
  const lastSlot = table.length - 1;
  /** Three quarters of the slots. Later serials are not remembered, so their repeats go unnoticed. */
  const max = (table.length / 4) * 3;
  const isFull = () => Atomics.load(count, 0) >= max;
  return {
    max,
    isFull,
    /** Limits of the comparison. @param {string} unit plural, as what the values are @param {LoadPlan['shard']} shard @returns {string[]} sentences */
    notes(unit, shard) {
      const full = `${unit} were compared with the first ${formatCount(max)} of this run, not with later ones.`;
      const inPart = `${unit} were compared within each part of the plan, not between parts.`;
      return [...(isFull() ? [full] : []), ...(shard ? [inPart] : [])];
    },
    /** @param {Uint8Array} serial @returns {'new' | 'repeated' | 'full'} full: not seen before, and not remembered */
    add(serial) {
      const hash = fingerprint(serial);
      let slot = ((halves[0] >>> 7) | (halves[1] << 25)) & lastSlot;
      for (;;) {
        let stored = Atomics.load(table, slot);
        if (stored === 0n) {
          if (isFull()) return 'full';
          stored = Atomics.compareExchange(table, slot, 0n, hash);
          if (stored === 0n) {
            Atomics.add(count, 0, 1);
            return 'new';
          }
        }
        if (stored === hash) return 'repeated';
        slot = (slot + 1) & lastSlot;
      }
    },
  };
}

/** The last fingerprint; shifting a BigInt would take as long as the rest. */
const last = new BigInt64Array(1);
const halves = new Int32Array(last.buffer);

/** FNV-1a over 64 bits as two 32-bit halves with different offsets; never zero. @param {Uint8Array} bytes */
function fingerprint(bytes) {
  let low = 0x811c9dc5;
  let high = 0xcbf29ce4;
  for (const byte of bytes) {
    low = Math.imul(low ^ byte, 0x01000193);
    high = Math.imul(high ^ byte ^ (low >>> 24), 0x01000193);
  }
  halves[0] = low;
  halves[1] = high;
  return last[0] || 1n;
}
