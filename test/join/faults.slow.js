/** Parts that do not come, come twice or otherwise, are lost or interrupted, and strangers: each ends in time, with a clear word. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitCodeOf } from '../../src/cli/process.js';
import { createPlan, readEnvironment } from '../../src/index.js';
import { monotonicMs } from '../../src/join/clock.js';
import { keyOf } from '../../src/join/wire.js';
import { checkResult } from '../../src/result/check/check.js';
import { checkVerdicts } from '../../src/result/check/check-verdicts.js';
import { syntheticRun } from '../synthetic-run.js';
import {
  foundAt,
  planFor,
  startAll,
  startCable,
  startCounting,
  startFake,
  startFakeLeader,
  startLeader,
  startMember,
} from './support.js';

/** @import { AddressInfo } from 'node:net' */
/** @import { WireMessage } from '../../src/join/wire.js' */

/** @typedef {(message: WireMessage, send: (message: WireMessage) => void, socket: import('node:net').Socket) => void} OnMessage */

const never = new AbortController().signal;

/** For all tests of a group. */
const LIMIT = { timeout: 120_000 };

/** Lets a test that fails end. @template T @param {Promise<T>} promise @returns {Promise<T>} */
const inTime = (promise) =>
  Promise.race([promise, sleep(20_000, undefined, { ref: false }).then(() => assert.fail('too late'))]);

/** On a busy machine there may be other reasons, too. @param {any} measurement @returns {string} */
const missingIn = ({ reasons }) =>
  reasons.find((/** @type {any} */ { code }) => code === 'parts_missing')?.text ?? '';

/** What it throws. @param {Promise<unknown>} promise @returns {Promise<any>} */
const errorOf = (promise) =>
  inTime(
    promise.then(
      () => assert.fail('it throws nothing'),
      (error) => error,
    ),
  );

describe('parts that cannot take part:', LIMIT, () => {
  test('one that does not come is named, and those that came are let go', async (t) => {
    const { url } = await startCounting(t);
    const plan = await planFor(url, { requests: 5 });
    const { leader, where } = await startLeader(t, plan, 4, { timeoutMs: 600 });
    const member = startMember(t, plan, where, [2, 4]);
    const error = await errorOf(leader.complete(never));
    assert.equal(error.code, 'part_missing');
    assert.match(error.message, /^2 of 4 parts \(1, 3\) did not join within 600 ms\.$/);
    leader.end({ why: error.full, exitCode: error.exitCode });
    const { code, message, exitCode } = await inTime(member.outcome);
    assert.deepEqual([code, exitCode], ['joined_run_ended', 1]);
    assert.match(message, /^Part 0 ended the run: 2 of 4 parts \(1, 3\) did not join/);
  });

  /** @type {[string, [number, number], RegExp][]} */
  const REFUSED = [
    ['twice', [1, 2], /refused this part: part 1 of 2 is here already\./],
    ['as part 0', [0, 2], /part 0 of 2 is here already: it is the one that listens/],
    ['as part 7', [7, 2], /there is no such part/],
    ['as one of three', [1, 3], /it is one of 3 parts, but part 0 expects 2/],
  ];
  test('one that comes twice, or is no part, is refused and told why', async (t) => {
    const { url } = await startCounting(t);
    const plan = await planFor(url, { requests: 5 });
    const { leader, where, members, texts } = await startAll(t, plan, 2);
    for (const [what, part, message] of REFUSED) {
      const other = await inTime(startMember(t, plan, where, part).outcome);
      assert.equal(other.code, 'part_refused', what);
      assert.match(other.message, message);
    }
    assert.equal(texts.filter((text) => text.startsWith('A part was refused: ')).length, REFUSED.length);
    assert.equal((await leader.run(plan)).totals.sent, 5);
    leader.end();
    assert.equal(await members[0].ended, 0);
  });

  test('one with other settings or of another version is refused, and the right one may still come', async (t) => {
    const { url } = await startCounting(t);
    const plan = await planFor(url, { requests: 5 });
    const { leader, where } = await startLeader(t, plan, 2);
    const other = await inTime(startMember(t, await planFor(url, { requests: 6 }), where, [1, 2]).outcome);
    assert.match(
      other.message,
      /the settings of part 0 and of part 1 of 2 differ in --requests \(5 and 6\)\.$/,
    );
    const fake = startFake(t, where, { index: 1, of: 2, version: '9.9.9' }, () => {});
    await inTime(fake.closed);
    assert.match(fake.messages[0].why, /^it is version 9\.9\.9, but part 0 is \d/);
    const right = startMember(t, plan, where, [1, 2]);
    await inTime(leader.complete(never));
    leader.end();
    assert.equal(await right.ended, 0);
  });

  test('one with another --max-rate or --repeat is refused', async (t) => {
    const { url } = await startCounting(t);
    const plan = await planFor(url, { requests: 5 });
    const series = { '--repeat': 1, '--max-rate': 200 };
    const { where } = await startLeader(t, plan, 2, { series });
    const other = await inTime(
      startMember(t, plan, where, [1, 2], { series: { ...series, '--max-rate': 60 } }).outcome,
    );
    assert.match(other.message, /differ in --max-rate \(200 and 60\)\.$/);
    const without = await inTime(startMember(t, plan, where, [1, 2]).outcome);
    assert.match(without.message, /differ in --repeat \(1 and null\), --max-rate \(200 and null\)\.$/);
  });

  test('one with another --seed is refused', async (t) => {
    const { url } = await startCounting(t);
    const plan = await planFor(url, { requests: 5 });
    const { leader, where } = await startLeader(t, plan, 2, { seed: 3 });
    for (const [seed, shown] of /** @type {const} */ ([
      [4, '4'],
      [null, 'none'],
    ])) {
      const { message } = await inTime(startMember(t, plan, where, [1, 2], { seed }).outcome);
      assert.match(message, new RegExp(`its --seed and that of part 0 differ \\(${shown} and 3\\)\\.$`));
    }
    const right = startMember(t, plan, where, [1, 2], { seed: 3 });
    await inTime(leader.complete(never));
    leader.end();
    assert.equal(await right.ended, 0);
  });

  test('one whose packets are lost on the way says so', async (t) => {
    const script = `const s = require('net').createServer().listen(0, '127.0.0.1', 1, () => console.log(s.address().port))`;
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    t.after(() => child.kill('SIGKILL'));
    const [line] = await once(child.stdout, 'data');
    const where = { host: '127.0.0.1', port: Number(String(line)) };
    child.kill('SIGSTOP');
    // The system accepts a few for it, and drops what comes then.
    for (let i = 0; i < 8; i++) {
      const socket = connect(where).on('error', () => {});
      t.after(() => socket.destroy());
    }
    await sleep(300);
    const plan = await planFor('http://127.0.0.1:1', { requests: 5 });
    const { message } = await inTime(startMember(t, plan, where, [1, 2], { timeoutMs: 100 }).outcome);
    assert.match(message, /did not accept this part within 100 ms \(no connection within 3 s\)\.$/);
  });

  test('one with another secret learns nothing, and gives up in time', async (t) => {
    const { url } = await startCounting(t);
    const plan = await planFor(url, { requests: 5 });
    const { leader, where, texts } = await startLeader(t, plan, 2);
    const member = startMember(t, plan, where, [1, 2], { key: keyOf('another secret'), timeoutMs: 100 });
    const { code, message } = await inTime(member.outcome);
    assert.equal(code, 'leader_missing');
    assert.match(message, /within 100 ms \(it hung up, as part 0 does if the secrets differ\)\.$/);
    const warning = 'A part at 127.0.0.1 did not prove that it knows the secret.';
    assert.deepEqual(texts.slice(1), [warning], 'once');
    leader.end();
  });

  test('one that finds something else than part 0 says so', async (t) => {
    const { url } = await startCounting(t);
    const plan = await planFor(url, { requests: 5 });
    const server = createTcpServer((socket) => socket.on('error', () => {}).end('x'.repeat(100)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    t.after(() => server.close());
    const { port } = /** @type {AddressInfo} */ (server.address());
    const where = { host: '127.0.0.1', port };
    const { message } = await inTime(startMember(t, plan, where, [1, 2], { timeoutMs: 100 }).outcome);
    assert.match(message, /did not accept this part within 100 ms \(no part 0 answers there\)\.$/);
  });

  test('one that came and was refused is not said to have stayed away', async (t) => {
    const { url } = await startCounting(t);
    const plan = await planFor(url, { requests: 5 });
    const { leader, where } = await startLeader(t, plan, 3, { timeoutMs: 700 });
    const other = await inTime(startMember(t, await planFor(url, { requests: 6 }), where, [1, 3]).outcome);
    assert.equal(other.code, 'part_refused');
    const { message } = await errorOf(leader.complete(never));
    assert.match(
      message,
      /^2 of 3 parts \(1, 2\) did not join within 700 ms\. Part 1 came and was refused: the settings of part 0 .*\.$/,
    );
  });

  test('one whose connection breaks while others are awaited connects again', async (t) => {
    const { url } = await startCounting(t);
    const plan = await planFor(url, { requests: 5 });
    const { leader, where, texts } = await startLeader(t, plan, 3, { timeoutMs: 15_000 });
    const cable = await startCable(t, where);
    const first = startMember(t, plan, cable.where, [1, 3]);
    const complete = leader.complete(never);
    const count = (/** @type {string[]} */ all, /** @type {string} */ one) =>
      all.filter((text) => text === one).length;
    while (count(texts, 'Part 1 of 3 is here.') < 1) await sleep(10);
    cable.cut();
    while (count(texts, 'Part 1 of 3 is here.') < 2) await sleep(10);
    assert.ok(first.texts.includes('Part 0 was lost: its connection closed. This part connects again.'));
    const second = startMember(t, plan, where, [2, 3]);
    await inTime(complete);
    assert.equal((await inTime(leader.run(plan))).totals.sent, 5);
    leader.end();
    assert.deepEqual(await inTime(Promise.all([first.ended, second.ended])), [0, 0]);
  });

  test('one that is interrupted while others are awaited leaves, and may come again', async (t) => {
    const { url } = await startCounting(t);
    const plan = await planFor(url, { requests: 5 });
    const { leader, where, texts } = await startLeader(t, plan, 2, { timeoutMs: 15_000 });
    const other = startLeader(t, plan, 3);
    const evicted = startMember(t, plan, (await other).where, [1, 3]);
    while (!evicted.texts.some((text) => text.startsWith('Joined'))) await sleep(10);
    evicted.stop.abort();
    assert.equal(await inTime(evicted.ended), 130);
    assert.equal((await other).leader.interrupted.aborted, false);
    const right = startMember(t, plan, where, [1, 2]);
    await inTime(leader.complete(never));
    leader.end();
    assert.equal(await inTime(right.ended), 0);
    assert.equal(texts.filter((text) => text.includes('interrupted')).length, 0);
  });

  test('one that has lost part 0 while others are awaited waits for it until the limit', async (t) => {
    const { url } = await startCounting(t);
    const plan = await planFor(url, { requests: 5 });
    const { where, sockets, close } = await startFakeLeader(t, () => {});
    const member = startMember(t, plan, where, [1, 2], { timeoutMs: 1500 });
    while (!member.texts.some((text) => text.startsWith('Joined'))) await sleep(10);
    close();
    for (const socket of sockets) socket.destroy();
    const { code, exitCode } = await inTime(member.outcome);
    assert.deepEqual([code, exitCode], ['leader_missing', 1]);
  });
});

/** Does all that is asked until `phase`. @param {string} phase @param {(socket: import('node:net').Socket, send: (message: WireMessage) => void, message: WireMessage) => void} act @returns {OnMessage} */
const obedient = (phase, act) => (message, send, socket) => {
  const { type, task } = message;
  if (type === phase) return act(socket, send, message);
  const phases = /** @type {Record<string, string>} */ ({
    prepare: 'prepared',
    run: 'ready',
    connect: 'connected',
  });
  const plan = PLANS.get(socket.remotePort);
  if (type === 'welcome') send({ type: 'plans', plans: [plan] });
  if (phases[type] !== undefined)
    send({ type: 'reached', task, phase: phases[type], found: foundAt(plan.target.url) });
};

/** What each leader expects, by port. @type {Map<number | undefined, any>} */
const PLANS = new Map();

/** Part 0, a real part 1, and a part 2 that behaves so. @param {any} t @param {OnMessage} behaviour @param {Record<string, unknown>} [load] */
async function startWithFake(t, behaviour, load = { rate: 30, duration: '2s' }) {
  const target = await startCounting(t);
  const plan = await planFor(target.url, { seed: 1, require: ['errors<50%'], ...load });
  const { leader, where, texts } = await startLeader(t, plan, 3);
  PLANS.set(where.port, plan);
  const member = startMember(t, plan, where, [1, 3]);
  const fake = startFake(t, where, { index: 2, of: 3 }, behaviour);
  await inTime(leader.complete(never));
  return { ...target, plan, leader, where, texts, member, fake };
}

describe('a part that is lost', { concurrency: 3, ...LIMIT }, () => {
  for (const [phase, when] of /** @type {const} */ ([
    ['prepare', 'during preparation'],
    ['run', 'when the run is being made ready'],
    ['connect', 'when connections are opened'],
  ])) {
    test(`${when} ends the run: nothing is sent`, async (t) => {
      const { leader, plan, member, paths, where } = await startWithFake(
        t,
        obedient(phase, (socket) => socket.destroy()),
      );
      const error = await errorOf(leader.run(plan));
      assert.deepEqual([error.code, error.exitCode], ['part_lost', 1]);
      assert.match(error.message, /^Part 2 of 3 was lost: its connection closed\.$/);
      const late = await inTime(startMember(t, plan, where, [2, 3]).outcome);
      assert.match(
        late.message,
        /the run has begun, and part 2 of 3 was lost: no part is restarted into a run/,
      );
      leader.end({ why: error.message, exitCode: 1 });
      assert.equal((await inTime(member.outcome)).code, 'joined_run_ended');
      assert.deepEqual(paths, []);
    });
  }

  test('while it sends stops all parts; the others are measured, the result says what is missing, and nothing is met', async (t) => {
    const behaviour = obedient('start', (socket) => void setTimeout(() => socket.destroy(), 800));
    const { leader, plan, member, texts } = await startWithFake(t, behaviour, { rate: 30, duration: '20s' });
    const result = await inTime(leader.run(plan));
    assert.deepEqual(checkResult(result, { isFile: true }), []);
    assert.deepEqual([...checkVerdicts(result)], []);
    const { measurement, requirements, merged, totals, interrupted } = result;
    assert.equal(measurement.verdict, 'invalid');
    assert.match(missingIn(measurement), /incomplete: part 2 of 3 \(its connection closed\)\./);
    assert.deepEqual([requirements[0].verdict, requirements[0].doubt], ['not proven', 'invalid']);
    assert.deepEqual(
      merged?.map(({ index }) => index),
      [0, 1],
    );
    // 20/s, of 400.
    assert.ok(totals.sent > 0 && totals.sent < 40, `${totals.sent}`);
    assert.deepEqual([interrupted, exitCodeOf(result)], [false, 98]);
    const warning = 'Part 2 of 3 was lost: its connection closed.';
    assert.ok(texts.includes(warning) && member.texts.includes(warning), member.texts.join());
    await assert.rejects(leader.run(plan), { code: 'part_lost' });
    leader.end();
    assert.equal(await inTime(member.ended), 0);
    assert.equal(member.texts.at(-1), 'Part 0 has taken the result of this part.');
  });

  test('for an error of its own while it sends stops all parts, which is said at once', async (t) => {
    const behaviour = obedient('start', (_, send, { task }) => {
      const error = { code: 'internal', message: 'its disk is full.', exitCode: 1 };
      setTimeout(send, 800, { type: 'failed', task, error });
    });
    const { leader, plan, member, texts } = await startWithFake(t, behaviour, { rate: 30, duration: '20s' });
    const { measurement, totals } = await inTime(leader.run(plan));
    assert.match(missingIn(measurement), /incomplete: part 2 of 3 \(its disk is full\.\)\.$/);
    // 20/s, of 400.
    assert.ok(totals.sent < 100, `${totals.sent}`);
    const warning = 'Part 2 of 3 failed: its disk is full. All parts stop.';
    assert.ok(texts.includes(warning) && member.texts.includes(warning), texts.join());
    leader.end();
    assert.equal(await inTime(member.ended), 0);
  });

  test('before it hands in its result is missing from it', async (t) => {
    const behaviour = obedient('start', (socket) => void setTimeout(() => socket.destroy(), 900));
    const { leader, plan, member } = await startWithFake(t, behaviour, { rate: 30, duration: '0.3s' });
    const result = await inTime(leader.run(plan));
    assert.deepEqual(checkResult(result, { isFile: true }), []);
    assert.deepEqual([result.totals.sent, result.totals.planned, exitCodeOf(result)], [6, 6, 98]);
    leader.end();
    assert.equal(await inTime(member.ended), 0);
  });

  test('for what it says is refused, not believed', async (t) => {
    const behaviour = obedient('start', (_, send, { task }) => {
      setTimeout(send, 600, { type: 'result', task, result: { schema: 'x' } });
    });
    const { leader, plan, member } = await startWithFake(t, behaviour, { requests: 30, rate: 100 });
    const { measurement } = await inTime(leader.run(plan));
    assert.match(
      missingIn(measurement),
      /part 2 of 3 \(it sent something wrong \(.*The result of part 2 of 3.*\)\)/i,
    );
    leader.end();
    await inTime(member.ended);
  });

  test('for a result that is not of this run is missing from it; what the first part measured is kept', async (t) => {
    const behaviour = obedient('start', (_, send, { task }) => {
      const load = { ...plan.load, shard: { index: 2, of: 3 } };
      const made = syntheticRun({ load, weights: { http: 1 }, requirements: ['errors<50%'] });
      const result = { ...made, plan: { ...Object(made.plan), ...plan, requirements: ['errors<50%'], load } };
      setTimeout(send, 700, { type: 'result', task, result });
    });
    const { leader, plan, member } = await startWithFake(t, behaviour, { rate: 30, duration: '0.3s' });
    const result = await inTime(leader.run(plan));
    assert.deepEqual(checkResult(result, { isFile: true }), []);
    assert.equal(result.totals.sent, 3);
    assert.match(missingIn(result.measurement), /part 2 of 3 \(not merged: .*target address/);
    leader.end();
    assert.equal(await inTime(member.ended), 0);
  });

  test('to another target is noticed before anything is sent', async (t) => {
    const behaviour = obedient('prepare', (_, send, { task }) => {
      const found = { ...foundAt('http://192.0.2.1'), proxy: '192.0.2.2:3128' };
      send({ type: 'reached', task, phase: 'prepared', found });
    });
    const { leader, plan, member, paths } = await startWithFake(t, behaviour);
    const { code, message } = await errorOf(leader.run(plan));
    assert.equal(code, 'different_targets');
    const differing = `url ("${plan.target.url}" and "http://192.0.2.1"), proxy (null and "192.0.2.2:3128")`;
    assert.equal(message, `Part 0 and part 2 of 3 found different targets: ${differing}. Nothing was sent.`);
    leader.end({ why: message });
    assert.equal((await inTime(member.outcome)).code, 'joined_run_ended');
    assert.deepEqual(paths, []);
  });

  test('for an error of its own ends the preparation of part 0', async (t) => {
    // Looks at the health, but never at a token.
    const server = createServer(({ url }, response) => {
      if (url !== '/v1/sys/health') return;
      response.end(JSON.stringify({ initialized: true, sealed: false, standby: false, version: '1.21.1' }));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    t.after(() => server.close().closeAllConnections());
    const { port } = /** @type {AddressInfo} */ (server.address());
    const given = { url: `http://127.0.0.1:${port}`, requests: 5, seed: 1, timeout: '60s' };
    const plan = await createPlan('token-lookup', given, readEnvironment({}));
    const { leader, where } = await startLeader(t, plan, 2);
    PLANS.set(where.port, plan);
    const behaviour = obedient('prepare', (_, send, { task }) => {
      setTimeout(send, 300, { type: 'failed', task, error: { code: 'x', message: 'no access' } });
    });
    startFake(t, where, { index: 1, of: 2 }, behaviour);
    await inTime(leader.complete(never));
    const error = await errorOf(leader.run(plan, { token: 'a-token' }));
    assert.equal(error.message, 'Part 1 of 2: no access');
    leader.end();
  });

  test('for an error of its own passes it on, and the next run may succeed', async (t) => {
    let fails = 1;
    const behaviour = obedient('prepare', (_, send, { task, plan }) => {
      const error = { code: 'target_refused', message: 'no access', remedy: 'Ask.', exitCode: 2 };
      if (fails-- > 0) send({ type: 'failed', task, error });
      else send({ type: 'reached', task, phase: 'prepared', found: foundAt(plan.target.url) });
    });
    const { leader, plan, member, fake } = await startWithFake(t, behaviour, { requests: 5 });
    const error = await errorOf(leader.run(plan));
    assert.deepEqual(
      [error.code, error.exitCode, error.full],
      ['target_refused', 2, 'Part 2 of 3: no access Ask.'],
    );
    const prepared = await inTime(leader.prepareRun(plan));
    await prepared.close();
    leader.end();
    await inTime(fake.closed);
    assert.deepEqual(
      fake.messages.map(({ type }) => type).filter((type) => type !== 'pong'),
      [...['welcome', 'admitted', 'complete', 'prepare', 'release', 'prepare', 'release', 'end']],
    );
    leader.end();
    assert.equal(await inTime(member.ended), 0);
  });
});

describe('the connection', { concurrency: 3, ...LIMIT }, () => {
  /** Two parts, with a cable between them. @param {any} t @param {number} silenceMs @param {string} [duration] */
  async function startWithCable(t, silenceMs, duration = '2s') {
    const target = await startCounting(t);
    const plan = await planFor(target.url, { rate: 40, duration, seed: 1 });
    const { leader, where, texts } = await startLeader(t, plan, 2, { silenceMs });
    t.after(() => leader.end());
    const cable = await startCable(t, where);
    const member = startMember(t, plan, cable.where, [1, 2], { silenceMs });
    await inTime(leader.complete(never));
    return { ...target, plan, leader, member, cable, texts };
  }
  /** @param {(event: any) => void} act called once, while requests are sent */
  function whileSending(act) {
    let isDone = false;
    return (/** @type {any} */ event) => {
      if (event.type !== 'start' || isDone) return;
      isDone = true;
      setTimeout(act, 600, event);
    };
  }

  test('may stall for less than the limit: the run goes on, and nothing is missing', async (t) => {
    const { leader, plan, member, cable } = await startWithCable(t, 6000);
    const result = await inTime(leader.run(plan, { onEvent: whileSending(() => cable.stall(1200)) }));
    assert.deepEqual([result.totals.sent, result.merged?.length], [80, 2]);
    leader.end();
    assert.equal(await inTime(member.ended), 0);
  });

  test('that delays the message to start: the part starts later, which the result says', async (t) => {
    const { leader, plan, member, cable, texts } = await startWithCable(t, 6000);
    const onEvent = (/** @type {any} */ { type }) => void (type === 'start' && cable.stall(600));
    const { totals, measurement } = await inTime(leader.run(plan, { onEvent }));
    assert.equal(totals.sent, 80);
    const found = measurement.reasons.find(({ code }) => code === 'parts_apart');
    assert.match(String(found?.text), /^By the clock of part 0, part 1 of 2 started sending .* after part 0/);
    assert.ok(texts.some((text) => /^Part 1 of 2: The message to start came late: /.test(text)));
    leader.end();
    assert.equal(await inTime(member.ended), 0);
  });

  test('that stalls for longer loses the part, on both sides', async (t) => {
    const { leader, plan, member, cable } = await startWithCable(t, 1500);
    const result = await inTime(leader.run(plan, { onEvent: whileSending(() => cable.stall(60_000)) }));
    assert.match(
      missingIn(result.measurement),
      /part 1 of 2 \((it was silent for 1\.5 s|its connection closed)\)/,
    );
    const { code, message } = await inTime(member.outcome);
    assert.equal(code, 'leader_lost');
    // Whichever side notices first closes the connection.
    const why = String.raw`(it was silent for 1\.5 s|its connection closed)`;
    assert.match(message, new RegExp(`^Part 0 was lost: ${why}\\. This part \\(part 1 of 2\\) has stopped`));
    leader.end();
  });

  test('that breaks stops the member at once: it keeps what it measured, and says why', async (t) => {
    const { leader, plan, member, cable } = await startWithCable(t, 15_000, '20s');
    const running = leader.run(plan, { onEvent: whileSending(() => cable.cut()) });
    const { code, exitCode } = await inTime(member.outcome);
    assert.deepEqual([code, exitCode], ['leader_lost', 1]);
    assert.equal(member.results.length, 1);
    const [{ interrupted, totals }] = member.results;
    // 20/s, of 400.
    assert.ok(interrupted && totals.sent < 50, `${totals.sent}`);
    await inTime(running);
    leader.end();
  });

  test('that breaks between two runs loses the part: the next one is not begun', async (t) => {
    const { leader, plan, member, cable } = await startWithCable(t, 15_000, '0.3s');
    const prepared = await inTime(leader.prepareRun(plan));
    const { measurement } = await inTime(leader.run(plan, { prepared }));
    assert.deepEqual([missingIn(measurement), leader.broken.aborted], ['', false]);
    cable.cut();
    // It ends the pause before the next run.
    while (!leader.broken.aborted) await sleep(5);
    const error = await errorOf(leader.run(plan, { prepared }));
    assert.deepEqual([error.code, error.exitCode], ['part_lost', 1]);
    await inTime(prepared.close());
    assert.equal((await inTime(member.outcome)).code, 'leader_lost');
    assert.equal(member.results.length, 1);
  });

  for (const [phase, next] of /** @type {const} */ ([
    ['preparing', { type: 'prepare' }],
    ['ready', { type: 'run' }],
    ['connected', { type: 'connect' }],
  ])) {
    test(`to part 0 that breaks while the part is ${phase} ends it at once: nothing was sent`, async (t) => {
      const { url, paths } = await startCounting(t);
      const plan = await planFor(url, { rate: 40, duration: '2s', seed: 1 });
      const { where, sockets } = await startFakeLeader(t, ({ type, phase: reached }, send) => {
        const given = { task: 1, id: 1, step: 0, plan };
        if (type === 'plans') send({ ...given, type: 'prepare' });
        const following = { prepared: 'run', ready: 'connect' }[/** @type {string} */ (reached)];
        if (next.type === (type === 'plans' ? 'prepare' : following))
          setTimeout(() => sockets[0].destroy(), 300);
        if (following !== undefined) send({ ...given, type: following });
      });
      const { code, exitCode } = await inTime(startMember(t, plan, where, [1, 2]).outcome);
      assert.deepEqual([code, exitCode, paths.length], ['leader_lost', 1, 0]);
    });
  }

  test('to a part 0 that answers no more does not hold a part after its second Ctrl-C', async (t) => {
    const { url } = await startCounting(t);
    const plan = await planFor(url, { rate: 40, duration: '20s', seed: 1 });
    /** @type {string[]} */
    const types = [];
    const { where } = await startFakeLeader(t, ({ type, phase }, send) => {
      types.push(type);
      const following = { prepared: 'run', ready: 'connect', connected: 'start' }[
        /** @type {string} */ (phase)
      ];
      const given = { task: 1, id: 1, step: 0, plan, at: monotonicMs() + 50, wallMs: Date.now() + 50 };
      if (type === 'plans') send({ ...given, type: 'prepare' });
      if (following !== undefined) send({ ...given, type: following });
    });
    const member = startMember(t, plan, where, [1, 2]);
    while (!types.includes('interval')) await sleep(10);
    member.stop.abort();
    while (!types.includes('result')) await sleep(10);
    assert.ok(types.includes('interrupted'));
    const before = await Promise.race([member.ended, sleep(300)]);
    assert.equal(before, undefined, 'it waits for part 0');
    member.cutOff.abort();
    assert.equal(await inTime(member.ended), 130);
  });

  for (const who of /** @type {const} */ (['part 0', 'part 1'])) {
    test(`Ctrl-C of ${who} stops all parts, and what was measured is reported`, async (t) => {
      const { leader, plan, member, texts } = await startWithCable(t, 15_000, '20s');
      const own = new AbortController();
      const stop = who === 'part 0' ? own : member.stop;
      const signal = AbortSignal.any([own.signal, leader.interrupted]);
      const result = await inTime(leader.run(plan, { signal, onEvent: whileSending(() => stop.abort()) }));
      assert.deepEqual(checkResult(result), []);
      // 40/s, of 800.
      assert.ok(result.totals.sent < 100, `${result.totals.sent}`);
      assert.deepEqual([result.merged?.length, exitCodeOf(result)], [2, 130]);
      const partial = who === 'part 1' ? /incomplete: part 1 of 2 \(it was interrupted\)\.$/ : /^$/;
      assert.match(missingIn(result.measurement), partial);
      // A search says why.
      leader.end({ why: who === 'part 0' ? 'It was interrupted.' : null, exitCode: 130 });
      assert.equal(await inTime(member.ended.catch((/** @type {any} */ { exitCode }) => exitCode)), 130);
      const told = texts.includes('Part 1 of 2 was interrupted. All parts stop.');
      assert.equal(told, who === 'part 1');
    });
  }
});
