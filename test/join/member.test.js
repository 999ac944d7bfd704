/** What a part answers to part 0. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../../src/join/clock.js';
import { MOST, planFor, startCounting, startFakeLeader, startMember } from './support.js';

/** @import { AddressInfo } from 'node:net' */
/** @import { WireMessage } from '../../src/join/wire.js' */

/** The next step that part 0 asks for. @type {Record<string, string>} */
const NEXT = { prepared: 'run', ready: 'connect', connected: 'start' };

test('its result begins at the time zero of part 0, by its wall clock', { timeout: 20_000 }, async (t) => {
  const { url, paths } = await startCounting(t);
  const plan = await planFor(url, { requests: 4, rate: 100, seed: 1, warmup: '0.05s' });
  /** @type {WireMessage[]} */
  const answers = [];
  const wallMs = Date.parse('2031-02-03T04:05:06.000Z');
  const { where } = await startFakeLeader(t, (message, send) => {
    const { type, phase } = message;
    const task = 1;
    if (type === 'plans') send({ type: 'prepare', task, id: 1, step: 0, plan });
    if (type === 'reached') send({ type: NEXT[phase], task, id: 1, plan, at: monotonicMs() + 50, wallMs });
    if (type === 'event' || type === 'result' || type === 'failed') answers.push(message);
    if (type === 'result') send({ type: 'end', why: null, exitCode: 0 });
  });
  const member = startMember(t, plan, where, [1, 2]);
  assert.equal(await member.ended, 0);
  assert.deepEqual(
    answers.map(({ type, result }) => [type, result?.startedAt]),
    [['result', '2031-02-03T04:05:06.050Z']],
  );
  assert.equal(member.results[0].startedAt, '2031-02-03T04:05:06.050Z');
  assert.ok(paths.length > 0);
});

test('a start that has passed is made later, with a warning', { timeout: 20_000 }, async (t) => {
  const { url } = await startCounting(t);
  const plan = await planFor(url, { requests: 4, rate: 100, seed: 1 });
  /** @type {WireMessage[]} */
  const answers = [];
  const { where } = await startFakeLeader(t, ({ type, phase, ...more }, send) => {
    const task = 1;
    if (type === 'plans') send({ type: 'prepare', task, id: 1, step: 0, plan });
    if (type === 'reached')
      send({ type: NEXT[phase], task, id: 1, plan, at: monotonicMs() - 5000, wallMs: 1e12 });
    if (type === 'event' || type === 'result' || type === 'failed') answers.push({ type, ...more });
    if (type === 'result') send({ type: 'end', why: null, exitCode: 0 });
  });
  assert.equal(await startMember(t, plan, where, [1, 2]).ended, 0);
  const [warning, { result }] = answers;
  assert.match(
    warning.text,
    /^The message to start came late: this part starts 5(\.\d+)? s after the others\.$/,
  );
  const lateMs = Date.parse(result.startedAt) - 1e12;
  assert.ok(lateMs >= 5000 && lateMs < 5900, `${lateMs}`);
  // Not a backlog of 5 s.
  assert.ok(result.latencyMs.response.p50 < 4000, `${result.latencyMs.response.p50}`);
});

test('a preparation that is released before it began is not made', { timeout: 20_000 }, async (t) => {
  const { url } = await startCounting(t);
  const plan = await planFor(url, { requests: 4 });
  /** @type {string[]} */
  const answers = [];
  const { where } = await startFakeLeader(t, ({ type, task, phase }, send) => {
    if (type === 'plans') {
      send({ type: 'prepare', task: 1, id: 1, step: 0, plan });
      send({ type: 'release', task: 1, id: 1 });
      send({ type: 'prepare', task: 2, id: 2, step: 0, plan });
    }
    if (type !== 'reached' && type !== 'stopped' && type !== 'failed') return;
    answers.push([type, task, phase].join(' '));
    if (answers.length === 2) send({ type: 'end', why: null, exitCode: 0 });
  });
  assert.equal(await startMember(t, plan, where, [1, 2]).ended, 0);
  assert.deepEqual(answers, ['stopped 1 ', 'reached 2 prepared']);
});

test('Ctrl-C while part 0 is awaited opens no connection, and leaves none open', {
  timeout: 20_000,
}, async (t) => {
  const { url } = await startCounting(t);
  const plan = await planFor(url, { requests: 4 });
  const { where, sockets } = await startFakeLeader(t, () => {});
  const stopped = startMember(t, plan, where, [1, 2], { stop: AbortSignal.abort() });
  assert.equal((await stopped.outcome).code, 'interrupted');
  await sleep(50);
  assert.equal(sockets.length, 0);

  const stop = new AbortController();
  /** @type {string[]} */
  const seen = [];
  const silent = createServer((socket) => {
    seen.push('open');
    socket.on('error', () => {}).on('close', () => seen.push('closed'));
    socket.resume();
  });
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  t.after(() => silent.close());
  const { port } = /** @type {AddressInfo} */ (silent.address());
  const member = startMember(t, plan, { ...where, port }, [1, 2], { stop: stop.signal });
  while (seen.length === 0) await sleep(5);
  stop.abort();
  assert.equal((await member.outcome).code, 'interrupted');
  // Before the limit for greetings, 3 s, would close it.
  await sleep(500);
  assert.deepEqual(seen, ['open', 'closed']);
});

test('of two steps with the same plan, each has its own token', { timeout: 20_000 }, async (t) => {
  /** @type {unknown[]} */
  const tokens = [];
  const server = createHttpServer(({ url = '', headers }, response) => {
    if (url.startsWith('/r/')) tokens.push(headers['x-vault-token']);
    response.end(JSON.stringify({ initialized: true, sealed: false, version: '1.21.1' }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close(() => {}).closeAllConnections());
  const { port } = /** @type {AddressInfo} */ (server.address());
  const load = { requests: 4, rate: 100, seed: 1, token: 'own' };
  const plan = await planFor(`http://127.0.0.1:${port}`, load);
  const { where } = await startFakeLeader(t, ({ type, phase }, send) => {
    const task = 1;
    if (type === 'plans') send({ type: 'prepare', task, id: 1, step: 1, plan });
    if (type === 'reached')
      send({ type: NEXT[phase], task, id: 1, plan, at: monotonicMs() + 50, wallMs: 1e12 });
    if (type === 'result') send({ type: 'end', why: null, exitCode: 0 });
  });
  const steps = ['first', 'second'].map((token) => ({ plan, token }));
  assert.equal(await startMember(t, plan, where, [1, 2], { steps }).ended, 0);
  assert.deepEqual([...new Set(tokens)], ['second']);
});

test('without a search, part 0 may only choose the seed', { timeout: 20_000 }, async (t) => {
  const { url } = await startCounting(t);
  const plan = await planFor(url, { requests: 4, rate: 100, seed: 1 });
  for (const [load, answer] of /** @type {const} */ ([
    [{ seed: 2 }, 'reached'],
    [{ ratePerSecond: 1000 }, 'failed'],
  ])) {
    /** @type {string[]} */
    const answers = [];
    const { where } = await startFakeLeader(t, ({ type }, send) => {
      const given = { ...plan, load: { ...plan.load, ...load } };
      if (type === 'plans') send({ type: 'prepare', task: 1, id: 1, step: 0, plan: given });
      if (type !== 'reached' && type !== 'failed') return;
      answers.push(type);
      send({ type: 'end', why: null, exitCode: 0 });
    });
    const { ended } = startMember(t, plan, where, [1, 2], { steps: [{ plan, token: null }] });
    assert.equal(await ended, answer === 'failed' ? 1 : 0);
    assert.deepEqual(answers, [answer]);
  }
});

test('a part 0 that asks for several things at once is left', { timeout: 20_000 }, async (t) => {
  const { url, paths } = await startCounting(t);
  const plan = await planFor(url, { requests: 100, rate: 1 });
  for (const phase of ['admitted', 'ready']) {
    const { where } = await startFakeLeader(t, (message, send) => {
      const prepare = { type: 'prepare', task: 1, id: 1, step: 0, plan };
      if (message.type === 'plans') send(prepare);
      if (message.type === 'plans' && phase === 'admitted') send({ ...prepare, task: 2, id: 2 });
      if (message.phase === 'prepared') send({ type: 'run', task: 3, id: 1, plan });
      if (message.phase === 'ready') send({ type: 'run', task: 4, id: 1, plan });
    });
    const { message } = await startMember(t, plan, where, [1, 2]).outcome;
    assert.match(
      message,
      /^Part 0 was lost: it sent something wrong \(a task before the answer to the last one\)/,
    );
  }
  assert.equal(paths.length, 0);
});

test('a part 0 that asks for preparations without end gets no more than one for each step, and one', async (t) => {
  const { url } = await startCounting(t);
  const plan = await planFor(url, { requests: 4 });
  /** @type {string[]} */
  const answers = [];
  const { where } = await startFakeLeader(t, ({ type, error }, send) => {
    if (type === 'reached' || type === 'failed') answers.push(error?.message ?? type);
    if (type === 'failed') send({ type: 'end', why: null, exitCode: 0 });
    else if (type === 'plans' || type === 'reached')
      send({ type: 'prepare', task: answers.length, id: answers.length, step: 0, plan });
  });
  await startMember(t, plan, where, [1, 2]).ended;
  assert.deepEqual(answers, [
    ...['reached', 'reached'],
    'it asks for more preparations than there are steps',
  ]);
});

test('outside a search, part 0 gets as many runs and preparations of a step as --repeat, and no more', {
  timeout: 60_000,
}, async (t) => {
  const { url, paths } = await startCounting(t);
  const plan = await planFor(url, { requests: 4, rate: 100, seed: 1, concurrency: 2 });
  const searched = { ...plan, load: { ...plan.load, requests: null, durationMs: 40 } };
  const most = { ...MOST, model: /** @type {const} */ ('open') };
  /** @type {[again: 'run' | 'prepare', asked: typeof plan, most: typeof most | null, answers: string[]][]} */
  const ROWS = [
    ['run', plan, null, ['result', 'result', 'part 0 asks to run a step more often than --repeat']],
    ['prepare', plan, null, ['reached', 'reached', 'part 0 asks to prepare a step more often than --repeat']],
    ['run', searched, most, ['result', 'result', 'result']],
  ];
  for (const [again, asked, most, expected] of ROWS) {
    paths.length = 0;
    /** @type {string[]} */
    const answers = [];
    const { where } = await startFakeLeader(t, ({ type, phase, error }, send) => {
      const isAnswer = again === 'run' ? type === 'result' : phase === 'prepared';
      if (isAnswer && again === 'prepare') send({ type: 'release', id: answers.length });
      if (isAnswer || type === 'failed') answers.push(error?.message ?? type);
      const task = answers.length;
      const id = again === 'run' ? 0 : task;
      const next = { plans: 'prepare', reached: isAnswer ? again : NEXT[phase], result: again }[type];
      if (answers.length === 3) send({ type: 'end', why: null, exitCode: 0 });
      else if (next !== undefined)
        send({ type: next, task, id, step: 0, plan: asked, at: monotonicMs() + 50, wallMs: 1e12 });
    });
    const changes = { series: { '--repeat': 2 }, steps: [{ plan, token: null, most }] };
    await startMember(t, plan, where, [1, 2], changes).ended;
    assert.deepEqual(answers, expected);
    assert.equal(paths.length, 2 * answers.filter((one) => one === 'result').length);
  }
});

test('a part 0 that talks nonsense is left with a clear word', { timeout: 20_000 }, async (t) => {
  const { url } = await startCounting(t);
  const plan = await planFor(url, { requests: 4 });
  const evil = { toString: 0, valueOf: 0 };
  for (const [message, expected] of /** @type {[WireMessage, RegExp][]} */ ([
    [{ type: 'pong', at: evil }, /^Part 0 was lost: it sent something wrong/],
    [{ type: 'pong', at: 1, leader: null }, /^Part 0 was lost: it sent something wrong/],
    [{ type: 'start', at: 1, wallMs: 'x' }, /^Part 0 was lost: it sent something wrong/],
    [{ type: 'start', at: 1, wallMs: 8e15 }, /^Part 0 was lost: it sent something wrong/],
    [{ type: 'start', at: -1e300, wallMs: 1 }, /^Part 0 was lost: it sent something wrong/],
    [{ type: 'end' }, /^Part 0 ended the run: it gave no reason\./],
    [{ type: 'end', why: evil }, /^Part 0 was lost: it sent something wrong/],
    [{ type: 'end', why: 'a reason', exitCode: 'evil' }, /^Part 0 ended the run: a reason/],
  ])) {
    const { where } = await startFakeLeader(t, ({ type }, send) => {
      if (type === 'plans') send(message);
    });
    const error = await startMember(t, plan, where, [1, 2]).outcome;
    assert.match(error.message, expected);
    assert.equal(error.exitCode, 1);
  }
});

test('of a part 0 that floods it with news, a hundred are shown', { timeout: 20_000 }, async (t) => {
  const { url } = await startCounting(t);
  const plan = await planFor(url, { requests: 4 });
  const { where } = await startFakeLeader(t, ({ type }, send) => {
    if (type !== 'plans') return;
    for (let i = 0; i < 150; i++) send({ type: 'event', text: `news ${i}` });
    send({ type: 'end', why: 'a reason', exitCode: 1 });
  });
  const member = startMember(t, plan, where, [1, 2]);
  await member.outcome;
  assert.equal(member.texts.filter((text) => text.startsWith('news ')).length, 100);
});

test('a part 0 that admits it and then fails, again and again, is given up in time', {
  timeout: 20_000,
}, async (t) => {
  const { url } = await startCounting(t);
  const plan = await planFor(url, { requests: 4 });
  let admitted = 0;
  const { where, sockets } = await startFakeLeader(t, ({ type }, send) => {
    if (type !== 'plans') return;
    if (++admitted === 3) send({ type: 'end', why: 'too often' });
    else sockets[admitted - 1].end();
  });
  const error = await startMember(t, plan, where, [1, 2], { timeoutMs: 1 }).outcome;
  assert.equal(error.code, 'leader_missing');
  assert.match(error.message, /did not keep this part within 1 ms \(its connection closed\)\.$/);
  assert.equal(admitted, 1);
});

describe('when all parts are there, but part 0 has asked for nothing yet,', () => {
  test('Ctrl-C stops all parts', { timeout: 20_000 }, async (t) => {
    const plan = await planFor((await startCounting(t)).url, { requests: 4 });
    const stop = new AbortController();
    const { where } = await startFakeLeader(t, ({ type }, send) => {
      if (type === 'plans') {
        send({ type: 'complete' });
        // After the message.
        setTimeout(() => stop.abort(), 100);
      }
      if (type === 'interrupted') send({ type: 'end', why: 'Part 1 was interrupted.', exitCode: 130 });
    });
    const { message, exitCode } = await startMember(t, plan, where, [1, 2], { stop: stop.signal }).outcome;
    assert.deepEqual([message, exitCode], ['Part 0 ended the run: Part 1 was interrupted.', 130]);
  });

  test('a part 0 that is lost is not awaited again', { timeout: 20_000 }, async (t) => {
    const plan = await planFor((await startCounting(t)).url, { requests: 4 });
    const { where, sockets } = await startFakeLeader(t, ({ type }, send) => {
      if (type !== 'plans') return;
      send({ type: 'complete' });
      sockets[0].end();
    });
    const { code } = await startMember(t, plan, where, [1, 2]).outcome;
    assert.deepEqual([code, sockets.length], ['leader_lost', 1]);
  });
});
