import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWriter } from '../../src/live/descriptor.js';

/** A descriptor whose writes do, one after the other, what is said. @param {(number | string)[]} script bytes taken, or an error's code */
function stage(script) {
  let taken = '';
  let slept = 0;
  const write = createWriter(
    2,
    (_descriptor, bytes, offset) => {
      const next = script.shift() ?? bytes.length;
      if (typeof next === 'string') throw Object.assign(new Error(next), { code: next });
      const end = Math.min(bytes.length, offset + next);
      taken += Buffer.from(bytes.subarray(offset, end)).toString('latin1');
      return end - offset;
    },
    (ms) => {
      slept += ms;
    },
  );
  return { write, taken: () => taken, slept: () => slept };
}

test('text is written, in as many pieces as it takes', () => {
  const { write, taken, slept } = stage([3, 1, 2]);
  write('a few words');
  assert.deepEqual([taken(), slept()], ['a few words', 0]);
});

test('a full pipe is waited for', () => {
  const { write, taken, slept } = stage(['EAGAIN', 4, 'EAGAIN', 'EAGAIN']);
  write('a few words');
  assert.equal(taken(), 'a few words');
  assert.ok(slept() > 0);
});

test('but not for ever, and not again before something went through', () => {
  const full = new Array(1000).fill('EAGAIN');
  const { write, taken, slept } = stage(full);
  write('one');
  const waited = slept();
  assert.ok(waited > 100 && waited < 2000, `${waited} ms`);
  write('two');
  write('three');
  assert.equal(slept(), waited);
  full.length = 0;
  write('four');
  full.push('EAGAIN');
  write('five');
  assert.equal(taken(), 'fourfive');
  assert.ok(slept() > waited, 'patient again');
});

test('when nobody is there any more nothing is written, and nothing thrown', () => {
  const { write, taken } = stage(['EPIPE']);
  write('one');
  write('two');
  assert.equal(taken(), '');
});
