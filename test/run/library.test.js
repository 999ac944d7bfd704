/** `run()` as a library: events, results, errors with codes; it prints nothing and leaves nothing behind. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { startDevServer } from '../../src/dev/spawn.js';
import { createPlan, run } from '../../src/index.js';
import { scratch } from '../cli/support.js';
import { startTarget } from '../targets/start.js';
import { abortAndWait, runChecked, runHere, startFaultProxy } from './support.js';

/** @import { SpawnedDevServer } from '../../src/dev/spawn.js' */
/** @import { AddressInfo } from 'node:net' */
/** @import { RunEvent } from '../../src/run.js' */

/** @type {SpawnedDevServer} */
let server;
before(async () => {
  server = await startDevServer({ caKeyType: 'ec' });
});
after(() => server.stop());

/** @param {string} operation @param {Record<string, unknown>} options */
const planOf = (operation, options) =>
  createPlan(operation, { url: server.url, role: 'example-dot-com-ec', coldStart: true, ...options });

test('events come in order: notices, start, intervals, the result that is also returned', async () => {
  /** @type {RunEvent[]} */
  const events = [];
  const plan = await planOf('issue', { rate: '40/s', duration: '1s', warmup: '0.3s' });
  const result = await runChecked(plan, { token: server.token, onEvent: (event) => events.push(event) });
  const [start, ...rest] = events.filter(({ type }) => type !== 'notice' && type !== 'warning');
  assert.match([start, ...rest].map(({ type }) => type).join(), /^start(,interval)+,result$/);
  assert.deepEqual(
    start.type === 'start' && { planned: start.planned, url: start.target.url, plan: start.plan },
    { planned: 40, url: server.url, plan },
  );
  const last = rest.at(-1);
  assert.equal(last?.type === 'result' && last.result, result);
  assert.equal(result.totals.succeeded, 40);
  assert.doesNotMatch(JSON.stringify([events, result]), new RegExp(server.token));
});

describe('the rate of a closed loop with a number of requests', () => {
  test('is over the time that they took, if a longer one was planned', async () => {
    const plan = await planOf('ocsp', { requests: 5, concurrency: 1, duration: '1h' });
    const { windowSeconds, durationSeconds, rates } = await runChecked(plan, { token: server.token });
    assert.ok(durationSeconds < 3600);
    assert.equal(windowSeconds, durationSeconds);
    assert.ok(Math.abs((rates.perSecond * Number(windowSeconds)) / 5 - 1) < 1e-9);
  });

  test('is over the time until the last response, even if that is a failure', async (t) => {
    let requests = 0;
    const health = { initialized: true, sealed: false, standby: false, version: '1.21.1' };
    const failing = createServer(({ url }, response) => {
      if (url === '/v1/sys/health') response.end(JSON.stringify(health));
      else if (++requests <= 5) response.end();
      else setTimeout(() => response.destroy(), 300);
    }).listen(0, '127.0.0.1');
    t.after(() => failing.close());
    await once(failing, 'listening');
    const { port } = /** @type {AddressInfo} */ (failing.address());
    const load = { requests: 7, concurrency: 1, coldStart: true };
    const plan = await createPlan('http', {
      url: `http://127.0.0.1:${port}`,
      path: '/',
      token: 'none',
      ...load,
    });
    const { totals, windowSeconds } = await runChecked(plan, {});
    assert.deepEqual([totals.succeeded, totals.failed], [5, 2]);
    assert.ok(Number(windowSeconds) > 0.5, `${windowSeconds}`);
  });
});

test('a local address must be of the family of the address that the load goes to', async (t) => {
  const to = Number(new URL(server.url).port);
  const responder = createTcpServer((socket) => socket.pipe(connect(to, '127.0.0.1')).pipe(socket));
  try {
    await once(responder.listen(0, '::1'), 'listening');
  } catch {
    return t.skip('no IPv6');
  }
  t.after(() => responder.close());
  const { port } = /** @type {AddressInfo} */ (responder.address());
  const ocspUrl = `http://[::1]:${port}/v1/pki_int/ocsp`;
  const plan = await planOf('ocsp', { ocspUrl, localAddress: ['127.0.0.1'], requests: 5 });
  await assert.rejects(run(plan, { token: server.token }), {
    code: 'local_address_unusable',
    message: /"127\.0\.0\.1" is IPv4, but the target "::1" has no IPv4 address/,
  });
});

for (const shard of [undefined, '0/2', '1/2']) {
  test(`several local addresses are used alike${shard ? ` by part ${shard}` : ''}`, async (t) => {
    const seen = /** @type {Record<string, number>} */ ({});
    const to = Number(new URL(server.url).port);
    const relay = createTcpServer((socket) => {
      const address = String(socket.remoteAddress);
      seen[address] = (seen[address] ?? 0) + 1;
      socket.pipe(connect(to, '127.0.0.1').on('error', () => socket.destroy())).pipe(socket);
      socket.on('error', () => {});
    });
    await once(relay.listen(0, '127.0.0.1'), 'listening');
    t.after(() => relay.close());
    const { port } = /** @type {AddressInfo} */ (relay.address());
    const localAddress = ['127.0.0.2', '127.0.0.3'];
    const load = { concurrency: 8, duration: '100ms', threads: 2, seed: 1, shard };
    const plan = await createPlan('http', {
      ...{ url: `http://127.0.0.1:${port}`, path: '/v1/sys/health', token: 'none', localAddress, ...load },
    });
    await run(plan, {});
    const each = shard === undefined ? 4 : 2;
    assert.deepEqual([seen['127.0.0.2'], seen['127.0.0.3']], [each, each]);
  });
}

test('a run warns of local addresses that no connection has', async () => {
  const localAddress = ['127.0.0.2', '127.0.0.3'];
  const warningsOf = async (/** @type {object} */ load) => {
    /** @type {string[]} */
    const warnings = [];
    const given = { url: server.url, localAddress, requests: 2, threads: 1, coldStart: true };
    const plan = await createPlan('health', { ...given, ...load });
    await run(plan, { onEvent: (event) => void (event.type === 'warning' && warnings.push(event.text)) });
    return warnings.filter((text) => text.includes('--local-address'));
  };
  assert.deepEqual(await warningsOf({ concurrency: 2 }), []);
  assert.deepEqual(await warningsOf({ concurrency: 1 }), [
    '--local-address: 1 of 2 will be used, as at most 1 connection is open at a time. Raise --concurrency.',
  ]);
});

test('options of TCP connections are refused with a Unix socket', async (t) => {
  const path = scratch(t)('vault.sock');
  const health = { initialized: true, sealed: false, standby: false, version: '1.21.1' };
  const agent = createServer((_, response) => response.end(JSON.stringify(health))).listen(path);
  t.after(() => agent.close());
  await once(agent, 'listening');
  const url = `unix://${path}`;
  for (const [name, value] of [
    ['localAddress', ['127.0.0.1']],
    ['resolveEvery', '1s'],
    ['connectTo', ['::127.0.0.1:1']],
  ]) {
    const plan = await createPlan('http', { url, path: '/', token: 'none', [String(name)]: value });
    await assert.rejects(run(plan), { message: /^--\S+ is for TCP, but the load goes to a Unix socket/ });
  }
});

test('concurrent runs do not interfere with each other', async () => {
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

test('what a listener throws does not end the run: it is an uncaught exception of its own', async (t) => {
  const options = {
    url: server.url,
    role: 'example-dot-com-ec',
    requests: 30,
    rate: '20/s',
    coldStart: true,
  };
  const script = `
    import { createPlan, run } from '${new URL('../../src/index.js', import.meta.url)}';
    const plan = await createPlan('ocsp', ${JSON.stringify(options)});
    const thrown = [];
    process.on('uncaughtException', ({ message }) => thrown.push(message));
    const onEvent = ({ type }) => { throw new Error(type); };
    const { totals } = await run(plan, { token: '${server.token}', onEvent });
    setImmediate(() => console.log(JSON.stringify([totals.succeeded, [...new Set(thrown)].sort()])));`;
  const { stdout } = await promisify(execFile)(process.execPath, [scratch(t)('run.mjs', script)]);
  assert.deepEqual(JSON.parse(stdout), [30, ['interval', 'notice', 'progress', 'result', 'start']]);
});

test('a plan can be run again; it is not changed, and no listener is left on the signals', async () => {
  const plan = await planOf('ocsp', { requests: 5, seed: 9 });
  const copy = structuredClone(plan);
  const [signal, cutOff] = [new AbortController().signal, new AbortController().signal];
  for (let i = 0; i < 2; i++) {
    assert.equal((await runChecked(plan, { token: server.token, signal, cutOff })).totals.succeeded, 5);
  }
  assert.deepEqual(plan, copy);
  for (const one of [signal, cutOff]) assert.deepEqual(getEventListeners(one, 'abort'), []);
});

test('the caller may take over the clean-up: the result does not wait for it', async (t) => {
  const proxy = await startFaultProxy(server.url);
  t.after(proxy.close);
  proxy.aim(({ method }) => method === 'DELETE');
  const removing = new Promise((resolve) => proxy.inject(resolve));
  const stop = new AbortController();
  let closing = Promise.resolve();
  const result = await runChecked(
    await planOf('kv-write', { url: proxy.url, requests: 5, role: undefined }),
    {
      token: server.token,
      cutOff: stop.signal,
      onClosing: (promise) => {
        closing = promise.then(() => {});
      },
    },
  );
  assert.equal(result.totals.succeeded, 5);
  await removing;
  abortAndWait(t, stop);
  await closing;
});

for (const [operation, passed, success] of /** @type {const} */ ([
  ['issue', 5, 'issued'],
  // One more: the certificate that it asks about.
  ['ocsp', 6, 'good'],
])) {
  test(`${operation} on a target that fails halfway: every arrival has an outcome`, async (t) => {
    const proxy = await startFaultProxy(server.url, { passed });
    t.after(proxy.close);
    proxy.inject('close-in-body');
    const load = { role: 'example-dot-com-ec', rate: '50/s', requests: 20, concurrency: 20, timeout: '60s' };
    const result = await runHere(operation, { ...load, url: proxy.url }, server.token);
    assert.deepEqual(result.outcomes, { [success]: 5, truncated: 15 });
    assert.equal(result.totals.planned, 20);
  });
}

test('a cold start skips the warm-up and its server thread, and the plan records it', async () => {
  let threads = 0;
  const onWorker = () => threads++;
  process.on('worker', onWorker);
  /** @type {number[]} */
  const started = [];
  for (const coldStart of [true, false]) {
    threads = 0;
    const plan = await planOf('ocsp', { requests: 3, coldStart });
    assert.equal(plan.load.coldStart, coldStart);
    const { totals } = await runChecked(plan, { token: server.token });
    assert.equal(totals.succeeded, 3);
    started.push(threads);
  }
  process.off('worker', onWorker);
  assert.ok(started[1] > started[0], `${started}`);
  assert.equal((await createPlan('ocsp', {})).load.coldStart, false);
});

describe('signals', () => {
  test('aborted before the run: nothing is sent', async () => {
    const target = await startTarget({ behaviour: 'ok' });
    try {
      const plan = await createPlan('issue', { url: target.url });
      const options = { token: 'x', signal: AbortSignal.abort() };
      await assert.rejects(run(plan, options), { name: 'PkiLoadError', code: 'interrupted', exitCode: 130 });
      assert.deepEqual(await target.arrivals(), []);
    } finally {
      await target.stop();
    }
  });

  test('aborted during the run: the result covers the requests so far', async () => {
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

  test('listeners are removed', async () => {
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

test('createPlan throws a coded error', async () => {
  for (const [operation, options, code] of /** @type {[string, Record<string, unknown>, string][]} */ ([
    ['revoke-all', {}, 'unknown_operation'],
    ['issue', { speed: 5 }, 'unknown_option'],
    ['issue', { duration: Number.NaN }, 'bad_duration'],
    ['issue', { sign: 'yes' }, 'bad_option'],
  ])) {
    await assert.rejects(createPlan(operation, options), { name: 'PkiLoadError', code, exitCode: 1 });
  }
});

/** @type {[string, Record<string, unknown>, string | null, string, number][]} */
const REFUSALS = [
  ['nothing listens', { url: 'http://127.0.0.1:1' }, 'x', 'connection_refused', 2],
  ['no token', {}, null, 'no_token', 1],
  ['no such role', { role: 'nope' }, 'right', 'role_not_found', 2],
  ['no such mount', { mount: 'nope' }, 'right', 'mount_not_found', 2],
];

describe('run throws a coded error for', () => {
  for (const [what, options, token, code, exitCode] of REFUSALS) {
    test(what, async () => {
      const plan = await planOf('issue', options);
      const given = token === 'right' ? server.token : token;
      await assert.rejects(run(plan, { token: given }), { name: 'PkiLoadError', code, exitCode });
    });
  }
});
