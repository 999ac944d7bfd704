/** Documents of every kind, by what they show. */
import { targetError } from '../../src/common/errors.js';
import { compareGroups as compareAll } from '../../src/result/comparison/compare.js';
import { createRunSet } from '../../src/result/runs/run-set.js';
import { endWithError } from '../../src/result/search/explain.js';
import { clusterSample, revokedRow, sampleOf, troubledSample } from '../campaigns/propagation/sample.js';
import { generatorSearch, samplePeak, sampleSearch } from '../campaigns/search/sample.js';
import { BY_INTERVAL, BY_RANK, runOf, runsOf, slower, TEN } from '../result/runs.js';
import { openLoad, sampleResult, spread } from '../result/sample.js';
import {
  mixedRun,
  REQUIRED,
  STAGES,
  scenarioOf,
  stagedRun,
  startScenario,
  troubledRun,
} from '../result/scenario-sample.js';
import { lazily } from './lazily.js';
import { SAMPLES } from './samples.js';

/** @import { Comparison } from '../../src/result/comparison/comparison-schema.js' */
/** @import { Propagation } from '../../src/result/propagation/propagation-schema.js' */
/** @import { NamedRun } from '../../src/result/runs/run-set.js' */
/** @import { RunSet } from '../../src/result/runs/run-set-schema.js' */
/** @import { ScenarioResult } from '../../src/result/scenario/scenario-schema.js' */
/** @import { Result } from '../../src/result/schema.js' */
/** @import { Search } from '../../src/result/search/search-schema.js' */

/** Resamples enough for a report to look at. @type {typeof compareAll} */
const compareGroups = (groups, options) => compareAll(groups, { resamples: 400, ...options });

const HOSTILE_PAGE = '</script><b>\u001b[2J|`*\u202e "&\'';

const LONG =
  'a-storage-backend-with-a-name-that-is-much-longer-than-any-column-could-ever-be-wide-enough-for';

/** @type {Result['measurement']} */
const INVALID_MEASUREMENT = {
  verdict: 'invalid',
  reasons: [{ code: 'send_lag', text: 'Requests went out late.', remedy: 'Use less load.' }],
};

export const INVALID = { measurement: INVALID_MEASUREMENT };

export const old = { name: 'old', runs: runsOf(TEN, 0) };

/** Answers nothing, and at once. @type {NamedRun[]} */
const REFUSED = TEN.map((factor, i) => ({
  name: `down.json, run ${i + 1}`,
  result: sampleResult([{ outcome: 'refused', success: false, service: spread(100, 0.3, 0.4 * factor) }], {
    startedAt: `2026-01-0${3 + (i % 2)}T04:${10 + i}:00.000Z`,
    target: { url: 'http://10.0.0.1:8200', product: 'OpenBao', version: '2.6.2' },
  }),
}));

/** @param {{base: readonly number[], other: readonly number[]}} factors */
const compared = ({ base, other }) =>
  compareGroups([
    { name: 'old', runs: runsOf(base, 0) },
    { name: 'new', runs: runsOf(other, 1) },
  ]);

/** @type {Record<string, Comparison>} by what it shows */
export const COMPARISONS = lazily({
  'compare-slower': () =>
    compareGroups([old, { name: 'new', runs: runsOf(slower(1.1), 1) }], {
      failIf: ['p99 slower by 10%', 'rate lower', 'p99 slower by 50%'],
      createdAt: '2026-02-03T04:05:06.789Z',
      command: "vault-pki-load compare old-1.json --with new-1.json --fail-if 'p99 slower by 10%'",
    }),
  'compare-nothing': () => compareGroups([old, { name: 'new', runs: runsOf(TEN, 1) }]),
  'compare-few-runs': () =>
    compareGroups([
      { name: 'old', runs: runsOf([1], 0) },
      { name: 'new', runs: runsOf([2, 2.1], 1) },
    ]),
  'compare-many-groups': () =>
    compareGroups(
      ['consul', 'raft', 'etcd', 'file', 'inmem', 'mysql', 'zookeeper', 's3'].map((name, i) => ({
        name,
        runs: runsOf(slower(i === 1 ? 0.7 : 1 + i / 20), i * 100),
      })),
      { failIf: ['p99 slower by 10%'], resamples: 400 },
    ),
  'compare-warnings': () =>
    compareGroups(
      [
        old,
        {
          name: LONG,
          runs: [
            ...runsOf(slower(0.8), 100, { load: openLoad({ ratePerSecond: 50, concurrency: 99 }) }),
            { name: 'bad.json', result: runOf(9, 200, INVALID) },
          ],
        },
      ],
      { failIf: ['p99 worse', 'rate better by 5%'], leaveOutInvalid: true },
    ),
  'compare-by-rank': () => compared(BY_RANK),
  'compare-by-interval': () => compared(BY_INTERVAL),
  'compare-errors': () =>
    compareGroups([old, { name: 'down', runs: REFUSED }], {
      failIf: ['p99 slower by 10%', 'errors higher'],
    }),
  'compare-left-out': () =>
    compareGroups(
      [old, { name: 'new', runs: [...runsOf(TEN.slice(5), 1), ...runsOf(slower(2).slice(5), 201, INVALID)] }],
      { failIf: ['p99 slower'], leaveOutInvalid: true },
    ),
  'compare-hostile': () =>
    compareGroups([old, { name: HOSTILE_PAGE, runs: runsOf(slower(1.1), 1) }], {
      resamples: 40,
    }),
});

/** @type {Record<string, RunSet>} by what it shows */
export const RUN_SETS = lazily({
  'run-set': () =>
    createRunSet(
      'nightly',
      TEN.map((factor, i) =>
        runOf(factor, i, {
          requirements: [
            {
              text: 'p99<10ms',
              verdict: factor > 1.02 ? 'not met' : 'met',
              actual: 9.9 * factor,
              limit: 10,
              unit: 'ms',
              reason: 'So it is.',
            },
          ],
        }),
      ),
    ),
  'run-set-left-out': () =>
    createRunSet(LONG, [
      runOf(1, 0),
      runOf(1.1, 1, INVALID),
      runOf(1.2, 2, { interrupted: true }),
      runOf(1000, 3),
    ]),
  'run-set-mixed': () =>
    createRunSet('before and after', [
      runOf(1, 0),
      runOf(1.1, 1),
      runOf(1.2, 2, {
        load: openLoad({ ratePerSecond: 50 }),
        target: { url: 'http://127.0.0.1:8200', product: 'OpenBao', version: '2.6.2' },
      }),
    ]),
  'run-set-nothing': () => createRunSet('stopped', [runOf(1, 0, { interrupted: true })]),
  'run-set-hostile': () => createRunSet(HOSTILE_PAGE, [runOf(1, 0)]),
});

const FACTORS = [1, 1.02, 0.99, 1.01, 1.03];

/** @param {number} by @param {number} at */
export const taken = (by, at) => FACTORS.map((factor, i) => mixedRun(factor * by, 3 * i + at));

/** @param {number} by @param {number} minute @param {'met' | 'not met'} verdict */
const staged = (by, minute, verdict) =>
  stagedRun(by, minute, { requirements: [{ ...REQUIRED, verdict, reason: `p99 is ${12 * by} ms.` }] });

/** @returns {ScenarioResult} write, then read, on two targets */
function writeThenRead() {
  const summary = startScenario({
    name: 'Storage backends',
    runs: ['write', 'read'],
    targets: ['inmem', 'file'],
    repeat: 1,
  });
  for (const step of [0, 1, 2, 3]) summary.add(step, mixedRun(1 + step, step));
  return summary.result({ durationMs: 61_000 });
}

/** @type {Record<string, ScenarioResult>} by what it shows */
export const SCENARIOS = lazily({
  'scenario-compared': () => scenarioOf({ inmem: taken(1, 0), raft: taken(1.5, 1), postgresql: taken(2, 2) }),
  // Two kinds of errors in one target, one of them in all its runs; none in the other.
  'scenario-errors': () =>
    scenarioOf({
      inmem: [0, 2, 4].map((minute) =>
        troubledRun(minute, { timedOut: minute + 1, sealed: minute === 4 ? 40 : 0 }),
      ),
      raft: [1, 3, 5].map((minute) => mixedRun(1, minute)),
    }),
  'scenario-stages': () =>
    scenarioOf(
      { 'vault-1': [staged(1, 0, 'met')], 'vault-2': [staged(20, 1, 'not met')] },
      { plan: { stages: STAGES, ratePerSecond: 50 }, name: 'Burst load' },
    ),
  'scenario-runs': () => writeThenRead(),
  'scenario-interrupted': () =>
    scenarioOf(
      {
        a: [mixedRun(1, 0), mixedRun(1, 2, { interrupted: true })],
        b: [mixedRun(1, 1, { measurement: INVALID_MEASUREMENT })],
        c: [],
      },
      { interrupted: true, repeat: 4, failed: { c: 'http://c refused the connection. Start it.' } },
    ),
  'scenario-hostile': () =>
    scenarioOf(
      { [HOSTILE_PAGE]: [troubledRun(0, { sealed: 2, name: HOSTILE_PAGE })], plain: [mixedRun(1.1, 1)] },
      { name: HOSTILE_PAGE, runs: [HOSTILE_PAGE], failed: { plain: HOSTILE_PAGE } },
    ),
});

const HOSTILE = '<b>\u001b[2J| `x` | [y](http://z) "q",';

/** @type {Record<string, Propagation>} */
export const PROPAGATIONS = lazily({
  'propagation-cluster': () => clusterSample(),
  'propagation-troubled': () => troubledSample(),
  'propagation-before': () =>
    sampleOf({
      rows: Array.from({ length: 30 }, (_, i) => revokedRow(i + 1, [[0, 8 + i]], 60)),
      require: ['max<1s'],
    }),
  'propagation-nothing': () =>
    sampleOf({
      rows: [],
      certificates: 5,
      interrupted: true,
      watched: [{ answers: {}, counts: { sent: 0, missed: 0, skipped: 0 } }],
      lags: [],
    }),
  'propagation-hostile': () => ({
    ...sampleOf({ nodes: [{ url: `http://a/${HOSTILE}`, version: HOSTILE, state: 'performance standby' }] }),
    command: HOSTILE,
    target: { url: `http://b/${HOSTILE}`, product: HOSTILE, version: HOSTILE },
    notes: [HOSTILE],
  }),
});

/** @type {Record<string, () => Promise<Search>>} */
export const SEARCHES = {
  search: () => sampleSearch(),
  'search-highest': () => sampleSearch({ highest: 80 }),
  'search-peak': samplePeak,
  'search-generator': generatorSearch,
  'search-none': () =>
    sampleSearch({ start: 5, highest: 5 }, { isStopped: () => true, runStep: async () => null }),
  'search-broken-off': brokenSearch,
  'search-hostile': async () => ({
    ...endWithError(await sampleSearch({ highest: 60 }), targetError('no', HOSTILE_PAGE)),
    target: { url: 'http://x', product: HOSTILE_PAGE, version: null },
  }),
};

/** The target does not take a third step. */
async function brokenSearch() {
  /** @type {Search[]} */
  const written = [];
  const { startedAt, durationSeconds } = await sampleSearch(
    {},
    { onStep: async (soFar) => void written.push(soFar) },
  );
  const error = targetError('connection_refused', 'http://192.0.2.1:8200 refused.', 'Start it.');
  return { ...endWithError(written[1], error), startedAt, durationSeconds };
}

/** @returns {Promise<Record<string, any>>} every document by its name */
export async function allDocuments() {
  const searches = Object.entries(SEARCHES).map(async ([name, make]) => [name, await make()]);
  return {
    ...SAMPLES,
    ...COMPARISONS,
    ...RUN_SETS,
    ...SCENARIOS,
    ...PROPAGATIONS,
    ...Object.fromEntries(await Promise.all(searches)),
  };
}
