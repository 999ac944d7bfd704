/** Recorders' reports as messages: a member's recorders are further threads of part 0's live view. */

/** @import { Report } from '../engine/recording/recorder.js' */

/** @param {Report} report @returns {object} JSON */
export const packReport = (report) =>
  JSON.parse(JSON.stringify(report, (_, value) => (value instanceof Uint32Array ? [...value] : value)));

/** @param {any} packed from packReport, authentic @returns {Report} @throws {TypeError} it is none */
export function readReport({ tally, ...report }) {
  const histogram = (/** @type {number[]} */ buckets) => Uint32Array.from(buckets);
  const each = (/** @type {object} */ values, /** @type {(value: any) => unknown} */ read) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, read(value)]));
  const cells = tally.cells.map((/** @type {any} */ cell) => ({
    ...cell,
    outcomes: each(cell.outcomes, (outcome) => ({ ...outcome, latency: each(outcome.latency, histogram) })),
  }));
  return {
    ...report,
    tally: { ...tally, cells, lag: histogram(tally.lag), readLate: histogram(tally.readLate) },
  };
}
