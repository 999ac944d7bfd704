/** Recorders' reports as messages: a member's recorders are further threads of part 0's live view. */

import { MessageChannel } from 'node:worker_threads';
import { z } from 'zod';
import { countBuckets, isPacked } from '../common/histogram.js';
import { maxOf } from '../common/sums.js';
import { SERIES } from '../engine/recording/tally.js';
import { amount, count, each, ms } from '../result/declared.js';
import { bucketsAllowed } from '../result/read-document.js';
import { MergeOperation, Outcomes, SuccessTimes, Verification } from '../result/schema.js';

/** @import { Report } from '../engine/recording/recorder.js' */
/** @import { LiveHook } from '../run.js' */

/** Part 0's thread, perhaps a sender, reads each in 0.3 ms: of more parts than this, only each second report, etc. */
const REPORTS_AT_ONCE = 32;

/**
 * Buckets as the base64 text of their bytes: lists of numbers would take the sender's thread milliseconds. 16 bits are
 * enough for an index, and for most counts.
 * @param {Uint32Array} buckets index, count, ...
 */
function packBuckets(buckets) {
  let most = 0;
  // Faster than a call for each.
  for (let i = 0; i < buckets.length; i++) if (buckets[i] > most) most = buckets[i];
  const isShort = most < 2 ** 16;
  const { buffer, byteOffset, byteLength } = isShort ? new Uint16Array(buckets) : buckets;
  return { isShort, bytes: Buffer.from(buffer, byteOffset, byteLength).toString('base64') };
}

/** @param {ReturnType<typeof packBuckets>} packed @returns {Uint32Array} */
function readBuckets({ isShort, bytes }) {
  const { buffer, byteOffset, length } = Buffer.from(bytes, 'base64');
  const [from, to] = [byteOffset, byteOffset + length - (length % 4)];
  const own = buffer.slice(from, to);
  return new Uint32Array(isShort ? new Uint16Array(own) : own);
}

const Buckets = z.object({ isShort: z.boolean(), bytes: z.string() }).transform(readBuckets).refine(isPacked);

/** By second, in a plain loop: there may be thousands. */
const isCounts = (/** @type {any} */ list) =>
  Array.isArray(list) && list.every((one) => Number.isSafeInteger(one) && one >= 0);
const Checks = Verification.omit({ sampled: true });
const Cell = MergeOperation.omit({ own: true }).extend({
  ...{ name: z.string(), stage: count, successTimes: SuccessTimes, verification: Checks },
  ...each(['dropped', 'neverSentDue', 'rested'], count),
  perSecond: z.object(each(['sent', 'succeeded', 'failed'], z.custom(isCounts))),
  outcomes: z.record(
    z.string(),
    z.object({ success: z.boolean(), count, latency: z.object(each(SERIES, Buckets)) }),
  ),
});

const FIGURES = /** @type {const} */ (['p50', 'p90', 'p99', 'max', 'lagMax']);
const Row = z
  .object({
    ...each(['second', 'succeeded', 'failed'], count),
    ...each([...FIGURES, 'lag99'], ms),
    ...each(['histogram', 'lag'], z.string().nullable()),
    ...{ failures: Outcomes, histogramSeconds: z.literal(1) },
  })
  // Rows of several parts are merged by their histograms.
  .refine((row) => {
    const isEmpty = row.succeeded + row.failed === 0;
    return [row.histogram, ...FIGURES.map((key) => row[key])].every((one) => (one === null) === isEmpty);
  });

const Packed = z.object({
  tally: z.object({
    ...{ cells: z.array(Cell), lag: Buckets, readLate: Buckets },
    displaced: z.object(each(['second', 'tenth'], amount)),
  }),
  ...{ atMs: amount, rows: z.array(Row), open: Row.nullable() },
});

/** @param {any} value a Report, or a part of one @returns {any} JSON */
export function packReport(value) {
  if (value instanceof Uint32Array) return packBuckets(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return typeof value[0] === 'object' ? value.map(packReport) : value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, packReport(inner)]));
}

/**
 * @param {unknown} packed @param {number} cells @param {number} seconds of the run so far @param {number} bytes of its message
 * @returns {Report} @throws {Error} it is none of this run, or too costly
 */
export function readReport(packed, cells, seconds, bytes) {
  const report = /** @type {Report} */ (Packed.parse(packed));
  const { atMs, rows, open, tally } = report;
  if (rows.some(({ second }, i) => i > 0 && second <= rows[i - 1].second))
    throw new RangeError('a report with a second twice');
  let left = bucketsAllowed(bytes);
  for (const text of [...rows, open].flatMap((row) => [row?.histogram ?? [], row?.lag ?? []].flat())) {
    const buckets = countBuckets(text) ?? 0;
    left -= buckets;
    if (buckets === 0 || left < 0) throw new RangeError('a report with a wrong histogram');
  }
  const ends = [atMs / 1000, ...rows.map(({ second }) => second), open?.second ?? 0];
  for (const { perSecond, lastSuccessMs } of tally.cells)
    ends.push(lastSuccessMs / 1000, ...Object.values(perSecond).map(({ length }) => length - 1));
  if (tally.cells.length !== cells || maxOf(ends) > seconds)
    throw new RangeError('a report on another run, or on time to come');
  return report;
}

/** @param {number} of parts @param {(thread: number, report: object) => void} send @returns {{live: LiveHook, close: () => void}} */
export function createReports(of, send) {
  const every = Math.ceil(of / REPORTS_AT_ONCE);
  const channels = /** @type {MessageChannel[]} */ ([]);
  return {
    live: {
      ports(count) {
        for (let thread = 0; thread < count; thread++) {
          const channel = new MessageChannel();
          const rows = /** @type {Report['rows']} */ ([]);
          let reports = 0;
          channel.port1.on('message', (/** @type {Report} */ report) => {
            rows.push(...report.rows);
            if (reports++ % every === 0) send(thread, packReport({ ...report, rows: rows.splice(0) }));
          });
          channels.push(channel);
        }
        return channels.map(({ port2 }) => port2);
      },
      begin() {},
    },
    close() {
      for (const { port1 } of channels) port1.close();
    },
  };
}
