import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { compare } from '../../../src/campaigns/calibrate/accurate-rate.js';
import { render, summarize } from '../../../src/campaigns/calibrate/report.js';
import { CALIBRATION, tryAt } from './sample.js';

/** @import { Figures } from '../../../src/campaigns/calibrate/calibrate.js' */

/** Golden text is written anew with UPDATE_GOLDEN=1; look at the difference before committing it. */
const UPDATE = process.env.UPDATE_GOLDEN === '1';

const whole = { ...CALIBRATION, summary: summarize(CALIBRATION) };

test('renders a calibration in 80 columns', () => {
  const file = new URL('golden/calibration.txt', import.meta.url);
  const text = render(whole);
  if (UPDATE) writeFileSync(file, text);
  assert.equal(text, readFileSync(file, 'utf8'));
  for (const line of text.split('\n')) assert.ok(line.length <= 80, line);
});

test('missing figures are dashes, not zeros', () => {
  const none = { count: 0, p50: null, p99: null, max: null };
  const [row] = CALIBRATION.lateness;
  const text = render({ ...whole, lateness: [{ ...row, samples: 0, seenMs: none, ownMs: none }] });
  assert.match(text, /^20\/s +0(?: +–){6}$/m);
});

test('one core, and no accurate rate', () => {
  const text = render({
    ...whole,
    environment: { ...whole.environment, cpus: 1 },
    accurateRate: { ...whole.accurateRate, ratePerSecond: null },
  });
  assert.match(text, /^1 core \(Some Processor\), Node v20\.20\.2$/m);
  assert.match(text, /^Highest {7}none$/m);
});

const { settings, environment, accurateRate } = CALIBRATION;

test('summary', () => {
  assert.equal(
    summarize(CALIBRATION).text,
    'On this machine, with --concurrency 10 --threads 1 --pacing auto, latencies are at most 125 µs too high ' +
      '(p50; p99 470 µs), including the wake-up of the target. Sends are at most 70 µs late (p50; p99 240 µs, at 1,000/s). ' +
      'Measurements are accurate up to about 2,000/s, with a target that takes 2.5 ms.',
  );
});

test('no accurate rate and no measurement are reported', () => {
  const { text } = summarize({
    ...CALIBRATION,
    delays: [],
    lateness: [],
    accurateRate: { ...accurateRate, ratePerSecond: null, delayMs: null },
  });
  assert.match(
    text,
    /at most an unknown time too high .* Lateness was not measured\. None of the tested rates is accurate\.$/,
  );
});

/** @param {Parameters<typeof tryAt>[1]} changes @returns {Partial<Figures>} the last rate failed for these */
const broken = (changes) => ({ accurateRate: { ...accurateRate, tries: [tryAt(2400, changes)] } });
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

/** @type {[string, Partial<Figures>, RegExp[]][]} */
const LIMITS = [
  ['a wrong p99', {}, [/^At 2,400\/s the tool reported a p99 of 3\.1 ms, but the target took 2\.29 ms\.$/]],
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
    [/^At 2,400\/s the tool reported a p99 of 3\.1 ms/, /^At 2,400\/s: The tool was late/],
  ],
  [
    'a wrong p50',
    broken({ p50Ms: compare(0.7, 0.5) }),
    [/^At 2,400\/s the tool reported a p50 of 700 µs, but the target took 500 µs\.$/],
  ],
  [
    'missing requests',
    broken({ samples: 2300 }),
    [/^At 2,400\/s 2,300 of 2,400 requests arrived at the target\.$/],
  ],
  [
    'a target that was itself late',
    tookMs(2.8),
    [
      /^At 2,400\/s: The tool was late/,
      /^At 2,400\/s the calibration target took 2\.8 ms \(p99\) instead of 2\.08 ms/,
    ],
  ],
  [
    'a busy machine, and its effect',
    { environment: { ...environment, loadAverage: 2.26 } },
    [
      /^The machine was busy before .* a load average of 2\.3 on 2 cores\.$/,
      /^At 2,400\/s the tool reported a p99/,
    ],
  ],
  [
    'nothing: every rate passed',
    { accurateRate: { ...accurateRate, failedAtPerSecond: null, tries: [tryAt(1000), tryAt(2000)] } },
    [
      /^Every rate tried was accurate; the peak of the closed loop is 61,234\/s, with the target CPU at 97 %\.$/,
    ],
  ],
  [
    'nothing, although some tries failed',
    {
      accurateRate: {
        ...accurateRate,
        failedAtPerSecond: null,
        tries: [...FAILED, tryAt(1000), tryAt(2000)],
      },
    },
    [/^The highest rate tried was accurate, although 2 of 4 tries failed; the peak of the closed loop/],
  ],
];

describe('limited by', () => {
  for (const [what, changes, expected] of LIMITS) {
    test(what, () => {
      const { limits } = summarize({ ...CALIBRATION, ...changes });
      assert.equal(limits.length, expected.length, limits.join('\n'));
      for (const [i, pattern] of expected.entries()) assert.match(limits[i], pattern);
    });
  }
});

const LATE = CALIBRATION.lateness.map((row) => ({ ...row, ownMs: { ...row.ownMs, p99: 0.9 } }));

/** @type {[string, Partial<Figures>, RegExp[]][]} all but the last, which is always there */
const REMEDIES = [
  ['two cores, on time: no advice about the tool', {}, []],
  [
    'late, with spare cores: spin',
    { lateness: LATE, environment: { ...environment, cpus: 3 }, settings: { ...settings, concurrency: 1 } },
    [/^Try --pacing spin/],
  ],
  [
    'late on one core: more cores, no spinning',
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

describe('remedies', () => {
  for (const [what, changes, expected] of REMEDIES) {
    test(what, () => {
      const remedies = summarize({ ...CALIBRATION, ...changes }).remedies;
      assert.match(remedies.pop() ?? '', /^Run nothing else on this machine/);
      assert.equal(remedies.length, expected.length, remedies.join('\n'));
      for (const [i, pattern] of expected.entries()) assert.match(remedies[i], pattern);
    });
  }
});
