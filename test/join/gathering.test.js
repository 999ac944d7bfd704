/** Who may come to part 0, and who is let go. */
import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, isIPv4 } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { hostFor } from '../../src/join/gathering.js';
import { KEY, planFor, startCounting, startFake, startLeader, startMember } from './support.js';

const never = new AbortController().signal;

/** Connections that say nothing. @param {{host: string, port: number}} where @param {number} count */
async function startStrangers(where, count) {
  const state = { bytes: 0, closed: /** @type {number[]} */ ([]) };
  const sockets = Array.from({ length: count }, (_, i) =>
    connect(where)
      .on('data', ({ length }) => (state.bytes += length))
      .on('error', () => {})
      .on('close', () => state.closed.push(i)),
  );
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  return { state, sockets };
}

test('of 524 strangers 512 stay, and get no byte; a part comes in', { timeout: 20_000 }, async (t) => {
  const { url } = await startCounting(t);
  const plan = await planFor(url, { requests: 5 });
  const { leader, where } = await startLeader(t, plan, 2);
  const { state, sockets } = await startStrangers(where, 524);
  while (state.closed.length < 12) await sleep(5);
  assert.equal(state.closed.length, 12);
  const member = startMember(t, plan, where, [1, 2]);
  await leader.complete(never);
  while (state.closed.length < 13) await sleep(5);
  assert.equal(state.closed.length, 13, 'one gave way to the part');
  leader.end();
  assert.equal(await member.ended, 0);
  while (state.closed.length < 524) await sleep(5);
  assert.equal(state.bytes, 0);
  for (const socket of sockets) socket.destroy();
});

test('a part that has proved that it knows the secret does not give way to strangers', {
  timeout: 20_000,
}, async (t) => {
  const { url } = await startCounting(t);
  const plan = await planFor(url, { requests: 5 });
  const { leader, where } = await startLeader(t, plan, 2);
  const part = startFake(t, where, { index: 1, of: 2 }, async ({ type }, send) => {
    if (type !== 'welcome') return;
    const { state, sockets } = await startStrangers(where, 600);
    while (state.closed.length < 88) await sleep(5);
    send({ type: 'plans', plans: [plan] });
    for (const socket of sockets) socket.destroy();
  });
  await leader.complete(never);
  leader.end();
  await part.closed;
});

test('a stranger that sends something else is closed, without a byte', { timeout: 20_000 }, async (t) => {
  const { url } = await startCounting(t);
  const { leader, where } = await startLeader(t, await planFor(url, { requests: 5 }), 2);
  const { state, sockets } = await startStrangers(where, 1);
  sockets[0].write('GET / HTTP/1.1\r\nHost: example.com\r\n\r\n'.repeat(4));
  while (state.closed.length < 1) await sleep(5);
  assert.equal(state.bytes, 0);
  leader.end();
});

test('a greeting that was recorded is answered once', { timeout: 20_000 }, async (t) => {
  const { url } = await startCounting(t);
  const { leader, where } = await startLeader(t, await planFor(url, { requests: 5 }), 2);
  const nonce = randomBytes(32);
  const greeting = Buffer.concat([
    nonce,
    createHmac('sha256', KEY).update('proof').update('member').update(nonce).digest(),
  ]);
  const { state, sockets } = await startStrangers(where, 3);
  sockets[0].write(greeting);
  await once(sockets[0], 'data');
  for (const socket of sockets.slice(1)) socket.write(greeting);
  while (state.closed.length < 2) await sleep(5);
  assert.deepEqual([state.closed.toSorted(), state.bytes], [[1, 2], 64]);
  leader.end();
});

test('a part that has not sent its plans when the run ends is let go, and not admitted', async (t) => {
  const { url } = await startCounting(t);
  const plan = await planFor(url, { requests: 5 });
  const { leader, where, texts } = await startLeader(t, plan, 2, { timeoutMs: 200 });
  const part = startFake(t, where, { index: 1, of: 2 }, ({ type }, send) => {
    if (type === 'refused') send({ type: 'plans', plans: [plan] });
  });
  await assert.rejects(leader.complete(never), { code: 'part_missing' });
  leader.end({ why: 'a part is missing' });
  await part.closed;
  assert.deepEqual(
    part.messages.map(({ type, why }) => [type, why]),
    [
      ['welcome', undefined],
      ['refused', 'the run is over'],
    ],
  );
  assert.ok(!texts.some((text) => text.includes('is here')), texts.join());
});

test('of two that come as the same part at one moment, one is admitted', { timeout: 20_000 }, async (t) => {
  const { url } = await startCounting(t);
  const plan = await planFor(url, { requests: 5 });
  const { leader, where } = await startLeader(t, plan, 3);
  /** @type {(() => void)[]} */
  const waiting = [];
  const parts = [1, 2].map(() =>
    startFake(t, where, { index: 1, of: 3 }, ({ type }, send) => {
      if (type === 'welcome') waiting.push(() => send({ type: 'plans', plans: [plan] }));
    }),
  );
  while (waiting.length < 2) await sleep(5);
  for (const sendPlans of waiting) sendPlans();
  const answers = () => parts.map(({ messages }) => messages.map(({ type, why }) => why ?? type)).sort();
  while (answers().flat().length < 4) await sleep(5);
  assert.deepEqual(answers(), [
    ['welcome', 'admitted'],
    ['welcome', 'part 1 of 3 is here already'],
  ]);
  leader.end();
});

test('a ping without a time closes the connection', { timeout: 20_000 }, async (t) => {
  const { url } = await startCounting(t);
  const { leader, where } = await startLeader(t, await planFor(url, { requests: 5 }), 2);
  for (const at of [undefined, null, 'x'.repeat(1000), [1], { toString: 0 }]) {
    const part = startFake(t, where, { index: 1, of: 2 }, ({ type }, send) => {
      if (type === 'welcome') send({ type: 'ping', at });
    });
    await part.closed;
    assert.deepEqual(
      part.messages.map(({ type }) => type),
      ['welcome'],
    );
  }
  leader.end();
});

test('pings are not answered while the part reads nothing', { timeout: 20_000 }, async (t) => {
  const { url } = await startCounting(t);
  const { leader, where } = await startLeader(t, await planFor(url, { requests: 5 }), 2);
  let isFull = true;
  const onSocket = (/** @type {any} */ { socket }) =>
    void Object.defineProperty(socket, 'writableNeedDrain', { get: () => isFull });
  subscribe('net.server.socket', onSocket);
  t.after(() => unsubscribe('net.server.socket', onSocket));
  /** @type {unknown[]} */
  const answered = [];
  const part = startFake(t, where, { index: 1, of: 2 }, (message, send) => {
    if (message.type === 'welcome') {
      for (const at of [1, 2, 3]) send({ type: 'ping', at });
      // Is refused, and so closes the connection, once the pings were read.
      send({ type: 'plans', plans: [] });
    }
    if (message.type === 'pong') answered.push(message.at);
  });
  await part.closed;
  assert.equal(answered.length, 0);
  isFull = false;
  const other = startFake(t, where, { index: 1, of: 2 }, ({ type, at }, send) => {
    if (type === 'welcome') send({ type: 'ping', at: 4 });
    if (type === 'pong') answered.push(at);
    if (type === 'pong') send({ type: 'plans', plans: [] });
  });
  await other.closed;
  assert.deepEqual(answered, [4]);
  leader.end();
});

test('of parts that are refused again and again, a hundred are shown, and nothing long is sent or kept', {
  timeout: 20_000,
}, async (t) => {
  const { url } = await startCounting(t);
  const plan = await planFor(url, { requests: 5 });
  const { leader, where, texts } = await startLeader(t, plan, 2);
  const come = async (/** @type {any} */ hello, /** @type {object[]} */ ...plans) => {
    const part = startFake(t, where, { of: 2, ...hello }, ({ type }, send) => {
      if (type === 'welcome') send({ type: 'plans', plans });
    });
    await part.closed;
    const [last] = part.messages.slice(-1);
    return String(last?.why ?? last?.type);
  };
  const refusals = () => texts.filter((text) => text.startsWith('A part was refused: '));
  for (const index of [{}, {}, [1], 'x'.repeat(1000), 1.5, -1, 2])
    assert.equal(await come({ index }), 'there is no such part');
  assert.equal(refusals().length, 1);
  assert.match(await come({ index: 1 }, { ['x'.repeat(5e5)]: 1 }), /^the settings .{1,600}$/);
  assert.equal(await come({ index: 1 }, { ['x'.repeat(2e6)]: 1 }), 'welcome');
  for (let i = 0; i < 110; i++) await come({ index: 1, version: `0.0.${i}` });
  assert.equal(refusals().length, 100);
  leader.end();
});

test('refused parts leave room for others', { timeout: 20_000 }, async (t) => {
  const { url } = await startCounting(t);
  const plan = await planFor(url, { requests: 5 });
  const { leader, where } = await startLeader(t, plan, 2);
  for (let i = 0; i < 50; i++) await startFake(t, where, { index: 7, of: 2 }, () => {}).closed;
  const { state, sockets } = await startStrangers(where, 513);
  while (state.closed.length < 1) await sleep(5);
  assert.deepEqual(state.closed, [0]);
  leader.end();
  for (const socket of sockets) socket.destroy();
});

test('only localhost and IP addresses of this machine are listened on alone, not its own name', () => {
  for (const host of ['localhost', '127.0.0.1', '127.0.1.1', '::1'])
    assert.deepEqual(hostFor(host), { host, note: '' });
  const others = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  for (const { address } of others.filter(({ address }) => isIPv4(address)))
    assert.equal(hostFor(address).host, address);
  // In /etc/hosts of Debian, the name of the machine is 127.0.1.1.
  for (const host of [hostname(), 'part-0.example', '192.0.2.77']) {
    assert.match(hostFor(host).host, /^(::|0\.0\.0\.0)$/, host);
    assert.equal(hostFor(host).note, ' (all addresses)');
  }
});
