import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { describeSteps } from '../../../src/campaigns/scenario/describe.js';
import { readOptions } from '../../../src/common/options.js';
import { loadOperation, operations } from '../../../src/operations/index.js';
import { HEAD, readAndPlan } from './read.js';

/**
 * @param {string} text
 * @param {Record<string, unknown>} [flags]
 * @param {Partial<{repeat: number, pauseMs: number, out: string[]}>} [settings]
 */
async function described(text, flags = {}, settings = {}) {
  const { scenario, plans } = await readAndPlan(text, { flags });
  const steps = plans.map((plan, i) => ({ name: `step ${i + 1}`, plan }));
  return describeSteps(scenario, steps, { repeat: 1, pauseMs: 0, out: [], ...settings });
}

/** @type {[string, string, RegExp, Record<string, unknown>?][]} */
const SAYS = [
  ['the address', `${HEAD}target: {url: 'http://v:8200'}\n`, /^Target {8}http:\/\/v:8200$/m],
  [
    'the embedded server',
    `${HEAD}target: {url: 'http://v:8200'}\n`,
    /^Target {8}an embedded/m,
    { dev: true },
  ],
  ['no number of requests for a closed loop', HEAD, /^Requests {6}as many as the target can handle$/m],
  ['a number of requests', `${HEAD}load: {requests: 1200}\n`, /^Requests {6}1,200$/m],
  [
    'arrivals, and those of the warm-up',
    `${HEAD}load: {rate: 5, duration: 10s, warmup: 2s}\n`,
    /^Requests {6}50, after a warm-up of 2 s with 10 more$/m,
  ],
  [
    'a name of its own',
    'name: n\nmix: [{operation: http, name: bad token}]\n',
    /^bad token \(http\) +100 % /m,
  ],
  [
    'stages in flight',
    `${HEAD}load: {model: closed}\nstages: [{ramp: {from: 1, to: 9, duration: 2s}}]\n`,
    /^ramp +0 ms +2 s +1 in flight +9 in flight +9 in flight +–$/m,
  ],
  [
    'the peak of a burst',
    `${HEAD}stages: [{burst: {base: 1, peak: 9, every: 2s, for: 1s, duration: 4s}}]\n`,
    /^burst +0 ms +4 s +9\/s +9\/s +1\/s +20$/m,
  ],
  ['the requirements', `${HEAD}require: ['p99<1s', 'errors<1%']\n`, /^Required {6}p99<1s\n {14}errors<1%$/m],
  ['the leftovers', HEAD, /^Left behind {3}issue: certificates in storage/m],
  ['no leftovers', 'name: n\nmix: [{operation: crl}, {operation: transit}]\n', /^Left behind {3}nothing$/m],
  ['no leftovers with --dev', HEAD, /^Left behind {3}nothing: the embedded server/m, { dev: true }],
  [
    'that an existing store keeps the secrets',
    'name: n\nmix: [{operation: kv-write, options: {kv-mount: mine}}]\n',
    /kv-write: the secrets, in mine below/,
  ],
  [
    'that removing a setup removes its content',
    `${HEAD}setup: {name: load}\n`,
    /^ {14}these only until the setup is removed, with everything in load-int$/m,
  ],
  [
    'that a setup stays',
    `${HEAD}setup: {name: load, keep: true}\n`,
    /^Removed {7}never \(keep\); to remove it:\n {2}vault-pki-load teardown --name load --url http:\/\/127\.0\.0\.1:8200$/m,
  ],
  [
    'the objects of a setup',
    `${HEAD}setup: {name: load, with: [kv, approle]}\n`,
    /load-root \(pki\)[\s\S]*load-int \(pki\)[\s\S]*load-kv \(kv\)[\s\S]*auth\/load-approle \(approle\)/,
  ],
  [
    'the options of operations, and those of the target',
    `name: n
target: {url: 'http://v:8200', tls-skip-verify: true, namespace: a&b}
mix:
  - {operation: http, options: {method: POST, header: 'X-A: 1', path: /v1/x, body: '{"a":1}'}}
  - {operation: sign, options: {ttl: 1h, cn: a.b}}
`,
    /^Target {8}http:\/\/v:8200\n {14}--namespace 'a&b' --tls-skip-verify\n[\s\S]*^Options {7}http: method POST, path \/v1\/x, header 'X-A: 1', body '\{"a":1\}'\n {14}sign: cn a\.b, ttl 1 h$/m,
  ],
  ['--dev needs no setup', `${HEAD}setup: true\n`, /^Set up {8}nothing: the embedded server/m, { dev: true }],
];

describe('a dry run prints', () => {
  for (const [what, text, pattern, flags] of SAYS) {
    test(what, async () => assert.match(await described(text, flags), pattern));
  }

  test('repeats, pauses and files', async () => {
    const text = await described(HEAD, {}, { repeat: 3, pauseMs: 5000, out: ['a.json', 'b.html'] });
    assert.match(text, /^Repeated {6}3 times, with 5 s in between\nWritten {7}a\.json, b\.html$/m);
    assert.match(text, /the same after each of the 3 repeats/);
    assert.match(
      await described(HEAD),
      /^Repeated {6}no\nWritten {7}no files; the summary is printed\nSent {10}nothing \(dry run\)$/m,
    );
  });

  test('each run on each target', async () => {
    const text = await described(
      `${HEAD}runs: [{name: a}, {name: b}]\ntargets: [{name: x}, {name: y}]\n`,
      {},
      { out: ['r.json'] },
    );
    assert.deepEqual(
      text.match(/^Run .*$/gm),
      [1, 2, 3, 4].map((i) => `Run           step ${i}`),
    );
    assert.match(text, /^Written {7}r\.json; and one file per run and target$/m);
  });

  test('everything in 80 columns', async () => {
    const long = 'word '.repeat(60);
    const text = await described(
      `description: ${long}\n${HEAD}setup: {name: ${'l'.repeat(38)}, with: [kv, transit, approle]}\n`,
    );
    for (const line of text.split('\n')) assert.ok(line.length <= 80, line);
  });
});

/** With these options each leaves something; without, it does not. @type {[string, Record<string, unknown>, boolean][]} */
const LEAVES = [
  ['issue', {}, true],
  ['sign', {}, true],
  ['sign-verbatim', {}, true],
  ['revoke', {}, true],
  ['ocsp', {}, true],
  ['ocsp', { cert: 'a.pem' }, false],
  ['ocsp', { serials: 'a.jsonl' }, false],
  ['ocsp', { about: 'revoked=1' }, true],
  ['ocsp', { about: 'good = 9, revoked = 1' }, true],
  ['ocsp', { about: ' revoked =1,never-issued=1' }, true],
  ['ocsp', { about: 'revoked=1,never-issued=1', 'revoked-serials': 'a.jsonl', issuer: 'i.pem' }, false],
  ['ocsp', { about: 'good=9,never-issued=1', cert: 'a.pem' }, false],
  ['crl', {}, false],
  ['ca-chain', {}, false],
  ['approle-login', {}, false],
  ['kv-write', {}, false],
  ['kv-write', { 'kv-mount': 'mine' }, true],
  ['kv-read', {}, false],
  ['kv-read', { 'kv-mount': 'mine' }, true],
  ['kv-read', { 'kv-mount': 'mine', filled: true }, false],
  ['transit', {}, false],
  ['token-lookup', {}, false],
  ['health', {}, false],
  ['http', {}, false],
  ['http', { method: 'POST', path: '/v1/secret/x' }, true],
];

for (const [name, given, isLeft] of LEAVES) {
  test(`${name} ${JSON.stringify(given)} leaves ${isLeft ? 'something' : 'nothing'}`, async () => {
    const operation = await loadOperation(name);
    const left = operation.leaves?.(readOptions(operation.options, given)) ?? null;
    assert.equal(left !== null, isLeft, String(left));
    if (left !== null) assert.doesNotMatch(left, /undefined|null|\.$/);
  });
}

test('the table above covers every operation', () => {
  const looked = new Set(LEAVES.map(([name]) => name));
  const told = Object.keys(operations).filter((name) => !looked.has(name));
  assert.deepEqual(told, []);
});
