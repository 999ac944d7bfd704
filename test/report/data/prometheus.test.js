import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sanitizeText } from '../../../src/common/sanitize.js';
import { bucketsOf, countsUpTo } from '../../../src/report/data/buckets.js';
import { BOUNDS_SECONDS } from '../../../src/report/data/metrics.js';
import { render } from '../../../src/report/data/prometheus.js';
import { checkResult } from '../../../src/result/check/check.js';
import { sampleResult, spread } from '../../result/sample.js';
import { histogramOf } from '../histogram-of.js';
import { SAMPLES } from '../samples.js';

/** @typedef {{labels: Record<string, string>, value: number, name: string}} Sample */
/** @typedef {{type: string, help: string, samples: Sample[]}} Family */

const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"/y;

/**
 * The text format, by hand and on its own: HELP and TYPE before the samples of a metric, which stand together; no series
 * twice; buckets that add up.
 *
 * @param {string} text
 * @returns {Map<string, Family>}
 */
function parse(text) {
  assert.match(text, /[^\n]\n$/);
  /** @type {Map<string, Family>} */
  const families = new Map();
  const series = new Set();
  /** @type {[string, Family] | null} */
  let current = null;
  for (const line of text.slice(0, -1).split('\n')) {
    const help = /^# HELP ([a-zA-Z_:][\w:]*) (\S.*)$/.exec(line);
    const type = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram|summary)$/.exec(line);
    if (help !== null) {
      assert.ok(!families.has(help[1]), `${help[1]} stands in one place`);
      current = [help[1], { type: '', help: help[2], samples: [] }];
      families.set(...current);
      continue;
    }
    assert.ok(current !== null, line);
    /** @type {[string, Family]} */
    const [name, family] = current;
    if (type !== null) {
      assert.equal(type[1], name);
      assert.equal(family.samples.length, 0);
      family.type = type[2];
      continue;
    }
    const sample = parseSample(line);
    assert.ok(
      suffixesOf(family.type).some((suffix) => sample.name === `${name}${suffix}`),
      line,
    );
    const key = line.slice(0, line.lastIndexOf(' '));
    assert.ok(!series.has(key), `${key} stands once`);
    series.add(key);
    family.samples.push(sample);
  }
  return families;
}

/** @param {string} type */
function suffixesOf(type) {
  if (type === 'histogram') return ['_bucket', '_sum', '_count'];
  return type === 'summary' ? ['', '_sum', '_count'] : [''];
}

/** @param {string} line @returns {Sample} */
function parseSample(line) {
  const found = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (NaN|[-+]Inf|[-+]?[\d.]+(?:e[-+]?\d+)?)$/.exec(line);
  assert.ok(found !== null, line);
  const [, name, inside = '', value] = found;
  /** @type {Record<string, string>} */
  const labels = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < inside.length) {
    const label = LABEL.exec(inside);
    assert.ok(label !== null, line);
    labels[label[1]] = label[2].replace(/\\(.)/g, (_, character) => (character === 'n' ? '\n' : character));
    if (LABEL.lastIndex < inside.length) assert.equal(inside[LABEL.lastIndex++], ',');
  }
  return { name, labels, value: Number(value.replace('Inf', 'Infinity')) };
}

/** What `promtool check metrics` holds against names. @param {Map<string, Family>} families */
function lint(families) {
  for (const [name, { type, samples }] of families) {
    assert.equal(name.endsWith('_total'), type === 'counter', name);
    assert.doesNotMatch(name, /milliseconds|microseconds|percent|gauge|counter|histogram|summary|[A-Z]/);
    assert.doesNotMatch(name, /_(sum|count|bucket|info_total)$/);
    for (const { labels } of samples) {
      assert.equal('le' in labels && type !== 'histogram', false, name);
      assert.equal('quantile' in labels && type !== 'summary', false, name);
    }
  }
}

/** Buckets of each series rise, and the last is its count. @param {Map<string, Family>} families */
function checkBuckets(families) {
  for (const [name, { type, samples }] of families) {
    if (type !== 'histogram') continue;
    /** @type {Map<string, Sample[]>} */
    const series = new Map();
    for (const one of samples) {
      const key = JSON.stringify({ ...one.labels, le: undefined });
      series.set(key, [...(series.get(key) ?? []), one]);
    }
    for (const [key, all] of series) {
      const buckets = all.filter((one) => one.name === `${name}_bucket`);
      assert.equal(buckets.length, BOUNDS_SECONDS.length + 1, key);
      assert.equal(buckets.at(-1)?.labels.le, '+Inf');
      for (const [i, { value }] of buckets.entries())
        assert.ok(i === 0 || value >= buckets[i - 1].value, key);
      assert.equal(all.find((one) => one.name === `${name}_count`)?.value, buckets.at(-1)?.value);
    }
  }
}

for (const [name, result] of Object.entries(SAMPLES)) {
  test(`the exposition of ${name} parses, with valid names and cumulative buckets`, () => {
    const families = parse(render(result));
    lint(families);
    checkBuckets(families);
    const total = families.get('vault_pki_load_requests_total')?.samples ?? [];
    assert.equal(
      total.reduce((sum, { value }) => sum + value, 0),
      result.totals.sent,
    );
  });
}

test('figures equal those of the result, in seconds', () => {
  const families = parse(render(SAMPLES['requirement-not-met']));
  const find = (/** @type {string} */ name, /** @type {Record<string, string>} */ labels) =>
    families
      .get(`vault_pki_load_${name}`)
      ?.samples.filter((one) => Object.entries(labels).every(([key, text]) => one.labels[key] === text))
      .map(({ value }) => value);
  assert.deepEqual(find('requests_total', { outcome: 'timeout', result: 'failure' }), [8]);
  assert.deepEqual(find('requirement_state', { requirement: 'p99<50ms' }), [0, 1, 0]);
  assert.deepEqual(find('requirement_limit', { requirement: 'p99<50ms', unit: 'seconds' }), [0.05]);
  assert.deepEqual(find('requirement_actual', {}), [0.0482]);
  assert.deepEqual(find('measurement_state', { state: 'valid' }), [1]);
  assert.deepEqual(find('latency_max_seconds', { time: 'response' }), [10.00112]);
  assert.deepEqual(find('succeeded_per_second', {}), [19.5]);
  assert.deepEqual(find('running', {}), [0]);
  assert.deepEqual(find('start_time_seconds', {}), [1767323045.678]);
  const timeouts = find('response_time_seconds', { outcome: 'timeout' });
  assert.deepEqual(timeouts?.slice(0, 17), [...Array(16).fill(0), 8]);
});

test('during the run there is no verdict on the measurement, and values that may decrease are gauges', () => {
  const families = parse(render(SAMPLES.unfinished));
  assert.deepEqual(
    [...families.keys()].filter((name) => name.includes('measurement')),
    [],
  );
  assert.equal(families.get('vault_pki_load_requests_never_sent')?.type, 'gauge');
  assert.equal(families.get('vault_pki_load_running')?.samples[0].value, 1);
});

test('names that differ only in invisible characters are separate series', () => {
  const names = ['a\u0001', 'a\u0002', 'a?', 'a\ud800', 'a\ud801'];
  const groups = names.map((outcome) => ({ outcome, success: false, service: [1] }));
  const failures = Object.fromEntries(names.map((name) => [name, 1]));
  const result = sampleResult(groups, {
    verification: { checked: 5, passed: 0, sampled: false, unchecked: 0, failures },
    requirements: names.map((text) => ({ ...SAMPLES['requirement-not-met'].requirements[0], text })),
    measurement: { verdict: 'suspect', reasons: names.map((code) => ({ code, text: '' })) },
  });
  assert.deepEqual(checkResult(result), []);
  const families = parse(render(result));
  for (const [name, size] of [
    ['requests_total', 5],
    ['responses_failed_total', 5],
    ['requirement_state', 15],
    ['measurement_reason', 5],
  ]) {
    assert.equal(families.get(`vault_pki_load_${name}`)?.samples.length, size, String(name));
  }
});

test('operations with similar names are separate series', () => {
  const { operations } = sampleResult([{ outcome: 'good', service: [1] }]);
  const result = sampleResult([], { operations: { 'a\u0001': operations.ocsp, 'a\u0002': operations.ocsp } });
  const families = parse(render(result));
  assert.equal(families.get('vault_pki_load_requests_total')?.samples.length, 2);
});

test('a repeated requirement is exported once', () => {
  const requirement = SAMPLES['requirement-not-met'].requirements[0];
  const families = parse(render(sampleResult([], { requirements: [requirement, { ...requirement }] })));
  assert.equal(families.get('vault_pki_load_requirement_state')?.samples.length, 3);
});

test('labels with arbitrary text round-trip', () => {
  const anything = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.string({ unit: fc.constantFrom('\\', '"', '\n', 'n', '{', '}', ',', '=', '#') }),
  );
  fc.assert(
    fc.property(anything, anything, (url, text) => {
      const result = sampleResult([{ outcome: 'good', service: [1] }], {
        target: { url, product: text, version: null },
        requirements: [{ text, verdict: 'met', actual: 1, limit: 2, unit: 'ms', reason: '' }],
      });
      const families = parse(render(result));
      const [info] = families.get('vault_pki_load_info')?.samples ?? [];
      assert.equal(info.labels.url, sanitizeText(url));
      assert.equal(info.labels.product, sanitizeText(text));
      const [state] = families.get('vault_pki_load_requirement_state')?.samples ?? [];
      assert.equal(state.labels.requirement, sanitizeText(text));
    }),
    { numRuns: 200 },
  );
});

test('buckets never count a request as faster than it was, and err by at most 0.1 %', () => {
  const ms = fc.integer({ min: 0, max: 120_000_000 }).map((us) => us / 1000);
  fc.assert(
    fc.property(fc.array(ms, { minLength: 1, maxLength: 50 }), (values) => {
      const histogram = histogramOf(values);
      const counts = countsUpTo(
        bucketsOf(histogram),
        BOUNDS_SECONDS.map((bound) => Math.round(bound * 1e6)),
      );
      for (const [i, bound] of BOUNDS_SECONDS.entries()) {
        const within = values.filter((value) => value <= bound * 1000).length;
        const surely = values.filter((value) => value <= bound * 999 - 0.001).length;
        assert.ok(counts[i] <= within && counts[i] >= surely, `${counts[i]} up to ${bound} s`);
      }
    }),
  );
});

test('bucket counts equal the counts of a known distribution', () => {
  const counts = countsUpTo(bucketsOf(histogramOf(spread(1000, 0.001, 1))), [100, 250, 500, 1000, 2500]);
  assert.deepEqual(counts, [100, 250, 500, 1000, 1000]);
});
