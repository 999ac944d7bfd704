/** Recorders' reports as messages: a member's recorders are further threads of part 0's live view. */

import { MessageChannel } from 'node:worker_threads';

/** @import { Report } from '../engine/recording/recorder.js' */
/** @import { LiveHook } from '../run.js' */

/** Part 0's thread, perhaps a sender, reads each in 0.3 ms: of more parts than this, only each second report, etc. */
const REPORTS_AT_ONCE = 32;

/** @param {object} record @param {(value: any) => unknown} change */
const mapValues = (record, change) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));

/** @param {any} report @param {(histogram: any) => unknown} change @returns {any} */
const mapHistograms = ({ tally: { cells, lag, readLate, ...tally }, ...report }, change) => ({
  ...report,
  tally: {
    ...tally,
    cells: cells.map((/** @type {any} */ cell) => ({
      ...cell,
      outcomes: mapValues(cell.outcomes, (outcome) => ({
        ...outcome,
        latency: mapValues(outcome.latency, change),
      })),
    })),
    lag: change(lag),
    readLate: change(readLate),
  },
});

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

/** @param {ReturnType<typeof packBuckets>} packed @returns {Uint32Array} @throws {RangeError} */
function readBuckets({ isShort, bytes }) {
  const { buffer } = Uint8Array.from(Buffer.from(String(bytes), 'base64'));
  return new Uint32Array(isShort ? new Uint16Array(buffer) : buffer);
}

/** @param {Report} report @returns {object} JSON */
export const packReport = (report) => mapHistograms(report, packBuckets);

/** @param {any} packed from packReport, authentic @returns {Report} @throws {TypeError | RangeError} it is none */
export const readReport = (packed) => mapHistograms(packed, readBuckets);

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
