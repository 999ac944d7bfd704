/** The parts of the service time: in results, merged from parts, checked in files, and in reports. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { renderDocument } from '../../src/report/index.js';
import { mergeResults } from '../../src/result/parts/merge-results.js';
import { parseDocument } from '../../src/result/read-document.js';
import { syntheticParts, syntheticRun } from '../synthetic-run.js';

/** @import { Sample } from '../../src/engine/recording/ring.js' */
/** @import { Result } from '../../src/result/schema.js' */

const PHASES = /** @type {const} */ (['connect', 'tls', 'firstByte', 'transfer']);
const LOAD = { ratePerSecond: 40, durationMs: 5000, seed: 7 };

/** @param {Sample} sample every second request opens a TLS connection, every third response comes in parts */
function change(sample) {
  const ms = sample.done - sample.sent;
  const [connect, tls] = sample.index % 2 === 0 ? [ms / 8, ms / 4] : [0, 0];
  const transfer = sample.index % 3 === 0 ? ms / 8 : 0;
  return { ...sample, connect, tls, transfer, firstByte: ms - connect - tls - transfer };
}

const run = syntheticRun({ load: { ...LOAD, threads: 2 }, change });
const complete = run.totals.sent - (run.outcomes.timeout ?? 0);

/** @param {Result} result @param {typeof PHASES[number] | 'service'} key @returns {number} sum, ms */
const totalOf = ({ latencyMs }, key) => Number(latencyMs[key]?.mean ?? 0) * (latencyMs[key]?.count ?? 0);

describe('the phases of a result', () => {
  test('cover complete responses, and add up to their service time', () => {
    const { connect, tls, firstByte, transfer } = run.latencyMs;
    assert.equal(firstByte?.count, complete);
    assert.ok(connect && transfer && connect.count === tls?.count && connect.count < complete);
    const timeouts = run.outcomeDetails.timeout.latencyMs.service;
    const service = totalOf(run, 'service') - Number(timeouts.mean) * timeouts.count;
    const sum = PHASES.reduce((ms, phase) => ms + totalOf(run, phase), 0);
    assert.ok(Math.abs(sum / service - 1) < 0.002, `${sum} of ${service} ms`);
  });

  test('of kept connections and responses in one piece: the first byte, which reports leave out', async () => {
    const kept = syntheticRun({
      load: LOAD,
      change: (sample) => ({ ...sample, firstByte: sample.done - sample.sent }),
    });
    assert.deepEqual(Object.keys(kept.latencyMs), ['response', 'service', 'sendLag', 'firstByte']);
    assert.doesNotMatch(await renderDocument('text', kept), /first byte/);
  });

  test('are merged from parts as from threads', () => {
    const parts = syntheticParts({ load: LOAD, change }, [1, 1]);
    const { latencyMs } = mergeResults(
      parts.map((part) => /** @type {Result} */ (parseDocument(Buffer.from(JSON.stringify(part)), 'part'))),
    );
    for (const phase of PHASES) assert.deepEqual(latencyMs[phase], run.latencyMs[phase], phase);
  });

  for (const [what, edit] of /** @type {[string, (result: any) => void][]} */ ([
    ['another count', ({ latencyMs }) => latencyMs.tls.count++],
    ['another rate of handshakes', ({ rates }) => (rates.handshakesPerSecond *= 2)],
    ['another p99', ({ latencyMs }) => (latencyMs.connect.p99 *= 2)],
    ['the histogram of another phase', ({ latencyMs }) => (latencyMs.connect = latencyMs.tls)],
  ])) {
    test(`are checked in a file: ${what}`, () => {
      const copy = structuredClone(run);
      edit(copy);
      assert.throws(() => parseDocument(Buffer.from(JSON.stringify(copy)), 'f'), {
        code: 'inconsistent_result',
      });
    });
  }

  test('the report names the kinds of handshakes, the resumed share and the rate', async () => {
    const shown = /** @type {any} */ (structuredClone(run));
    shown.load.requestsPerConnection = 1;
    shown.measurement.observed.handshakes = { 'TLSv1.3 A http/1.1': { count: 100, resumed: 75 } };
    const text = (await renderDocument('text', shown)).replaceAll(/\s+/g, ' ');
    const expected =
      /a new one for each request; TLSv1.3 A http\/1.1: 100 handshakes, 75 % resumed; (\S+)\/s with a response/;
    const [, rate] = expected.exec(text) ?? assert.fail(text);
    assert.equal(Number(rate), Number(run.rates.handshakesPerSecond?.toPrecision(3)));
  });

  test('the report names HTTP/2 and its streams', async () => {
    const shown = /** @type {any} */ (structuredClone(run));
    shown.load.streamsPerConnection = 10;
    shown.measurement.observed.handshakes = { 'TLSv1.3 A h2': { count: 1, resumed: 0 } };
    const text = (await renderDocument('text', shown)).replaceAll(/\s+/g, ' ');
    assert.match(text, /kept open; HTTP\/2, up to 10 streams each; TLSv1.3 A h2: 1 handshake, none resumed/);
  });

  test('are rows of the table, and segments of a chart', async () => {
    const text = await renderDocument('text', run);
    assert.match(text, /^send lag .*\nconnect .*\nTLS .*\nfirst byte .*\ntransfer /m);
    const html = await renderDocument('html', run);
    const [chart] = /<figure[^>]*>(?:(?!<\/figure>)[\s\S])*Where the time went[\s\S]*?<\/figure>/.exec(
      html,
    ) ?? [''];
    const widths = [
      ...chart.matchAll(/class="stacked s(\d)" stroke-width="22" d="M([\d.]+) [\d.]+H([\d.]+)"/g),
    ];
    // Wait, four phases and incomplete requests, in each of the chart's two sizes.
    assert.equal(widths.length, 12);
    for (const [, , from, to] of widths) assert.ok(Number(to) >= Number(from));
    assert.match(chart, /synthetic connect: [\d.]+ ms/);
    assert.match(chart, /no complete response/);
  });
});
