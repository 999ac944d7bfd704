import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compare } from '../../../src/campaigns/calibrate/honest-rate.js';
import { summarise } from '../../../src/campaigns/calibrate/report.js';
import { CALIBRATION, tryAt } from './sample.js';

/** @import { Found } from '../../../src/campaigns/calibrate/report.js' */

const { settings, environment, honestRate } = CALIBRATION;

test('what it comes down to', () => {
  assert.equal(
    summarise(CALIBRATION).text,
    'On this machine, with --concurrency 10 --threads 1 --pacing auto: latencies are inflated by at most 125 µs ' +
      "(p50; p99 470 µs), and sends are late by at most 70 µs (p50; p99 240 µs, at 1,000/s), the target's own waking " +
      'up included in both; measurements are honest up to about 2,000/s, where the target takes 2.5 ms.',
  );
});

test('nothing honest, nothing measured: said, not hidden', () => {
  const { text } = summarise({
    ...CALIBRATION,
    delays: [],
    lateness: [],
    honestRate: { ...honestRate, ratePerSecond: null, delayMs: null },
  });
  assert.match(
    text,
    /inflated by at most an unknown time .*no rate was measured for lateness; no rate that was tried is honest\.$/,
  );
});

/** @param {Parameters<typeof tryAt>[1]} changes @returns {Partial<Found>} the last rate failed for these */
const broken = (changes) => ({ honestRate: { ...honestRate, tries: [tryAt(2400, changes)] } });
const reasons = [
  { code: 'load_not_offered', text: 'The tool was late.', grade: /** @type {const} */ ('invalid') },
];

/** @param {number} p99Ms that the target took instead of 2.083 ms, in a run that failed for something else */
const tookMs = (p99Ms) =>
  broken({ p99Ms: compare(p99Ms, p99Ms), measurement: { verdict: 'invalid', reasons } });

const sentLate = [
  { code: 'busy_machine', text: 'This machine was busy.', grade: /** @type {const} */ ('remark') },
];

const FAILED = [1, 2].map(() => tryAt(1000, { p99Ms: compare(9, 5) }));

/** @type {[string, Partial<Found>, RegExp[]][]} */
const LIMITS = [
  ['a wrong p99', {}, [/^At 2,400\/s a p99 of 3\.1 ms was reported, where the target took 2\.29 ms\.$/]],
  [
    'late sends',
    broken({ latenessMs: { count: 9, p50: 1, p99: 1.5, max: 2 } }),
    [/^At 2,400\/s the sends were 1\.5 ms late \(p99\), more than --max-lateness 1 ms\.$/],
  ],
  [
    'the verdict',
    broken({ measurement: { verdict: 'invalid', reasons } }),
    [/^At 2,400\/s: The tool was late/],
  ],
  [
    'a wrong p99, and an invalid measurement',
    broken({
      p99Ms: compare(3.1, 2.29),
      measurement: { verdict: 'invalid', reasons: [...sentLate, ...reasons] },
    }),
    [/^At 2,400\/s a p99 of 3\.1 ms/, /^At 2,400\/s: The tool was late/],
  ],
  [
    'a wrong p50',
    broken({ p50Ms: compare(0.7, 0.5) }),
    [/^At 2,400\/s a p50 of 700 µs was reported, where the target took 500 µs\.$/],
  ],
  ['missing requests', broken({ samples: 2300 }), [/^At 2,400\/s the target saw 2,300 of 2,400 requests\.$/]],
  [
    'a target that was itself late',
    tookMs(2.8),
    [
      /^At 2,400\/s: The tool was late/,
      /^At 2,400\/s the calibration's own target took 2\.8 ms \(p99\) instead of 2\.08 ms/,
    ],
  ],
  [
    'others on the machine, and what it led to',
    { environment: { ...environment, loadAverage: 2.26 } },
    [/^The machine was busy before .* a load average of 2\.3 on 2 cores\.$/, /^At 2,400\/s a p99/],
  ],
  [
    'nothing: the search came to its end',
    { honestRate: { ...honestRate, brokenAtPerSecond: null, tries: [tryAt(1000), tryAt(2000)] } },
    [
      /^Every rate that was tried was honest; the closed loop's peak is 61,234\/s, with the target busy for 97 %\.$/,
    ],
  ],
  [
    'nothing in the end, but rates failed on the way',
    { honestRate: { ...honestRate, brokenAtPerSecond: null, tries: [...FAILED, tryAt(1000), tryAt(2000)] } },
    [
      /^The highest rate that was tried was honest, though 2 of 4 tries, at it or below, were not; the closed loop's peak/,
    ],
  ],
];

describe('limited by', () => {
  for (const [what, changes, expected] of LIMITS) {
    test(what, () => {
      const { limits } = summarise({ ...CALIBRATION, ...changes });
      assert.equal(limits.length, expected.length, limits.join('\n'));
      for (const [i, pattern] of expected.entries()) assert.match(limits[i], pattern);
    });
  }
});

const LATE = CALIBRATION.lateness.map((row) => ({ ...row, ownMs: { ...row.ownMs, p99: 0.9 } }));

/** @type {[string, Partial<Found>, RegExp[]][]} all but the last, which is always there */
const REMEDIES = [
  ['two cores, on time: nothing of the tool', {}, []],
  [
    'late, and cores for the thread and for all else: spin',
    { lateness: LATE, environment: { ...environment, cpus: 3 }, settings: { ...settings, concurrency: 1 } },
    [/^Try --pacing spin/],
  ],
  [
    'late on one core: no spinning, but cores',
    { lateness: LATE, environment: { ...environment, cpus: 1 } },
    [/^Use a machine with more cores than --threads\.$/],
  ],
  ['spinning with two cores', { settings: { ...settings, pacing: 'spin' } }, [/^Try --pacing auto/]],
  ['idle cores: threads', { environment: { ...environment, cpus: 8 } }, [/^Try --threads 7\.$/]],
  [
    'no more threads',
    { environment: { ...environment, cpus: 64 }, settings: { ...settings, threads: 10 } },
    [],
  ],
];

describe('to do better', () => {
  for (const [what, changes, expected] of REMEDIES) {
    test(what, () => {
      const remedies = summarise({ ...CALIBRATION, ...changes }).remedies;
      assert.match(remedies.pop() ?? '', /^Leave the machine to the tool/);
      assert.equal(remedies.length, expected.length, remedies.join('\n'));
      for (const [i, pattern] of expected.entries()) assert.match(remedies[i], pattern);
    });
  }
});
