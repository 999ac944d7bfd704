/** The percentile axis: a mark at every nine, and as many labels as have room. */
import { fit } from './axes.js';

/** @typedef {import('./axes.js').Tick} Tick */

/**
 * The steps from 90 to 99 and from 99 to 99.9 % have the same length.
 *
 * @param {number} end in nines: log10(1 / (1 - share)) of the largest share
 * @returns {import('./axes.js').Axis} its values are nines
 */
export function percentileAxis(end) {
  const nines = Array.from({ length: Math.floor(end + 1e-9) }, (_, i) => i + 1);
  const half = Math.log10(2);
  const tick = (/** @type {number} */ value) => ({ at: value / end, label: percentLabel(value) });
  return {
    title: 'percentile (log scale towards 100 %)',
    at: (value) => value / end,
    ticks(length, room) {
      const has = (/** @type {Tick[]} */ some) => fit(some, length, room).length === some.length;
      // Strides count back from the last nine, so that the highest has its label.
      const strided = (/** @type {number} */ step) =>
        nines.filter((nine) => (nines.length - nine) % step === 0);
      const step = nines.find((one) => has(strided(one).map(tick))) ?? 1;
      const labelled = strided(step).filter((nine) => has([half, nine].map(tick)));
      const middle = [half, ...labelled].map(tick);
      const zero = tick(0);
      const first = has([zero, ...middle]) ? zero : { ...zero, label: '' };
      const marks = nines
        .filter((nine) => !labelled.includes(nine))
        .map((nine) => ({ ...tick(nine), label: '' }));
      return [first, ...middle, ...marks].sort((a, b) => a.at - b.at);
    },
  };
}

/** @param {number} nines log10(1 / (1 - share)) @returns {string} `50 %`, `99.9 %` */
export function percentLabel(nines) {
  const percent = 100 - 10 ** (2 - nines);
  if (nines === 0) return '0 %';
  return `${Number(percent.toFixed(Math.max(1, Math.ceil(nines))))} %`;
}
