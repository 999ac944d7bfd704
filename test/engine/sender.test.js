import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { diffReadings } from '../../src/engine/watch/machine.js';
import {
  createWatch,
  mergeBacklogs,
  watchBacklog,
  watchReading,
  watchStalls,
  worstStall,
} from '../../src/engine/watch/sender.js';

/** What no counter has of the way from and to the wire. */
const UNSEEN_MS = 0.05;

/** A watch whose time and figures are set by hand. */
function setUp({ hasRunQueue = true } = {}) {
  const at = { now: 0, idle: 0, spun: 0, queued: 0 };
  const watch = createWatch({
    now: () => at.now,
    idleMs: () => at.idle,
    emptySpinMs: () => at.spun,
    runQueue: hasRunQueue ? { readMs: () => at.queued, close() {} } : null,
    sleep(ms) {
      at.now += ms + 2;
    },
  });
  return { at, watch };
}

describe('the watch of a sender thread', () => {
  test('counts from the start of the measured phase until sending ends', () => {
    const { at, watch } = setUp();
    Object.assign(at, { now: 100, idle: 50, spun: 20, queued: 5 });
    watch.begin();
    Object.assign(at, { now: 1100, idle: 250, spun: 620, queued: 35 });
    watch.endSending();
    Object.assign(at, { now: 9000, idle: 1, spun: 9999, queued: 9999 });
    const { wallMs, busyMs, emptySpinMs, runQueueMs: waited } = watch.end();
    watch.close();
    assert.deepEqual(
      { wallMs, busyMs, emptySpinMs, waited },
      { wallMs: 1000, busyMs: 200, emptySpinMs: 600, waited: 30 },
    );
  });

  test('is zero if the measured phase was never reached', () => {
    const { watch } = setUp();
    watch.endSending();
    const { wallMs, busyMs, gc } = watch.end();
    watch.close();
    assert.deepEqual([wallMs, busyMs, gc.count], [0, 0, 0]);
  });

  test('does not count a nap as busy', () => {
    const { at, watch } = setUp();
    watch.begin();
    watch.nap(8);
    Object.assign(at, { idle: 85, now: 100 });
    watch.endSending();
    assert.equal(watch.end().busyMs, 5);
    watch.close();
  });

  test('has no run-queue time if the kernel reports none', () => {
    const { at, watch } = setUp({ hasRunQueue: false });
    watch.begin();
    at.now = 100;
    watch.endSending();
    assert.equal(watch.end().runQueueMs, null);
    watch.close();
  });

  test('counts late timers as time without a core if the kernel reports none', async () => {
    const { at, watch } = setUp({ hasRunQueue: false });
    at.now = 1;
    const sent = watch.reading.onSent(watch.reading.now());
    await turn();
    Object.assign(at, { now: 51, idle: 49.5 });
    watch.beat();
    assert.ok(Math.abs(watch.reading.lateMs(sent) - (51 - 10 - 1 + 0.5 + UNSEEN_MS)) < 1e-9);
    watch.close();
  });

  test('records real garbage collections with their durations', async () => {
    const watch = createWatch();
    watch.begin();
    await turn();
    /** @type {unknown[]} */
    let kept = [];
    for (let i = 0; i < 40; i++) {
      kept = Array.from({ length: 50_000 }, (_, k) => ({ i, k }));
      await turn();
    }
    watch.endSending();
    const { gc } = watch.end();
    watch.close();
    assert.equal(kept.length, 50_000);
    assert.ok(gc.count > 0 && gc.totalMs > 0 && gc.longestMs <= gc.totalMs, JSON.stringify(gc));
  });
});

/** A thread whose time is passed by hand, and whose turns end when they are told to. */
function createThread() {
  const at = { now: 0, idle: 0, spun: 0, queued: 0 };
  let ended = () => {};
  let asked = 0;
  const reading = watchReading({
    now: () => at.now,
    idleMs: () => at.idle,
    queuedMs: () => {
      asked++;
      return at.queued;
    },
    emptySpinMs: () => at.spun,
    afterTurn: (call) => {
      ended = call;
    },
  });
  return {
    reading,
    asked: () => asked,
    /** Short turns that poll the sockets, and find nothing. @param {number} ms */
    spin(ms) {
      ended();
      at.now += ms;
      at.spun += ms;
    },
    /** @param {number} ms */
    work(ms) {
      at.now += ms;
    },
    /** Turns without a call. @param {number} ms */
    idle(ms) {
      at.now += ms;
      at.idle += ms;
    },
    /** Another thread takes the core within a turn. @param {number} ms */
    queue(ms) {
      at.now += ms;
      at.queued += ms;
    },
    /** The turn ends; then the loop waits, and after that for a core. @param {number} ms @param {number} [queuedMs] */
    poll(ms, queuedMs = 0) {
      ended();
      at.now += ms + queuedMs;
      at.idle += ms + queuedMs;
      at.queued += queuedMs;
    },
  };
}

describe('the upper bound of a late read', () => {
  /** @param {number} actual @param {number} expected */
  const near = (actual, expected) =>
    assert.ok(Math.abs(actual - UNSEEN_MS - expected) < 1e-9, `${actual}, not ${expected}`);

  /** @param {number} actual @param {number} low @param {number} high */
  const between = (actual, low, high) =>
    assert.ok(actual >= low && actual <= high, `${actual}, not ${low} to ${high}`);

  test("is the thread's awake time since it sent the request", () => {
    const { reading, work, poll } = createThread();
    work(40);
    const sent = reading.onSent(reading.now());
    work(0.1);
    poll(20);
    work(0.3);
    near(reading.lateMs(sent), 0.4);
  });

  test('includes time in which the thread was runnable without a core', () => {
    const { reading, poll } = createThread();
    const sent = reading.onSent(reading.now());
    poll(20, 7);
    near(reading.lateMs(sent), 7);
  });

  test('includes time without a core during the send', () => {
    const { reading, work, poll, queue } = createThread();
    const beforeMs = reading.now();
    queue(5);
    work(1);
    const sent = reading.onSent(beforeMs);
    poll(20);
    assert.ok(reading.lateMs(sent) >= 6, 'the response may have come meanwhile');
  });

  test('excludes time without a core before the send', () => {
    const { reading, poll } = createThread();
    poll(20, 7);
    const sent = reading.onSent(reading.now());
    poll(20);
    near(reading.lateMs(sent), 0);
  });

  test('counts from the previous turn, which read all earlier responses', () => {
    const { reading, work, poll } = createThread();
    const [first, second] = [reading.onSent(reading.now()), reading.onSent(reading.now())];
    work(50);
    poll(10);
    near(reading.lateMs(first), 50);
    work(3);
    poll(10);
    work(2);
    near(reading.lateMs(second), 5);
  });

  test('includes a stop of the process while its event loop waited, once, and until two turns later', () => {
    const { reading, poll } = createThread();
    const first = reading.onSent(reading.now());
    poll(2000);
    reading.onStop(1900);
    near(reading.lateMs(first), 1900);
    const second = reading.onSent(reading.now());
    poll(10);
    near(reading.lateMs(second), 0);
    poll(10);
    reading.onSent(reading.now());
    poll(10);
    near(reading.lateMs(first), 0);
  });

  test('includes a stop in addition to what was awake before it', () => {
    const { reading, work, idle, poll } = createThread();
    const sent = reading.onSent(reading.now());
    poll(0);
    for (let i = 0; i < 50; i++) {
      work(1);
      idle(9);
    }
    idle(400);
    reading.onStop(410);
    between(reading.awakeSince(sent), 450, 470);
  });

  test('includes a stop of a thread that ran once, not twice', () => {
    const { reading, queue, poll } = createThread();
    const sent = reading.onSent(reading.now());
    poll(20, 60);
    reading.onStop(70);
    between(reading.lateMs(sent), 70, 90);
    const again = reading.onSent(reading.now());
    poll(5);
    reading.onSent(reading.now());
    queue(60);
    reading.onStop(60);
    between(reading.lateMs(again), 60, 70);
  });

  test('excludes short turns without work: each polled the sockets', () => {
    const { reading, work, spin } = createThread();
    spin(300);
    const sent = reading.onSent(reading.now());
    work(0.1);
    spin(300);
    work(0.2);
    near(reading.lateMs(sent), 0.3);
  });

  test('includes the time spent on earlier responses in the same turn', () => {
    const { reading, work, poll } = createThread();
    const sent = [reading.onSent(reading.now()), reading.onSent(reading.now())];
    poll(20);
    near(reading.lateMs(sent[0]), 0);
    work(4);
    near(reading.lateMs(sent[1]), 4);
  });

  describe('of all reads while a connection opens', () => {
    /** Turns in which something is sent. @param {ReturnType<typeof createThread>} thread @param {number} turns @param {number} awakeMs of each */
    const run = ({ reading, work, poll }, turns, awakeMs) => {
      for (let i = 0; i < turns; i++) {
        poll(1);
        reading.onSent(reading.now());
        work(awakeMs);
      }
    };
    const OPENING_READS = 4;
    /** @param {number} actual @param {number} expected */
    const nearAll = (actual, expected) => near(actual - (OPENING_READS - 1) * UNSEEN_MS, expected);

    test('has the longest turns, also if many turns have passed since', () => {
      const thread = createThread();
      const { reading } = thread;
      const from = reading.now();
      const sent = reading.onSent(from);
      run(thread, 1, 100);
      run(thread, 20, 0.25);
      assert.ok(reading.lateMs(sent) < 1);
      nearAll(reading.openingLateMs(sent, reading.now() - from), 105);
    });

    test('counts no more than four times the longest two turns', () => {
      const thread = createThread();
      const { reading } = thread;
      run(thread, 20, 100);
      thread.work(50);
      run(thread, 20, 1);
      const from = reading.now();
      const sent = reading.onSent(from);
      run(thread, 400, 1);
      nearAll(reading.openingLateMs(sent, reading.now() - from), OPENING_READS * 2);
    });

    test('has the longest turns of all, if the connection has been opening for more than 5 s', () => {
      const thread = createThread();
      const { reading } = thread;
      run(thread, 20, 1);
      run(thread, 1, 100);
      run(thread, 400, 1);
      const from = reading.now();
      const sent = reading.onSent(from);
      run(thread, 6000, 1);
      nearAll(reading.openingLateMs(sent, reading.now() - from), OPENING_READS * 101);
    });
  });

  test('reads the counter at most every 0.4 ms, and counts unknown time as awake', () => {
    const { reading, asked, poll } = createThread();
    poll(1);
    const sent = reading.onSent(reading.now());
    const before = asked();
    poll(0.3);
    near(reading.lateMs(sent), 0.3);
    assert.equal(asked(), before);
    poll(0.3);
    const next = reading.onSent(reading.now());
    assert.equal(asked(), before + 1);
    poll(5, 2);
    near(reading.lateMs(next), 2);
  });
});

test('time in which the thread stood still is that of its late calls, in the measured phase', () => {
  const every = (/** @type {number} */ ms) =>
    Array.from({ length: 7000 / ms }, (_, i) => 1000 + ms * (i + 1));
  for (const [times, expected] of /** @type {[number[], number][]} */ ([
    [[990, 1000, 1010, 1069, 1080], 0],
    [[1000, 1010, 1070], 50],
    [[1000, 1010, 1310, 1320, 1500, 2100], 290 + 170 + 590],
    [[900, 5000, 9000], 4000 + 2990],
    // 90 ms of 100, as in a container without CPU time left.
    [[1000, ...every(100)], 70 * 90],
    // Slow turns of the event loop, with responses in between.
    [[1000, ...every(28)], 0],
  ])) {
    const stalls = watchStalls(10, [{ fromMs: 1000, toMs: 8000 }]);
    assert.deepEqual(times.map(stalls).at(-1)?.stalledMs, [expected], `${times.slice(0, 5)}`);
  }
});

test('a stop counts in each stage for its part of it; the worst is that of the largest share', () => {
  const spans = [
    [1000, 8000],
    [1000, 2000],
    [2000, 8000],
  ].map(([fromMs, toMs]) => ({ fromMs, toMs }));
  const stalls = watchStalls(10, spans);
  const { stalledMs = [], unreadMs } = [1000, 1790, 2500].map(stalls).at(-1) ?? {};
  const [whole, first, second] = stalledMs;
  assert.equal(unreadMs, 1000 + 790 + 710, 'all the time since the last call');
  assert.deepEqual([whole, first, second], [780 + 700, 780 + 200, 500]);
  const [a, b, c] = [
    [980, 1000],
    [700, 6000],
    [99, 99],
  ].map(([stalledMs, windowMs], i) => ({ stage: `${i}`, stalledMs, windowMs }));
  assert.equal(worstStall([b, a, c]), a);
  assert.equal(worstStall([c]), null);
});

describe('a backlog', () => {
  test('has a minimum for each quarter of the time', () => {
    const backlog = watchBacklog(1000, 2000);
    for (const [at, waiting] of [
      [900, 9],
      [1000, 3],
      [1200, 2],
      [1300, 5],
      [1749, 0],
      [1999, 8],
      [2000, 99],
    ]) {
      backlog.sample(at, waiting, 0);
    }
    assert.deepEqual(backlog.end(), { looks: 5, waitingLooks: 4, quarterMins: [2, 5, 0, 8], atEnd: 8 });
  });

  test('includes requests waiting in the target', () => {
    const backlog = watchBacklog(0, 4000);
    for (let second = 0; second < 4; second++) backlog.sample(1000 * second, 0, 10 * second);
    assert.deepEqual(backlog.end(), { looks: 4, waitingLooks: 0, quarterMins: [0, 10, 20, 30], atEnd: 30 });
  });

  test('of several shards is the sum where every shard has a sample', () => {
    const one = { looks: 10, waitingLooks: 5, quarterMins: [0, 1, null, 3], atEnd: 4 };
    const other = { looks: 9, waitingLooks: 1, quarterMins: [1, 1, 1, 1], atEnd: 1 };
    assert.deepEqual(mergeBacklogs([one, other]), {
      looks: 19,
      waitingLooks: 6,
      quarterMins: [1, 2, null, 4],
      atEnd: 5,
    });
  });
});

describe('the machine between two readings', () => {
  const from = {
    atMs: 0,
    cpuMs: 100,
    cores: 2,
    idleMs: 10,
    coreMs: 40,
    pressureMs: 5,
  };
  const to = {
    atMs: 1000,
    cpuMs: 600,
    cores: 2,
    idleMs: 1010,
    coreMs: 2040,
    pressureMs: 255,
  };
  test('has its idle share, pressure share and the CPU time of the process', () => {
    assert.deepEqual(diffReadings(from, to), {
      wallMs: 1000,
      processCpuMs: 500,
      cores: 2,
      idleShare: 0.5,
      pressureShare: 0.25,
    });
  });
  test('reports nothing over zero time', () => {
    const { wallMs, idleShare, pressureShare } = diffReadings(to, to);
    assert.deepEqual(
      { wallMs, idleShare, pressureShare },
      { wallMs: 0, idleShare: null, pressureShare: null },
    );
  });
});
