/** What `issue`, `sign` and `sign-verbatim` share: key types of CSRs, the --keep file, the serials of a run. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { usageError } from '../common/errors.js';
/** @import { Keeper } from './index.js' */

export const KEY_TYPES = Object.freeze(['rsa-2048', 'ec-256', 'ed25519']);

/** CSRs made where `--pool` does not say. */
export const DEFAULT_POOL = 100;

/** @typedef {{pem: string, spki: Uint8Array, commonName: string, altNames: string[]}} PooledCsr */

/**
 * Opens the file at once, so that a path that cannot be written to is known before anything is sent. Lines are
 * appended whole, so several threads may have the same file open.
 *
 * @param {string} path
 * @returns {Keeper}
 */
export function openKeepFile(path) {
  const file = open(path);
  let count = 0;
  /** @type {string | null} */
  let failure = null;
  return {
    write(items) {
      if (failure !== null) return;
      try {
        const lines = Buffer.from(items.map((item) => `${JSON.stringify(item)}\n`).join(''));
        // A disk that is filling up takes a part; the next write then fails with the reason.
        for (let written = 0; written < lines.length; ) written += writeSync(file, lines, written);
        count += items.length;
      } catch (error) {
        failure = String(/** @type {NodeJS.ErrnoException} */ (error).code);
      }
    },
    close() {
      closeSync(file);
      return { count, failure };
    },
  };
}

/** @param {string} path */
function open(path) {
  try {
    return openSync(path, 'a', 0o644);
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    throw usageError(
      'cannot_write',
      `--keep ${path} cannot be written to (${code}).`,
      'Give a file in an existing, writable folder.',
      error,
    );
  }
}

/** 2^21 places of 8 bytes: 16 MiB; three quarters of them are used. */
const PLACES = 1 << 21;

/** From this many serials on, new ones are no longer remembered, so their repeats go unnoticed. */
export const MAX_SERIALS = (PLACES / 4) * 3;

/** @returns {SharedArrayBuffer} */
export function createSerialMemory() {
  return new SharedArrayBuffer((PLACES + 1) * 8);
}

/** @param {SharedArrayBuffer} memory */
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

/** FNV-1a over 64 bits as two 32-bit halves with different offsets; never zero. @param {Uint8Array} bytes */
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
