/** The dots of runs: their order, their names, and where each stands in its row. */

/** Of a group; more would be a smear. */
const MOST_DOTS = 200;

/** Of a dot. */
export const RADIUS = 3;

/** Dots whose centres are nearer than this hide one another. */
const APART = 5;

/** How far from the middle of its row a dot may stand. */
const REACH = 8;

/** Places to try besides those of the dots nearby. */
const TRIES = 4;

/**
 * @param {{values: readonly (number | null)[], runs: readonly string[]}} group
 * @returns {{name: string, value: number}[]} ascending; none where there are too many
 */
export function dotsOf({ values, runs }) {
  const dots = values.flatMap((value, i) =>
    value === null ? [] : [{ name: runs[i] ?? `run ${i + 1}`, value }],
  );
  return dots.length > MOST_DOTS ? [] : dots.sort((a, b) => a.value - b.value);
}

/**
 * Moves dots that would hide one another up or down. The same data give the same picture.
 *
 * @param {readonly number[]} places along the axis, ascending, in pixels
 * @returns {number[]} offsets from the middle of the row
 */
export function jitter(places) {
  /** @type {number[]} */
  const offsets = [];
  for (const [i, x] of places.entries()) {
    let first = i;
    while (first > 0 && x - places[first - 1] < APART) first--;
    const near = offsets.slice(first).map((y, j) => ({ x: places[first + j], y }));
    const room = (/** @type {number} */ y) =>
      Math.min(APART, ...near.map((other) => Math.hypot(x - other.x, y - other.y)));
    const steps = Array.from({ length: near.length + TRIES }, (_, k) => step(k));
    const most = Math.max(...steps.map(room));
    offsets.push(steps[steps.findIndex((y) => room(y) === most)]);
  }
  return offsets;
}

/**
 * 0, then halves, quarters, eighths of the way up and down, without repeating (van der Corput's sequence).
 *
 * @param {number} k from 0
 * @returns {number} -REACH to REACH
 */
function step(k) {
  let [rest, share, at] = [k + 1, 0.5, 0];
  while (rest > 0) {
    at += (rest % 2) * share;
    [rest, share] = [Math.floor(rest / 2), share / 2];
  }
  return (2 * at - 1) * REACH;
}
