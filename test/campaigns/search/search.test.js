import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPeak } from '../../../src/campaigns/search/peak.js';
import { createTries, findHighest } from '../../../src/campaigns/search/search.js';
import { lowestAbove } from '../../../src/result/search/explain.js';

/** @import { Judged, Phase, Why } from '../../../src/campaigns/search/search.js' */

/** @typedef {Partial<{start: number, lowest: number, highest: number, isStopped: () => boolean}>} Options */

const MET = /** @type {Judged} */ ({ verdict: 'met', reason: '' });
const MISSED = /** @type {Judged} */ ({ verdict: 'not met', reason: '' });
const OVERLOADED = /** @type {Judged} */ ({ verdict: 'not met', reason: '', isClear: true });
const CLOSE = /** @type {Judged} */ ({ verdict: 'not proven', reason: '', isStarved: false });
const STARVED = /** @type {Judged} */ ({ verdict: 'not proven', reason: '', isStarved: true });
const LATE = /** @type {Judged} */ ({ verdict: 'not offered', reason: '' });

/** @param {(level: number, phase: Phase, attempt: number) => Judged} judge @param {Options} [options] */
async function search(judge, { isStopped, ...options } = {}) {
  const tries = createTries({
    measure: async (...step) => ({ perSecond: 0, succeeded: 0, ...judge(...step) }),
    isStopped,
  });
  const found = await findHighest({ start: 50, lowest: 0.1, highest: 1e6, ...options }, tries);
  return { ...found, steps: tries.steps };
}

/** @param {number} capacity @returns {(level: number) => Judged} */
const upTo = (capacity) => (level) => (level <= capacity ? MET : OVERLOADED);

/** @type {[string, Parameters<typeof search>, [number, number] | null, Why][]} */
const SEARCHES = [
  ['up from the start to the capacity of the target', [upTo(1234)], [1200, 1234], 'bracketed'],
  ['down from a start that is too high', [upTo(3.3)], [3.2, 3.3], 'bracketed'],
  ['the start itself is the answer', [upTo(50)], [49, 50], 'bracketed'],
  ['no further than allowed', [upTo(1e9), { highest: 700 }], [700, 700], 'highest'],
  [
    'a start above the highest rate starts there',
    [upTo(1e9), { start: 5000, highest: 700 }],
    [700, 700],
    'highest',
  ],
  ['a target without capacity', [() => MISSED], null, 'lowest'],
  ['a generator that cannot offer the load: no verdict on the target', [() => LATE], null, 'generator'],
  [
    'a target overloaded at the start, and below that a generator that is disturbed',
    [(level) => (level > 30 ? OVERLOADED : LATE)],
    null,
    'generator',
  ],
  [
    'the generator reaches its limit first: the answer is the highest offered rate',
    [(level) => (level <= 300 ? MET : LATE)],
    [290, 300],
    'generator',
  ],
  [
    'a generator disturbed just below the limit of the target: still bracketed',
    [(level) => (level <= 96 ? MET : level < 99 ? LATE : OVERLOADED)],
    [94, 96],
    'bracketed',
  ],
  [
    'a generator disturbed far below the limit of the target: limited by the generator',
    [(level) => (level <= 60 ? MET : level < 99 ? LATE : OVERLOADED)],
    [58, 60],
    'generator',
  ],
  ['not proven does not count as met', [(level) => (level <= 300 ? MET : CLOSE)], [290, 300], 'bracketed'],
  [
    'skips levels too low for a proof in a short step',
    [(level, phase) => (level > 900 ? OVERLOADED : level < 400 && phase !== 'confirmation' ? STARVED : MET)],
    [880, 900],
    'bracketed',
  ],
  [
    'a skipped level must be proven at the end, or there is no answer',
    [(level) => (level > 100 ? OVERLOADED : STARVED)],
    null,
    'unconfirmed',
  ],
  [
    'retries a failed confirmation at a lower level',
    [(level, phase) => (level <= (phase === 'confirmation' ? 95 : 100) ? MET : OVERLOADED)],
    [92, 95],
    'bracketed',
  ],
  [
    'a confirmation that fails at every level',
    [(level, phase) => (phase === 'confirmation' ? MISSED : upTo(100)(level))],
    null,
    'unconfirmed',
  ],
  [
    'one bad run of a level does not decide',
    [(level, phase, attempt) => (attempt === 1 && phase !== 'confirmation' ? MISSED : upTo(500)(level))],
    [490, 500],
    'bracketed',
  ],
  [
    'retries after two disturbances of the generator in a row',
    [(level, _phase, attempt) => (attempt < 3 ? LATE : upTo(500)(level))],
    [490, 500],
    'bracketed',
  ],
];

for (const [what, args, range, why] of SEARCHES) {
  test(what, async () => {
    const found = await search(...args);
    assert.equal(found.why, why);
    if (range === null) assert.equal(found.level, null);
    else
      assert.ok(Number(found.level) >= range[0] && Number(found.level) <= range[1], `found ${found.level}`);
  });
}

test('the last step is the confirmation, and the bracket is within the tolerance', async () => {
  const { level, steps } = await search(upTo(777));
  assert.deepEqual([steps.at(-1)?.level, steps.at(-1)?.phase], [level, 'confirmation']);
  const above = lowestAbove(steps, Number(level));
  assert.ok(above !== null && above.level / Number(level) <= 1.025, `${above?.level} above ${level}`);
  assert.equal(above.verdict, 'not met');
});

test('measures an unclear failure twice, but not clear overload', async () => {
  const clear = await search(upTo(50), { start: 100 });
  assert.equal(clear.steps.filter(({ level }) => level === 100).length, 1);
  const edge = await search((level) => (level <= 50 ? MET : MISSED), { start: 100 });
  const attempts = edge.steps.filter(({ level }) => level === 100).map(({ attempt }) => attempt);
  assert.deepEqual(attempts, [1, 2]);
});

test('after a failed confirmation, the next must pass twice in a row', async () => {
  const confirmed = [MISSED, MET, CLOSE, MET, MISSED, CLOSE, MET, MET];
  const { level, steps } = await search((at, phase) =>
    phase === 'confirmation' ? /** @type {Judged} */ (confirmed.shift()) : upTo(100)(at),
  );
  const found = steps.filter(({ phase }) => phase === 'confirmation').map((step) => step.level);
  assert.deepEqual(found, [100, 98, 98, 98, 98, 96, 96, 96]);
  assert.equal(level, 96);
});

test('ends after a confirmation with too few requests: a lower level would have fewer', async () => {
  const { steps } = await search((level) => (level > 100 ? OVERLOADED : STARVED));
  const levels = steps.filter(({ phase }) => phase === 'confirmation').map(({ level }) => level);
  assert.deepEqual(levels, [steps.at(-1)?.level]);
});

test('ends early if the generator cannot offer the load', async () => {
  const { steps } = await search(() => LATE);
  assert.deepEqual([...new Set(steps.map(({ level }) => level))], [50, 25]);
});

test('stopped: no answer, and no interrupted step', async () => {
  let count = 0;
  const { level, why, steps } = await search(
    () => {
      count++;
      return MET;
    },
    { isStopped: () => count >= 3 },
  );
  assert.deepEqual([level, why, steps.length], [null, 'interrupted', 2]);
});

test('lowestAbove returns the lowest level above whose last try failed', () => {
  const steps = [
    { level: 200, ...OVERLOADED },
    { level: 120, ...MISSED },
    { level: 110, ...MISSED },
    { level: 110, ...MET },
    { level: 105, ...STARVED },
    { level: 90, ...MISSED },
  ];
  assert.deepEqual(lowestAbove(steps, 100), { level: 120, verdict: 'not met' });
  assert.equal(lowestAbove(steps, 200), null);
});

/**
 * @param {(level: number, phase: Phase, attempt: number) => Judged & {perSecond: number, succeeded?: number}} judge so many that chance
 *   has no part in it, unless it says how many
 * @param {Options} [options]
 */
async function peak(judge, { isStopped, ...options } = {}) {
  const tries = createTries({
    measure: async (...step) => ({ succeeded: 1e9, ...judge(...step) }),
    isStopped,
  });
  const found = await findPeak({ start: 1, highest: 256, ...options }, tries);
  return { ...found, steps: tries.steps };
}

/** As many workers, each good for 100/s. @param {number} workers */
const workers = (workers) => (/** @type {number} */ level) => ({
  ...MET,
  perSecond: 100 * Math.min(level, workers),
});

/** @type {[string, Parameters<typeof peak>, [number, number] | null, Why][]} */
const PEAKS = [
  [
    'a confirmed level slower than a step becomes the peak if that level fails',
    [
      (level, phase) =>
        phase !== 'confirmation'
          ? { ...MET, perSecond: level < 7 ? 100 * level : level === 7 ? 760 : 800 }
          : level === 7
            ? { ...MET, perSecond: 700 }
            : { ...MISSED, perSecond: 800 },
    ],
    [7, 7],
    'requirement',
  ],
  ['8 workers: 8 in flight reach the peak', [workers(8)], [8, 8], 'flat'],
  ['27 workers: found between two doublings', [workers(27)], [24, 28], 'flat'],
  ['one worker: one in flight', [workers(1)], [1, 1], 'flat'],
  ['more workers than the limit', [workers(1000), { highest: 100 }], [95, 100], 'highest'],
  [
    'a requirement is no longer met before the peak',
    [(level) => ({ ...(level <= 11 ? MET : MISSED), perSecond: 100 * level })],
    [10, 11],
    'requirement',
  ],
  [
    'the tool saturates before the target',
    [(level) => ({ ...(level <= 16 ? MET : LATE), perSecond: 100 * level })],
    [15, 16],
    'generator',
  ],
  [
    'the tool saturates at a doubling, but below it a requirement is not met',
    [(level) => ({ ...(level <= 10 ? MET : level < 16 ? MISSED : LATE), perSecond: 100 * level })],
    [9, 10],
    'requirement',
  ],
  ['no step meets the requirements', [() => ({ ...MISSED, perSecond: 5 })], null, 'lowest'],
  [
    'too high a start restarts at one',
    [(level) => ({ ...(level <= 3 ? MET : MISSED), perSecond: 100 * level }), { start: 10 }],
    [3, 3],
    'requirement',
  ],
  [
    'throughput falls with more in flight: the fewest at the peak',
    [(level) => ({ ...MET, perSecond: level <= 6 ? 100 * level : 600 - 5 * (level - 6) })],
    [6, 6],
    'flat',
  ],
  [
    'a slow target: skips steps too short for a proof; the confirmation proves it',
    [(level, phase) => ({ ...workers(8)(level), ...(phase === 'confirmation' ? MET : STARVED) })],
    [8, 8],
    'flat',
  ],
  [
    'on a slow target a requirement is no longer met between two doublings',
    [
      (level, phase) => ({
        ...(level > 11 ? MISSED : phase === 'confirmation' ? MET : STARVED),
        perSecond: 2 * level,
      }),
    ],
    [10, 11],
    'requirement',
  ],
  [
    'after a confirmation that does not meet a requirement, confirms fewer in flight',
    [
      (level, phase) => ({
        ...(phase === 'confirmation' && level > 7 ? MISSED : MET),
        perSecond: level >= 8 ? 800 : level > 4 ? 740 : 100 * level,
      }),
    ],
    [6, 6],
    'requirement',
  ],
  [
    'after a confirmation slower than the steps, confirms more in flight',
    [
      (level, phase) => ({
        ...MET,
        perSecond: 100 * Math.min(level, phase === 'confirmation' && level === 8 ? 6 : 8),
      }),
    ],
    [9, 32],
    'flat',
  ],
  [
    'significantly slower than the steps: no answer',
    [(level, phase) => ({ ...MET, perSecond: phase === 'confirmation' ? 500 : workers(8)(level).perSecond })],
    null,
    'unconfirmed',
  ],
  [
    'as much slower, but with 20 responses per step: chance',
    [
      (level, phase) => ({
        ...MET,
        ...(phase === 'confirmation'
          ? { perSecond: 1.5, succeeded: 600 }
          : { perSecond: 2.4 * Math.min(1, level / 8), succeeded: 24 }),
      }),
    ],
    [8, 8],
    'flat',
  ],
  [
    'a skipped level must be proven at the end',
    [(level) => ({ ...STARVED, perSecond: Math.min(level, 8) })],
    null,
    'unconfirmed',
  ],
];

for (const [what, args, range, why] of PEAKS) {
  test(`peak: ${what}`, async () => {
    const found = await peak(...args);
    assert.equal(found.why, why, JSON.stringify(found.steps));
    if (range === null) assert.equal(found.level, null);
    else
      assert.ok(Number(found.level) >= range[0] && Number(found.level) <= range[1], `found ${found.level}`);
  });
}

test('peak: ends after a confirmation with too few requests', async () => {
  const { steps } = await peak((level) => ({ ...STARVED, perSecond: Math.min(level, 8) }));
  assert.equal(steps.filter(({ phase }) => phase === 'confirmation').length, 1);
});

test('peak: stopped', async () => {
  let count = 0;
  const judge = () => ({ ...MET, perSecond: 2 ** ++count });
  const { level, why } = await peak(judge, { isStopped: () => count >= 3 });
  assert.deepEqual([level, why], [null, 'interrupted']);
});
