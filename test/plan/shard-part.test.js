/** `--shard` and `--start-at`: what is taken, and what is refused with which words. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PkiLoadError } from '../../src/common/errors.js';
import { leadMs } from '../../src/engine/interval.js';
import { loadOperation } from '../../src/operations/index.js';
import { makePlan } from '../../src/plan/plan.js';
import { parseShard, parseStartAt, partName } from '../../src/plan/shard-part.js';
import { readEnvironment } from '../../src/vault/environment.js';

const ocsp = await loadOperation('ocsp');

/** @param {Record<string, unknown>} given */
const plan = (given) => makePlan(ocsp, given, readEnvironment({}));

/** @param {() => unknown} refused @param {string} code @param {RegExp} message */
function assertRefuses(refused, code, message) {
  assert.throws(refused, (error) => {
    assert.ok(error instanceof PkiLoadError, String(error));
    assert.equal(error.code, code);
    assert.match(error.full, message);
    return true;
  });
}

describe('--shard', () => {
  test('is null by default', () => {
    const { shard, startAt } = plan({}).load;
    assert.deepEqual([shard, startAt], [null, null]);
  });

  test('selects a part, from 0; everything else describes the whole plan', () => {
    const { load } = plan({ shard: '1/4', seed: 7, rate: '100/s', requests: 1000, concurrency: 40 });
    assert.deepEqual(load.shard, { index: 1, of: 4 });
    assert.deepEqual([load.ratePerSecond, load.requests, load.concurrency], [100, 1000, 40]);
    assert.equal(partName({ index: 1, of: 4 }), 'part 1 of 4');
    assert.deepEqual(parseShard(' 0/1 '), { index: 0, of: 1 });
  });

  /** @type {[string, Record<string, unknown>, string, RegExp][]} */
  const REFUSED = [
    ['a number alone', { shard: '2' }, 'bad_shard', /--shard is "2", which is not a part such as 0\/4\./],
    ['no parts', { shard: '0/0' }, 'bad_shard', /not a part such as/],
    ['too many parts', { shard: '0/10001' }, 'bad_shard', /at most 10000 parts/],
    [
      'a count from 1',
      { shard: '4/4' },
      'bad_shard',
      /--shard is "4\/4", but parts are numbered from 0\. The first of 4 is 0\/4, the last 3\/4\./,
    ],
    [
      'no seed',
      { shard: '0/4' },
      'shard_without_seed',
      /--shard is given without --seed.*Use the same seed for every part, e\.g\. --seed 1\./,
    ],
    [
      '--dev',
      { shard: '0/4', seed: 1, dev: true },
      'contradiction',
      /--dev starts a server.*vault-pki-load dev/,
    ],
    [
      'too few connections',
      { shard: '3/4', seed: 1, concurrency: 3 },
      'contradiction',
      /--concurrency 3 is for all parts: part 3 of 4 has 0, too few.*Raise --concurrency to at least 4\./,
    ],
    [
      'too few connections for the threads',
      { shard: '0/4', seed: 1, threads: 4 },
      'contradiction',
      /part 0 of 4 has 3, too few for --threads 4\. Raise --concurrency to at least 16\./,
    ],
  ];
  for (const [what, given, code, message] of REFUSED) {
    test(`rejects ${what}`, () => assertRefuses(() => plan(given), code, message));
  }
});

/** A Tuesday. */
const NOW = new Date(2026, 0, 6, 23, 30, 15).getTime();
const MINUTE = 60_000;

/** @param {number} ms @returns {string} its time of day here */
const clockOf = (ms) => new Date(ms).toTimeString().slice(0, 8);

describe('--start-at', () => {
  /** @type {[string, string, number][]} what, text, ms from now */
  const TAKEN = [
    ['a time of day, of this time zone', clockOf(NOW + 5 * MINUTE), 5 * MINUTE],
    ['one after midnight', clockOf(NOW + 40 * MINUTE), 40 * MINUTE],
    ['one without seconds', clockOf(NOW + 105_000).slice(0, 5), 105_000],
    ['a date and time in UTC', new Date(NOW + 5 * MINUTE).toISOString(), 5 * MINUTE],
  ];
  for (const [what, text, inMs] of TAKEN) {
    test(`accepts ${what}`, () => {
      assert.equal(parseStartAt(text, NOW), new Date(NOW + inMs).toISOString());
    });
  }

  test('accepts a date and time with a zone, and without one as local time', () => {
    const at = new Date(NOW + 5 * MINUTE);
    const shifted = new Date(at.getTime() + 90 * MINUTE).toISOString().replace('.000Z', '+01:30');
    assert.equal(parseStartAt(shifted, NOW), at.toISOString());
    assert.equal(parseStartAt(`2026-01-06T${clockOf(at.getTime())}`, NOW), at.toISOString());
  });

  /** @type {[string, string, RegExp][]} */
  const REFUSED = [
    ['words', 'soon', /--start-at is "soon", which is not a time\. Use a time such as 14:30:00/],
    ['a date alone', '2026-01-07', /which is not a time/],
    [
      'a time in the past',
      new Date(NOW - 5 * MINUTE).toISOString(),
      /which was 5 min ago by this machine's clock\. Use a later time\./,
    ],
    [
      'a time of day that has passed, which means tomorrow',
      clockOf(NOW - 5 * MINUTE),
      /which is 23 h 55 min from now/,
    ],
    [
      'a time hours ahead',
      new Date(NOW + 120 * MINUTE).toISOString(),
      /which is 2 h from now by this machine's clock; it can be at most an hour ahead\./,
    ],
  ];
  for (const [what, text, message] of REFUSED) {
    test(`rejects ${what}`, () => assertRefuses(() => parseStartAt(text, NOW), 'bad_start_at', message));
  }

  test('is in the plan as UTC', () => {
    const at = new Date(Date.now() + 5 * MINUTE).toISOString();
    assert.equal(plan({ startAt: at }).load.startAt, at);
  });

  test('is time zero, unless missed', () => {
    const at = new Date(NOW).toISOString();
    assert.equal(leadMs(at, NOW - 2500), 2500);
    assert.ok(leadMs(null, NOW) > 0);
    assertRefuses(
      () => leadMs(at, NOW + 1),
      'start_at_missed',
      /passed before the run was ready; nothing was sent/,
    );
  });
});
