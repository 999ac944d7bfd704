import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { createWriter, reopen } from '../../src/live/terminal.js';
import { scratch } from '../cli/support.js';

const FULL = 'EAGAIN';

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

/** One timer after the other, also those that others start. @param {number} ms */
function pass(ms) {
  for (let at = 0; at < ms; at += 100) mock.timers.tick(100);
}

/**
 * A descriptor whose writes do, one after the other, what is said; then they take everything.
 *
 * @param {(number | string)[]} script bytes taken, or an error's code
 */
function stage(script) {
  const taken = { text: '' };
  let tried = 0;
  const writer = createWriter(2, {
    output: 7,
    write(descriptor, bytes) {
      assert.equal(descriptor, 7);
      tried++;
      const next = script.shift() ?? bytes.length;
      if (typeof next === 'string') throw Object.assign(new Error(next), { code: next });
      const count = Math.min(bytes.length, next);
      taken.text += Buffer.from(bytes.subarray(0, count)).toString('latin1');
      return count;
    },
  });
  return { writer, script, taken, tried: () => tried };
}

/** For as long as nobody looks. */
const stopped = () => new Array(10_000).fill(FULL);

describe('writing to a descriptor', () => {
  test('splits text into as many writes as needed', () => {
    const { writer, taken } = stage([3, 1, 2]);
    writer.write('a few words');
    assert.deepEqual([taken.text, writer.isBusy()], ['a few words', false]);
  });

  test('keeps text that does not fit, and writes it later, in order', () => {
    const { writer, taken, script } = stage([4, ...stopped()]);
    writer.write('one,');
    writer.write('two,');
    writer.write('three');
    assert.deepEqual([taken.text, writer.isBusy()], ['one,', true]);
    pass(5000);
    assert.equal(taken.text, 'one,');
    script.length = 0;
    pass(100);
    assert.deepEqual([taken.text, writer.isBusy()], ['one,two,three', false]);
  });

  test('retries at intervals, not continuously', () => {
    const { writer, tried } = stage(stopped());
    for (let i = 0; i < 100; i++) writer.write('more');
    assert.equal(tried(), 1);
    pass(1000);
    assert.equal(tried(), 11);
  });

  test('reports each time that all text is written', () => {
    const { writer, script } = stage([FULL]);
    let times = 0;
    writer.onFree(() => times++);
    writer.write('one');
    assert.equal(times, 0);
    pass(100);
    assert.equal(times, 1);
    writer.write('two');
    assert.equal(times, 1, 'was not held up');
    script.push(FULL);
    writer.write('three');
    pass(100);
    assert.equal(times, 2);
  });

  test('allows writing from the callback', () => {
    const { writer, taken } = stage([FULL]);
    writer.onFree(() => writer.write('newest'));
    writer.write('old, ');
    pass(100);
    assert.equal(taken.text, 'old, newest');
  });

  test('drops text beyond the limit', () => {
    const { writer, taken, script } = stage(stopped());
    for (let i = 0; i < 100_000; i++) writer.write(`warning ${i}\n`);
    script.length = 0;
    pass(100);
    const lines = taken.text.trimEnd().split('\n');
    assert.deepEqual([lines[0], lines.at(-1)], ['warning 0', `warning ${lines.length - 1}`]);
    assert.ok(taken.text.length > 65_000 && taken.text.length < 70_000, `${taken.text.length} characters`);
  });

  test('stops without an error when the reader is gone', async () => {
    const { writer, taken, tried } = stage(['EPIPE']);
    writer.write('one');
    writer.write('two');
    assert.deepEqual([taken.text, tried(), writer.isBusy()], ['', 1, false]);
    await writer.settled();
  });
});

describe('settled()', () => {
  test('resolves at once if all text is written', async () => {
    const { writer } = stage([]);
    writer.write('one');
    await writer.settled();
  });

  test('waits for unwritten text', async () => {
    const { writer, script, taken } = stage(stopped());
    writer.write('one');
    let isSettled = false;
    const settled = writer.settled().then(() => {
      isSettled = true;
    });
    pass(1000);
    await null;
    assert.equal(isSettled, false);
    script.length = 0;
    pass(100);
    await settled;
    assert.equal(taken.text, 'one');
  });

  test('waits at most two seconds; the text may still appear later', async () => {
    const { writer, script, taken } = stage(stopped());
    writer.write('one');
    const settled = writer.settled();
    pass(2000);
    await settled;
    script.length = 0;
    pass(100);
    assert.equal(taken.text, 'one');
  });
});

describe('a non-blocking descriptor', () => {
  test('of a pipe never blocks, and other writers still do', { skip: noFifo() }, (t) => {
    const path = scratch(t)('pipe');
    execFileSync('mkfifo', [path]);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const theirs = openSync(path, constants.O_WRONLY);
    const output = reopen(theirs);
    t.after(() => {
      for (const one of [reader, theirs, output]) closeSync(one);
    });
    assert.notEqual(output, theirs);
    const writer = createWriter(theirs, { output });
    for (let i = 0; i < 100; i++) writer.write('x'.repeat(10_000));
    assert.equal(writer.isBusy(), true, 'full, and this thread goes on');
    let read = 0;
    for (let i = 0; i < 100 && writer.isBusy(); i++) {
      read += readSync(reader, Buffer.alloc(65_536));
      pass(100);
    }
    assert.ok(read > 65_536, `${read} bytes`);
  });

  test('is not opened for a file, whose position all writers share', (t) => {
    const path = scratch(t)('log');
    const file = openSync(path, 'w');
    t.after(() => closeSync(file));
    assert.equal(reopen(file), file);
    const writer = createWriter(file);
    writer.write('one\n');
    writer.write('two\n');
    assert.equal(readFileSync(path, 'utf8'), 'one\ntwo\n');
  });

  test('falls back to the original if it cannot be opened', () => {
    assert.equal(reopen(999_999), 999_999);
  });
});

/** @returns {string | false} */
function noFifo() {
  try {
    execFileSync('mkfifo', ['--version'], { stdio: 'ignore' });
    return process.platform === 'linux' ? false : 'a pipe is opened anew on Linux only';
  } catch {
    return 'no mkfifo';
  }
}
