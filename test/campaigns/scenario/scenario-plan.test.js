import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readScenario } from '../../../src/campaigns/scenario/read.js';
import { planRun } from '../../../src/campaigns/scenario/scenario-steps.js';
import { PkiLoadError } from '../../../src/common/errors.js';
import { commonOptions } from '../../../src/plan/common-options.js';
import { HEAD, NOTHING_SET, readAndPlan } from './read.js';

/** @import { Plan } from '../../../src/plan/plan.js' */

const WHOLE = `name: n
target: {url: 'http://file:8200', mount: file, namespace: file, ca-cert: file.pem, ca-path: file, client-cert: file.crt, client-key: file.key, client-certs: file, tls-server-name: file, tls-skip-verify: true}
load: {rate: 5, concurrency: 5, requests-per-connection: 5, tls-resumption: off, local-address: [127.0.0.5], duration: 5s, requests: 5, arrivals: poisson, ramp-up: 5s, warmup: 5s, overflow: drop, timeout: 5s, threads: 5, pacing: spin, seed: 5}
mix: [{operation: issue, options: {role: file}}]
require: ['p99<5s']
`;

/** Each flag, and what of the plan it changes. @type {[string, unknown, (plan: Plan) => unknown, unknown][]} */
const FLAGS = [
  ['url', 'http://flag:8200', ({ target }) => target.url, 'http://flag:8200'],
  ['connect-to', ['a:1:b:2'], ({ target }) => target.connectTo, ['a:1:b:2']],
  ['mount', 'flag', ({ target }) => target.mount, 'flag'],
  ['namespace', 'flag', ({ target }) => target.namespace, 'flag'],
  ['ca-cert', 'flag', ({ target }) => target.tls.caCert, 'flag'],
  ['ca-path', 'flag', ({ target }) => target.tls.caPath, 'flag'],
  ['client-cert', 'flag', ({ target }) => target.tls.clientCert, 'flag'],
  ['client-key', 'flag', ({ target }) => target.tls.clientKey, 'flag'],
  ['client-certs', 'flag', ({ target }) => target.tls.clientCerts, 'flag'],
  ['tls-server-name', 'flag', ({ target }) => target.tls.serverName, 'flag'],
  ['tls-skip-verify', 'false', ({ target }) => target.tls.skipVerify, false],
  ['rate', '7/s', ({ load }) => load.ratePerSecond, 7],
  ['concurrency', '7', ({ load }) => load.concurrency, 7],
  ['requests-per-connection', '7', ({ load }) => load.requestsPerConnection, 7],
  ['http', '2', ({ load }) => load.streamsPerConnection, 100],
  ['tls-resumption', 'on', ({ load }) => load.resumesTls, true],
  ['local-address', ['127.0.0.7'], ({ load }) => load.localAddresses, ['127.0.0.7']],
  ['resolve-every', '7s', ({ load }) => load.resolveEveryMs, 7000],
  ['duration', '7s', ({ load }) => load.durationMs, 7000],
  ['requests', '7', ({ load }) => load.requests, 7],
  ['arrivals', 'constant', ({ load }) => load.arrivals, 'constant'],
  ['ramp-up', '7s', ({ load }) => load.rampUpMs, 7000],
  ['warmup', '7s', ({ load }) => load.warmupMs, 7000],
  ['overflow', 'queue', ({ load }) => load.overflow, 'queue'],
  ['timeout', '7s', ({ load }) => load.timeoutMs, 7000],
  ['threads', '2', ({ load }) => load.threads, 2],
  ['pacing', 'sleep', ({ load }) => load.pacing, 'sleep'],
  ['cold-start', true, ({ load }) => load.coldStart, true],
  ['seed', '7', ({ load }) => load.seed, 7],
];

describe('a flag overrides the file:', () => {
  for (const [name, value, of, expected] of FLAGS) {
    test(name, async () => {
      const { plan: before } = await readAndPlan(WHOLE);
      assert.notDeepEqual(of(before), expected);
      assert.deepEqual(of((await readAndPlan(WHOLE, { flags: { [name]: value } })).plan), expected);
    });
  }

  test('10 stages of 1,000 steps are planned', async () => {
    const stages = Array(10).fill('{steps: {from: 1, to: 1000, by: 1, every: 1s}}').join(', ');
    const { plan } = await readAndPlan(`${HEAD}stages: [${stages}]\n`);
    assert.deepEqual([plan.load.ratePerSecond, plan.load.durationMs], [1000, 10_000_000]);
  });

  test('the table above covers every flag of target and load', () => {
    const looked = new Set([
      ...FLAGS.map(([name]) => name),
      'dev',
      'tls',
      'connections',
      'streams',
      'timeout_ms',
      'shard',
      'start-at',
    ]);
    const all = Object.entries(commonOptions).filter(
      ([, { group }]) => group === 'Target' || group === 'Load',
    );
    const told = all.map(([name]) => name).filter((name) => !looked.has(name));
    assert.deepEqual(told, []);
  });

  test('requirements are added', async () => {
    const { plan } = await readAndPlan(WHOLE, { flags: { require: ['errors<1%'] } });
    const texts = plan.requirements.map(({ text }) => text);
    assert.deepEqual(texts, ['p99<5s', 'errors<1%']);
  });

  test('timeout_ms, if the file has no timeout', async () => {
    const { plan } = await readAndPlan(`${HEAD}load: {rate: 5}\n`, { flags: { timeout_ms: 70 } });
    assert.equal(plan.load.timeoutMs, 70);
  });

  test('a flag that says the same in another way', async () => {
    const text = `${HEAD}load: {rate: 5, timeout: 5s, connections: new}\n`;
    const flags = { timeout_ms: 70, 'requests-per-connection': 5 };
    const { load } = (await readAndPlan(text, { flags })).plan;
    assert.deepEqual([load.timeoutMs, load.requestsPerConnection], [70, 5]);
  });
});

const STAGED = `${HEAD}stages:\n  - hold: {rate: 5, duration: 2s}\n    require: ['p99<1s']\nrequire: ['errors<1%']\n`;
const CLOSED = `${HEAD}load: {model: closed}\nstages: [{hold: {concurrency: 3, duration: 2s}}]\n`;

describe('stages:', () => {
  test('are the load, and their maximum is its level', async () => {
    const { plan } = await readAndPlan(STAGED);
    assert.deepEqual([plan.load.model, plan.load.ratePerSecond, plan.load.durationMs], ['open', 5, 2000]);
    assert.deepEqual(
      plan.requirements.map(({ text, stage }) => [text, stage]),
      [
        ['errors<1%', undefined],
        ['hold: p99<1s', 'hold'],
      ],
    );
    const closed = await readAndPlan(CLOSED);
    assert.deepEqual([closed.plan.load.model, closed.plan.load.concurrency], ['closed', 3]);
  });

  test('are replaced by a rate, together with their requirements', async () => {
    const { plan } = await readAndPlan(STAGED, { flags: { rate: '9', duration: '1s' } });
    assert.deepEqual([plan.load.stages, plan.load.ratePerSecond, plan.load.durationMs], [null, 9, 1000]);
    const texts = plan.requirements.map(({ text }) => text);
    assert.deepEqual(texts, ['errors<1%']);
  });

  test('stay if a flag does not concern them', async () => {
    const { plan } = await readAndPlan(STAGED, { flags: { concurrency: '50', timeout: '1s' } });
    assert.deepEqual([plan.load.stages?.length, plan.load.concurrency], [1, 50]);
  });

  /** @type {[string, string, Record<string, unknown>, RegExp][]} */
  const REFUSED = [
    [
      'a duration without a rate',
      STAGED,
      { duration: '1s' },
      /--duration replaces the stages .* there is no rate\. Add --rate/,
    ],
    [
      'a rate, if the stages set requests in flight',
      CLOSED,
      { rate: '5' },
      /--rate replaces .* there is no concurr/,
    ],
    [
      'a duration alone, if the stages set requests in flight',
      CLOSED,
      { duration: '5s' },
      /Add --concurrency, or leave --duration out/,
    ],
    [
      'a rate for a closed loop',
      `${HEAD}load: {model: closed}\n`,
      { rate: 5 },
      /^--rate conflicts with model: closed in n\. /,
    ],
    [
      'a flag against the file',
      `${HEAD}load: {concurrency: 2}\n`,
      { threads: '4' },
      /^s\.yaml:3:21: load\.concurrency: --threads 4 is more than concurrency 2/,
    ],
    ['contradicting flags', HEAD, { threads: '4', concurrency: '2' }, /^--threads 4 is more than --con/],
  ];
  for (const [what, text, flags, message] of REFUSED) {
    test(`rejected: ${what}`, async () => {
      await assert.rejects(
        () => readAndPlan(text, { flags }),
        (error) => error instanceof PkiLoadError && message.test(error.full),
      );
    });
  }
});

const TWO = `${HEAD}targets:\n  - {name: a, url: 'http://a:8200', namespace: x, token-env: A, ca-cert: a.pem, tls-skip-verify: true}\n  - {name: b, url: 'http://b:8200', mount: own}\n`;

describe('--dev:', () => {
  test('replaces each target with an embedded server', async () => {
    const { plans } = await readAndPlan(TWO, { flags: { dev: true } });
    const [a, b] = plans;
    assert.deepEqual(
      [a.dev, a.target.url, a.target.namespace, a.target.mount],
      [true, 'http://127.0.0.1:8200', null, 'pki_int'],
    );
    assert.deepEqual(a.target.tls, { ...NOTHING_SET.tls, clientCerts: null });
    assert.deepEqual([b.dev, b.target.mount], [true, 'own']);
  });

  test('is rejected together with --url', async () => {
    await assert.rejects(
      () => readAndPlan(TWO, { flags: { dev: true, url: 'http://c:8200' } }),
      /--dev starts its own server, but --url names another/,
    );
  });
});

/** @type {[string, string, Record<string, unknown>, string][]} */
const MOUNTS = [
  ['that of the setup', `${HEAD}setup: {name: load}\n`, {}, 'load-int'],
  ['that of a setup with the default name', `${HEAD}setup: true\n`, {}, 'vault-pki-load-int'],
  ['that of the target, if it names one', `${HEAD}setup: true\ntarget: {mount: mine}\n`, {}, 'mine'],
  ['that of the flag', `${HEAD}setup: true\n`, { mount: 'flag' }, 'flag'],
  ['the default with --dev, which needs no setup', `${HEAD}setup: true\n`, { dev: true }, 'pki_int'],
  ['the default if setup is false', `${HEAD}setup: false\n`, {}, 'pki_int'],
];

for (const [what, text, flags, mount] of MOUNTS) {
  test(`the mount is ${what}`, async () => {
    assert.equal((await readAndPlan(text, { flags })).plan.target.mount, mount);
  });
}

test('a setup is read with its defaults', async () => {
  const { setup } = (await readAndPlan(`${HEAD}setup: true\n`)).scenario;
  assert.deepEqual(setup, {
    name: 'vault-pki-load',
    caKeyType: null,
    autoRebuild: null,
    with: [],
    keep: false,
  });
  const { scenario } = await readAndPlan(
    `${HEAD}setup: {name: load, ca-key-type: ec, auto-rebuild: true, with: [kv, kv, approle], keep: true}\n`,
  );
  assert.deepEqual(scenario.setup, {
    name: 'load',
    caKeyType: 'ec',
    autoRebuild: true,
    with: ['kv', 'approle'],
    keep: true,
  });
  assert.equal((await readAndPlan(HEAD)).scenario.setup, null);
});

test('a run inherits all fields that it does not set', async () => {
  const { scenario, plans } = await readAndPlan(
    `name: n\nload: {rate: 5, concurrency: 3}\nmix: [{operation: crl}]\nrequire: ['p99<1s']\nruns:\n  - {name: a}\n  - {name: b, load: {rate: 9}, mix: [{operation: health}], require: ['p50<1s']}\n`,
  );
  const names = scenario.runs.map(({ name }) => name);
  assert.deepEqual(names, ['a', 'b']);
  assert.deepEqual(
    plans.map(({ load, mix, requirements }) => [
      load.ratePerSecond,
      load.concurrency,
      mix?.[0].operation,
      requirements[0].text,
    ]),
    [
      [5, 3, 'crl', 'p99<1s'],
      [9, 3, 'health', 'p50<1s'],
    ],
  );
});

test('the environment supplies what neither file nor flags set', async () => {
  const { runs, targets } = await readScenario(HEAD, 's.yaml', {});
  const environment = { ...NOTHING_SET, address: 'http://env:8200', namespace: 'env' };
  const plan = await planRun(runs[0], targets[0], {}, environment);
  assert.deepEqual([plan.target.url, plan.target.namespace], ['http://env:8200', 'env']);
});

test('variables: the environment overrides the default, inside longer text too', async () => {
  const text = `env: [HOST=vault, N]\n${HEAD}target: {url: 'https://\${HOST}.example.com:\${N}'}\nload: {rate: '\${N}/h'}\n`;
  const url = async (/** @type {Record<string, string>} */ env) =>
    (await readAndPlan(text, { env, allowEnv: ['HOST'] })).plan.target.url;
  assert.equal(await url({ N: '8200' }), 'https://vault.example.com:8200');
  assert.equal(await url({ N: '8200', HOST: 'other' }), 'https://other.example.com:8200');
});
