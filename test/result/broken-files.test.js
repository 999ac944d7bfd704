/** Files that were changed by hand are refused in a sentence, or shown. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PkiLoadError } from '../../src/common/errors.js';
import { renderDocument } from '../../src/report/index.js';
import { compareGroups } from '../../src/result/comparison/compare.js';
import { mergeResults } from '../../src/result/parts/merge-results.js';
import { parseDocument } from '../../src/result/read-document.js';
import { makeRunSet } from '../../src/result/runs/run-set.js';
import { syntheticParts, syntheticRun } from '../synthetic-run.js';
import { runsOf, slower, TEN } from './runs.js';
import { sampleResult, spread } from './sample.js';

/** How often each is tried; more of them by hand: BROKEN_FILES=5000 node --test test/result/broken-files.test.js */
const numRuns = Number(process.env.BROKEN_FILES ?? 10);

const LOAD = { ratePerSecond: 50, durationMs: 3000, seed: 3 };
const REQUIREMENTS = ['p99<10s', 'errors<50%'];

/** What stands in place of a value; undefined: nothing. */
const VALUES = [undefined, null, 0, -1, 0.5, 1e9, '', 'x', 'HISTFAAAAgarbage', [], {}, true, false];

/** One change: at each level, which of the keys; how deep at most; and what stands there then. */
const CHANGE = fc.record({
  ways: fc.array(fc.nat(), { minLength: 1, maxLength: 8 }),
  value: fc.constantFrom(...VALUES),
});

/**
 * @param {unknown} document
 * @param {{ways: number[], value: unknown}[]} changes
 * @returns {Uint8Array} of the file
 */
function changed(document, changes) {
  const copy = JSON.parse(JSON.stringify(document));
  for (const { ways, value } of changes) change(copy, ways, value);
  return Buffer.from(JSON.stringify(copy));
}

/** @param {any} within @param {number[]} ways @param {unknown} value */
function change(within, [way, ...ways], value) {
  const keys = Object.keys(within);
  if (keys.length === 0) return;
  const key = keys[way % keys.length];
  const inner = within[key];
  if (ways.length > 0 && typeof inner === 'object' && inner !== null) return change(inner, ways, value);
  if (value !== undefined) within[key] = value;
  else if (Array.isArray(within)) within.splice(Number(key), 1);
  else delete within[key];
}

/** @param {unknown} document @param {(document: any) => Promise<void> | void} use */
async function assertRefusedOrUsed(document, use) {
  await fc.assert(
    fc.asyncProperty(fc.array(CHANGE, { minLength: 1, maxLength: 2 }), async (changes) => {
      try {
        await use(parseDocument(changed(document, changes), 'r.json'));
      } catch (error) {
        if (!(error instanceof PkiLoadError)) throw error;
        assert.match(error.full, /r\.json/, 'names the file');
      }
    }),
    { numRuns },
  );
}

const LINES = (/** @type {number} */ from, /** @type {number} */ to) => [{ durationMs: 2000, from, to }];
const STAGES = [
  { name: 'ramp', lines: LINES(0, 50) },
  { name: 'hold', lines: LINES(50, 50) },
];
const SCOPED = [
  ['p99<10s', { stage: 'hold' }],
  ['p99<10s', { operation: 'write' }],
];
const GROUPS = [
  { name: 'old', runs: runsOf(TEN, 0) },
  { name: 'new', runs: runsOf(slower(1.1), 1) },
  { name: 'newer', runs: runsOf(slower(1.2), 1000) },
];
const results = [1, 2].map((seed) =>
  syntheticRun({ load: { ...LOAD, seed }, requirements: REQUIREMENTS, unsent: 3 }),
);
const staged = syntheticRun({
  load: { ...LOAD, durationMs: 4000, stages: STAGES },
  weights: { read: 4, write: 1 },
  unsent: 3,
  requirements: [...REQUIREMENTS, .../** @type {any[]} */ (SCOPED)],
});
const OF_RUN = ['text', 'html', 'md', 'junit', 'csv', 'hlog', 'hgrm', 'prom', 'json'];
const OF_SEVERAL = ['text', 'html', 'md', 'json'];

/** @type {[string, unknown, string[]][]} */
const DOCUMENTS = [
  ['result', results[0], OF_RUN],
  ['result of several operations in stages', staged, OF_RUN],
  ['set of runs', makeRunSet('nightly', results), OF_SEVERAL],
  ['comparison', compareGroups(GROUPS, { resamples: 10, failIf: ['p99 slower by 5%'] }), OF_SEVERAL],
];
for (const [what, document, formats] of DOCUMENTS) {
  test(`a modified ${what} is rejected or shown`, async () => {
    const file = Buffer.from(JSON.stringify(document));
    assert.deepEqual(parseDocument(file, 'r.json'), JSON.parse(String(file)), 'as it is, it is read');
    await assertRefusedOrUsed(document, async (one) => {
      for (const format of formats) await renderDocument(format, one, {});
    });
  });
}

test('a modified part is rejected, or merged into a consistent result', async () => {
  const [other, part] = syntheticParts({ load: LOAD, requirements: REQUIREMENTS }, [1, 1]);
  await assertRefusedOrUsed(part, (one) => {
    const { measurement } = mergeResults([other, one], { names: ['other.json', 'r.json'] });
    const said = one.measurement.reasons.some(isBookkeeping);
    assert.equal(measurement.reasons.some(isBookkeeping), said, JSON.stringify(measurement.reasons));
  });
});

test('every format shows an older result without stages and histograms per second', async () => {
  const result = sampleResult([{ outcome: 'good', service: spread(400, 1, 90), lag: 0.1 }]);
  for (const format of ['text', 'html', 'md', 'junit', 'csv', 'prom']) {
    const text = String(await renderDocument(format, result, {}));
    assert.match(text, format === 'csv' ? /^second,time_utc,due,/ : /ocsp/);
    const shown = text.replace(/<script[\s\S]*?<\/script>/g, '');
    assert.doesNotMatch(shown, /undefined|NaN|in 0 stages|class="stage"/);
  }
});

/** @param {{code: string}} reason */
function isBookkeeping({ code }) {
  return code === 'bookkeeping';
}
