/** What a scenario's runs become before anything is sent: what a search leaves of their load, and what it cannot search. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { readScenario } from '../../../src/campaigns/scenario/read.js';
import { stepsOf } from '../../../src/campaigns/scenario/scenario-steps.js';
import { PkiLoadError } from '../../../src/common/errors.js';
import { HEAD } from './read.js';

/** @import { Step } from '../../../src/campaigns/scenario/scenario-steps.js' */
/** @import { RequestedSearch } from '../../../src/campaigns/search/search-options.js' */

const RATE = Object.freeze({ of: /** @type {const} */ ('rate'), highest: 1e6 });
const FLIGHT = Object.freeze({ of: /** @type {const} */ ('concurrency'), highest: 64 });
const REQUIRED = Object.freeze({ require: ['p99<200ms'] });

/** @param {string} text @param {RequestedSearch | null} search @param {Record<string, unknown>} [flags] */
const plan = async (text, search, flags = {}) =>
  stepsOf(await readScenario(text, 's.yaml', {}), flags, { search, pauseMs: 0 });

/** @param {Parameters<typeof plan>} how */
const first = async (...how) => (await plan(...how))[0];

const OPEN_STAGES = `${HEAD}stages:\n  - {name: up, ramp: {from: 1, to: 9, duration: 2s}, require: ['p99<1s', 'errors<1%']}\n`;
const CLOSED = `${HEAD}load: {model: closed, concurrency: 7, duration: 20s}\n`;
const CLOSED_STAGES = `${HEAD}load: {model: closed}\nstages: [{hold: {concurrency: 3, duration: 2s}}]\n`;
const OPEN = `${HEAD}load: {rate: 500/s, concurrency: 20, duration: 60s}\n`;

/**
 * What is searched from: level, connections or requests in flight, step in seconds, and whether connections may be added.
 *
 * @type {[string, string, typeof RATE | typeof FLIGHT, Record<string, unknown>, [number, number, number, boolean]][]}
 */
const BEGINS = [
  ['a rate: at the rate of the file, with its connections', OPEN, RATE, {}, [500, 20, 60, false]],
  [
    'a rate: flags override the file',
    OPEN,
    RATE,
    { rate: '9', concurrency: '3', duration: '5s' },
    [9, 3, 5, false],
  ],
  ['a rate: with defaults', HEAD, RATE, {}, [50, 10, 10, true]],
  ['a rate: ignores a closed loop and its concurrency', CLOSED, RATE, {}, [50, 10, 20, true]],
  ['a rate: ignores stages in flight', CLOSED_STAGES, RATE, {}, [50, 10, 10, true]],
  ['a rate: ignores stages of rates', OPEN_STAGES, RATE, {}, [50, 10, 10, true]],
  ['connections beside stages', `${OPEN_STAGES}load: {concurrency: 200}\n`, RATE, {}, [50, 200, 10, false]],
  [
    'a rate: not above the highest allowed one',
    HEAD,
    /** @type {any} */ ({ of: 'rate', highest: 20 }),
    {},
    [20, 10, 10, true],
  ],
  [
    'a rate: ignores a closed loop, but keeps a connection per thread',
    `${HEAD}load: {model: closed, concurrency: 64, threads: 16}\n`,
    RATE,
    {},
    [50, 16, 10, true],
  ],
  [
    'a rate: keeps the threads of stages in flight',
    `${HEAD}load: {model: closed, threads: 16}\nstages: [{hold: {concurrency: 64, duration: 2s}}]\n`,
    RATE,
    {},
    [50, 16, 10, true],
  ],
  ['a rate: with a connection per thread', CLOSED, RATE, { threads: '12' }, [50, 12, 20, true]],
  ['in flight: with one, whatever the concurrency of a closed loop', CLOSED, FLIGHT, {}, [1, 1, 20, false]],
  ['in flight: ignores an open loop', OPEN, FLIGHT, {}, [1, 1, 60, false]],
  ['in flight: ignores stages of rates', OPEN_STAGES, FLIGHT, {}, [1, 1, 10, false]],
  ['in flight: ignores stages in flight', CLOSED_STAGES, FLIGHT, {}, [1, 1, 10, false]],
  ['in flight: one for each thread', `${HEAD}load: {threads: 2}\n`, FLIGHT, {}, [2, 2, 10, false]],
  ['in flight: at --concurrency', OPEN, FLIGHT, { concurrency: '4' }, [4, 4, 60, false]],
  [
    'in flight: without open-loop options',
    `${HEAD}load: {rate: 5, arrivals: poisson, overflow: drop, ramp-up: 1s, pacing: spin}\n`,
    FLIGHT,
    {},
    [1, 1, 10, false],
  ],
];

describe('the start of a search:', () => {
  for (const [what, text, search, flags, [start, concurrency, seconds, fitConnections]] of BEGINS) {
    test(what, async () => {
      const { plan: planned, searchSettings } = await first(text, search, { ...REQUIRED, ...flags });
      const { load } = planned;
      assert.deepEqual(
        { ...searchSettings },
        {
          of: search.of,
          start,
          highest: search.highest,
          stepMs: seconds * 1000,
          confirmMs: 3 * seconds * 1000,
          recoverMs: 1000,
          fitConnections,
        },
      );
      assert.deepEqual(
        [load.model, load.ratePerSecond, load.concurrency, load.stages],
        search.of === 'rate' ? ['open', start, concurrency, null] : ['closed', null, concurrency, null],
      );
    });
  }
});

/**
 * What is refused, and what the remedy comes to, which is not.
 *
 * @type {[string, string, typeof RATE | typeof FLIGHT, Record<string, unknown>, RegExp, string, Record<string, unknown>][]}
 */
const REFUSED = [
  [
    'no requirements',
    HEAD,
    RATE,
    {},
    /^.* but "n" has no requirement on a whole run\. .* --require/,
    HEAD,
    REQUIRED,
  ],
  [
    'only requirements on stages',
    OPEN_STAGES,
    RATE,
    {},
    /^--find-max-rate searches .* but "n" has no requirement on a whole run\. Add requirements/,
    OPEN_STAGES,
    REQUIRED,
  ],
  [
    'a second run without requirements',
    `${HEAD}runs: [{name: a, require: 'p99<1s'}, {name: b}]\n`,
    RATE,
    {},
    /but "b" has no requirement on a whole run\./,
    `${HEAD}runs: [{name: a, require: 'p99<1s'}, {name: b, require: 'p99<1s'}]\n`,
    {},
  ],
  [
    'requests in the file',
    `${HEAD}load: {requests: 9}\n`,
    FLIGHT,
    {},
    /^s\.yaml:3:18: load\.requests: --max-concurrency measures one level at a time, but requests ends each step\. Use duration/,
    `${HEAD}load: {duration: 9}\n`,
    {},
  ],
  [
    'requests as a flag',
    HEAD,
    FLIGHT,
    { requests: '9' },
    /^--max-concurrency .* but --requests ends each step\. Use --duration/,
    HEAD,
    { duration: '9' },
  ],
  [
    'a ramp-up in the file',
    `${HEAD}load: {rate: 5, ramp-up: 2s}\n`,
    RATE,
    REQUIRED,
    /^s\.yaml:3:26: load\.ramp-up: --find-max-rate .* ramp-up changes the rate within a step\. Use warmup/,
    `${HEAD}load: {rate: 5, warmup: 2s}\n`,
    REQUIRED,
  ],
  [
    'overflow: drop in the file',
    `${HEAD}load: {rate: 5, overflow: drop}\n`,
    RATE,
    REQUIRED,
    /^s\.yaml:3:27: load\.overflow: --find-max-rate .* overflow drop hides a backlog\. Leave it out\./,
    `${HEAD}load: {rate: 5}\n`,
    REQUIRED,
  ],
  [
    'a rate in a closed loop',
    OPEN_STAGES,
    FLIGHT,
    { rate: '5' },
    /^--max-concurrency searches in a closed loop, but --rate makes an open one\. Leave --rate out/,
    OPEN_STAGES,
    {},
  ],
  [
    'fewer connections than the threads of the file',
    `${HEAD}load: {rate: 5, threads: 16, concurrency: 12}\n`,
    RATE,
    REQUIRED,
    /^s\.yaml:3:26: load\.threads: threads 16 is more than concurrency 12, .* Raise concurrency to at least 16/,
    `${HEAD}load: {rate: 5, threads: 16, concurrency: 16}\n`,
    REQUIRED,
  ],
  [
    'threads that are not a number',
    HEAD,
    FLIGHT,
    { threads: 'many' },
    /^--threads is "many", which is not a whole number\./,
    HEAD,
    { threads: '2' },
  ],
  [
    'fewer in flight than the threads of the file',
    `${HEAD}load: {threads: 2}\n`,
    FLIGHT,
    { concurrency: '1' },
    /^s\.yaml:3:17: load\.threads: threads 2 is more than --concurrency 1, .* Raise --concurrency to at least 2/,
    `${HEAD}load: {threads: 2}\n`,
    { concurrency: '2' },
  ],
];

describe('rejects a search, but accepts its own remedy:', () => {
  for (const [what, text, search, flags, message, mended, remedy] of REFUSED) {
    test(what, async () => {
      await assert.rejects(
        () => plan(text, search, flags),
        (error) => error instanceof PkiLoadError && message.test(error.full) && error.exitCode === 1,
      );
      assert.notEqual((await plan(mended, search, remedy))[0].searchSettings, null);
    });
  }
});

/** @param {readonly Step[]} steps */
const remarksIn = (steps) => steps.map(({ remarks }) => remarks);

describe('requirements on stages', () => {
  test('are judged if there are stages', async () => {
    assert.deepEqual(remarksIn(await plan(OPEN_STAGES, null)), [[]]);
  });

  /** @type {[string, typeof RATE | null, Record<string, unknown>][]} */
  const LEFT = [
    ['flags replace them', null, { rate: '20', duration: '10s' }],
    ['a search replaces them', RATE, REQUIRED],
  ];
  for (const [what, search, flags] of LEFT) {
    test(`are reported as not judged, for all targets, if ${what}`, async () => {
      const text = `${OPEN_STAGES}targets: [{name: a}, {name: b}]\n`;
      const steps = await plan(text, search, flags);
      assert.deepEqual(
        steps.map(({ notJudged }) => notJudged),
        [
          ['up: p99<1s', 'up: errors<1%'],
          ['up: p99<1s', 'up: errors<1%'],
        ],
      );
      const said =
        'n: its stages are left out, and the requirements on them are not judged: up: p99<1s, up: errors<1%.';
      assert.deepEqual(remarksIn(steps), [[said], [said]]);
    });
  }

  test('cause no remark if there are none', async () => {
    const text = `${HEAD}require: 'p99<1s'\nstages: [{hold: {rate: 5, duration: 2s}}]\n`;
    assert.deepEqual(remarksIn(await plan(text, null, { rate: '20' })), [[]]);
  });
});

describe('every run of an example can be searched:', () => {
  for (const name of ['cerberus', 'vault-ocsp-load-test']) {
    for (const search of [RATE, FLIGHT]) {
      test(`${name}, for ${search.of}`, async () => {
        const text = readFileSync(new URL(`../../../examples/${name}.yaml`, import.meta.url), 'utf8');
        const { length } = (await readScenario(text, `${name}.yaml`, {})).runs;
        const steps = await plan(text, search, REQUIRED);
        assert.deepEqual(
          steps.map(({ searchSettings }) => searchSettings?.of),
          Array(length).fill(search.of),
        );
      });
    }
  }
});
