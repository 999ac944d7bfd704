/**
 * What does the load gain from connections of its own? The same plans through ours and through undici: the same program, in
 * which only the module of the connections is replaced. All threads are on one core, the target on another.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { shareCores } from './cores.js';
import { measureInTurn } from './in-turn.js';
import { lateness } from './lateness.js';
import { BIN, runOcsp } from './ours.js';
import { median } from './statistics.js';
import { withSubject } from './subject.js';
import { withTarget } from './target/start.js';
import { runTimed } from './timed.js';

/** @import { Result } from '../../src/result/schema.js' */
/** @import { Report, Settings } from './index.js' */
/** @import { Subject } from './subject.js' */
/** @import { AddressInfo } from 'node:net' */

const CONNECTIONS = 10;
const RATE = 1000;
const LOADER = fileURLToPath(new URL('./transport/loader.js', import.meta.url));

/** @type {{name: string, nodeOptions: string[]}[]} */
const TRANSPORTS = [
  { name: 'ours', nodeOptions: [] },
  { name: 'undici', nodeOptions: ['--import', LOADER] },
];

/** Bodies of which a part arrives before the connection is reset, by the way their end is marked. */
const CUT_BODIES = {
  length: 'Content-Length: 9\r\n\r\npart',
  chunks: 'Transfer-Encoding: chunked\r\n\r\n4\r\npart\r\n',
  close: '\r\npart',
};

/** @typedef {{perSecond: number, cpuUs: number, lateP50: number | null, lateP99: number | null, cut: Record<string, string>}} Measured */

/** @param {Settings} settings @returns {Promise<Report>} */
export async function run(settings) {
  return withSubject(async (subject) => {
    const sources = TRANSPORTS.map(({ name, nodeOptions }) => ({
      name,
      measure: () => measure(subject, nodeOptions, settings.seconds),
    }));
    const rows = await measureInTurn(sources, settings);
    const [ours, theirs] = rows;
    const ratios = theirs.runs.map(({ perSecond }, i) => perSecond / ours.runs[i].perSecond);
    return {
      question: `The load through its own connections and through undici: ${CONNECTIONS} connections, all threads on one core, the target on another; a closed loop of OCSP requests, then ${RATE}/s with the lateness in ms from the due time to the arrival at the target; what a body counts as that a reset cuts`,
      chart: { column: 'CPU us each', named: 1 },
      columns: [
        'connections',
        'responses/s',
        'CPU us each',
        'late p50',
        'late p99',
        ...Object.keys(CUT_BODIES).map((end) => `cut body, ${end}`),
      ],
      rows: rows.map(({ name, runs }) => [
        name,
        ...['perSecond', 'cpuUs', 'lateP50', 'lateP99'].map((key) =>
          median(runs.map((one) => Number(one[/** @type {'perSecond'} */ (key)]))),
        ),
        ...Object.keys(CUT_BODIES).map((end) => [...new Set(runs.map(({ cut }) => cut[end]))].join(', ')),
      ]),
      summary: {
        'responses/s of undici / ours, in the same round': ratios.map((ratio) => ratio.toFixed(2)).join(', '),
        ...Object.fromEntries(
          rows.flatMap(({ name, runs }) => [
            [`responses/s, ${name}`, spreadOf(runs.map(({ perSecond }) => perSecond))],
            [`CPU us each, ${name}`, spreadOf(runs.map(({ cpuUs }) => cpuUs))],
            [`late p99, ${name}`, spreadOf(runs.map(({ lateP99 }) => Number(lateP99)))],
          ]),
        ),
      },
      raw: rows,
    };
  });
}

/** @param {number[]} values */
const spreadOf = (values) => `${figure(Math.min(...values))} to ${figure(Math.max(...values))}`;
/** @param {number} value */
const figure = (value) => String(Number(value.toPrecision(3)));

/** @param {Subject} subject @param {string[]} nodeOptions @param {number} seconds @returns {Promise<Measured>} */
async function measure(subject, nodeOptions, seconds) {
  const { one } = shareCores();
  // Before the load, the tool sends one request to the responder.
  const target = { bodyFile: subject.response, skip: 1 };
  const load = { concurrency: CONNECTIONS, duration: seconds };
  const closed = await withTarget(target, async ({ url }) => {
    const { result, cpuSeconds } = await runOcsp(subject, url, load, one, nodeOptions);
    const { sent, succeeded } = result.totals;
    if (sent !== succeeded) throw new Error(`${sent - succeeded} requests failed`);
    return { perSecond: succeeded / result.durationSeconds, cpuUs: (cpuSeconds * 1e6) / sent };
  });
  const late = await withTarget({ ...target, record: true }, async ({ url, stats, arrivals }) => {
    const { result } = await runOcsp(subject, url, { ...load, rate: RATE }, one, nodeOptions);
    await stats();
    const originNs = BigInt(/** @type {string} */ (result.startedAtMonotonicNs));
    return lateness(await arrivals(), { rate: RATE, seconds }, originNs);
  });
  return { ...closed, lateP50: late.p50, lateP99: late.p99, cut: await countCutBodies(nodeOptions) };
}

/** @param {string[]} nodeOptions @returns {Promise<Record<string, string>>} outcome by the end of the body */
async function countCutBodies(nodeOptions) {
  /** @type {Record<string, string>} */
  const outcomes = {};
  for (const [end, rest] of Object.entries(CUT_BODIES)) {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (request) => {
        // The check before the run.
        if (request.includes('/sys/health')) return void socket.end(HEALTH);
        socket.write(`HTTP/1.1 200 OK\r\n${rest}`);
        setTimeout(() => socket.resetAndDestroy(), 5);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = /** @type {AddressInfo} */ (server.address());
    const options = ['--url', `http://127.0.0.1:${port}`, '--path', '/x', '--token', 'none'];
    const load = ['--requests', '20', '--concurrency', '1', '--quiet', '--format', 'json'];
    const { stdout, stderr } = await runTimed([
      process.execPath,
      ...nodeOptions,
      BIN,
      'http',
      ...options,
      ...load,
    ]);
    server.close();
    if (stdout === '') throw new Error(`http sent nothing: ${stderr}`);
    const counted = Object.keys(/** @type {Result} */ (JSON.parse(stdout)).outcomes);
    outcomes[end] = counted.map((name) => (name === 'expected' ? 'success' : name)).join(', ');
  }
  return outcomes;
}

const BODY = JSON.stringify({ initialized: true, sealed: false, standby: false, version: '1.21.1' });
const HEALTH = `HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;
