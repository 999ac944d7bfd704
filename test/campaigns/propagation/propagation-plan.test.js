import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planPropagation } from '../../../src/campaigns/propagation/propagation-plan.js';
import { readEnvironment } from '../../../src/vault/environment.js';

const nothing = readEnvironment({ HOME: '/nonexistent' });

test('defaults', () => {
  const { seed, ...plan } = planPropagation({}, nothing);
  assert.ok(Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32);
  assert.deepEqual(
    { ...plan, target: plan.target.url },
    {
      dev: false,
      target: 'http://127.0.0.1:8200',
      nodes: [],
      role: 'example-dot-com',
      cn: 'localhost',
      ttlMs: null,
      certificates: 50,
      concurrency: 2,
      pauseMs: 100,
      pollMs: 20,
      giveUpMs: 60_000,
      timeoutMs: 10_000,
      requirements: [],
    },
  );
  assert.ok(Object.isFrozen(plan.target));
});

test('options as text or values, by kebab-case or camelCase name', () => {
  const plan = planPropagation(
    {
      node: ['http://a:1/', 'http://b:2'],
      'give-up': '5s',
      pollMs: undefined,
      poll: '10ms',
      pause: 0,
      seed: 3,
      require: ['p99<2s'],
      ttl: '2h',
    },
    nothing,
  );
  assert.deepEqual(plan.nodes, ['http://a:1', 'http://b:2']);
  assert.deepEqual(
    [plan.giveUpMs, plan.pollMs, plan.pauseMs, plan.seed, plan.ttlMs],
    [5000, 10, 0, 3, 7_200_000],
  );
  assert.deepEqual([plan.requirements[0].metric, plan.requirements[0].limit], ['percentile', 2000]);
});

test('target and timeout from the environment', () => {
  const plan = planPropagation(
    {},
    readEnvironment({ HOME: '/nonexistent', VAULT_ADDR: 'https://v:1', VAULT_CLIENT_TIMEOUT: '3s' }),
  );
  assert.deepEqual([plan.target.url, plan.timeoutMs], ['https://v:1', 3000]);
});

/** @type {[Record<string, unknown>, RegExp][]} */
const WRONG = [
  [{ certificates: 0 }, /--certificates is "0"; it must be at least 1/],
  [{ certificates: 20_000 }, /--certificates is "20000"; it must be at most 10000/],
  [{ poll: '0ms' }, /--poll is "0ms"; it must be at least 1 ms/],
  [{ poll: '2s', 'give-up': '1s' }, /--give-up is shorter than --poll/],
  [{ node: ['http://a', 'http://a/'] }, /--node http:\/\/a is given twice/],
  [{ node: ['a:8200'] }, /--node is "a:8200", which is not an http/],
  [{ dev: true, node: ['http://a'] }, /--dev starts its own server, but --node names others/],
  [{ dev: true, url: 'http://a' }, /--dev starts its own server, but --url names another/],
  [{ require: ['rate>=5/s'] }, /propagation measures no rate/],
  [{ require: ['p99(service)<1s'] }, /propagation measures only one kind of delay/],
  [{ require: ['p50>1s'] }, /only the upper bound of a delay is known/],
  [{ require: ['min>=1ms'] }, /only the upper bound/],
  [{ require: ['p99<1'] }, /has no unit/],
  [{ rate: 5 }, /propagation has no option "rate"/],
  [{ url: ['http://a', 'http://b'] }, /--url is given 2 times/],
];

for (const [given, message] of WRONG) {
  test(`rejected: ${JSON.stringify(given)}`, () => {
    assert.throws(() => planPropagation(given, nothing), { name: 'PkiLoadError', exitCode: 1, message });
  });
}
