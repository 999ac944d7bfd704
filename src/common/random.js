/**
 * Counter-based random numbers: a pure function of (seed, counter), so any shard can compute any index without
 * the previous ones. Two rounds of the `lowbias32` finaliser (C. Wellons, 2018) on each half.
 */

/**
 * @param {number} seed 32 bits @param {number} counter up to 2^53
 * @param {number} [stream] makes different uses of one seed independent @returns {number} 32 bits, unsigned
 */
export function hash32(seed, counter, stream = 0) {
  const high = Math.floor(counter / 0x1_0000_0000);
  let h = mix32(seed ^ Math.imul(stream + 1, 0x9e3779b9));
  h = mix32(h ^ (counter >>> 0));
  return mix32((h + Math.imul(high + 1, 0x85ebca6b)) | 0) >>> 0;
}

/** In the open interval (0, 1), 52 bits. @param {number} seed @param {number} counter @param {number} [stream] */
export function uniform(seed, counter, stream = 0) {
  const high = hash32(seed, counter, stream * 2) >>> 6;
  const low = hash32(seed, counter, stream * 2 + 1) >>> 6;
  return (high * 0x400_0000 + low + 0.5) / 0x10_0000_0000_0000;
}

/** Fills `target`. @param {Uint8Array} target @param {number} seed @param {number} counter @param {number} [stream] */
export function fillBytes(target, seed, counter, stream = 0) {
  for (let i = 0; i < target.length; i += 4) {
    const word = hash32(seed, counter, stream + (i >>> 2));
    for (let j = 0; j < 4 && i + j < target.length; j++) target[i + j] = word >>> (8 * j);
  }
}

/** @param {number} n @param {number} seed @returns {Uint32Array} 0..n-1 in a seeded order (Fisher-Yates) */
export function shuffled(n, seed) {
  const order = Uint32Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = Math.floor(uniform(seed, i, 7) * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

/** @param {number} value */
function mix32(value) {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x21f0aaad);
  h = Math.imul(h ^ (h >>> 15), 0x735a2d97);
  return h ^ (h >>> 15);
}
