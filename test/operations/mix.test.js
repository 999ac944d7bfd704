import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createChooser, mixOf } from '../../src/operations/mix.js';
import { load } from '../load/load-plan.js';

/** @typedef {import('../../src/operations/mix.js').Member} Member */

describe('the choice among operations', () => {
  /** @type {[string, number[]][]} */
  const table = [
    ['two alike', [1, 1]],
    ['reads and writes', [95, 5]],
    ['one that hardly comes', [1000, 1]],
    ['five, by any numbers', [0.5, 3, 7.25, 1, 2]],
  ];
  for (const [what, weights] of table) {
    test(`of ${what}: over 10,000 requests each share is within 3 sigma, but for what chance allows`, () => {
      const all = weights.reduce((sum, weight) => sum + weight, 0);
      const seeds = 200;
      let outside = 0;
      for (let seed = 0; seed < seeds; seed++) {
        const choose = createChooser(weights, seed * 7919);
        const counts = weights.map(() => 0);
        for (let index = 0; index < 10_000; index++) counts[choose(index)]++;
        for (const [i, weight] of weights.entries()) {
          const share = weight / all;
          const sigma = Math.sqrt(10_000 * share * (1 - share));
          const off = Math.abs(counts[i] - 10_000 * share) / sigma;
          assert.ok(off < 6, `${off} sigma, seed ${seed}`);
          if (off > 3) outside++;
        }
      }
      // 0.27 % of a normal distribution; a rare one's is skewed.
      assert.ok(outside <= 0.015 * seeds * weights.length, `${outside} outside`);
    });
  }

  test('is the same for every thread and machine, in whatever order it asks', () => {
    const one = createChooser([3, 1, 6], 42);
    const other = createChooser([3, 1, 6], 42);
    const asked = Array.from({ length: 2000 }, (_, i) => one(i));
    for (let i = 1999; i >= 0; i--) assert.equal(other(i), asked[i]);
  });

  test('goes by the seed', () => {
    const [one, other] = [createChooser([1, 1], 1), createChooser([1, 1], 2)];
    const same = Array.from({ length: 1000 }, (_, i) => one(i) === other(i)).filter((is) => is).length;
    assert.ok(same > 400 && same < 600, `${same} of 1000`);
  });
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
    things: `${name}s`,
    outcomes: { [`${name}_done`]: `${name} is done`, both: `as ${name} says` },
    prepare: async () => ({
      origin,
      targetUrl: `${origin}/v1`,
      target: { product: null, version: null },
      of: name,
    }),
    createRequester: (/** @type {any} */ plan, /** @type {any} */ fixture) => (/** @type {number} */ index) =>
      `${plan.options.path} of ${fixture.of}: ${index}`,
    createClassifier: (/** @type {any} */ _plan, /** @type {any} */ fixture) => () => ({
      outcome: fixture.of,
    }),
    ...changes,
  };
  return { name, weight: 1, operation, plan: /** @type {any} */ ({ options: { path: `/${name}` } }) };
}

/** @param {Member[]} members */
const mix = (members) => mixOf({ mix: /** @type {any} */ (members), load: load({ seed: 9 }) }, members);

function context() {
  /** @type {string[]} */
  const warnings = [];
  return {
    warnings,
    given: /** @type {any} */ ({ warn: (/** @type {string} */ text) => warnings.push(text) }),
  };
}

describe('a mix', () => {
  test('asks and judges each by its own plan and fixture', async () => {
    const both = mix([member('read'), member('write')]);
    const fixture = await both.prepare(context().given);
    const { request, memberOf } = both.createRequester(fixture);
    const asked = Array.from({ length: 100 }, (_, i) => String(request(i)));
    for (const [i, text] of asked.entries()) {
      const name = ['read', 'write'][memberOf(i)];
      assert.equal(text, `/${name} of ${name}: ${i}`);
      assert.equal(memberOf(i), both.memberOf(i), 'as recorders and results say');
    }
    assert.equal(new Set(asked.map((text) => text.split(' ')[0])).size, 2, 'both come');
    const classifiers = both.createClassifiers(fixture);
    assert.deepEqual(
      classifiers.map(({ name, classify }) => [name, classify(200, new Uint8Array(0), 0).outcome]),
      [
        ['read', 'read'],
        ['write', 'write'],
      ],
    );
    assert.deepEqual(both.things, { read: 'reads', write: 'writes' });
    assert.deepEqual(both.outcomes, {
      read_done: 'read is done',
      write_done: 'write is done',
      both: 'as read says',
    });
  });

  test('has the notes of each of them, from what that one has found out', async () => {
    const takeNotes = (/** @type {any} */ { of }) => [`${of} was seen.`];
    const some = mix([member('read'), member('crl', { takeNotes })]);
    assert.deepEqual(some.takeNotes(await some.prepare(context().given)), [[], ['crl was seen.']]);
  });

  test('of one that cannot be prepared cleans up what the others made, and says why it could not', async () => {
    /** @type {string[]} */
    const cleaned = [];
    const cleanup = (/** @type {any} */ { plan }, /** @type {any} */ fixture) => {
      cleaned.push(`${plan.options.path} ${fixture.of}`);
    };
    const { warnings, given } = context();
    const failing = mix([
      member('read', { cleanup }),
      member('sticky', {
        cleanup: () => {
          throw new Error('it is gone');
        },
      }),
      member('write', {
        cleanup,
        prepare: async () => {
          throw new Error('no such mount');
        },
      }),
      member('later', { cleanup }),
    ]);
    await assert.rejects(failing.prepare(given), /no such mount/);
    assert.deepEqual(cleaned, ['/read read']);
    assert.deepEqual(warnings, ['What sticky has made could not be taken away: it is gone']);
  });

  test('says once what several of its operations find out alike', async () => {
    const { warnings, given } = context();
    const prepare = async (/** @type {any} */ { warn, plan }) => {
      warn('The token ends soon.');
      warn(`About ${plan.options.path}.`);
      return { origin: 'http://192.0.2.1:8200', target: { product: null } };
    };
    await mix([member('read', { prepare }), member('write', { prepare })]).prepare(given);
    assert.deepEqual(warnings, ['The token ends soon.', 'About /read.', 'About /write.']);
  });

  test('of two servers is refused, and what was made is taken away', async () => {
    let cleaned = 0;
    const cleanup = () => {
      cleaned++;
    };
    const apart = mix([member('read', { cleanup }), member('ocsp', { cleanup }, 'http://192.0.2.2:80')]);
    await assert.rejects(
      apart.prepare(context().given),
      /read is asked of http:\/\/192\.0\.2\.1:8200, but ocsp of http:\/\/192\.0\.2\.2:80/,
    );
    assert.equal(cleaned, 2);
  });

  test('of one has the requester of that one, nothing around it', () => {
    const requester = () => 'x';
    const one = mixOf({ mix: null, load: load({}) }, [member('read', { createRequester: () => requester })]);
    const { request, memberOf } = one.createRequester(/** @type {any} */ ({ of: 'read' }));
    assert.equal(request, requester);
    assert.equal(memberOf(12_345), 0);
  });
});
