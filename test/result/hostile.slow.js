/** 20,000 damaged documents; HOSTILE_SEED sets another seed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDamaged } from './hostile.js';

test('damaged documents of all kinds are rejected with the faulty path, or read', (t) => {
  const seed = Number(process.env.HOSTILE_SEED ?? 2);
  const { read, refused } = readDamaged(seed, 20_000);
  t.diagnostic(`seed ${seed}: ${read} read, ${refused} refused`);
  assert.equal(read + refused, 20_000);
});
