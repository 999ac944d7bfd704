/** Part 0 with parts that do not do as they should. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { encodeHistogram, sumHistograms } from '../../src/common/histogram.js';
import { planOfPart } from '../../src/join/joined-plan.js';
import { run } from '../../src/run.js';
import { planFor, startCounting, startFake, startLeader } from './support.js';

/** @import { WireMessage } from '../../src/join/wire.js' */

const never = new AbortController().signal;

/** The answers of a part that does nothing. @type {Record<string, string>} */
const REACHED = { prepare: 'prepared', run: 'ready', connect: 'connected' };

/** @param {any} t @param {import('../../src/plan/plan.js').Plan} plan @param {{host: string, port: number}} where @param {(message: WireMessage, send: (message: WireMessage) => void) => void} onMessage */
function startIdle(t, plan, where, onMessage) {
  return startFake(t, where, { index: 1, of: 2 }, (message, send) => {
    const { type, task } = message;
    if (type === 'welcome') send({ type: 'plans', plans: [plan] });
    const found = { url: plan.target.url, product: 'Vault', version: '1.21.1', proxy: null };
    if (REACHED[type] !== undefined)
      send({ type: 'reached', task, phase: REACHED[type], found, roundTripMs: -1e308 });
    onMessage(message, send);
  });
}

test('there may be no other part', { timeout: 20_000 }, async (t) => {
  const { url } = await startCounting(t);
  const plan = await planFor(url, { requests: 4, rate: 100, seed: 1 });
  const { leader } = await startLeader(t, plan, 1);
  await leader.complete(never);
  assert.equal((await leader.run(plan)).totals.sent, 4);
  leader.end();
});

test('after the second Ctrl-C, it reports without a part that hands in nothing', {
  timeout: 20_000,
}, async (t) => {
  const { url } = await startCounting(t);
  const plan = await planFor(url, { requests: 8, rate: 100, seed: 1 });
  const { leader, where } = await startLeader(t, plan, 2);
  const [stop, cutOff] = [new AbortController(), new AbortController()];
  startIdle(t, plan, where, ({ type }) => {
    if (type === 'start') setTimeout(() => void [stop.abort(), cutOff.abort()], 600);
  });
  await leader.complete(never);
  const { totals, measurement, interrupted } = await leader.run(plan, {
    signal: stop.signal,
    cutOff: cutOff.signal,
  });
  leader.end();
  assert.deepEqual([totals.sent, interrupted], [4, true]);
  assert.match(measurement.reasons[0].text, /part 1 of 2 \(it did not hand in a result\)/);
});

test('a part that fails never ends the run with exit code 0', { timeout: 20_000 }, async (t) => {
  const { url } = await startCounting(t);
  const plan = await planFor(url, { requests: 4, rate: 100, seed: 1 });
  for (const [given, expected, message] of [
    [0, 1, 'No.'],
    ['evil', 1, undefined],
    [2, 2, 'No.'],
  ]) {
    const { leader, where } = await startLeader(t, plan, 2);
    startFake(t, where, { index: 1, of: 2 }, ({ type, task }, send) => {
      if (type === 'welcome') send({ type: 'plans', plans: [plan] });
      if (type === 'prepare') send({ type: 'failed', task, error: { code: 'x', message, exitCode: given } });
    });
    await leader.complete(never);
    const said = { message: message ? /Part 1 of 2: No\./ : /: It gave no reason\./, exitCode: expected };
    await assert.rejects(leader.run(plan), said);
    leader.end();
  }
});

test('a result is bounded as a file is: a short one with millions of buckets loses its part', {
  timeout: 20_000,
}, async (t) => {
  const { url } = await startCounting(t);
  const plan = await planFor(url, { requests: 4, rate: 100, seed: 1 });
  const { leader, where } = await startLeader(t, plan, 2);
  const full = encodeHistogram(
    sumHistograms([Uint32Array.from({ length: 57_344 }, (_, i) => (i % 2 ? 1 : i / 2))]),
  );
  const bomb = { schema: 'vault-pki-load/result/1', rows: Array(5000).fill({ histogram: full }) };
  startIdle(t, plan, where, ({ type }, send) => {
    if (type === 'start') send({ type: 'result', task: 2, result: bomb });
  });
  await leader.complete(never);
  const { measurement } = await leader.run(plan);
  leader.end();
  assert.match(
    measurement.reasons.map(({ text }) => text).join('\n'),
    /part 1 of 2 \(it sent something wrong \(.*too many histogram buckets/,
  );
});

test('a long result is checked without handlers of signals, and a longer one than the run can have is not read', {
  timeout: 60_000,
}, async (t) => {
  const { url } = await startCounting(t);
  const plan = await planFor(url, { requests: 4, rate: 100, seed: 1 });
  const onSignal = () => {};
  process.on('SIGTERM', onSignal);
  t.after(() => process.off('SIGTERM', onSignal));
  const removed = t.mock.method(process, 'removeAllListeners');
  for (const [megabytes, isRemoved, why] of /** @type {const} */ ([
    [1, false, /part 1 of 2 \(it sent something wrong \(The result of Part 1 of 2 has a key of more/],
    [4, true, /part 1 of 2 \(it sent something wrong \(The result of Part 1 of 2 has a key of more/],
    [40, false, /part 1 of 2 \(it sent too long a message/],
  ])) {
    removed.mock.resetCalls();
    const { leader, where } = await startLeader(t, plan, 2);
    const result = { ['x'.repeat(megabytes * 1e6)]: 1 };
    startIdle(t, plan, where, ({ type, task }, send) => {
      if (type === 'start') send({ type: 'result', task, result });
    });
    await leader.complete(never);
    const { measurement } = await leader.run(plan);
    leader.end();
    assert.match(measurement.reasons.map(({ text }) => text).join('\n'), why);
    assert.equal(removed.mock.callCount() > 0, isRemoved, `${megabytes} MB`);
    assert.ok(process.listeners('SIGTERM').includes(onSignal));
  }
});

test('only the first answer of a part counts: its result, or why it failed', {
  timeout: 30_000,
}, async (t) => {
  const { url } = await startCounting(t);
  const plan = await planFor(url, { requests: 40, rate: 40, seed: 1 });
  const measured = await run(planOfPart(plan, { index: 1, of: 2 }));
  const ofAll = ['valid', 40, false];
  for (const [first, second, expected] of /** @type {const} */ ([
    ['result', 'failed', ofAll],
    ['result', 'stopped', ofAll],
    ['result', 'other', ofAll],
    ['failed', 'result', ['invalid', 'fewer', true]],
  ])) {
    const { leader, where, texts } = await startLeader(t, plan, 2);
    startIdle(t, plan, where, ({ type, task, wallMs }, send) => {
      if (type !== 'start') return;
      const result = { ...measured, startedAt: new Date(wallMs).toISOString(), clockErrorMs: 0 };
      const answers = {
        result: { type: 'result', task, result },
        other: { type: 'result', task, result: {} },
        stopped: { type: 'stopped', task },
        failed: { type: 'failed', task, error: { code: 'x', message: 'Boom.' } },
      };
      for (const one of [first, second]) send(answers[one]);
    });
    await leader.complete(never);
    const { measurement, totals } = await leader.run(plan);
    leader.end();
    const { verdict, reasons } = measurement;
    assert.deepEqual(
      [verdict, totals.sent < 40 ? 'fewer' : totals.sent, texts.some((text) => text.includes('Boom'))],
      expected,
      `${first}, ${second}: ${reasons.map(({ text }) => text).join(' ')}`,
    );
  }
});

test('a wrong report or wrong figures of a second lose the part, before the live thread receives them', {
  timeout: 20_000,
}, async (t) => {
  const { url } = await startCounting(t);
  const plan = await planFor(url, { requests: 4, rate: 100, seed: 1 });
  const lag = { length: 1e9 };
  for (const message of [
    { type: 'report', thread: 0, report: { tally: { cells: [{ perSecond: { sent: lag } }] } } },
    { type: 'interval', interval: { sent: -1 } },
  ]) {
    const { leader, where } = await startLeader(t, plan, 2);
    startIdle(t, plan, where, ({ type, task }, send) => {
      if (type === 'start') send({ ...message, task });
    });
    await leader.complete(never);
    /** @type {unknown[]} */
    const posted = [];
    const port = { postMessage: (/** @type {unknown} */ one) => posted.push(one), close() {} };
    const live = { begin() {}, ports: () => [new MessageChannel().port2, /** @type {any} */ (port)] };
    const { measurement } = await leader.run(plan, { live });
    leader.end();
    assert.match(measurement.reasons.map(({ text }) => text).join(), /part 1 of 2 \(it sent something wrong/);
    assert.deepEqual(posted, []);
  }
});

test('of a part that floods the others, a hundred messages are shown', {
  timeout: 20_000,
}, async (t) => {
  const { url } = await startCounting(t);
  const plan = await planFor(url, { requests: 4, rate: 100, seed: 1 });
  const { leader, where, texts } = await startLeader(t, plan, 2);
  startFake(t, where, { index: 1, of: 2 }, ({ type, task }, send) => {
    if (type === 'welcome') send({ type: 'plans', plans: [plan] });
    if (type !== 'prepare') return;
    for (let i = 0; i < 150; i++) send({ type: 'event', task, text: `news ${i}` });
    send({ type: 'failed', task, error: { code: 'x', message: 'No.' } });
  });
  await leader.complete(never);
  await assert.rejects(leader.run(plan), /Part 1 of 2: No\./);
  leader.end();
  assert.equal(texts.filter((text) => text.includes('news')).length, 100);
});
