import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mixOf } from '../../src/operations/mix.js';
import { createChooser } from '../../src/operations/request-parts.js';
import { load } from '../engine/load-plan.js';

/** @import { Member } from '../../src/operations/mix.js' */

for (const weights of [
  [1, 1],
  [95, 5],
  [1000, 1],
  [0.5, 3, 7.25, 1, 2],
]) {
  test(`the choice by weights of ${weights}: shares are within 3 sigma, but for what chance allows`, () => {
    const all = weights.reduce((sum, weight) => sum + weight, 0);
    const [seeds, requests] = [60, 5000];
    let outside = 0;
    for (let seed = 0; seed < seeds; seed++) {
      const choose = createChooser(weights, seed * 7919);
      const counts = weights.map(() => 0);
      for (let index = 0; index < requests; index++) counts[choose(index)]++;
      for (const [i, weight] of weights.entries()) {
        const share = weight / all;
        const off = Math.abs(counts[i] - requests * share) / Math.sqrt(requests * share * (1 - share));
        assert.ok(off < 6, `${off} sigma, seed ${seed}`);
        if (off > 3) outside++;
      }
    }
    // 0.27 % of a normal distribution; a rare one's is skewed.
    assert.ok(outside <= 0.03 * seeds * weights.length, `${outside} outside`);
  });
}

test('the choice follows from the seed and the index alone', () => {
  const [one, other, another] = [42, 42, 1].map((seed) => createChooser([3, 1, 6], seed));
  const chosen = Array.from({ length: 2000 }, (_, i) => one(i));
  for (let i = 1999; i >= 0; i--) assert.equal(other(i), chosen[i]);
  const same = chosen.filter((choice, i) => choice === another(i)).length;
  assert.ok(same > 750 && same < 1100, `${same} of 2000`);
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
    prepare: async () => ({ origin, targetUrl: `${origin}/v1`, target: { product: null }, of: name }),
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

test('a mix asks and judges each by its own plan and fixture, and has the notes of each', async () => {
  const takeNotes = (/** @type {any} */ { of }) => [`${of} was seen.`];
  const { both, prepared } = mix(member('read'), member('write', { takeNotes }));
  const fixture = await prepared();
  const { request, memberOf } = both.createRequester(fixture);
  const chosen = new Set();
  for (let i = 0; i < 100; i++) {
    const name = ['read', 'write'][memberOf(i)];
    assert.equal(String(request(i)), `/${name} of ${name}: ${i}`);
    assert.equal(memberOf(i), both.memberOf(i), 'as recorders and results say');
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
  assert.deepEqual(both.takeNotes(fixture), [[], ['write was seen.']]);
});

test('a mix of which one cannot be prepared, or of two servers, cleans up what the others made', async () => {
  /** @type {string[]} */
  const cleaned = [];
  const cleanup = (/** @type {any} */ { plan }, /** @type {any} */ { of }) => {
    cleaned.push(`${plan.options.path} ${of}`);
  };
  const failing = (/** @type {string} */ message) => () => {
    throw new Error(message);
  };
  const { warnings, prepared } = mix(
    member('read', { cleanup }),
    member('sticky', { cleanup: failing('it is gone') }),
    member('write', { cleanup, prepare: failing('no such mount') }),
    member('later', { cleanup }),
  );
  await assert.rejects(prepared(), /no such mount/);
  assert.deepEqual(cleaned.splice(0), ['/read read']);
  assert.deepEqual(warnings, ['What sticky has made could not be removed: it is gone']);
  const apart = mix(member('read', { cleanup }), member('ocsp', { cleanup }, 'http://192.0.2.2:80'));
  const message = /read is asked of http:\/\/192\.0\.2\.1:8200, but ocsp of http:\/\/192\.0\.2\.2:80/;
  await assert.rejects(apart.prepared(), message);
  assert.equal(cleaned.length, 2);
});

test('a mix says once what several of its operations find out alike', async () => {
  const prepare = async (/** @type {any} */ { warn, plan }) => {
    warn('The token ends soon.');
    warn(`About ${plan.options.path}.`);
    return { origin: 'http://192.0.2.1:8200', target: { product: null } };
  };
  const { warnings, prepared } = mix(member('read', { prepare }), member('write', { prepare }));
  await prepared();
  assert.deepEqual(warnings, ['The token ends soon.', 'About /read.', 'About /write.']);
});

test('a mix of one has the requester of that one, nothing around it', () => {
  const requester = () => 'x';
  const one = mixOf({ mix: null, load: load({}) }, [member('read', { createRequester: () => requester })]);
  const { request, memberOf } = one.createRequester(/** @type {any} */ ({ of: 'read' }));
  assert.equal(request, requester);
  assert.equal(memberOf(12_345), 0);
});
