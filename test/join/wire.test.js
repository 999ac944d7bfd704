import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { describe, mock, test } from 'node:test';
import { uniform } from '../../src/common/random.js';
import { redactToken } from '../../src/common/sanitize.js';
import { createWire, GREET_WITHIN_MS, keyOf, SILENCE_MS } from '../../src/join/wire.js';

/** @typedef {ReturnType<typeof createSide>} Side */

const KEY = keyOf('correct horse battery');
const OTHER_KEY = keyOf('correct horse batterz');

/** One end of a connection; what it writes goes to `sent`. @param {boolean} isLeader @param {Buffer} [key] @param {{maxBytes?: () => number}} [changes] */
function createSide(isLeader, key = KEY, changes = {}) {
  const socket = Object.assign(new EventEmitter(), {
    /** @type {Buffer[]} */
    sent: [],
    isOpen: true,
    write(/** @type {Buffer} */ bytes) {
      socket.sent.push(bytes);
      return true;
    },
    destroy() {
      socket.isOpen = false;
      return /** @type {any} */ (socket);
    },
    end: () => socket.destroy(),
  });
  const side = {
    socket,
    /** @type {any[]} */
    messages: [],
    /** @type {string[]} */
    closed: [],
    opened: 0,
    wire: createWire(/** @type {any} */ (socket), {
      key,
      isLeader,
      onOpen: () => side.opened++,
      onMessage: (message) => side.messages.push(message),
      onClose: (why) => side.closed.push(why),
      ...changes,
    }),
    receive: (/** @type {Buffer} */ bytes) => socket.emit('data', bytes),
    /** What it has written since the last call. */
    written: () => Buffer.concat(socket.sent.splice(0)),
  };
  return side;
}

/** Two ends that know each other. */
function createPair(leaderKey = KEY, memberKey = KEY, ofLeader = {}) {
  const [leader, member] = [createSide(true, leaderKey, ofLeader), createSide(false, memberKey)];
  leader.receive(member.written());
  member.receive(leader.written());
  return { leader, member };
}

/** @param {Side} side @param {object} message @returns {Buffer} its frame */
function frameOf(side, message) {
  side.wire.send({ type: 'test', ...message });
  return side.written();
}

describe('a wire', () => {
  mock.timers.enable({ apis: ['setTimeout'] });

  test('carries messages both ways, however the bytes are split', () => {
    const { leader, member } = createPair();
    const bytes = Buffer.concat([frameOf(member, { n: 1 }), frameOf(member, { text: 'é'.repeat(3000) })]);
    for (const byte of bytes) leader.receive(Buffer.from([byte]));
    member.receive(frameOf(leader, { n: 3 }));
    assert.deepEqual(
      leader.messages.map(({ n, text }) => [n, text?.length]),
      [
        [1, undefined],
        [undefined, 3000],
      ],
    );
    assert.deepEqual(member.messages, [{ type: 'test', n: 3 }]);
    assert.deepEqual([leader.opened, member.opened, leader.closed, member.closed], [1, 1, [], []]);
  });

  test('is not opened by another secret: neither side sends or accepts a message', () => {
    const { leader, member } = createPair(KEY, OTHER_KEY);
    assert.deepEqual([leader.closed, leader.socket.isOpen], [['it does not know the secret'], false]);
    assert.equal(leader.written().length, 0);
    assert.deepEqual([leader.opened, member.opened], [0, 0]);
    member.wire.send({ type: 'test' });
    assert.equal(member.written().length, 0);
  });

  test('a stranger is sent nothing, and closed after 3 s', () => {
    const leader = createSide(true);
    leader.receive(randomBytes(20));
    mock.timers.tick(GREET_WITHIN_MS - 1);
    assert.equal(leader.socket.isOpen, true);
    mock.timers.tick(1);
    assert.equal(leader.socket.isOpen, false);
    assert.equal(leader.written().length, 0);
  });

  test('a recorded conversation cannot be repeated', () => {
    const [leader, member] = [createSide(true), createSide(false)];
    const greeting = member.written();
    leader.receive(greeting);
    member.receive(leader.written());
    const frame = frameOf(member, { n: 1 });
    leader.receive(frame);
    assert.equal(leader.messages.length, 1);
    const again = createSide(true);
    again.receive(greeting);
    again.receive(frame);
    assert.deepEqual([again.messages, again.opened], [[], 0]);
    assert.deepEqual(again.closed, ['it sent a message that is not authentic']);
  });

  /** @type {[string, (one: Buffer, two: Buffer) => Buffer[]][]} */
  const TAMPERED = [
    ['repeated', (one) => [one, one]],
    ['left out', (_, two) => [two]],
    ['moved', (one, two) => [two, one]],
    ['changed', (one) => [Buffer.concat([one.subarray(0, -1), Buffer.from('?')])]],
    ['cut short', (one, two) => [one.subarray(0, -1), two]],
  ];
  for (const [what, change] of TAMPERED) {
    test(`a frame that was ${what} closes it`, () => {
      const { leader, member } = createPair();
      const [one, two] = [frameOf(member, { n: 1 }), frameOf(member, { n: 2 })];
      for (const bytes of change(one, two)) leader.receive(bytes);
      assert.deepEqual(leader.closed, ['it sent a message that is not authentic']);
      assert.ok(leader.messages.length <= 1);
    });
  }

  test("a side's own frame cannot be sent back to it", () => {
    const { leader } = createPair();
    leader.receive(frameOf(leader, { n: 1 }));
    assert.deepEqual([leader.messages, leader.closed.length], [[], 1]);
  });

  test('a length above the limit closes it at once: 64 kB before the first message, 400 MB after it', () => {
    for (const [first, length, isClosed] of /** @type {const} */ ([
      [false, 2 ** 16, false],
      [false, 2 ** 16 + 1, true],
      [true, 400 * 2 ** 20, false],
      [true, 400 * 2 ** 20 + 1, true],
    ])) {
      const { leader, member } = createPair();
      if (first) leader.receive(frameOf(member, {}));
      const head = Buffer.alloc(4);
      head.writeUInt32BE(length);
      leader.receive(head);
      assert.equal(leader.closed.length, isClosed ? 1 : 0, String(length));
    }
  });

  test('a lower limit holds from the first message on, until longer ones are allowed', () => {
    for (const [isAllowed, length, isClosed] of /** @type {const} */ ([
      [false, 1e5, false],
      [false, 1e5 + 1, true],
      [true, 400 * 2 ** 20, false],
      [true, 400 * 2 ** 20 + 1, true],
    ])) {
      let maxBytes = 1e5;
      const { leader, member } = createPair(KEY, KEY, { maxBytes: () => maxBytes });
      leader.receive(frameOf(member, {}));
      if (isAllowed) maxBytes = Number.POSITIVE_INFINITY;
      const head = Buffer.alloc(4);
      head.writeUInt32BE(length);
      leader.receive(head);
      assert.equal(leader.closed.length, isClosed ? 1 : 0, String(length));
    }
  });

  test('what is not JSON with a type closes it', () => {
    const { leader, member } = createPair();
    member.wire.send(/** @type {any} */ ([1]));
    leader.receive(member.written());
    assert.deepEqual(leader.closed, ['it sent a message that cannot be read']);
  });

  test('a message of too many values or levels for its size closes it, before it is parsed', () => {
    const nested = (/** @type {number} */ levels) => '['.repeat(levels) + ']'.repeat(levels);
    /** @type {[what: string, list: string, isRead: boolean][]} */
    const LISTS = [
      ['3,000,000 counts of seconds, of 2 bytes each', Array(3e6).fill('0').join(), true],
      ['200,000 lists', Array(2e5).fill('[]').join(), true],
      ['300,000 lists', Array(3e5).fill('[]').join(), false],
      ['300,000 objects', Array(3e5).fill('{}').join(), false],
      ['90 levels', nested(90), true],
      ['110 levels', nested(110), false],
    ];
    for (const [what, list, isRead] of LISTS) {
      const { leader, member } = createPair();
      leader.receive(frameOf(member, {}));
      mock.method(JSON, 'stringify', () => `{"type":"test","list":[${list}]}`, { times: 1 });
      leader.receive(frameOf(member, {}));
      const closed = isRead ? [] : ['it sent a message that cannot be read'];
      assert.deepEqual([leader.messages.length, leader.closed], [isRead ? 2 : 1, closed], what);
    }
  });

  test('longer silence may be allowed, and no longer be', () => {
    const { leader, member } = createPair();
    leader.receive(frameOf(member, {}));
    leader.wire.allowSilence(10 * SILENCE_MS);
    mock.timers.tick(9 * SILENCE_MS - 1);
    assert.deepEqual(leader.closed, []);
    leader.wire.allowSilence();
    for (const ms of [0.9 * SILENCE_MS, 0.1 * SILENCE_MS]) mock.timers.tick(ms);
    assert.deepEqual(leader.closed, ['it was silent for 15 s']);
  });

  test('silence of 15 s closes it, bytes postpone that', () => {
    const { leader, member } = createPair();
    leader.receive(frameOf(member, {}));
    for (const ms of [0.9 * SILENCE_MS, 0.1 * SILENCE_MS - 1]) mock.timers.tick(ms);
    leader.receive(frameOf(member, {}));
    for (const ms of [0.9 * SILENCE_MS, 0.1 * SILENCE_MS - 1]) mock.timers.tick(ms);
    assert.deepEqual(leader.closed, []);
    mock.timers.tick(1);
    assert.deepEqual(leader.closed, ['it was silent for 15 s']);
  });

  test('10,000 connections with garbage: none opens, throws or is answered', () => {
    const { leader, member } = createPair();
    const recorded = [createSide(false).written(), frameOf(member, { n: 1 }), frameOf(leader, { n: 2 })];
    let answered = 0;
    for (let i = 0; i < 10_000; i++) {
      const draw = (/** @type {number} */ stream) => uniform(7, i, stream);
      const target = createSide(draw(0) < 0.5);
      target.written();
      const isGreeted = draw(1) < 0.3;
      const parts = Array.from({ length: 1 + Math.floor(draw(2) * 4) }, (_, at) => {
        const source = recorded[Math.floor(draw(10 + at) * 3)];
        const kind = draw(20 + at);
        if (kind < 0.3) return randomBytes(Math.floor(draw(30 + at) * 200));
        if (kind < 0.6) return source.subarray(0, Math.floor(draw(30 + at) * source.length));
        const changed = Buffer.from(source);
        if (kind < 0.9)
          changed[Math.floor(draw(30 + at) * changed.length)] ^= 1 + Math.floor(draw(40 + at) * 255);
        return changed;
      });
      const bytes = Buffer.concat(isGreeted ? [recorded[0], ...parts] : parts);
      target.receive(bytes);
      target.wire.close('over');
      assert.equal(target.opened + target.messages.length, 0);
      // A genuine proof is answered with a nonce and a proof, and nothing else.
      const { length } = target.written();
      if (length > 0) {
        answered++;
        assert.equal(length, 64);
        assert.ok(bytes.subarray(0, 64).equals(recorded[0]));
      }
    }
    assert.ok(answered > 100, String(answered));
  });
});

test('a token that a server echoed does not reach the other part', () => {
  redactToken('token-of-this-part');
  const { leader, member } = createPair();
  member.wire.send({ type: 'failed', error: { message: 'role token-of-this-part is unknown' } });
  const bytes = member.written();
  assert.ok(!bytes.includes('token-of-this-part'));
  leader.receive(bytes);
  assert.deepEqual(leader.messages, [{ type: 'failed', error: { message: 'role <redacted> is unknown' } }]);
});

test('a token that is a number, or a name in a message, leaves the message readable', () => {
  for (const token of ['1234567890', 'startedAt']) redactToken(token);
  const { leader, member } = createPair();
  const result = { startedAt: 1234567890, text: 'at 1234567890' };
  leader.receive(frameOf(member, { result }));
  assert.deepEqual(leader.messages, [{ type: 'test', result: { ...result, text: 'at <redacted>' } }]);
});
