import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { decodeHistogram, valueAtRank } from '../../src/histogram.js';
import { mergeBacklogs, watchBacklog } from '../../src/load/watch/backlog.js';
import { between } from '../../src/load/watch/machine.js';
import { connectProbes, listenForProbes } from '../../src/load/watch/probe-socket.js';
import { createProber } from '../../src/load/watch/prober.js';
import { createWatch } from '../../src/load/watch/sender.js';

/** A watch whose time and figures are set by hand. */
function setUp() {
  const at = { now: 0, idle: 0, active: 0, spun: 0, queued: /** @type {number | null} */ (0) };
  const watch = createWatch({
    now: () => at.now,
    loopTime: (before = { idle: 0, active: 0, utilization: 0 }) => ({
      idle: at.idle - before.idle,
      active: at.active - before.active,
      utilization: 0,
    }),
    emptySpinMs: () => at.spun,
    runQueueMs: () => at.queued,
  });
  return { at, watch };
}

/** @param {string} encoded */
function countOf(encoded) {
  return decodeHistogram(encoded).totalCount;
}

/** @param {ReturnType<typeof createWatch>} watch @returns {number[]} how late probes were read, ms, rounded, ascending */
function ranks(watch) {
  watch.end();
  watch.close();
  const histogram = decodeHistogram(watch.result().reaction);
  return Array.from({ length: histogram.totalCount }, (_, i) => Math.round(valueAtRank(histogram, i + 1)));
}

describe('what a sending thread observes of itself', () => {
  test('counts from the start of the measured part until nothing more is sent', () => {
    const { at, watch } = setUp();
    Object.assign(at, { now: 100, idle: 50, active: 50, spun: 20, queued: 5 });
    watch.begin();
    Object.assign(at, { now: 1100, idle: 250, active: 850, spun: 620, queued: 35 });
    watch.rest();
    Object.assign(at, { now: 9000, idle: 1, active: 9999, spun: 9999, queued: 9999 });
    watch.end();
    const { wallMs, busyMs, emptySpinMs, runQueueMs: waited } = watch.result();
    watch.close();
    assert.deepEqual(
      { wallMs, busyMs, emptySpinMs, waited },
      { wallMs: 1000, busyMs: 200, emptySpinMs: 600, waited: 30 },
    );
  });

  test('is nothing where the measured part was never reached', () => {
    const { watch } = setUp();
    watch.onProbe({ plannedMs: 0, stampMs: 0 });
    watch.rest();
    watch.end();
    const { reaction, wallMs, busyMs, gc } = watch.result();
    watch.close();
    assert.deepEqual([countOf(reaction), wallMs, busyMs, gc.count], [0, 0, 0, 0]);
  });

  test('counts how late a probe was read, not how late it was sent', () => {
    const { at, watch } = setUp();
    watch.begin();
    at.now = 110;
    watch.onProbe({ plannedMs: 100, stampMs: 107 });
    assert.deepEqual(ranks(watch), [3]);
  });

  test('leaves out probes that were sent before the start or after the end', () => {
    const { at, watch } = setUp();
    at.now = 100;
    watch.begin();
    at.now = 150;
    watch.onProbe({ plannedMs: 98, stampMs: 99 });
    at.now = 200;
    watch.end();
    watch.onProbe({ plannedMs: 200, stampMs: 201 });
    assert.deepEqual(ranks(watch), []);
  });

  test('counts a probe that is still unread at the end with its age when it is read', () => {
    const { at, watch } = setUp();
    watch.begin();
    at.now = 200;
    watch.end();
    at.now = 203;
    watch.onProbe({ plannedMs: 198, stampMs: 199 });
    assert.deepEqual(ranks(watch), [4]);
  });

  test('adds the probes that nobody sent while the whole process stood still', () => {
    const { at, watch } = setUp();
    watch.begin();
    for (const beatMs of [80, 90, 100, 147, 150]) {
      at.now = beatMs;
      watch.beat();
    }
    watch.onProbe({ plannedMs: 105, stampMs: 149 });
    // Planned at 115, 125 and 135; the thread's timer was due at 110, and fired at 147.
    assert.deepEqual(ranks(watch), [1, 12, 22, 32]);
  });

  test('adds none where only the thread that sends them was late', () => {
    const { at, watch } = setUp();
    watch.begin();
    for (const beatMs of [80, 90, 100, 110, 120, 130, 140, 150]) {
      at.now = beatMs;
      watch.beat();
    }
    watch.onProbe({ plannedMs: 105, stampMs: 149 });
    assert.deepEqual(ranks(watch), [1]);
  });

  test('says nothing of the run queue where the kernel does not tell', () => {
    const { at, watch } = setUp();
    at.queued = null;
    watch.begin();
    watch.rest();
    watch.end();
    assert.equal(watch.result().runQueueMs, null);
    watch.close();
  });

  test('sees real garbage collections, with their time', async () => {
    const watch = createWatch();
    watch.begin();
    await turn();
    /** @type {unknown[]} */
    let kept = [];
    for (let i = 0; i < 40; i++) {
      kept = Array.from({ length: 50_000 }, (_, k) => ({ i, k }));
      await turn();
    }
    watch.rest();
    watch.end();
    const { gc } = watch.result();
    watch.close();
    assert.equal(kept.length, 50_000);
    assert.ok(gc.count > 0 && gc.totalMs > 0 && gc.longestMs <= gc.totalMs, JSON.stringify(gc));
  });
});

describe('probes of how late the sender reads', () => {
  /** @param {number} random */
  function setUpProber(random) {
    const at = { now: 0, readings: 0 };
    /** @type {import('../../src/load/watch/prober.js').Probe[]} */
    const sent = [];
    const prober = createProber(
      (probe) => sent.push(probe),
      () => {
        at.readings++;
        return at.now;
      },
      () => random,
    );
    return { at, sent, prober };
  }

  test('one is stamped when the thread woke, however late that was', () => {
    const { at, sent, prober } = setUpProber(0.5);
    prober.sleep((ms) => {
      at.now += ms + 3;
    }, 20);
    assert.deepEqual(sent, [{ plannedMs: 15, stampMs: 18 }]);
  });

  test('a sleep ends when one is due', () => {
    const { at, sent, prober } = setUpProber(0.5);
    /** @type {number[]} */
    const slept = [];
    for (let i = 0; i < 6; i++) {
      prober.sleep((ms) => {
        slept.push(ms);
        at.now += ms;
      }, 10);
    }
    assert.deepEqual(slept, [10, 5, 10, 5, 10, 5]);
    assert.deepEqual(
      sent.map(({ stampMs }) => stampMs),
      [15, 30, 45],
    );
  });

  for (const [random, gap] of [
    [0, 10],
    [0.999, 19.99],
  ]) {
    test(`they are ${gap} ms apart where the dice show ${random}`, () => {
      const { at, sent, prober } = setUpProber(random);
      for (let i = 0; i < 10; i++) {
        prober.sleep((ms) => {
          at.now += ms;
        }, 20);
      }
      assert.ok(sent.every(({ stampMs }, i) => Math.abs(stampMs - (i + 1) * gap) < 1e-6));
      assert.equal(sent.length, 10);
    });
  }

  test('a thread that never sleeps sends them at a sample now and then, at most 100 a second', () => {
    const { at, sent, prober } = setUpProber(0);
    const before = at.readings;
    for (let i = 0; i < 64_000; i++) {
      at.now += 0.01;
      prober.onSample();
    }
    assert.equal(at.readings - before, 1000);
    assert.ok(sent.length > 45 && sent.length <= 64, `${sent.length} in 640 ms`);
    assert.ok(sent.every(({ stampMs }, i) => i === 0 || stampMs - sent[i - 1].stampMs >= 10));
  });
});

describe('the socket that probes come through', () => {
  test('brings them all, from the recorder alone', async () => {
    /** @type {import('../../src/load/watch/prober.js').Probe[]} */
    const came = [];
    const listening = await listenForProbes((probe) => came.push(probe));
    assert.ok(listening);
    const stranger = await connectProbes(listening.port);
    const recorder = await connectProbes(listening.port);
    stranger.send({ plannedMs: 7, stampMs: 7 });
    listening.accept(recorder.localPort);
    // Never back to the event loop meanwhile, as in the recorder's thread.
    for (let i = 0; i < 5000; i++) recorder.send({ plannedMs: i + 0.25, stampMs: i + 0.5 });
    recorder.close();
    while (came.length < 5000) await turn();
    assert.deepEqual(
      came,
      Array.from({ length: 5000 }, (_, i) => ({ plannedMs: i + 0.25, stampMs: i + 0.5 })),
    );
    await assert.rejects(connectProbes(listening.port), { code: 'ECONNREFUSED' });
    listening.close();
    stranger.close();
  });
});

describe('a backlog', () => {
  test('is the fewest that waited in each quarter of the time', () => {
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
      backlog.look(at, waiting, 0);
    }
    assert.deepEqual(backlog.end(), { looks: 5, waitingLooks: 4, quarterMins: [2, 5, 0, 8], atEnd: 8 });
  });

  test('is what waits in the target too', () => {
    const backlog = watchBacklog(0, 4000);
    for (let second = 0; second < 4; second++) backlog.look(1000 * second, 0, 10 * second);
    assert.deepEqual(backlog.end(), { looks: 4, waitingLooks: 0, quarterMins: [0, 10, 20, 30], atEnd: 30 });
  });

  test('of several shards is their sum, where all looked', () => {
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
    cores: [
      { idle: 10, all: 20 },
      { idle: 0, all: 20 },
    ],
    pressureMs: 5,
  };
  const to = {
    atMs: 1000,
    cpuMs: 600,
    cores: [
      { idle: 910, all: 1020 },
      { idle: 100, all: 1020 },
    ],
    pressureMs: 255,
  };
  test('was idle, under pressure, and the process busy for so much', () => {
    assert.deepEqual(between(from, to), {
      wallMs: 1000,
      processCpuMs: 500,
      cores: 2,
      idleShare: 0.5,
      pressureShare: 0.25,
    });
  });
  test('tells nothing in no time', () => {
    const { wallMs, idleShare, pressureShare } = between(to, to);
    assert.deepEqual(
      { wallMs, idleShare, pressureShare },
      { wallMs: 0, idleShare: null, pressureShare: null },
    );
  });
});
