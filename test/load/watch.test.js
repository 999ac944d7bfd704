import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { decodeHistogram, valueAtRank } from '../../src/histogram.js';
import { mergeBacklogs, watchBacklog } from '../../src/load/watch/backlog.js';
import { between } from '../../src/load/watch/machine.js';
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
function maxMs(encoded) {
  const { totalCount, maxValue } = decodeHistogram(encoded);
  return [totalCount, maxValue / 1000];
}

describe('what a sending thread observes of itself', () => {
  test('counts from the start of the measured part until nothing more is sent', () => {
    const { at, watch } = setUp();
    Object.assign(at, { now: 100, idle: 50, active: 50, spun: 20, queued: 5 });
    watch.begin();
    Object.assign(at, { now: 1100, idle: 250, active: 850, spun: 620, queued: 35 });
    watch.rest();
    Object.assign(at, { now: 9000, idle: 1, active: 9999, spun: 9999, queued: 9999 });
    const { wallMs, busyMs, emptySpinMs, runQueueMs: waited } = watch.end();
    watch.close();
    assert.deepEqual(
      { wallMs, busyMs, emptySpinMs, waited },
      { wallMs: 1000, busyMs: 200, emptySpinMs: 600, waited: 30 },
    );
  });

  test('is nothing where the measured part was never reached', () => {
    const { watch } = setUp();
    watch.onProbe({ type: 'probe', plannedMs: 0, stampMs: 0 });
    watch.rest();
    const { reaction, wallMs, busyMs, gc } = watch.end();
    watch.close();
    assert.deepEqual([maxMs(reaction)[0], wallMs, busyMs, gc.count], [0, 0, 0, 0]);
  });

  test('takes a look by when it was sent, and where the core was taken by when it was planned', () => {
    const { at, watch } = setUp();
    watch.begin();
    at.now = 110;
    watch.onProbe({ type: 'probe', plannedMs: 100, stampMs: 107 });
    const { reaction, starved } = watch.end();
    watch.close();
    assert.equal(Math.round(maxMs(reaction)[1]), 3);
    assert.equal(Math.round(maxMs(starved)[1]), 7);
  });

  test('adds the looks that a thread without a core could not take', () => {
    const { at, watch } = setUp();
    watch.begin();
    at.now = 136;
    watch.onProbe({ type: 'probe', plannedMs: 100, stampMs: 135 });
    const { reaction, starved } = watch.end();
    watch.close();
    assert.equal(maxMs(reaction)[0], 1);
    const late = decodeHistogram(starved);
    assert.deepEqual(
      [1, 2, 3, 4].map((rank) => Math.round(valueAtRank(late, rank))),
      [5, 15, 25, 35],
    );
  });

  test('leaves out looks that were planned before the start', () => {
    const { at, watch } = setUp();
    at.now = 100;
    watch.begin();
    at.now = 150;
    watch.onProbe({ type: 'probe', plannedMs: 99, stampMs: 101 });
    assert.equal(maxMs(watch.end().reaction)[0], 0);
    watch.close();
  });

  test('says nothing of the run queue where the kernel does not tell', () => {
    const { at, watch } = setUp();
    at.queued = null;
    watch.begin();
    watch.rest();
    assert.equal(watch.end().runQueueMs, null);
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
    const { gc } = watch.end();
    watch.close();
    assert.equal(kept.length, 50_000);
    assert.ok(gc.count > 0 && gc.totalMs > 0 && gc.longestMs <= gc.totalMs, JSON.stringify(gc));
  });
});

describe('looks at how late things are noticed', () => {
  test('a sleep that ended late is a look planned for its end', () => {
    let now = 0;
    /** @type {unknown[]} */
    const posted = [];
    createProber(
      (probe) => posted.push(probe),
      () => now,
    ).sleep((ms) => {
      now += ms + 3;
    }, 10);
    assert.deepEqual(posted, [{ type: 'probe', plannedMs: 10, stampMs: 13 }]);
  });

  test('of short sleeps, the first that ends 10 ms after the last look is one', () => {
    let now = 0;
    /** @type {{plannedMs: number}[]} */
    const posted = [];
    const prober = createProber(
      (probe) => posted.push(probe),
      () => now,
    );
    for (let i = 0; i < 20; i++) {
      prober.sleep((ms) => {
        now += ms;
      }, 4);
    }
    assert.deepEqual(
      posted.map(({ plannedMs }) => plannedMs),
      [4, 16, 28, 40, 52, 64, 76],
    );
  });

  test('a thread that never sleeps looks once in 10 ms, at a sample now and then', () => {
    let now = 0;
    let readings = 0;
    /** @type {number[]} */
    const stamps = [];
    const prober = createProber(
      ({ stampMs, plannedMs }) => {
        assert.equal(plannedMs, stampMs);
        stamps.push(stampMs);
      },
      () => {
        readings++;
        return now;
      },
    );
    for (let i = 0; i < 64_000; i++) {
      now += 0.01;
      prober.onSample();
    }
    assert.equal(readings, 1000);
    assert.ok(stamps.length > 45 && stamps.length <= 64, `${stamps.length} in 640 ms`);
    assert.ok(stamps.every((stamp, i) => i === 0 || stamp - stamps[i - 1] >= 10));
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
