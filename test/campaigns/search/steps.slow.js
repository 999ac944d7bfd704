/** Steps on a server that says it is a Vault: what comes before a step, and what all of them are prepared for. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSteps } from '../../../src/campaigns/search/steps.js';
import { createPlan, readEnvironment } from '../../../src/index.js';

/** @import { RunEvent } from '../../../src/run.js' */
/** @import { AddressInfo } from 'node:net' */
/** @import { TestContext } from 'node:test' */

const TOKEN = 'a-token';
const SLOW_MS = 500;

/** @param {object} token what it says of the token */
async function startVault(token = {}) {
  const state = {
    isSlow: false,
    paths: /** @type {string[]} */ ([]),
    onSlow: () => {},
    isSilent: (/** @type {boolean} */ _isHealth) => false,
  };
  const server = createServer(async (request, response) => {
    const path = String(request.url);
    state.paths.push(path);
    const isHealth = path.endsWith('/v1/sys/health');
    if (state.isSilent(isHealth)) return;
    if (state.isSlow && isHealth) {
      await sleep(SLOW_MS);
      state.onSlow();
    }
    const isRefused = state.isSlow && !isHealth;
    response.writeHead(isRefused ? 503 : 200, { 'content-type': 'application/json' });
    const health = { initialized: true, sealed: false, standby: false, version: '1.21.1' };
    const data = { id: TOKEN, policies: ['root'], expire_time: null, ttl: 0, ...token };
    response.end(JSON.stringify(isRefused ? { errors: ['busy'] } : isHealth ? health : { data }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)));
  const { port } = /** @type {AddressInfo} */ (server.address());
  return {
    state,
    url: `http://127.0.0.1:${port}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/**
 * @param {TestContext} t
 * @param {{token?: object, base?: string, load?: Record<string, unknown>, recoverMs?: number, maxWaitMs?: number}} given `base`: path of the address
 */
async function stepsOn(t, { token, base = '', load = {}, recoverMs = 1, maxWaitMs }) {
  const vault = await startVault(token);
  t.after(vault.stop);
  const given = { url: `${vault.url}${base}`, rate: 50, duration: '200ms', seed: 1, ...load };
  const plan = await createPlan('token-lookup', given, readEnvironment({}));
  /** @type {string[]} */
  const said = [];
  const onEvent = (/** @type {RunEvent} */ event) => {
    if (event.type === 'warning' || event.type === 'notice') said.push(event.text);
  };
  const stop = new AbortController();
  const steps = openSteps(plan, {
    token: TOKEN,
    command: '',
    recoverMs,
    maxWaitMs,
    onEvent,
    signal: stop.signal,
  });
  t.after(() => steps.close());
  return { vault, said, stop, step: () => steps.run(plan, { onEvent }) };
}

test('a step with its own preparation waits for recovery from the previous step', async (t) => {
  const { vault, step } = await stepsOn(t, { load: { arrivals: 'poisson' } });
  await step();
  // Overloaded until it has been looked at three times: whoever wants more of it meanwhile is refused.
  let looks = 0;
  vault.state.onSlow = () => {
    if (++looks === 3) vault.state.isSlow = false;
  };
  vault.state.isSlow = true;
  const { recovery, result } = await step();
  assert.ok(looks >= 3 && recovery.recovered && recovery.waitedMs > 0, JSON.stringify(recovery));
  assert.ok(result.totals.succeeded > 0);
});

test('steps that share a preparation do not begin once the token expires too soon', async (t) => {
  const token = {};
  const { step } = await stepsOn(t, { token });
  assert.ok((await step()).result.totals.succeeded > 0);
  Object.assign(token, { ttl: 10, expire_time: '2030-01-01T00:00:00Z', renewable: false });
  await assert.rejects(step(), { code: 'token_expires', exitCode: 2 });
});

test('the search ends if the target has gone, and did not respond in all the time to recover', async (t) => {
  const { vault, step } = await stepsOn(t, { maxWaitMs: 300 });
  await step();
  await vault.stop();
  await assert.rejects(step(), {
    code: 'target_down',
    exitCode: 2,
    message: /did not respond for .* after the previous step/,
  });
});

test('all calls are below the base path of the address', async (t) => {
  const { vault, step } = await stepsOn(t, { base: '/vault', load: { arrivals: 'poisson' } });
  await step();
  await step();
  assert.ok(vault.state.paths.length > 10);
  for (const path of vault.state.paths) assert.match(path, /^\/vault\/v1\//);
});

test('a step with its own preparation has one pause, not two', async (t) => {
  const recoverMs = 4000;
  const { step } = await stepsOn(t, { load: { arrivals: 'poisson' }, recoverMs });
  await step();
  const { waitedMs } = (await step()).recovery;
  assert.ok(waitedMs >= recoverMs - 1 && waitedMs < 2 * recoverMs, `${waitedMs}`);
});

/** @type {[string, Record<string, unknown>, number][]} */
const SILENT = [
  ['at rest, before the first step', {}, 0],
  ['after a step, before one with its own preparation', { arrivals: 'poisson' }, 1],
];

for (const [when, load, made] of SILENT) {
  test(`a stop does not wait for the response to a recovery probe ${when}`, async (t) => {
    const { vault, step, stop } = await stepsOn(t, { load });
    for (let i = 0; i < made; i++) await step();
    // What prepares the first step asks first.
    let [others, looks] = [1 - made, 0];
    vault.state.isSilent = (isHealth) => {
      if (!isHealth || others-- > 0) return false;
      looks++;
      stop.abort();
      return true;
    };
    await assert.rejects(step(), { code: 'interrupted' });
    assert.equal(looks, 1);
  });
}

test('a shared preparation renews an expiring token, and warns once', async (t) => {
  const { step, said } = await stepsOn(t, { token: { ttl: 3600, renewable: true, expire_time: 'x' } });
  await step();
  await step();
  const told = said.filter((text) => /token/.test(text));
  assert.deepEqual(told, ['The token expires in 1 h; it will be renewed during the run.']);
});

test('rejects a token with a use limit', async (t) => {
  const { step } = await stepsOn(t, { token: { num_uses: 1000 } });
  await assert.rejects(step(), { code: 'token_use_limit' });
});
