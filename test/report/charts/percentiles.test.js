import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleResult, spread } from '../../result/sample.js';
import { draw, drawOrNull, linesOf } from './draw.js';

const { response, service } = sampleResult([
  { outcome: 'good', service: spread(1000, 1, 40), lag: 20 },
]).latencyMs;

/** @param {object} [bars] of the response time */
const dataOf = (bars) => ({
  axis: 'latency',
  series: [
    { name: 'response time', latency: { ...response, bars } },
    { name: 'service time', latency: service },
  ],
});

test('the first series is on top and dashed, so that equal series are both visible', () => {
  assert.deepEqual(linesOf(draw('percentiles', dataOf())), ['s1', 's2']);
});

test('error bars are whiskers at p50, p90, p95, p99 and p99.9', () => {
  const bar = { low: 20, high: 30, tool: 0 };
  const drawn = draw('percentiles', dataOf({ p50: bar, p90: bar, p95: bar, p99: bar, p999: bar, max: bar }));
  assert.equal(drawn.svg.match(/class="error"/g)?.length, 5 * 3, 'five in each size');
  assert.match(drawn.summary, /Whiskers: 95 % error bars\.$/);
});

test('an error bar without an upper bound ends in an arrow', () => {
  const { svg } = draw('percentiles', dataOf({ p99: { low: 38, high: null, tool: 0 } }));
  assert.match(svg, /<path class="error" d="M[^"]*L[^"]*"/);
});

test('an older result has no whiskers', () => {
  const { svg } = draw('percentiles', dataOf());
  assert.doesNotMatch(svg, /class="error"/);
});

test('whiskers beyond the largest value are omitted', () => {
  const few = sampleResult([{ outcome: 'good', service: [1, 2, 3] }]).latencyMs.response;
  const bars = { p50: { low: 1, high: 3 }, p999: { low: 1, high: null } };
  const drawn = draw('percentiles', { axis: 'latency', series: [{ name: 'a', latency: { ...few, bars } }] });
  assert.equal(drawn.svg.match(/class="error"/g)?.length, 3);
});

test('handles one request, and draws nothing without requests', () => {
  const one = sampleResult([{ outcome: 'good', service: [5.5] }]).latencyMs.response;
  const data = (/** @type {object} */ latency) => ({ axis: 'latency', series: [{ name: 'a', latency }] });
  assert.equal(draw('percentiles', data(one)).summary, 'p50 5.50 ms, p99 5.50 ms, max 5.50 ms.');
  assert.equal(drawOrNull('percentiles', data(sampleResult([]).latencyMs.response)), null);
});
