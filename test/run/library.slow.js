/** `run()` as a library: events, results, errors with codes; it prints nothing and leaves nothing behind. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startDevServer } from '../../src/dev/spawn.js';
import { createPlan, PkiLoadError, run } from '../../src/index.js';
import { startTarget } from '../targets/start.js';
import { runChecked } from './support.js';

/** @typedef {import('../../src/run.js').RunEvent} RunEvent */

/** @type {import('../../src/dev/spawn.js').SpawnedDevServer} */
let server;
before(async () => {
  server = await startDevServer({ caKeyType: 'ec' });
});
after(() => server.stop());

/** @param {string} operation @param {Record<string, unknown>} options */
const planOf = (operation, options) =>
  createPlan(operation, { url: server.url, role: 'example-dot-com-ec', ...options });

test('events come in order: notices, start, intervals, the result that is also returned', async () => {
  /** @type {RunEvent[]} */
  const events = [];
  const plan = await planOf('issue', { rate: '40/s', duration: '2s', warmup: '0.5s' });
  const result = await runChecked(plan, { token: server.token, onEvent: (event) => events.push(event) });
  const [start, ...rest] = events.filter(({ type }) => type !== 'notice' && type !== 'warning');
  assert.match([start, ...rest].map(({ type }) => type).join(), /^start(,interval)+,result$/);
  assert.deepEqual(
    start.type === 'start' && { planned: start.planned, url: start.target.url, plan: start.plan },
    { planned: 80, url: server.url, plan },
  );
  const last = rest.at(-1);
  assert.equal(last?.type === 'result' && last.result, result);
  assert.equal(result.totals.succeeded, 80);
  assert.doesNotMatch(JSON.stringify([events, result]), new RegExp(server.token));
});

test('runs side by side do not mix', async () => {
  const plans = [
    await planOf('issue', { requests: 15, rate: '30/s', seed: 1 }),
    await planOf('ocsp', { requests: 25, concurrency: 3, seed: 2 }),
    await planOf('ocsp', { requests: 35, rate: '100/s', threads: 2, seed: 3 }),
  ];
  const results = await Promise.all(plans.map((plan) => runChecked(plan, { token: server.token })));
  assert.deepEqual(
    results.map(({ totals, outcomes }) => [totals.succeeded, Object.keys(outcomes)]),
    [
      [15, ['issued']],
      [25, ['good']],
      [35, ['good']],
    ],
  );
});

test('a plan can be run again, and is not changed by it', async () => {
  const plan = await planOf('ocsp', { requests: 5, seed: 9 });
  const copy = structuredClone(plan);
  for (let i = 0; i < 2; i++) {
    assert.equal((await runChecked(plan, { token: server.token })).totals.succeeded, 5);
  }
  assert.deepEqual(plan, copy);
});

describe('signals', () => {
  test('aborted before: nothing is asked', async () => {
    const target = await startTarget({ behaviour: 'ok' });
    try {
      const plan = await createPlan('issue', { url: target.url });
      const options = { token: 'x', signal: AbortSignal.abort() };
      await assert.rejects(run(plan, options), (error) => {
        assert.ok(error instanceof PkiLoadError);
        assert.deepEqual([error.code, error.exitCode], ['interrupted', 130]);
        return true;
      });
      assert.deepEqual(await target.arrivals(), []);
    } finally {
      await target.stop();
    }
  });

  test('aborted in between: what was measured is the result', async () => {
    const stop = new AbortController();
    const plan = await planOf('ocsp', { rate: '50/s', duration: '10m' });
    const result = await runChecked(plan, {
      token: server.token,
      signal: stop.signal,
      onEvent: ({ type }) => type === 'interval' && stop.abort(),
    });
    assert.equal(result.interrupted, true);
    assert.ok(result.totals.succeeded > 0);
    assert.equal(result.totals.planned, 30_000);
  });

  test('listeners are taken off again', async () => {
    const stop = new AbortController();
    let listeners = 0;
    const { addEventListener, removeEventListener } = AbortSignal.prototype;
    stop.signal.addEventListener = function add(/** @type {any[]} */ ...args) {
      listeners++;
      return addEventListener.apply(this, /** @type {any} */ (args));
    };
    stop.signal.removeEventListener = function remove(/** @type {any[]} */ ...args) {
      listeners--;
      return removeEventListener.apply(this, /** @type {any} */ (args));
    };
    const plan = await planOf('ocsp', { requests: 5 });
    await runChecked(plan, { token: server.token, signal: stop.signal });
    assert.equal(listeners, 0);
  });
});

/** @type {[string, string, Record<string, unknown>, string, number][]} */
const MISUSE = [
  ['an unknown operation', 'revoke-all', {}, 'unknown_operation', 1],
  ['an unknown option', 'issue', { speed: 5 }, 'unknown_option', 1],
  ["another operation's option", 'issue', { ocspUrl: 'http://x' }, 'unknown_option', 1],
  ['a rate that is none', 'issue', { rate: 'fast' }, 'bad_rate', 1],
  ['a duration that is none', 'issue', { duration: Number.NaN }, 'bad_duration', 1],
  ['a contradiction', 'issue', { rate: 5, threads: 20 }, 'contradiction', 1],
  ['a number out of range', 'issue', { concurrency: 0 }, 'out_of_range', 1],
  ['a flag that is no boolean', 'issue', { sign: 'yes' }, 'bad_option', 1],
  ['a requirement that is none', 'issue', { require: ['p99'] }, 'bad_requirement', 1],
];

describe('createPlan throws a coded error for', () => {
  for (const [what, operation, options, code, exitCode] of MISUSE) {
    test(what, async () => {
      await assert.rejects(createPlan(operation, options), (error) => {
        assert.ok(error instanceof PkiLoadError);
        assert.deepEqual([error.code, error.exitCode], [code, exitCode]);
        return true;
      });
    });
  }
});

/** @type {[string, Record<string, unknown>, string | null, string, number][]} */
const REFUSALS = [
  ['nobody there', { url: 'http://127.0.0.1:1' }, 'x', 'connection_refused', 2],
  ['no token', {}, null, 'no_token', 1],
  ['no such role', { role: 'nope' }, 'right', 'role_not_found', 2],
  ['no such mount', { mount: 'nope' }, 'right', 'mount_not_found', 2],
];

describe('run throws a coded error for', () => {
  for (const [what, options, token, code, exitCode] of REFUSALS) {
    test(what, async () => {
      const plan = await planOf('issue', options);
      await assert.rejects(run(plan, { token: token === 'right' ? server.token : token }), (error) => {
        assert.ok(error instanceof PkiLoadError, String(error));
        assert.deepEqual([error.code, error.exitCode], [code, exitCode]);
        return true;
      });
    });
  }
});
