import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { choosePacing, createAlarm } from '../../src/engine/pacing/alarm.js';

/** @import { Pacing } from '../../src/engine/pacing/alarm.js' */
/** @import { LoadPlan } from '../../src/plan/load.js' */

/** @typedef {Pacing['spins']} Spins */
const SPINS = /** @type {Spins[]} */ (['last stretch', 'always', 'never']);

/**
 * An event loop by hand: each turn takes `turnMs`, timers see whole milliseconds.
 * @param {Spins} spins
 * @param {number} [turnMs]
 * @param {() => number} [work]
 */
function setUp(spins, turnMs = 0.1, work = () => 0) {
  let now = 0.25;
  let turns = 0;
  /** @type {(() => void)[]} */
  let immediates = [];
  mock.method(globalThis, 'setImmediate', (/** @type {() => void} */ call) => void immediates.push(call));
  /** @type {number[]} */
  const rung = [];
  const alarm = createAlarm(
    () => now,
    { byThread: false, spins },
    () => rung.push(now),
    { work },
  );
  return {
    alarm,
    rung,
    get turns() {
      return turns;
    },
    /** @param {number} untilMs */
    run(untilMs) {
      while (now < untilMs) {
        const ms = immediates.length > 0 ? turnMs : 1;
        const before = Math.floor(now);
        now += ms;
        mock.timers.tick(Math.floor(now) - before);
        const due = immediates;
        immediates = [];
        turns += due.length;
        for (const call of due) call();
      }
    },
  };
}

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
});

for (const spins of SPINS) {
  describe(`an alarm that spins: ${spins}`, () => {
    for (const at of [0.3, 2.9, 33.33]) {
      test(`set ${at} ms ahead fires once, never early, and at most ${spins === 'never' ? 2 : 0.2} ms late`, () => {
        const { alarm, rung, run } = setUp(spins);
        alarm.set(at);
        assert.equal(rung.length, 0, 'never from within set');
        run(at + 50);
        assert.equal(rung.length, 1);
        assert.ok(rung[0] >= at, `at ${rung[0]}`);
        assert.ok(rung[0] <= at + (spins === 'never' ? 2 : 0.2), `at ${rung[0]}`);
      });
    }

    test('set to a past time fires soon, but not within set', () => {
      const { alarm, rung, run } = setUp(spins);
      alarm.set(-5);
      assert.equal(rung.length, 0);
      run(3);
      assert.equal(rung.length, 1);
    });

    test('set to an earlier time fires then, and only then', () => {
      const { alarm, rung, run } = setUp(spins);
      alarm.set(100);
      alarm.set(20);
      run(300);
      assert.equal(rung.length, 1);
      assert.ok(rung[0] >= 20 && rung[0] < 23);
    });

    test('set to a later time just before firing fires only then', () => {
      const { alarm, rung, run } = setUp(spins);
      alarm.set(20);
      run(spins === 'never' ? 18 : 19.5);
      alarm.set(100);
      run(300);
      assert.equal(rung.length, 1);
      assert.ok(rung[0] >= 100 && rung[0] < 103);
    });

    test('cleared does not fire, and can be set again', () => {
      const { alarm, rung, run } = setUp(spins);
      alarm.set(20);
      run(spins === 'never' ? 18 : 19.5);
      alarm.clear();
      run(50);
      assert.equal(rung.length, 0);
      alarm.set(60);
      run(100);
      assert.equal(rung.length, 1);
    });
  });
}

test("an alarm beyond a timer's maximum waits in steps", () => {
  mock.timers.reset();
  for (const spins of /** @type {Spins[]} */ (['last stretch', 'never'])) {
    for (const at of [2 ** 31 + 5000, 2 ** 33, Number.POSITIVE_INFINITY]) {
      let now = 0;
      /** @type {[() => void, number][]} */
      const timers = [];
      mock.method(
        globalThis,
        'setTimeout',
        (/** @type {() => void} */ call, /** @type {number} */ ms) => void timers.push([call, ms]),
      );
      const rung = mock.fn();
      createAlarm(() => now, { byThread: false, spins }, rung).set(at);
      for (let part = 0; part < 3 && timers.length > part; part++) {
        const [call, ms] = timers[part];
        assert.ok(ms >= 1 && ms <= 2 ** 31 - 1, `a timer of ${ms} ms rings at once`);
        if (now + ms >= at - 2) break;
        now += ms;
        call();
        assert.equal(rung.mock.callCount(), 0, `too early at ${now} for ${at}`);
      }
      assert.ok(at === Number.POSITIVE_INFINITY || timers.length > 1);
      mock.reset();
    }
  }
});

test('a sleeping alarm never spins; a spinning alarm never sleeps', () => {
  const sleeper = setUp('never');
  sleeper.alarm.set(50);
  sleeper.run(60);
  assert.equal(sleeper.turns, 0);
  mock.restoreAll();
  const spinner = setUp('always');
  spinner.alarm.set(50);
  spinner.run(60);
  assert.ok(spinner.turns > 400, `${spinner.turns}`);
  mock.restoreAll();
  const both = setUp('last stretch');
  both.alarm.set(50);
  both.run(60);
  assert.ok(both.turns > 5 && both.turns < 40, `${both.turns} turns`);
});

describe('time spun without work', () => {
  let answers = 0;
  /** @type {[string, Spins, number, () => number, number, number][]} sentence, spins, turn, work, at least and at most */
  const CASES = [
    ['is the whole wait if there is no work', 'always', 0.01, () => 0, 9.9, 10.02],
    ['is only the last stretch if the alarm sleeps first', 'last stretch', 0.01, () => 0, 0.5, 3],
    ['excludes turns with a response', 'always', 0.01, () => answers++, 0, 0],
    ['excludes turns too long to be empty', 'always', 0.1, () => 0, 0, 0],
    ['is zero for an alarm that never spins', 'never', 0.01, () => 0, 0, 0],
  ];
  for (const [sentence, spins, turnMs, work, least, most] of CASES) {
    test(sentence, () => {
      const { alarm, run } = setUp(spins, turnMs, work);
      alarm.set(10.25);
      run(12);
      const spun = alarm.emptySpinMs();
      assert.ok(spun >= least && spun <= most + 1e-9, `${spun} ms`);
    });
  }
});

describe('an alarm whose sender has nothing in flight', () => {
  /** @param {number} stepMs by which the clock moves with every reading */
  function watchIdle(stepMs) {
    let now = 0;
    let readings = 0;
    let turns = 0;
    /** @type {(() => void) | null} */
    let immediate = null;
    mock.method(globalThis, 'setImmediate', (/** @type {() => void} */ call) => {
      turns++;
      immediate = call;
    });
    const rung = mock.fn();
    const alarm = createAlarm(
      () => {
        readings++;
        now += stepMs;
        return now;
      },
      { byThread: false, spins: 'always' },
      rung,
      { isIdle: () => true },
    );
    alarm.set(1);
    for (let i = 0; i < 100 && immediate !== null && rung.mock.callCount() === 0; i++) {
      /** @type {() => void} */
      const call = immediate;
      immediate = null;
      call();
    }
    return { rung: rung.mock.callCount(), turns, readings, emptySpinMs: alarm.emptySpinMs() };
  }

  test('polls the clock in few turns of the event loop, and counts all of it as spun', () => {
    const { rung, turns, readings, emptySpinMs } = watchIdle(0.001);
    assert.equal(rung, 1);
    assert.ok(turns <= 25, `${turns} turns`);
    assert.ok(readings >= 900, `${readings} readings`);
    assert.ok(emptySpinMs > 0.9 && emptySpinMs <= 1.1, `${emptySpinMs} ms`);
  });

  test('stops polling a clock that does not advance', () => {
    const { rung, turns } = watchIdle(0);
    assert.equal(rung, 0);
    assert.equal(turns, 101);
  });

  test('does not count time without a core as spun', () => {
    const { rung, emptySpinMs } = watchIdle(0.2);
    assert.equal(rung, 1);
    assert.equal(emptySpinMs, 0);
  });
});

describe('in the last stretch of a wait, an alarm', () => {
  /**
   * @param {Spins} spins @param {boolean} isIdle @param {number[]} [overslept] ms, in each of the waits
   * @returns how long the alarm slept outside of the event loop, and when it last rang, since the beginning of its wait
   */
  function naps(spins, isIdle, overslept = [0]) {
    let now = 0;
    /** @type {(() => void) | null} */
    let immediate = null;
    mock.method(globalThis, 'setImmediate', (/** @type {() => void} */ call) => {
      immediate = call;
    });
    /** @type {number[]} */
    const slept = [];
    let rungMs = Number.NaN;
    const onTime = () => {
      rungMs = now;
    };
    const alarm = createAlarm(() => (now += 0.001), { byThread: false, spins }, onTime, {
      isIdle: () => isIdle,
      nap(ms) {
        now += ms + overslept[slept.length];
        slept.push(ms);
      },
    });
    let begunMs = 0;
    for (const _ of overslept) {
      begunMs = now;
      rungMs = Number.NaN;
      alarm.set(begunMs + 1.5);
      for (let i = 0; i < 2000 && Number.isNaN(rungMs); i++) /** @type {any} */ (immediate)?.();
    }
    return { slept, rungMs: rungMs - begunMs };
  }

  test('sleeps until just before the end if nothing is in flight', () => {
    const { slept, rungMs } = naps('last stretch', true);
    assert.equal(slept.length, 1);
    assert.ok(slept[0] > 1.1 && slept[0] <= 1.2, `${slept[0]} ms`);
    assert.ok(rungMs >= 1.5 && rungMs < 1.52, `${rungMs} ms`);
  });

  test('sleeps for longer if it was woken in time, and for less once it was not', () => {
    const inTime = naps('last stretch', true, Array(300).fill(0.05));
    const last = Number(inTime.slept.at(-1));
    assert.ok(last > 1.4 && last < 1.43, `${last} ms`);
    assert.ok(inTime.rungMs >= 1.5 && inTime.rungMs < 1.52, `${inTime.rungMs} ms`);
    const lateOnce = [...Array(300).fill(0.05), 0.2, 0.05, 2, 0.05];
    const [, next, , least] = naps('last stretch', true, lateOnce).slept.slice(300);
    assert.ok(next > 1.24 && next < 1.28, `${next} ms after one 0.2 ms late`);
    assert.ok(least > 1.17 && least <= 1.2, `${least} ms after one 2 ms late`);
  });

  test('spins with requests in flight, or if the user chose to spin', () => {
    assert.deepEqual(naps('last stretch', false).slept, []);
    assert.deepEqual(naps('always', true).slept, []);
  });
});

/** @type {[string, Partial<LoadPlan>, number, number, string][]} sentence, load, shards, cores, expected */
const table = [
  ['wide gaps use a timer that spins at the end', { ratePerSecond: 100 }, 1, 2, 'timer, last stretch'],
  ['narrow gaps use a thread', { ratePerSecond: 101 }, 1, 2, 'thread, last stretch'],
  ['the gap is that of one shard', { ratePerSecond: 200 }, 2, 4, 'timer, last stretch'],
  ['a single core never spins', { ratePerSecond: 100 }, 1, 1, 'thread, never'],
  ['a sender on each core never spins', { ratePerSecond: 5000 }, 4, 4, 'thread, never'],
  ['sleep never spins', { ratePerSecond: 5000, pacing: 'sleep' }, 1, 2, 'timer, never'],
  ['spin always spins', { ratePerSecond: 20, pacing: 'spin' }, 1, 1, 'timer, always'],
  ['a closed loop waits only for responses', { model: 'closed', ratePerSecond: null }, 1, 2, 'timer, never'],
  ['closed loops never spin', { model: 'closed', ratePerSecond: null, pacing: 'spin' }, 1, 2, 'timer, never'],
];

/** @param {Partial<LoadPlan>} load */
const planned = (load) =>
  /** @type {LoadPlan} */ ({ model: 'open', pacing: 'auto', ratePerSecond: 1, threads: 1, ...load });

for (const [sentence, load, shards, cores, expected] of table) {
  test(`pacing: ${sentence}`, () => {
    const { byThread, spins } = choosePacing(planned(load), shards, cores);
    assert.equal(`${byThread ? 'thread' : 'timer'}, ${spins}`, expected);
  });
}
