import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { describe, test } from 'node:test';
import { createHistogram, recordMs } from '../../src/histogram.js';
import { judgeMeasurement, REASONS } from '../../src/load/verdict/judge.js';
import { isThisMachine, mergeWatches } from '../../src/load/verdict/observed.js';

/** @typedef {import('../../src/load/verdict/observed.js').Observed} Observed */

/** @param {[count: number, ms: number][]} groups */
function mixed(...groups) {
  const result = createHistogram();
  for (const [count, ms] of groups) for (let i = 0; i < count; i++) recordMs(result, ms);
  return result;
}

/** @param {number} count @param {number} ms */
function histogram(count, ms) {
  return mixed([count, ms]);
}

/**
 * A thousand requests of 100 ms, one of them answered at once, none of them late, unless said otherwise. Each was late by
 * `lagMs`, and its response time holds that.
 *
 * @param {{samples?: number, lagMs?: number, ownMs?: number, fastestMs?: number, readMs?: number, looks?: number}
 *   & Partial<Observed>} given
 */
function judge({
  samples = 1000,
  lagMs = 0,
  ownMs = 100,
  fastestMs = 0,
  readMs = 0,
  looks = 300,
  ...changes
}) {
  const reaction = histogram(looks - 10, 0);
  for (let i = 0; i < 10; i++) recordMs(reaction, readMs);
  return judgeMeasurement({
    lag: histogram(samples, lagMs),
    response: histogram(samples, ownMs + lagMs),
    unlagged: histogram(samples, ownMs),
    displaced: { second: 0, tenth: 0 },
    service: samples === 0 ? createHistogram() : mixed([1, fastestMs], [samples - 1, ownMs]),
    reaction,
    planned: samples,
    neverSent: 0,
    sent: samples,
    succeeded: samples,
    unchecked: 0,
    outcomes: {},
    droppedLate: 0,
    leftWhileFree: false,
    dialled: 0,
    gc: { count: 0, totalMs: 0, longestMs: 0 },
    busyShare: 0.3,
    spinShare: 0,
    runQueueShare: 0,
    machine: { wallMs: 10_000, processCpuMs: 3000, cores: 2, idleShare: 0.5, pressureShare: 0 },
    targetIsLocal: true,
    backlog: backlog(0, 0, 0, 0),
    latencyDrift: null,
    rateDrift: null,
    interrupted: false,
    model: 'open',
    threads: 1,
    ...changes,
  });
}

/** Ten looks in each quarter. @param {(number | null)[]} quarterMins */
function backlog(...quarterMins) {
  const waiting = quarterMins.filter((least) => Number(least) > 0).length;
  return { looks: 40, waitingLooks: 10 * waiting, quarterMins, atEnd: Number(quarterMins[3]) + 7 };
}

const FULL = { wallMs: 10_000, processCpuMs: 4000, cores: 2, idleShare: 0.04, pressureShare: 0.5 };
const WAITED = { response: histogram(1000, 500), unlagged: histogram(1000, 500) };

/** @type {[string, Parameters<typeof judge>[0], string, string[]][]} sentence, observed, verdict, codes */
const TABLE = [
  ['a quiet run is valid', {}, 'valid', []],
  ['no sample is invalid, only that is said', { samples: 0, planned: 10 }, 'invalid', ['nothing_measured']],
  ['99 samples are suspect', { samples: 99 }, 'suspect', ['too_few_samples']],
  ['100 samples are enough', { samples: 100 }, 'valid', []],
  ['half of the answers unchecked is suspect', { unchecked: 500 }, 'suspect', ['mostly_unchecked']],
  ['fewer unchecked are let pass', { unchecked: 499 }, 'valid', []],
  ['one in a hundred dropped late is invalid', { droppedLate: 10 }, 'invalid', ['dropped_late']],
  ['fewer are let pass', { droppedLate: 9 }, 'valid', []],

  ['sending late by under a tenth of the own time is let pass', { lagMs: 9.9 }, 'valid', []],
  ['by more than a tenth is suspect', { lagMs: 10.3 }, 'suspect', ['send_lag']],
  ['by under half is suspect', { lagMs: 49.5 }, 'suspect', ['send_lag']],
  ['by more than half is invalid', { lagMs: 51 }, 'invalid', ['send_lag']],
  ['by more than half, but under 1 ms, is suspect', { ownMs: 1, lagMs: 0.9 }, 'suspect', ['send_lag']],
  ['and from 1 ms on invalid', { ownMs: 1, lagMs: 1.1 }, 'invalid', ['send_lag']],
  ['in a closed loop too', { lagMs: 60, model: 'closed' }, 'invalid', ['send_lag']],
  [
    'two late ones of a hundred are a hiccup: suspect however late',
    { samples: 100, lag: mixed([98, 0], [2, 5000]), response: mixed([98, 100], [2, 5100]) },
    'suspect',
    ['send_lag'],
  ],
  [
    'three are not',
    { samples: 100, lag: mixed([97, 0], [3, 5000]), response: mixed([97, 100], [3, 5100]) },
    'invalid',
    ['send_lag'],
  ],
  ['1 of 1,000', { lag: mixed([999, 0], [1, 5000]), response: mixed([999, 100], [1, 5100]) }, 'valid', []],
  [
    'a median that moves counts where p99 does not',
    { response: mixed([900, 60], [100, 1000]), unlagged: mixed([900, 50], [100, 1000]) },
    'suspect',
    ['send_lag'],
  ],
  [
    'and may make it invalid',
    {
      lag: mixed([900, 50], [100, 0]),
      response: mixed([900, 100], [100, 1000]),
      unlagged: mixed([900, 50], [100, 1000]),
    },
    'invalid',
    ['send_lag'],
  ],
  [
    'a target that froze is not the tool’s lateness',
    {
      response: mixed([900, 1], [100, 900]),
      unlagged: mixed([900, 1], [100, 900]),
      service: histogram(1000, 1),
    },
    'valid',
    [],
  ],
  ['all answers at once divide by nothing', { ownMs: 0 }, 'valid', []],

  ['reading late by under a tenth is let pass', { readMs: 9 }, 'valid', []],
  ['by more than a tenth is suspect', { readMs: 9.5 }, 'suspect', ['read_lag']],
  ['by more than half is invalid', { readMs: 34 }, 'invalid', ['read_lag']],
  ['by more than half, but under 1 ms, is suspect', { ownMs: 1, readMs: 0.6 }, 'suspect', ['read_lag']],
  ['by the whole is invalid', { ownMs: 100, readMs: 100 }, 'invalid', ['read_lag']],
  ['pauses longer than an answer takes hold up few answers', { ownMs: 10, readMs: 300 }, 'valid', []],
  [
    'a tenth of the time in pauses makes a closed loop slower',
    { model: 'closed', ownMs: 1, samples: 9000, reaction: mixed([269, 0], [31, 300]) },
    'suspect',
    ['read_lag'],
  ],
  [
    'half of the time is invalid',
    { model: 'closed', ownMs: 1, samples: 9000, reaction: mixed([49, 0], [51, 3000]) },
    'invalid',
    ['read_lag'],
  ],
  ['less', { model: 'closed', ownMs: 1, samples: 9000, reaction: mixed([271, 0], [29, 300]) }, 'valid', []],
  ['by no more than p99 is above the fastest', { readMs: 60, fastestMs: 91 }, 'valid', []],
  ['by as much as it is above the fastest', { readMs: 60, fastestMs: 90 }, 'suspect', ['read_lag']],
  ['which may be half of it', { readMs: 60, fastestMs: 60 }, 'invalid', ['read_lag']],
  ['five late looks of two hundred', { reaction: mixed([195, 0], [5, 60]) }, 'suspect', ['read_lag']],
  ['six are not', { reaction: mixed([194, 0], [6, 60]) }, 'invalid', ['read_lag']],
  ['two late looks are a hiccup', { reaction: mixed([98, 0], [2, 60]) }, 'suspect', ['read_lag']],
  ['one late look of 200 may be p99', { reaction: mixed([199, 0], [1, 60]) }, 'suspect', ['read_lag']],
  ['three of a thousand are not likely to be one', { reaction: mixed([997, 0], [3, 60]) }, 'valid', []],
  ['but six may be', { reaction: mixed([994, 0], [6, 60]) }, 'suspect', ['read_lag']],
  ['no look at all is let pass', { reaction: histogram(0, 0) }, 'valid', []],
  ['late sending and late reading add up', { lagMs: 6, readMs: 6 }, 'suspect', ['send_lag', 'read_lag']],
  ['and each under its half is let pass', { lagMs: 4, readMs: 4 }, 'valid', []],

  ['a saturated thread with nobody waiting is let pass', { busyShare: 1 }, 'valid', []],
  ['saturated', { busyShare: 0.9, backlog: backlog(0, 0, 0, 1), ...WAITED }, 'invalid', ['tool_saturated']],
  ['time to spare, backlog', { busyShare: 0.89, backlog: backlog(0, 0, 0, 1), ...WAITED }, 'valid', []],
  ['a backlog that adds nothing is let pass', { busyShare: 1, backlog: backlog(0, 0, 0, 1) }, 'valid', []],
  ['a saturated closed loop is suspect', { busyShare: 0.9, model: 'closed' }, 'suspect', ['tool_saturated']],

  ['a twentieth of time in the run queue is suspect', { runQueueShare: 0.05 }, 'suspect', ['cpu_starved']],
  ['less', { runQueueShare: 0.049 }, 'valid', []],
  ['but waited more than worked', { runQueueShare: 0.021, busyShare: 0.02 }, 'suspect', ['cpu_starved']],
  ['a fiftieth at least', { runQueueShare: 0.019, busyShare: 0.01 }, 'valid', []],
  ['where nobody knows, nothing is said', { runQueueShare: null }, 'valid', []],

  ['a full machine with both on it is suspect', { machine: FULL }, 'suspect', ['machine_saturated']],
  ['with the target elsewhere it is let pass', { machine: FULL, targetIsLocal: false }, 'valid', []],
  ['with a core to spare too', { machine: { ...FULL, idleShare: 0.05 } }, 'valid', []],
  ['closed loop at its peak', { machine: { ...FULL, processCpuMs: 3900 }, model: 'closed' }, 'valid', []],
  ['open loop: starved', { machine: { ...FULL, processCpuMs: 3900 } }, 'suspect', ['machine_saturated']],
  ['but not by a little', { machine: { ...FULL, processCpuMs: 3900, pressureShare: 0.49 } }, 'valid', []],
  ['where nobody had to wait too', { machine: { ...FULL, pressureShare: 0.09 } }, 'valid', []],
  ['pressure not known', { machine: { ...FULL, pressureShare: null } }, 'suspect', ['machine_saturated']],
  ['an unreached measured part says nothing of it', { machine: { ...FULL, wallMs: 0 } }, 'valid', []],

  ['one failure at a local limit', { outcomes: { no_local_port: 1 } }, 'suspect', ['local_limits']],
  ['one of 100', { outcomes: { no_local_port: 4, too_many_open_files: 6 } }, 'invalid', ['local_limits']],
  ['failures at the target are its own', { outcomes: { connection_refused: 500 } }, 'valid', []],

  ['one per cent never sent is suspect', { neverSent: 10 }, 'suspect', ['sends_short_of_plan']],
  ['less than one per cent never sent is let pass', { neverSent: 9 }, 'valid', []],
  ['half never sent is invalid', { neverSent: 500 }, 'invalid', ['sends_short_of_plan']],
  ['unsent, connections free', { neverSent: 10, leftWhileFree: true }, 'invalid', ['schedule_not_followed']],
  ['interrupted by intent', { neverSent: 900, leftWhileFree: true, interrupted: true }, 'valid', []],
  ['a backlog that grows is suspect', { backlog: backlog(0, 10, 20, 30) }, 'suspect', ['backlog_growing']],
  ['one that emptied once is let pass', { backlog: backlog(0, 10, 0, 30) }, 'valid', []],
  ['one that has stopped growing too', { backlog: backlog(0, 20, 30, 31) }, 'valid', []],
  ['under a hundredth of the plan too', { backlog: backlog(0, 3, 6, 9) }, 'valid', []],
  ['a quarter that nobody looked at says nothing', { backlog: backlog(0, null, 20, 30) }, 'valid', []],
  ['unsent too', { backlog: backlog(0, 100, 200, 300), neverSent: 100 }, 'suspect', ['sends_short_of_plan']],
  ['a median that drifts is suspect', { latencyDrift: { from: 1, to: 2 } }, 'suspect', ['still_changing']],
  ['a rate that drifts is suspect', { rateDrift: { from: 500, to: 900 } }, 'suspect', ['still_changing']],
  ['one request in a hundred had to open a connection', { dialled: 10 }, 'suspect', ['connection_setup']],
  ['fewer are let pass', { dialled: 9 }, 'valid', []],
  [
    'reasons add up, and the worst decides',
    { samples: 50, lagMs: 90, neverSent: 20 },
    'invalid',
    ['send_lag', 'sends_short_of_plan', 'too_few_samples'],
  ],
];

describe('the verdict on a measurement', () => {
  for (const [sentence, observed, verdict, codes] of TABLE) {
    test(sentence, () => {
      const judged = judge(observed);
      assert.equal(judged.verdict, verdict);
      assert.deepEqual(
        judged.reasons.map(({ code }) => code),
        codes,
      );
      for (const { code, text, remedy } of judged.reasons) {
        assert.ok(Object.hasOwn(REASONS, code));
        assert.match(text, /^[A-Z\d].*\.$/s);
        assert.match(remedy, /\.$/);
      }
    });
  }

  test('the remedy is one that the model has', () => {
    assert.match(judge({ lagMs: 60 }).reasons[0].remedy, /--rate/);
    assert.match(judge({ lagMs: 60, model: 'closed' }).reasons[0].remedy, /--concurrency/);
  });
});

test('every reason stands in the table but the bookkeeping, what only the sum of parts has, and what is no verdict yet', () => {
  const seen = new Set(TABLE.flatMap(([, , , codes]) => codes));
  assert.deepEqual(
    Object.keys(REASONS).filter((code) => !seen.has(code)),
    ['parts_apart', 'unfinished', 'bookkeeping'],
  );
});

const CAUSES = /** @type {[string, Parameters<typeof judge>[0], RegExp][]} */ ([
  ['garbage', { gc: { count: 3, totalMs: 90, longestMs: 40 } }, /collected garbage 3 times, 90 ms .* 40 ms/],
  ['garbage, once', { gc: { count: 1, totalMs: 40, longestMs: 40 } }, /collected garbage once, for 40 ms\./],
  ['a core that others had', { runQueueShare: 0.02 }, /no core for 2.0 % of the time/],
  ['requests', {}, /busy with other requests/],
  ['short collections', { gc: { count: 300, totalMs: 90, longestMs: 1 } }, /busy with other requests/],
]);
for (const [what, changes, text] of CAUSES) {
  test(`late reading names its cause: ${what}`, () => {
    assert.match(judge({ readMs: 60, ...changes }).reasons[0].text, text);
  });
}

test('late reading says what it is where it is invalid, and what it may be where it is suspect', () => {
  assert.match(
    judge({ readMs: 60 }).reasons[0].text,
    /^The tool noticed answers about 60 ms late \(p99\), which is about 60 % of/,
  );
  assert.match(
    judge({ readMs: 12 }).reasons[0].text,
    /may have noticed answers up to 12 ms late \(p99\), which may be 12 % of/,
  );
});

test('spinning is named where it took the core', () => {
  const [reason] = judge({ machine: FULL, spinShare: 0.3 }).reasons;
  assert.match(reason.text, /spun away/);
  assert.match(reason.remedy, /--pacing sleep/);
});

test('which addresses are of this machine', () => {
  const own = [
    'localhost',
    'a.localhost',
    '127.0.0.1',
    '127.1.2.3',
    '0.0.0.0',
    '[::1]',
    hostname().toUpperCase(),
  ];
  const other = ['vault.example.com', '128.0.0.1', 'localhost.example.com', '[2001:db8::1]'];
  for (const host of own) assert.equal(isThisMachine(`https://${host}:8200`), true, host);
  for (const host of other) assert.equal(isThisMachine(`https://${host}:8200`), false, host);
});

test('the worst thread counts, and the probes of all', () => {
  /** @param {Record<string, unknown>} watch */
  const endOf = (watch) =>
    /** @type {import('../../src/load/shard.js').ShardEnd} */ (
      /** @type {unknown} */ ({
        droppedLate: 1,
        leftWhileFree: false,
        dialled: 2,
        backlog: { looks: 0, waitingLooks: 0, quarterMins: [null, null, null, null], atEnd: 0 },
        watch: {
          wallMs: 1000,
          busyMs: 100,
          emptySpinMs: 10,
          runQueueMs: 0,
          gc: { count: 1, totalMs: 5, longestMs: 5 },
          reaction: histogram(10, 1),
          ...watch,
        },
      })
    );
  const both = mergeWatches([endOf({}), endOf({ wallMs: 2000, busyMs: 800, runQueueMs: 100 })]);
  assert.deepEqual(
    [both.droppedLate, both.dialled, both.busyShare, both.spinShare, both.runQueueShare],
    [2, 4, 0.4, 0.01, 0.05],
  );
  assert.deepEqual([both.gc, both.reaction.totalCount], [{ count: 2, totalMs: 10, longestMs: 5 }, 20]);
});
