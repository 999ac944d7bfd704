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

test('the first series is on top and dashed, so that both show where they are equal', () => {
  assert.deepEqual(linesOf(draw('percentiles', dataOf())), ['s1', 's2']);
});

test('one request is singular, and none draws nothing', () => {
  const one = sampleResult([{ outcome: 'good', service: [5.5] }]).latencyMs.response;
  const data = (/** @type {object} */ latency) => ({ axis: 'latency', series: [{ name: 'a', latency }] });
  assert.equal(draw('percentiles', data(one)).summary, 'p50 5.50 ms, p99 5.50 ms, max 5.50 ms.');
  assert.equal(drawOrNull('percentiles', data(sampleResult([]).latencyMs.response)), null);
});
