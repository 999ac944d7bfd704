/** One run of all PKI operations on the embedded server, each with what it prepares and finds; more in pki-runs.slow.js. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDevServer } from '../../src/dev/server.js';
import { createPlan, readEnvironment, run } from '../../src/index.js';

test('a mix of sign, sign-verbatim, revoke, crl, ca-chain and all kinds of ocsp: each request has its outcome', async (t) => {
  const server = await createDevServer({ caKeyType: 'ec' });
  t.after(() => server.close());
  const role = 'example-dot-com-ec';
  const names = { pool: 2, cn: 'host-{n}.example.com', altNames: 'alt-{n}.example.com', keyType: 'ec-256' };
  const about = 'good=1,revoked=1,never-issued=1,wrong-issuer=1';
  const given = Object.entries({
    sign: { role, ...names },
    'sign-verbatim': { ...names, altNames: 'not.allowed.by.a.role' },
    revoke: { role },
    crl: {},
    'ca-chain': {},
    ocsp: { role, about, pool: 2 },
  });
  const load = { url: server.url, requests: 200, concurrency: 2, seed: 1, coldStart: true };
  const plans = await Promise.all(
    given.map(([operation, options]) => createPlan(operation, { ...load, ...options }, readEnvironment({}))),
  );
  const mix = given.map(([name], i) => {
    const weight = name === 'ocsp' ? 5 : 1;
    return { name, operation: name, weight, options: plans[i].options };
  });
  /** @type {string[]} */
  const messages = [];
  const { operations, totals, verification } = await run(
    { ...plans[2], mix },
    { token: server.token, onEvent: (event) => 'text' in event && messages.push(event.text) },
  );
  const seen = Object.entries(operations).map(([name, { outcomes }]) => [name, Object.keys(outcomes).sort()]);
  assert.deepEqual(Object.fromEntries(seen), {
    sign: ['issued'],
    'sign-verbatim': ['issued'],
    revoke: ['revoked'],
    crl: ['crl'],
    'ca-chain': ['chain'],
    ocsp: ['good', 'never_issued_good', 'revoked', 'wrong_issuer_unknown'],
  });
  assert.deepEqual([totals.failed, totals.succeeded], [0, 200]);
  assert.equal(verification.passed, 200);
  const { revoked } = operations.revoke.outcomes;
  assert.match(messages.join(), new RegExp(`Issuing ${revoked} certificates with role ${role} to revoke`));
  assert.match(messages.join(), /Issuing certificates with role \S+, 2 to query and 2 to revoke at once/);
});
