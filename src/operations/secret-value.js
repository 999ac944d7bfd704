/** Random contents that follow from a seed, so that what comes back can be checked in full. */
import { fillBytes } from '../common/random.js';

/** Keeps them apart from what else is drawn. */
const STREAM = 4000;

/** Vault takes texts up to 1 MiB in a JSON body, and raft entries of that size; base64 makes these a third longer. */
export const MOST_BYTES = 512 * 1024;

/**
 * @param {number} seed
 * @param {number} number of the secret, or of the text
 * @param {number} size bytes
 * @returns {string} base64
 */
export function secretValue(seed, number, size) {
  const bytes = Buffer.alloc(size);
  fillBytes(bytes, seed, number, STREAM);
  return bytes.toString('base64');
}
