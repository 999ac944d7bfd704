import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Remembered, RememberedBytes } from '../../src/pki/remembered.js';

test('what is full forgets its oldest, and a bound of 0 remembers nothing', () => {
  const texts = new Remembered(2);
  const bytes = new RememberedBytes(2);
  for (const name of ['a', 'b', 'c']) {
    assert.equal(texts.set(name, name), name);
    assert.equal(bytes.set(Buffer.from(name), name), name);
  }
  for (const [name, known] of [
    ['a', undefined],
    ['b', 'b'],
    ['c', 'c'],
  ]) {
    assert.equal(texts.get(String(name)), known);
    assert.equal(bytes.get(Buffer.from(String(name))), known);
  }
  const none = new RememberedBytes(0);
  assert.equal(none.set(Buffer.from('a'), 1), 1);
  assert.equal(none.get(Buffer.from('a')), undefined);
});

test('bytes that differ in any single octet are told apart, also where the hash does not look', () => {
  const original = Buffer.alloc(300, 7);
  const memory = new RememberedBytes(16);
  memory.set(Buffer.from(original), 'original');
  for (let i = 0; i < original.length; i++) {
    const other = Buffer.from(original);
    other[i] ^= 1;
    assert.equal(memory.get(other), undefined, `octet ${i}`);
  }
  assert.equal(memory.get(Uint8Array.from(original)), 'original');
});

test('of two with one hash the later stays', () => {
  const [first, second] = [Buffer.alloc(300, 7), Buffer.alloc(300, 7)];
  second[0] = 8;
  const memory = new RememberedBytes(16);
  memory.set(first, 'first');
  memory.set(second, 'second');
  assert.equal(memory.get(second), 'second');
  assert.equal(memory.get(first), undefined);
});

test('says for any bytes what was said of them last, or nothing', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.uint8Array({ maxLength: 20 }), { minLength: 1, maxLength: 40 }),
      (max, list) => {
        const memory = new RememberedBytes(max);
        for (const [i, bytes] of [...list, ...list].entries()) {
          const said = memory.get(bytes);
          if (said !== undefined) assert.deepEqual(said, [...bytes]);
          else memory.set(Buffer.from(bytes), [...bytes]);
          assert.deepEqual(memory.get(bytes), [...bytes], `${i}`);
        }
      },
    ),
  );
});
