import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mixOf } from '../../src/operations/mix.js';
import { load } from '../engine/load-plan.js';

/** @import { Member } from '../../src/operations/mix.js' */

const fixtureAt = (origin = 'http://192.0.2.1:8200') => ({
  origin,
  targetUrl: `${origin}/v1`,
  target: { product: null },
});

/**
 * @param {string} name
 * @param {Record<string, any>} [changes] of the operation
 * @param {string} [origin]
 * @returns {Member}
 */
function member(name, changes = {}, origin = 'http://192.0.2.1:8200') {
  /** @type {any} */
  const operation = {
    name,
    unit: `${name}s`,
    outcomes: { [`${name}_done`]: `${name} is done`, both: `as ${name} says` },
    prepare: async () => ({ ...fixtureAt(origin), of: name }),
    createRequester: (/** @type {any} */ plan, /** @type {any} */ fixture) => (/** @type {number} */ index) =>
      `${plan.options.path} of ${fixture.of}: ${index}`,
    createClassifier: (/** @type {any} */ _plan, /** @type {any} */ fixture) => () => ({
      outcome: fixture.of,
    }),
    ...changes,
  };
  return { name, weight: 1, operation, plan: /** @type {any} */ ({ options: { path: `/${name}` } }) };
}

/** @param {...Member} members */
function mix(...members) {
  /** @type {string[]} */
  const warnings = [];
  const context = /** @type {any} */ ({ warn: (/** @type {string} */ text) => warnings.push(text) });
  const both = mixOf({ mix: /** @type {any} */ (members), load: load({ seed: 9 }) }, members);
  return { both, warnings, context, prepared: () => both.prepare(context) };
}

test('a mix sends and judges each request with the plan and fixture of its operation', async () => {
  const { both, prepared } = mix(member('read'), member('write'));
  const fixture = await prepared();
  const { memberOf } = both;
  const request = both.createRequester(fixture);
  const chosen = new Set();
  for (let i = 0; i < 100; i++) {
    const name = ['read', 'write'][memberOf(i)];
    assert.equal(String(request(i)), `/${name} of ${name}: ${i}`);
    chosen.add(name);
  }
  assert.equal(chosen.size, 2, 'both come');
  const judged = both
    .createClassifiers(fixture)
    .map(({ name, classify }) => [name, classify(200, new Uint8Array(0), 0).outcome]);
  assert.deepEqual(Object.fromEntries(judged), { read: 'read', write: 'write' });
  assert.deepEqual(both.units, { read: 'reads', write: 'writes' });
  const outcomes = { read_done: 'read is done', write_done: 'write is done', both: 'as read says' };
  assert.deepEqual(both.outcomes, outcomes);
});

test('a mix of two servers is rejected, as is a mix with an operation that cannot be prepared', async () => {
  const failing = () => {
    throw new Error('no such mount');
  };
  await assert.rejects(
    mix(member('read'), member('write', { prepare: failing })).prepared(),
    /no such mount/,
  );
  const apart = mix(member('read'), member('ocsp', {}, 'http://192.0.2.2:80'));
  const message = /read sends to http:\/\/192\.0\.2\.1:8200, but ocsp to http:\/\/192\.0\.2\.2:80/;
  await assert.rejects(apart.prepared(), message);
});

test('a mix reports a message of several operations once', async () => {
  const prepare = async (/** @type {any} */ { warn, plan }) => {
    warn('The token ends soon.');
    warn(`About ${plan.options.path}.`);
    return { origin: 'http://192.0.2.1:8200', target: { product: null } };
  };
  const { warnings, prepared } = mix(member('read', { prepare }), member('write', { prepare }));
  await prepared();
  assert.deepEqual(warnings, ['The token ends soon.', 'About /read.', 'About /write.']);
});

test('one operation reports a message of several checks once', async () => {
  /** @type {string[]} */
  const warnings = [];
  const prepare = async (/** @type {any} */ { warn }) => {
    for (let i = 0; i < 2; i++) warn('The clock is ahead.');
    return fixtureAt();
  };
  const one = mixOf({ mix: null, load: load({ seed: 9 }) }, [member('ocsp', { prepare })]);
  await one.prepare(/** @type {any} */ ({ warn: (/** @type {string} */ text) => warnings.push(text) }));
  assert.deepEqual(warnings, ['The clock is ahead.']);
});

test('the operations that depend on the token: they send it, not another or none, or their certificates are leased to it', async () => {
  const sends = (/** @type {string | null} */ token) => ({
    createRequester: () => () => ({ headers: token === null ? {} : { 'x-vault-token': token } }),
  });
  const { both, prepared } = mix(
    member('lookup', sends('own')),
    member('status', sends(null)),
    member('refused', sends('bad')),
    member('leased', {
      ...sends(null),
      prepare: async () => ({ ...fixtureAt(), hasLeases: true }),
    }),
  );
  assert.deepEqual(both.dependentsOf(await prepared(), 'own'), ['lookup', 'leased']);
});

test("a mix of one operation has that operation's own requester", () => {
  const requester = () => 'x';
  const one = mixOf({ mix: null, load: load({}) }, [member('read', { createRequester: () => requester })]);
  assert.equal(one.createRequester(/** @type {any} */ ({ of: 'read' })), requester);
  assert.equal(one.memberOf(12_345), 0);
});
