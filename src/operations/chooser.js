/** A choice by weight that follows from a seed and an index alone, so that every thread and every machine makes the same. */
import { uniform } from '../common/random.js';

/** Keeps the choice apart from what else is drawn. */
const STREAM = 51;

/**
 * @param {readonly number[]} weights above zero
 * @param {number} seed
 * @param {number} [stream] keeps choices within one another apart
 * @returns {(index: number) => number} which of them
 */
export function createChooser(weights, seed, stream = STREAM) {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let sum = 0;
  const bounds = weights.map((weight) => {
    sum += weight;
    return sum / total;
  });
  const last = weights.length - 1;
  if (last === 0) return () => 0;
  return (index) => {
    const drawn = uniform(seed, index, stream);
    for (let i = 0; i < last; i++) if (drawn < bounds[i]) return i;
    return last;
  };
}
