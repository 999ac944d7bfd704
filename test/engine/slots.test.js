import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, mock, test } from 'node:test';
import { createSlots } from '../../src/engine/slots.js';
import { watchReading } from '../../src/engine/watch/sender.js';
import { createConnection } from '../../src/http/connection.js';
import { createVirtualTime } from './virtual-time.js';

/** @import { Sample } from '../../src/engine/recording/ring.js' */
/** @import { Exchange, Request } from '../../src/http/exchange.js' */
/** @import { AddressInfo } from 'node:net' */

/** @typedef {{slot: number, index: number, intended: number, handed: number, sent: number, done: number, failure: string | null, status: number, body: string | null}} Done */

const ON_TIME = {
  now: () => 0,
  onSent: () => 0,
  lateMs: () => 0,
  openingLateMs: () => 0,
  awakeSince: () => 0,
};

/** @param {{count?: number, timeoutMs?: number, backsOff?: boolean, rotates?: boolean, poll?: boolean, reading?: Parameters<typeof createSlots>[0]['reading'], body?: Uint8Array | null, unreadMs?: () => number, onFree?: (slots: ReturnType<typeof createSlots>) => void, onSample?: (sample: Sample) => void}} [options] */
function setUp({
  count = 1,
  timeoutMs = 1000,
  backsOff = false,
  rotates = false,
  onFree = () => {},
  onSample = () => {},
  poll = false,
  body: sentBody = null,
  unreadMs,
  reading,
} = {}) {
  const time = createVirtualTime();
  /** The exchange each connection is in. @type {Exchange[]} */
  const exchanges = [];
  /** @type {string[]} */
  const log = [];
  /** @type {Done[]} */
  const done = [];
  /** @type {number[]} */
  const lags = [];
  /** Connections that are not open. @type {Set<number>} */
  const lost = new Set();
  const connections = Array.from({ length: count }, (_, i) => ({
    isOpen: () => !lost.has(i),
    open: async () => {},
    close: async () => {},
    /** @param {Request} request @param {Exchange} exchange */
    send(request, exchange) {
      log.push(`${i} sends ${request.path}`);
      exchanges[i] = exchange;
    },
    abort() {
      log.push(`${i} aborts`);
    },
  }));
  const slots = createSlots({
    clock: () => time.clock(),
    connections,
    request: (index) => ({ method: 'GET', path: String(index), headers: {}, body: sentBody }),
    timeoutMs,
    unreadMs,
    backOffAfterFailedConnect: backsOff,
    rotates,
    onDone({ connection, index, intended, handed, sent, dueToStart }, sample) {
      const { done: at, failure, status, body } = sample;
      onSample(sample);
      lags.push(handed - dueToStart);
      const slot = connections.indexOf(/** @type {any} */ (connection));
      const text = body === null ? null : Buffer.from(body).toString();
      done.push({ slot, index, intended, handed, sent, done: at, failure, status, body: text });
    },
    onFree: () => onFree(slots),
    reading,
    afterPoll: (next) => (poll ? time.add(time.clock(), next) : next()),
  });
  return { time, slots, exchanges, lost, done, lags, log };
}

describe('a slot', () => {
  test('takes the three timestamps of a request', () => {
    const { time, slots, exchanges, done } = setUp();
    time.block(5);
    slots.fire(7, 3);
    assert.deepEqual([slots.free, slots.inFlight], [0, 1]);
    time.block(1);
    exchanges[0].onSent();
    time.block(10);
    exchanges[0].onResponse(200, Buffer.from('body'));
    assert.deepEqual(done, [
      {
        slot: 0,
        index: 7,
        intended: 3,
        handed: 5,
        sent: 6,
        done: 16,
        failure: null,
        status: 200,
        body: 'body',
      },
    ]);
    assert.deepEqual([slots.free, slots.inFlight, slots.freeSince], [1, 0, 16]);
  });

  /** @type {[string, ('onConnect' | 'onConnected' | 'onSent' | 'onFirstBytes')[], Record<string, number>][]} a millisecond before each, and before the response */
  const PHASES = [
    ['kept, in one piece', ['onSent'], { sent: 1, connect: 0, tls: 0, firstByte: 1, transfer: 0 }],
    [
      'kept, in parts',
      ['onSent', 'onFirstBytes'],
      { sent: 1, connect: 0, tls: 0, firstByte: 1, transfer: 1 },
    ],
    ['new, TCP', ['onConnect', 'onSent'], { sent: 0, connect: 2, tls: 0, firstByte: 1, transfer: 0 }],
    [
      'new, TLS, in parts',
      ['onConnect', 'onConnected', 'onSent', 'onFirstBytes'],
      { sent: 0, connect: 2, tls: 1, firstByte: 1, transfer: 1 },
    ],
  ];
  for (const [what, events, expected] of PHASES) {
    test(`tells the phases of a request: ${what}`, () => {
      /** @type {Sample[]} */
      const samples = [];
      const { time, slots, exchanges } = setUp({ onSample: (sample) => samples.push(sample) });
      for (const round of [0, 1]) {
        const from = time.clock();
        slots.fire(round, from);
        for (const event of events) {
          time.block(1);
          exchanges[0][event]?.();
        }
        time.block(1);
        exchanges[0].onResponse(200, new Uint8Array(0));
        const { sent, connect, tls, firstByte, transfer, done } = samples[round];
        assert.deepEqual({ sent: sent - from, connect, tls, firstByte, transfer }, expected);
        assert.equal(sent + connect + tls + firstByte + transfer, done);
      }
    });
  }

  test('whose request fails before it is on the wire has no send time', () => {
    const { time, slots, exchanges, done } = setUp();
    time.block(5);
    slots.fire(0, 0);
    time.block(2);
    exchanges[0].onFailure('connection_refused', true);
    const [{ handed, sent, done: at, failure, status, body }] = done;
    assert.deepEqual(
      [handed, sent, at, failure, status, body],
      [5, Number.NaN, 7, 'connection_refused', 0, null],
    );
  });

  test('does not count a late read as a slow target: the next request waits for the tool', () => {
    /** @param {number} lateMs of a response that was read after 100 ms @returns {number} how late the next request, due at 20 ms, is sent */
    const lagAfter = (lateMs) => {
      const { time, slots, exchanges, lags } = setUp({
        timeoutMs: 5000,
        reading: { ...ON_TIME, lateMs: () => lateMs },
      });
      slots.fire(0, 0);
      exchanges[0].onSent();
      time.block(100);
      exchanges[0].onResponse(200, new Uint8Array(0));
      slots.fire(1, 20);
      exchanges[0].onResponse(200, new Uint8Array(0));
      return lags[1];
    };
    assert.equal(lagAfter(0), 0, 'the target took 100 ms');
    assert.equal(lagAfter(30), 30, 'the target took 70 ms');
    assert.equal(
      lagAfter(90),
      80,
      'the target took 10 ms: the connection would have been free when it was due',
    );
    assert.equal(lagAfter(900), 80, 'no response comes before its request was sent');
  });

  for (const [what, isSent, expected] of /** @type {[string, boolean, number][]} */ ([
    ['a response', true, 35],
    ['a failure before it', false, 35],
  ])) {
    test(`adds up the late reads of a new connection and of ${what}; a kept one has only the latter`, () => {
      /** @type {number[]} */
      const late = [];
      const { time, slots, exchanges } = setUp({
        reading: { ...ON_TIME, lateMs: () => 5, openingLateMs: (_, ms) => 0.75 * ms },
        onSample: ({ readLateMs }) => late.push(readLateMs),
      });
      slots.fire(0, 0);
      exchanges[0].onConnect?.();
      time.block(40);
      if (isSent) {
        exchanges[0].onSent();
        time.block(50);
        exchanges[0].onResponse(200, new Uint8Array(0));
      } else exchanges[0].onFailure('connection_refused', true);
      slots.fire(1, 0);
      exchanges[0].onSent();
      time.block(50);
      exchanges[0].onResponse(200, new Uint8Array(0));
      assert.deepEqual(late, [expected, 5]);
    });
  }

  test('a request that waits on an open connection is read late only since it was sent', () => {
    let clock = () => 0;
    const late = /** @type {number[]} */ ([]);
    const { time, slots, exchanges } = setUp({
      reading: { ...ON_TIME, onSent: () => clock(), lateMs: (sentMs) => (clock() - sentMs) / 2 },
      onSample: ({ readLateMs }) => late.push(readLateMs),
    });
    ({ clock } = time);
    slots.fire(0, 0);
    time.block(20);
    exchanges[0].onSent();
    time.block(30);
    exchanges[0].onResponse(200, new Uint8Array(0));
    assert.deepEqual(late, [15]);
  });

  /** How late responses were read, at most, by a tool that was awake all the time and read its last two turns 1 ms late. @param {{body?: Uint8Array, unreadMs?: () => number, reading?: Parameters<typeof createSlots>[0]['reading']}} options */
  function setUpLate(options) {
    const late = /** @type {number[]} */ ([]);
    const at = { clock: () => 0 };
    const reading = {
      ...ON_TIME,
      onSent: () => at.clock(),
      awakeSince: (/** @type {number} */ ms) => at.clock() - ms,
    };
    const all = setUp({
      ...{ timeoutMs: 100, reading: { ...reading, lateMs: () => 1 }, ...options },
      onSample: ({ readLateMs }) => late.push(readLateMs),
    });
    at.clock = all.time.clock;
    all.slots.fire(0, 0);
    const [exchange] = all.exchanges;
    exchange.onSent();
    return { ...all, exchange, late };
  }
  const [SMALL, LARGE] = [new Uint8Array(16_384), new Uint8Array(70_000)];

  test('until a large request is written, the server may wait for the tool', () => {
    for (const [body, whenWritten, expected] of /** @type {const} */ ([
      [LARGE, 30, 31],
      [LARGE, null, 50],
      [SMALL, 30, 1],
    ])) {
      const { time, exchange, late } = setUpLate({ body });
      time.block(30);
      if (whenWritten !== null) exchange.onWritten?.();
      time.block(20);
      exchange.onResponse(200, new Uint8Array(0));
      assert.deepEqual(late, [expected]);
    }
  });

  test('from the first part of a large response on, the server may wait for the tool', () => {
    for (const [body, parts, expected] of /** @type {const} */ ([
      [LARGE, true, 41],
      [SMALL, true, 1],
      [LARGE, false, 1],
    ])) {
      const { time, exchange, late } = setUpLate({});
      time.block(30);
      if (parts) exchange.onFirstBytes?.();
      time.block(40);
      exchange.onResponse(200, body);
      assert.deepEqual(late, [expected], `${body.length} bytes`);
    }
  });

  test('a response that may have waited until others were read may be late by all the time awake since its request', () => {
    for (const [mayHaveWaited, expected] of /** @type {const} */ ([
      [true, 50],
      [false, 1],
    ])) {
      const { time, exchange, late } = setUpLate({});
      time.block(50);
      exchange.onResponse(200, SMALL, mayHaveWaited);
      assert.deepEqual(late, [expected]);
    }
  });

  test('on an open connection the timeout begins when the request is on the wire; what the tool does not write in time is late by the tool', () => {
    for (const [sentMs, failure, lateMs] of /** @type {const} */ ([
      [90, 'timeout', 15],
      [null, 'tool_late', 105],
    ])) {
      const late = /** @type {number[]} */ ([]);
      const onSample = (/** @type {Sample} */ { readLateMs }) => late.push(readLateMs);
      const { time, slots, exchanges, done } = setUp({ timeoutMs: 100, onSample });
      slots.fire(0, 0);
      time.block(90);
      if (sentMs !== null) exchanges[0].onSent();
      time.block(60);
      slots.expire();
      assert.equal(done.length, 0);
      time.block(55);
      slots.expire();
      assert.equal(done[0]?.failure, failure);
      assert.deepEqual(late, [lateMs]);
    }
  });

  test('a response of which a part has come has more time if the tool stood still, and only then', () => {
    for (const [isPartly, stoppedMs, isLate] of /** @type {const} */ ([
      [false, 60, true],
      [true, 60, false],
      [true, 0, true],
    ])) {
      let unreadMs = 7;
      const { time, slots, exchange, done } = setUpLate({ unreadMs: () => unreadMs });
      time.block(90);
      unreadMs += stoppedMs;
      if (isPartly) exchange.onFirstBytes?.();
      time.block(60);
      slots.expire();
      assert.equal(done.length, isLate ? 1 : 0, `${isPartly}, ${stoppedMs} ms`);
      if (isLate) continue;
      exchange.onResponse(200, SMALL);
      slots.fire(1, 150);
      exchange.onSent();
      exchange.onFirstBytes?.();
      time.block(100);
      slots.expire();
      assert.equal(done.at(-1)?.failure, 'timeout', 'a stop before the request does not count');
    }
  });

  test('a stop while a large request is written prolongs its timeout once', () => {
    let unreadMs = 0;
    const reading = { ...ON_TIME, awakeSince: () => unreadMs };
    const { time, slots, exchange, done } = setUpLate({ body: LARGE, unreadMs: () => unreadMs, reading });
    time.block(40);
    unreadMs += 40;
    exchange.onWritten?.();
    exchange.onFirstBytes?.();
    time.block(95);
    slots.expire();
    assert.equal(done.length, 0);
    time.block(10);
    slots.expire();
    assert.equal(done[0]?.failure, 'timeout');
  });

  test('a response that fails, or is late, in the middle allows for all that the server may have waited', () => {
    for (const ends of ['failure', 'timeout']) {
      const { time, slots, exchange, late } = setUpLate({});
      time.block(10);
      exchange.onFirstBytes?.();
      time.block(90);
      if (ends === 'failure') exchange.onFailure('truncated', false);
      else slots.expire();
      assert.deepEqual(late, [91]);
    }
  });

  test('a stop while the connection opens prolongs the timeout once', () => {
    let unreadMs = 0;
    const reading = { ...ON_TIME, openingLateMs: () => unreadMs };
    const { time, slots, exchanges, done } = setUp({ timeoutMs: 100, unreadMs: () => unreadMs, reading });
    slots.fire(0, 0);
    exchanges[0].onConnect?.();
    unreadMs += 40;
    time.block(50);
    exchanges[0].onSent();
    exchanges[0].onFirstBytes?.();
    time.block(89);
    slots.expire();
    assert.equal(done.length, 0);
    time.block(2);
    slots.expire();
    assert.equal(done[0]?.failure, 'timeout');
  });

  test('a stop prolongs the timeout also if it lasts longer than that', () => {
    for (const isPartly of [false, true]) {
      let unreadMs = 5;
      const reading = { ...ON_TIME, openingLateMs: () => (isPartly ? 0 : unreadMs - 5) };
      const { time, slots, exchanges, done } = setUp({ timeoutMs: 100, unreadMs: () => unreadMs, reading });
      slots.fire(0, 0);
      exchanges[0].onConnect?.();
      if (isPartly) exchanges[0].onSent();
      if (isPartly) exchanges[0].onFirstBytes?.();
      unreadMs += 300;
      time.block(390);
      slots.expire();
      assert.equal(done.length, 0);
      time.block(20);
      slots.expire();
      assert.equal(done[0]?.failure, 'timeout');
    }
  });

  test('lateness of the tool beyond twice the timeout counts as such, also if the request is given up or cut off', () => {
    for (const end of /** @type {const} */ (['expire', 'cutOff'])) {
      const reading = { ...ON_TIME, openingLateMs: () => 190 };
      const late = /** @type {number[]} */ ([]);
      const { time, slots, exchanges, done } = setUp({
        ...{ timeoutMs: 100, reading, onSample: ({ readLateMs }) => late.push(readLateMs) },
      });
      slots.fire(0, 0);
      exchanges[0].onConnect?.();
      time.block(200);
      slots[end]();
      assert.deepEqual(late, [190]);
      assert.equal(done[0]?.failure, end === 'expire' ? 'tool_late' : 'cut_off');
    }
  });

  test('the clock, which notices stops, is read before the lateness', () => {
    for (const event of /** @type {const} */ (['onWritten', 'onFirstBytes', 'onResponse', 'onFailure'])) {
      let readings = 0;
      const reading = { ...ON_TIME };
      const { slots, exchanges, time } = setUp({ body: LARGE, reading });
      slots.fire(0, 0);
      exchanges[0].onSent();
      const { clock } = time;
      let asked = 0;
      const note = () => {
        asked++;
        if (readings === 0) assert.fail(`${event}: the lateness was read first`);
        return 0;
      };
      Object.assign(reading, { lateMs: note, awakeSince: note });
      time.clock = () => {
        readings++;
        return clock();
      };
      if (event === 'onResponse') exchanges[0].onResponse(200, LARGE);
      else if (event === 'onFailure') exchanges[0].onFailure('reset', false);
      else exchanges[0][event]?.();
      assert.ok(asked > 0, event);
    }
  });

  test('a response that begins before its large request is written has nothing of an earlier one', () => {
    let clock = () => 0;
    // Awake for half of the time.
    const awakeSince = (/** @type {number} */ ms) => (clock() - ms) / 2;
    const reading = { ...ON_TIME, onSent: () => clock(), awakeSince };
    const { time, slots, exchange, late } = setUpLate({ body: LARGE, reading });
    ({ clock } = time);
    const answer = () => {
      exchange.onFirstBytes?.();
      time.block(20);
      exchange.onResponse(413, LARGE);
    };
    time.block(10);
    answer();
    time.block(500);
    slots.fire(1, 530);
    exchange.onSent();
    time.block(10);
    answer();
    assert.deepEqual(late, [15, 15]);
  });

  test('a large request counts as being written only once its connection is open', () => {
    const { time, slots, exchanges, done } = setUp({
      ...{ timeoutMs: 100, body: LARGE },
      reading: { ...ON_TIME, awakeSince: () => 1000 },
    });
    slots.fire(0, 0);
    exchanges[0].onConnect?.();
    time.block(100);
    slots.expire();
    assert.equal(done[0]?.failure, 'timeout');
  });

  test('a request that its connection refuses at once was not read late, nor is the next one', () => {
    const now = () => performance.now();
    const reading = watchReading({ now, idleMs: () => 0, queuedMs: () => 0, afterTurn: setImmediate });
    const late = /** @type {number[][]} */ ([]);
    const slots = createSlots({
      clock: now,
      connections: [
        {
          isOpen: () => true,
          open: async () => {},
          send: (_, exchange) => exchange.onFailure('stream_refused', true),
          abort() {},
          close: async () => {},
        },
      ],
      request: () => ({ method: 'GET', path: '/', headers: {}, body: null }),
      timeoutMs: 1000,
      backOffAfterFailedConnect: false,
      onDone: (_, { readLateMs, carriedMs }) => late.push([readLateMs, carriedMs]),
      onFree() {},
      reading,
    });
    for (const index of [0, 1]) slots.fire(index, now());
    assert.equal(late.length, 2);
    assert.ok(
      late.flat().every((ms) => ms >= 0 && ms < 1000),
      `${late}`,
    );
  });

  for (const [
    what,
    lateMs,
    isSent,
    expected,
    outcome,
  ] of /** @type {[string, number, boolean, number, string][]} */ ([
    ['is open', 30, true, 130, 'timeout'],
    ['is not open yet', 30, false, 130, 'timeout'],
    ['was very late', 900, true, 200, 'tool_late'],
  ])) {
    test(`times out later if the tool opened its connection late: it ${what}`, () => {
      const { time, slots, exchanges, done } = setUp({
        timeoutMs: 100,
        reading: { ...ON_TIME, openingLateMs: () => lateMs },
      });
      slots.fire(0, 0);
      exchanges[0].onConnect?.();
      time.block(50);
      if (isSent) exchanges[0].onSent();
      time.block(expected - 51);
      slots.expire();
      assert.equal(done.length, 0);
      time.block(1);
      slots.expire();
      assert.deepEqual(
        done.map(({ failure, done: at }) => [failure, at]),
        [[outcome, expected]],
      );
    });
  }

  test('times out with the age of the request, counted from when it took the request', () => {
    const { time, slots, exchanges, done, log } = setUp({ count: 2, timeoutMs: 100 });
    time.block(50);
    slots.fire(0, 10);
    exchanges[0].onSent();
    time.block(40);
    slots.fire(1, 10);
    time.block(59);
    slots.expire();
    assert.equal(done.length, 0);
    time.block(4);
    slots.expire();
    assert.deepEqual(log.slice(2), ['0 aborts']);
    assert.deepEqual(
      done.map(({ index, failure, intended, done: at }) => [index, failure, at - intended]),
      [[0, 'timeout', 143]],
    );
    assert.deepEqual([slots.free, slots.inFlight], [1, 1]);
  });

  test('does not time out a response that is already in the socket at the deadline', () => {
    const { time, slots, exchanges, done } = setUp({ count: 2, timeoutMs: 100, poll: true });
    slots.fire(0, 0);
    slots.fire(1, 0);
    for (const { onSent } of exchanges) onSent();
    time.block(500);
    time.add(500, () => exchanges[0].onResponse(200, new Uint8Array(0)));
    slots.expire();
    time.runUntil(500);
    assert.deepEqual(
      done.map(({ index, failure, status }) => [index, failure, status]),
      [
        [0, null, 200],
        [1, 'timeout', 0],
      ],
    );
  });

  test('does the same with real sockets and timers, after a stall longer than the timeout', async (t) => {
    // On a busy machine this process may get no turn for 20 ms, and a request that the server has not read may time out.
    const timeoutMs = 150;
    const server = createServer((socket) =>
      socket.on('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
        // Neither timers nor sockets get a turn.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * timeoutMs);
      }),
    ).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const { port } = /** @type {AddressInfo} */ (server.address());
    const connection = createConnection({
      origin: `http://127.0.0.1:${port}`,
      tls: { rejectUnauthorized: true },
    });
    t.after(() => connection.close());
    await connection.open(5000);
    const outcome = await new Promise((resolve) => {
      const slots = createSlots({
        clock: () => performance.now(),
        connections: [connection],
        request: () => ({ method: 'GET', path: '/', headers: {}, body: null }),
        timeoutMs,
        backOffAfterFailedConnect: false,
        onDone: (_slot, { failure }) => resolve(failure),
        onFree: () => clearInterval(expiry),
      });
      const expiry = setInterval(slots.expire, 10);
      slots.fire(0, 0);
    });
    assert.equal(outcome, null);
  });

  test('does not time out a request fired because another timed out', () => {
    const { time, slots, exchanges, done } = setUp({
      count: 3,
      timeoutMs: 100,
      onFree: (all) => {
        if (done.length <= 3) all.fire(10 + done.length, 0);
      },
    });
    for (const index of [0, 1, 2]) slots.fire(index, 0);
    for (const { onSent } of exchanges) onSent();
    time.block(100);
    slots.expire();
    assert.deepEqual(
      done.map(({ index }) => index),
      [0, 1, 2],
    );
    assert.equal(slots.inFlight, 3);
  });

  test('cuts off all requests in flight, with their age', () => {
    const { time, slots, done, log } = setUp({ count: 3 });
    slots.fire(0, 0);
    slots.fire(1, 0);
    time.block(30);
    slots.cutOff();
    assert.deepEqual(
      done.map(({ index, failure, done: at }) => [index, failure, at]),
      [
        [0, 'cut_off', 30],
        [1, 'cut_off', 30],
      ],
    );
    assert.deepEqual(log.slice(2), ['0 aborts', '1 aborts']);
    assert.deepEqual([slots.free, slots.inFlight], [3, 0]);
  });

  test('know how many of them become free in a time, from the requests served so far', () => {
    const { time, slots, exchanges } = setUp({ count: 3 });
    assert.equal(slots.freedIn(1), Number.POSITIVE_INFINITY, 'nothing is known yet');
    for (const index of [0, 1, 2]) slots.fire(index, 0);
    time.block(60);
    for (const slot of [0, 1, 2]) exchanges[slot].onResponse(200, Buffer.alloc(0));
    assert.equal(slots.freedIn(2), 0.1);
  });

  test('could have served requests while the tool left them free, or stood still', () => {
    let unreadMs = 0;
    const { time, slots, exchanges } = setUp({ count: 2, unreadMs: () => unreadMs });
    assert.deepEqual(slots.forgone(0, 10).count, 0, 'none has been served yet: the target may hang');
    slots.fire(0, 0);
    time.block(20);
    exchanges[0].onResponse(200, Buffer.alloc(0));
    assert.deepEqual(slots.forgone(Number.POSITIVE_INFINITY, 20), { count: 0, carriedMs: 0 });
    assert.deepEqual(slots.forgone(520, 1020), { count: 50, carriedMs: 500 });
    time.block(1000);
    for (const index of [1, 2]) slots.fire(index, 1020);
    assert.deepEqual(slots.forgone(1030, 1020), { count: 0, carriedMs: 0 });
    unreadMs += 300;
    assert.deepEqual(slots.forgone(1030, 1320), { count: 30, carriedMs: 300 });
  });

  test('idle for longest is used first', () => {
    const { slots, exchanges, log } = setUp({ count: 3 });
    for (const index of [0, 1, 2]) slots.fire(index, 0);
    for (const slot of [1, 2, 0]) exchanges[slot].onResponse(200, Buffer.alloc(0));
    for (const index of [3, 4, 5]) slots.fire(index, 0);
    assert.deepEqual(log.slice(3), ['1 sends 3', '2 sends 4', '0 sends 5']);
  });

  /** @param {ReturnType<typeof setUp>} given @param {number[]} requests one after the other @returns {number[]} slots that sent them */
  const sendersOf = ({ time, slots, exchanges, log }, requests, everyMs = 0) =>
    requests.map((index) => {
      slots.fire(index, time.clock());
      const slot = Number(log.at(-1)?.split(' ')[0]);
      exchanges[slot].onSent();
      exchanges[slot].onResponse(200, Buffer.alloc(0));
      time.block(everyMs);
      return slot;
    });

  test('idle for 4 s, before their first request too, are used only if no fresher one is free', () => {
    const given = setUp({ count: 5 });
    assert.deepEqual(sendersOf(given, [0, 1, 2, 3, 4, 5], 1500), [0, 1, 2, 1, 2, 1]);
    given.slots.fire(6, 9000);
    given.time.block(4000);
    for (const index of [7, 8]) given.slots.fire(index, 13_000);
    assert.deepEqual(given.log.slice(-3), ['2 sends 6', '1 sends 7', '0 sends 8'], 'the freshest first');
    for (const index of [9, 10]) given.slots.fire(index, 13_000);
    assert.deepEqual(given.log.slice(-2), ['3 sends 9', '4 sends 10'], 'in the order of opening');
    assert.deepEqual([given.slots.free, given.slots.inFlight], [0, 5]);
  });

  test('without a connection connect in their turn, but after 4 s only if no other is free', () => {
    const given = setUp({ count: 4 });
    for (const slot of [0, 1]) given.lost.add(slot);
    assert.deepEqual(sendersOf(given, [0, 1, 2, 3]), [0, 1, 2, 3]);
    given.time.block(5000);
    assert.deepEqual(sendersOf(given, [4]), [3]);
    given.time.block(5000);
    for (const slot of [2, 3]) given.lost.add(slot);
    assert.deepEqual(sendersOf(given, [5]), [0]);
    for (const [index, slot] of [
      [6, 0],
      [7, 1],
      [8, 3],
      [9, 2],
    ]) {
      given.slots.fire(index, given.time.clock());
      assert.equal(given.log.at(-1), `${slot} sends ${index}`);
    }
  });

  test('that differ in their addresses or certificates all take part, even at a low rate', () => {
    const given = setUp({ count: 3, rotates: true });
    given.lost.add(1);
    assert.deepEqual(sendersOf(given, [0, 1, 2, 3], 36_000), [0, 1, 2, 0]);
  });

  test('that had no request yet are used before one that must connect', () => {
    const given = setUp({ count: 3 });
    assert.deepEqual(sendersOf(given, [0]), [0]);
    given.time.block(5000);
    given.lost.add(0);
    const senders = [1, 2, 3].map((index) => {
      const [slot] = sendersOf(given, [index]);
      given.lost.add(slot);
      return slot;
    });
    assert.deepEqual(senders, [1, 2, 1]);
  });

  test('that could have taken the request make it late, even if another one takes it', () => {
    const { time, slots, exchanges, lost, done, lags } = setUp({ count: 2 });
    time.block(5000);
    lost.add(1);
    slots.fire(0, 5000);
    time.block(10);
    exchanges[0].onResponse(200, Buffer.alloc(0));
    slots.fire(1, 5005);
    exchanges[0].onResponse(200, Buffer.alloc(0));
    assert.deepEqual([done[1].slot, lags[1]], [0, 5]);
  });
});

describe('a slot that cannot connect', () => {
  test('backs off in a closed loop, doubling up to a second, neither free nor in flight', () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const { slots, exchanges } = setUp({ backsOff: true });
      for (const backoffMs of [20, 40, 80, 160, 320, 640, 1000, 1000]) {
        slots.fire(0, 0);
        exchanges[0].onFailure('connection_refused', true);
        assert.deepEqual([slots.free, slots.inFlight], [0, 0]);
        mock.timers.tick(backoffMs - 1);
        assert.equal(slots.free, 0, `rests ${backoffMs} ms`);
        mock.timers.tick(1);
        assert.equal(slots.free, 1, `rests no more than ${backoffMs} ms`);
      }
      slots.fire(0, 0);
      exchanges[0].onResponse(200, Buffer.alloc(0));
      slots.fire(0, 0);
      exchanges[0].onFailure('connection_refused', true);
      mock.timers.tick(20);
      assert.equal(slots.free, 1, 'a response makes the next backoff short again');
    } finally {
      mock.timers.reset();
    }
  });

  for (const [sentence, backsOff, beforeSent] of /** @type {[string, boolean, boolean][]} */ ([
    ['does not back off in an open loop: arrivals come by the clock', false, true],
    ['does not back off after a failure of a request that was sent', true, false],
  ])) {
    test(sentence, () => {
      const { slots, exchanges } = setUp({ backsOff });
      slots.fire(0, 0);
      exchanges[0].onFailure('connection_reset', beforeSent);
      assert.equal(slots.free, 1);
    });
  }
});
