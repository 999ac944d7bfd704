/** Set-up calls in numbers: the order of what they give, and what ends them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { manyCalls } from '../../src/operations/many-calls.js';

function context() {
  const stop = new AbortController();
  /** @type {number[]} */
  const told = [];
  const progress = (/** @type {string} */ _label, /** @type {number} */ done) => told.push(done);
  return { stop, told, given: { label: 'Making', progress, signal: stop.signal } };
}

describe('many calls', () => {
  test('give what each gave in their order, whichever came first, and tell how many are done', async () => {
    const { given, told } = context();
    const work = (/** @type {number} */ i) => new Promise((resolve) => setTimeout(() => resolve(i), 5 - i));
    assert.deepEqual(await manyCalls(5, given, work), [0, 1, 2, 3, 4]);
    assert.deepEqual(told, [1, 2, 3, 4, 5]);
    assert.deepEqual(await manyCalls(0, given, work), []);
  });

  test('are begun two at a time, for one connection: of a million none waits long', async () => {
    const { given, stop } = context();
    let [begun, most, under] = [0, 0, 0];
    const work = async () => {
      begun++;
      most = Math.max(most, ++under);
      await Promise.resolve();
      under--;
      if (begun === 100) stop.abort();
    };
    await assert.rejects(manyCalls(1_000_000, given, work), { code: 'interrupted', exitCode: 130 });
    assert.equal(most, 2);
    assert.ok(begun <= 101, `${begun}`);
  });

  test('end with the first that fails', async () => {
    const { given } = context();
    let begun = 0;
    const work = async (/** @type {number} */ i) => {
      begun++;
      await Promise.resolve();
      if (i === 3) throw new Error('no more');
    };
    await assert.rejects(manyCalls(1000, given, work), /no more/);
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(begun <= 6, `${begun}`);
  });
});
