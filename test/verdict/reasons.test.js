import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { describe, test } from 'node:test';
import { createHistogram, recordMs } from '../../src/common/histogram.js';
import { isThisMachine, machineOf, mergeCounted, watchedOf } from '../../src/verdict/observed.js';
import { judgeMeasurement, REASONS } from '../../src/verdict/reasons.js';

/** @import { ShardEnd } from '../../src/engine/shard.js' */
/** @import { Observed } from '../../src/verdict/observed.js' */

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
 * A thousand requests of 100 ms, none of them late, unless said otherwise. Each was sent late by `lagMs`, which its response
 * time includes, and read late by `readMs`, which is in its time as well.
 * @param {{samples?: number, lagMs?: number, ownMs?: number, readMs?: number} & Partial<Observed>} given
 */
function judge({ samples = 1000, lagMs = 0, ownMs = 100, readMs = 0, ...changes }) {
  return judgeMeasurement({
    lag: histogram(samples, lagMs),
    response: histogram(samples, ownMs + lagMs),
    ownResponse: histogram(samples, ownMs - readMs),
    readLate: histogram(samples, readMs),
    displaced: { second: 0, tenth: 0 },
    planned: samples,
    neverSent: 0,
    sent: samples,
    succeeded: samples,
    unchecked: 0,
    outcomes: {},
    droppedLate: 0,
    forgone: 0,
    limited: 0,
    rested: 0,
    leftWhileFree: false,
    stalledMs: 0,
    stalledStage: null,
    warmupOverlapMs: 0,
    concurrency: 10,
    windowMs: 10_000,
    firstMs: 10_000,
    dialled: 0,
    handshakes: {},
    plannedConnects: 0,
    gc: { count: 0, totalMs: 0, longestMs: 0 },
    busyShare: 0.3,
    spinShare: 0,
    runQueueShare: 0,
    machine: { processCores: 0.3, idleShare: 0.5, pressureShare: 0 },
    targetIsLocal: true,
    backlog: backlog(0, 0, 0, 0),
    latencyDrift: null,
    rateDrift: null,
    interrupted: false,
    model: 'open',
    apart: null,
    ...changes,
  });
}

/** Ten looks in each quarter. @param {(number | null)[]} quarterMins */
function backlog(...quarterMins) {
  const waiting = quarterMins.filter((min) => Number(min) > 0).length;
  return { looks: 40, waitingLooks: 10 * waiting, quarterMins, atEnd: Number(quarterMins[3]) + 7 };
}

/** A thousand requests in 10 s, at so many times the capacity: each waits for those before it. @param {number} times */
function overload(times) {
  const response = mixed(
    .../** @type {[number, number][]} */ (
      Array.from({ length: 1000 }, (_, i) => [1, 10 * i * (times - 1) + 5])
    ),
  );
  const atEnd = 1000 * (1 - 1 / times);
  const quarterMins = [0, 1, 2, 3].map((quarter) => (quarter * atEnd) / 4);
  return { response, ownResponse: response, backlog: { looks: 40, waitingLooks: 30, quarterMins, atEnd } };
}

const FULL = { processCores: 0.4, idleShare: 0.04, pressureShare: 0.5 };

/** @type {[string, Parameters<typeof judge>[0], 'valid' | 'invalid', string[]][]} sentence, observed, verdict, codes */
const TABLE = [
  ['a quiet run has no remark', {}, 'valid', []],
  ['without a sample nothing was measured', { samples: 0, planned: 10 }, 'invalid', ['nothing_measured']],
  ['half of the responses unchecked', { unchecked: 500 }, 'valid', ['unchecked']],
  ['fewer than half unchecked', { unchecked: 499 }, 'valid', []],

  ['one in a hundred dropped late', { droppedLate: 10 }, 'invalid', ['load_not_offered']],
  ['fewer than one in a hundred dropped late', { droppedLate: 9 }, 'valid', []],
  ['nothing sent, but arrivals dropped', { samples: 0, outcomes: { dropped: 9 } }, 'valid', []],
  [
    'one in a hundred for which late reading left no connection free',
    { forgone: 10, neverSent: 12 },
    'invalid',
    ['load_not_offered'],
  ],
  [
    'the same, with a target that did not keep up',
    { forgone: 10, neverSent: 20 },
    'valid',
    ['backlog_growing'],
  ],
  ['one in a hundred revoked again', { outcomes: { revoked_again: 10 } }, 'invalid', ['load_not_offered']],
  ['one in a hundred expired', { outcomes: { already_expired: 10 } }, 'invalid', ['load_not_offered']],
  ['fewer than one in a hundred revoked again', { outcomes: { revoked_again: 9 } }, 'valid', []],
  ['5 % in another second', { displaced: { second: 50, tenth: 50 } }, 'valid', []],
  [
    'more than 5 % in another second',
    { displaced: { second: 51, tenth: 51 } },
    'invalid',
    ['load_not_offered'],
  ],
  ['25 % in another tenth of a second', { displaced: { second: 0, tenth: 250 } }, 'valid', []],
  [
    'more than 25 % in another tenth of a second',
    { displaced: { second: 0, tenth: 251 } },
    'invalid',
    ['load_not_offered'],
  ],
  ['a closed loop has no schedule', { displaced: { second: 900, tenth: 900 }, model: 'closed' }, 'valid', []],
  [
    'a closed loop that stood still for 5 % of the time',
    { stalledMs: 500, model: 'closed' },
    'valid',
    ['busy_machine'],
  ],
  ['for longer', { stalledMs: 501, model: 'closed' }, 'invalid', ['load_not_offered', 'busy_machine']],
  ['for less than 100 ms', { stalledMs: 99, windowMs: 200, model: 'closed' }, 'valid', []],
  [
    'for more than 5 % of a stage',
    { stalledStage: { stage: 'peak', stalledMs: 101, windowMs: 2000 }, model: 'closed' },
    'invalid',
    ['load_not_offered'],
  ],
  [
    'for 5 % of each stage',
    { stalledStage: { stage: 'peak', stalledMs: 100, windowMs: 2000 }, model: 'closed' },
    'valid',
    [],
  ],
  ['an open loop has other measures of that', { stalledMs: 501 }, 'valid', []],
  ['unsent, connections free', { neverSent: 10, leftWhileFree: true }, 'invalid', ['load_not_offered']],
  ['interrupted on purpose', { neverSent: 900, leftWhileFree: true, interrupted: true }, 'valid', []],
  ['one failure of 1,000 at a local limit', { outcomes: { no_local_port: 1 } }, 'valid', []],
  [
    'one failure of 100 at a local limit',
    { outcomes: { no_local_port: 4, too_many_open_files: 6 } },
    'invalid',
    ['load_not_offered'],
  ],
  ['with those that connections kept closed did not send', { limited: 10 }, 'valid', []],
  [
    'one of 100, as connections that cannot be opened rest',
    { limited: 9, outcomes: { no_local_port: 2 } },
    'invalid',
    ['load_not_offered'],
  ],
  ['failures at the target are its own', { outcomes: { connection_refused: 500 } }, 'valid', []],
  [
    'parts that started at different times',
    { apart: { grade: 'invalid', text: 'A.', remedy: 'B.' } },
    'invalid',
    ['parts_apart'],
  ],
  [
    'parts that started slightly apart',
    { apart: { grade: 'remark', text: 'A.', remedy: 'B.' } },
    'valid',
    ['parts_apart'],
  ],
  [
    'parts that ended at different times',
    { endedApart: { text: 'A.', remedy: 'B.' } },
    'valid',
    ['parts_ended_apart'],
  ],
  [
    'a part without a result',
    { missing: [{ part: 'part 1 of 3', why: 'it was killed' }] },
    'invalid',
    ['parts_missing'],
  ],
  [
    'a part whose own measurement is invalid',
    { invalid: [{ part: 'part 1 of 3', why: 'No request was sent.', isJudgedOnSum: false }] },
    'invalid',
    ['parts_invalid'],
  ],
  [
    'a part that sent many of its few requests late, not many of all',
    { invalid: [{ part: 'part 1 of 3', why: 'The tool was late.', isJudgedOnSum: true }] },
    'valid',
    ['parts_invalid'],
  ],
  ['figures that do not add up', { problems: ['a is not b'] }, 'invalid', ['bookkeeping']],

  ['late sending of a tenth of the p99', { lagMs: 11 }, 'valid', []],
  ['late sending of more than a tenth', { lagMs: 12 }, 'valid', ['busy_machine']],
  ['any lateness is only a remark', { lagMs: 5000 }, 'valid', ['busy_machine']],
  ['less than 1 ms causes no remark', { ownMs: 1, lagMs: 0.9 }, 'valid', []],
  ['one request sent 100 ms late', { lag: mixed([999, 0], [1, 101]) }, 'valid', ['busy_machine']],
  ['one sent less late', { lag: mixed([999, 0], [1, 99]) }, 'valid', []],
  ['one sent late by a tenth of the p99', { lag: mixed([999, 0], [1, 101]), ownMs: 1020 }, 'valid', []],
  ['the same in a closed loop', { lag: mixed([999, 0], [1, 101]), model: 'closed' }, 'valid', []],
  ['late reading of more than a tenth', { readMs: 12 }, 'valid', ['busy_machine']],
  ['late reading of less than a tenth', { readMs: 9 }, 'valid', []],
  [
    'a frozen target does not count as late reading',
    { response: mixed([900, 1], [100, 900]), ownResponse: mixed([900, 1], [100, 900]) },
    'valid',
    [],
  ],
  ['a full machine with the tool and the target', { machine: FULL }, 'valid', ['busy_machine']],
  ['a full machine, the target elsewhere', { machine: FULL, targetIsLocal: false }, 'valid', []],
  ['a machine with a core to spare', { machine: { ...FULL, idleShare: 0.05 } }, 'valid', []],
  ['no threads waiting for a core', { machine: { ...FULL, pressureShare: 0.49 } }, 'valid', []],
  ['unknown pressure', { machine: { ...FULL, pressureShare: null } }, 'valid', []],

  ['one per cent never sent', { neverSent: 10 }, 'valid', ['backlog_growing']],
  ['less than one per cent never sent', { neverSent: 9 }, 'valid', []],
  ['half never sent: the target did not keep up', { neverSent: 500 }, 'valid', ['backlog_growing']],
  ['a backlog that grows', { backlog: backlog(0, 10, 20, 30) }, 'valid', ['backlog_growing']],
  [
    'no more in flight than equally long responses explain',
    { backlog: backlog(0, 250, 500, 600), ownMs: 6100 },
    'valid',
    [],
  ],
  ['numbers in flight that vary by chance', { backlog: backlog(0, 10, 13, 17) }, 'valid', []],
  ['twice the capacity', overload(2), 'valid', ['backlog_growing']],
  ['eight times the capacity', overload(8), 'valid', ['backlog_growing']],
  ['a backlog that emptied once', { backlog: backlog(0, 10, 0, 30) }, 'valid', []],
  ['a backlog that has stopped growing', { backlog: backlog(0, 20, 30, 31) }, 'valid', []],
  ['under a hundredth of the plan', { backlog: backlog(0, 3, 6, 9) }, 'valid', []],
  ['a quarter without a sample', { backlog: backlog(0, null, 20, 30) }, 'valid', []],
  [
    'a growing backlog with unsent requests',
    { backlog: backlog(0, 100, 200, 300), neverSent: 100 },
    'valid',
    ['backlog_growing'],
  ],
  ['a median that drifts', { latencyDrift: { from: 1, to: 2 } }, 'valid', ['still_changing']],
  ['a rate that drifts', { rateDrift: { from: 500, to: 900 } }, 'valid', ['still_changing']],
  ['a stall began in the warm-up', { warmupOverlapMs: 4000, model: 'closed' }, 'valid', ['warmup_overlap']],
  ['and took 5 % of the time', { warmupOverlapMs: 5010, model: 'closed' }, 'invalid', ['warmup_overlap']],
  [
    'and took 5 % of the first stage',
    { warmupOverlapMs: 2600, firstMs: 5000, model: 'closed' },
    'invalid',
    ['warmup_overlap'],
  ],
  ['in an open loop, requests wait for it', { warmupOverlapMs: 5010 }, 'valid', []],
  ['a measured request took as long', { warmupOverlapMs: 50, model: 'closed' }, 'valid', []],
  ['one request in a hundred opened a connection', { dialled: 10 }, 'valid', ['connection_setup']],
  [
    'resting connections did not send as many as one in a hundred',
    { rested: 10 },
    'valid',
    ['connections_rested'],
  ],
  ['fewer than one in a hundred were not sent', { rested: 9 }, 'valid', []],
  ['a limit of this machine kept them closed', { rested: 15, limited: 9 }, 'valid', []],
  ['fewer than one in a hundred opened a connection', { dialled: 9 }, 'valid', []],
  ['each request opened one, as planned', { dialled: 1000, plannedConnects: 1 }, 'valid', []],
  ['every tenth request opened one, as planned', { dialled: 105, plannedConnects: 0.1 }, 'valid', []],
  [
    'a server closed connections early',
    { dialled: 1000, plannedConnects: 0.1 },
    'valid',
    ['connection_setup'],
  ],
  [
    'reasons add up, and the worst decides',
    { droppedLate: 90, lagMs: 90, neverSent: 20 },
    'invalid',
    ['load_not_offered', 'busy_machine', 'backlog_growing'],
  ],
];

describe('the verdict on a measurement', () => {
  for (const [sentence, observed, verdict, codes] of TABLE) {
    test(sentence, () => {
      const judged = judge(observed);
      assert.deepEqual(
        judged.reasons.map(({ code }) => code),
        codes,
      );
      assert.equal(judged.verdict, verdict);
      for (const { code, text, remedy, grade } of judged.reasons) {
        assert.ok(Object.hasOwn(REASONS, code));
        assert.match(text, /^[A-Z\d].*\.$/s);
        assert.match(String(remedy), /\.$/);
        assert.match(String(grade), /^(invalid|remark)$/);
      }
    });
  }
});

test('every reason is in the table', () => {
  const seen = new Set(TABLE.flatMap(([, , , codes]) => codes));
  assert.deepEqual(
    Object.keys(REASONS).filter((code) => !seen.has(code)),
    [],
  );
});

test('late wake-ups, if the sender itself was late by less than half of it', () => {
  const causeWith = (/** @type {number} */ readMs, /** @type {Partial<Observed>} */ changes = {}) => {
    const [{ detail, remedy }] = judge({
      readLate: histogram(1000, readMs),
      ownResponse: histogram(1000, 80),
      ...changes,
    }).reasons;
    return [detail?.includes('woken late'), remedy.includes('whose cores are its own')];
  };
  assert.deepEqual(causeWith(9), [true, true]);
  assert.deepEqual(causeWith(11), [undefined, false]);
  assert.deepEqual(causeWith(9, { busyShare: 0.5 }), [undefined, false]);
  assert.deepEqual(causeWith(9, { runQueueShare: null }), [undefined, false]);
  assert.deepEqual(causeWith(9, { runQueueShare: 0.02 }), [false, false]);
});

const CAUSES = /** @type {[string, Parameters<typeof judge>[0], RegExp][]} */ ([
  ['garbage', { gc: { count: 3, totalMs: 90, longestMs: 40 } }, /collected garbage for up to 40 ms\.$/],
  ['waiting for a core', { runQueueShare: 0.02 }, /waited for a CPU core for 2\.0 % of the time\.$/],
  ['requests', { busyShare: 0.97 }, /busy for 97 % of the time\.$/],
  [
    'a target on the same machine',
    { machine: FULL },
    /^The target shares this machine, and its latency includes/,
  ],
]);
for (const [what, changes, detail] of CAUSES) {
  test(`the explanation of a busy machine: ${what}`, () => {
    const [reason] = judge({ lagMs: 60, ...changes }).reasons;
    assert.match(
      reason.text,
      /^This machine was busy: up to 60\.\d ms of the p99 may be this tool's own lateness\.$/,
    );
    assert.match(String(reason.detail), detail);
  });
}

test('the explanation of a tool that stood still', () => {
  const [reason] = judge({ lag: mixed([998, 0], [2, 980]) }).reasons;
  assert.match(reason.text, /^This machine was busy: the tool sent requests up to 98\d ms late\.$/);
  assert.match(
    String(reason.detail),
    /^After up to 98\d ms it sent .* at once: .* counts as the target's\.$/,
  );
  const [late] = judge({ lagMs: 980 }).reasons;
  assert.match(late.text, /up to 98\d ms of the p99 may be/);
  assert.match(String(late.detail), /^After up to 98\d ms it sent/);
});

test('addresses of this machine', () => {
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

test('the observations of threads add up: counts are sums, shares are the worst', () => {
  /** @param {Record<string, unknown>} watch */
  const endOf = (watch) =>
    /** @type {ShardEnd} */ (
      /** @type {unknown} */ ({
        droppedLate: 1,
        forgone: 3,
        limited: 4,
        leftWhileFree: false,
        dialled: 2,
        backlog: { looks: 0, waitingLooks: 0, quarterMins: [null, null, null, null], atEnd: 0 },
        watch: {
          wallMs: 1000,
          busyMs: 100,
          emptySpinMs: 10,
          runQueueMs: 0,
          gc: { count: 1, totalMs: 5, longestMs: 5 },
          ...watch,
        },
      })
    );
  const late = { lag: histogram(3, 1), readLate: histogram(4, 1), displaced: { second: 1, tenth: 2 } };
  const machine = { wallMs: 1000, processCpuMs: 500, cores: 2, idleShare: 0.5, pressureShare: null };
  const both = watchedOf([endOf({}), endOf({ wallMs: 2000, busyMs: 800, runQueueMs: 100 })], late, machine);
  assert.deepEqual(
    [both.droppedLate, both.forgone, both.limited, both.dialled].concat(
      both.busyShare,
      both.spinShare,
      Number(both.runQueueShare),
    ),
    [2, 6, 8, 4, 0.4, 0.01, 0.05],
  );
  assert.deepEqual([both.gc, both.readLate], [{ count: 2, totalMs: 10, longestMs: 5 }, late.readLate]);
  assert.deepEqual(both.machine, { processCores: 0.5, idleShare: 0.5, pressureShare: null });
  assert.equal(watchedOf([endOf({ runQueueMs: null })], late, machine).runQueueShare, null);
  assert.equal(mergeCounted([both, both]).droppedLate, 4);
  assert.deepEqual(machineOf([machine, { ...machine, idleShare: 0.2 }]), {
    processCores: 1,
    idleShare: 0.2,
    pressureShare: null,
  });
});
