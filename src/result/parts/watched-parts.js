/** What the parts of a plan (`--shard`) observed of themselves, as one run of all their threads would have. */

import { formatDuration } from '../../common/units.js';
import { partName } from '../../plan/shard-part.js';
import { machineOf, mergeCounted } from '../../verdict/observed.js';

/** @import { Late, Observed, Watched } from '../../verdict/observed.js' */
/** @import { Part } from './parts.js' */

/** What starts may differ by: clocks of machines, and milliseconds. */
const TOGETHER_MS = 1000;

/** @param {Part[]} parts @param {Late} late @returns {Watched} */
export function watchedOfParts(parts, late) {
  const watches = parts.map(({ merge }) => merge.watch);
  return {
    ...mergeCounted(watches.map((watch) => ({ forgone: 0, ...watch }))),
    ...late,
    machine: machineOf(watches.map(({ machine }) => machine)),
  };
}

/**
 * Seconds are added by their number, whenever they were.
 *
 * @param {Part[]} parts
 * @param {number} windowMs
 * @returns {Observed['apart']}
 */
export function startedApart(parts, windowMs) {
  const starts = parts.map(({ result }) => Date.parse(result.startedAt));
  const [first, last] = [Math.min(...starts), Math.max(...starts)];
  const apartMs = last - first;
  if (apartMs <= TOGETHER_MS) return null;
  const [early, late] = [first, last].map((start) => partName(parts[starts.indexOf(start)].shard));
  return {
    grade: apartMs > windowMs / 2 ? 'invalid' : 'remark',
    text: `By their clocks, ${late} began to send ${formatDuration(apartMs)} after ${early}, so the target was not under the whole load all the time.`,
    remedy: 'Give all parts the same --start-at, and see that the clocks of the machines agree.',
  };
}

/** @param {Part[]} parts @returns {string[]} what did not add up in one of them */
export function problemsOfParts(parts) {
  return parts.flatMap(({ shard, result }) =>
    result.measurement.reasons
      .filter(({ code }) => code === 'bookkeeping')
      .map(({ text }) => `${partName(shard)}: ${text}`),
  );
}
