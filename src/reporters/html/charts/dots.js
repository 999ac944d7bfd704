/** The dots of a box plot, one a run: in which order they are drawn and read out, and where each stands in its row. */
import { fitText } from '../escape.js';

/** @typedef {{label: string, values: readonly number[], names?: readonly string[]}} Group `names` of the runs, in the order of `values` */

/** Of a group; more would be a smear. */
const MOST_DOTS = 200;

/** Of a dot. */
export const RADIUS = 3;

/** Centres nearer than this hide one another. */
const APART = 5;

/** How far from the middle of its row a dot may stand. */
const REACH = 8;

/** Places tried beside those that others may have taken: of all, a dot takes the first with the most room. */
const TRIES = 4;

/**
 * @param {Group} group
 * @returns {{name: string, value: number}[]} ascending; none where there are too many
 */
export function dotsOf({ values, names = [] }) {
  if (values.length > MOST_DOTS) return [];
  return values
    .map((value, i) => ({ name: names[i] ?? `run ${i + 1}`, value }))
    .sort((a, b) => a.value - b.value);
}

/**
 * @param {readonly Group[]} groups
 * @param {(value: number) => string} text
 * @returns {import('../page.js').DotReadOuts}
 */
export function readOutsOf(groups, text) {
  const nameOf = (/** @type {Group} */ { label }, /** @type {string} */ run) =>
    groups.length === 1 ? run : `${label}, ${run}`;
  return {
    at: groups.flatMap((group) =>
      dotsOf(group).map(({ name, value }) => fitText(`${nameOf(group, name)}: ${text(value)}`)),
    ),
  };
}

/**
 * Dots that would hide one another step aside, up and down; the same data always give the same picture.
 *
 * @param {readonly number[]} places along the axis, ascending, in pixels
 * @returns {number[]} how far below the middle of the row each stands
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
 * 0, then halves, quarters, eighths of the way up and down: no two are the same (van der Corput's sequence).
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
