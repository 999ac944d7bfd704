import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { onInterrupt } from '../../src/cli/process.js';

function stage(heard = new AbortController()) {
  /** @type {string[]} */
  const said = [];
  /** @type {number[]} */
  const exits = [];
  const process = Object.assign(new EventEmitter(), {
    exit: (/** @type {number} */ code) => exits.push(code),
  });
  const interrupt = onInterrupt(/** @type {any} */ (process), (text) => said.push(text), heard);
  return { process, interrupt, heard, said, exits };
}

test('the first signal stops, the second cuts off, the third ends', () => {
  const { process, interrupt, said, exits } = stage();
  process.emit('SIGINT');
  assert.deepEqual([interrupt.stop.aborted, interrupt.cutOff.aborted, said.length], [true, false, 1]);
  process.emit('SIGTERM');
  assert.deepEqual([interrupt.cutOff.aborted, exits], [true, []]);
  process.emit('SIGINT');
  assert.deepEqual(exits, [130]);
  interrupt.release();
});

test('once all is reported a signal ends the waiting, and is no interruption of the run', () => {
  const { process, interrupt, said, exits } = stage();
  let hurried = 0;
  interrupt.over(() => hurried++);
  process.emit('SIGINT');
  assert.deepEqual([hurried, interrupt.stop.aborted, said, exits], [1, false, [], []]);
  process.emit('SIGINT');
  assert.deepEqual([hurried, exits], [1, [130]], 'whatever holds it up');
  interrupt.release();
});

test('nothing is heard any more in the end, and no time runs out', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { process, interrupt, exits } = stage();
  process.emit('SIGINT');
  process.emit('SIGINT');
  interrupt.release();
  t.mock.timers.tick(60_000);
  assert.deepEqual([exits, process.eventNames()], [[], []]);
});

test('the second may not take long', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { process, exits } = stage();
  process.emit('SIGINT');
  process.emit('SIGINT');
  t.mock.timers.tick(29_999);
  assert.deepEqual(exits, []);
  t.mock.timers.tick(1);
  assert.deepEqual(exits, [130]);
});

test('but once all is reported, what was made is removed however long that takes', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { process, interrupt, exits } = stage();
  process.emit('SIGINT');
  process.emit('SIGINT');
  interrupt.over(() => {});
  t.mock.timers.tick(600_000);
  assert.deepEqual(exits, []);
});

test('a terminal that goes away may say so several times: that is one signal', () => {
  const { process, interrupt, exits } = stage();
  for (let i = 0; i < 3; i++) process.emit('SIGHUP', 'SIGHUP');
  assert.deepEqual([interrupt.stop.aborted, interrupt.cutOff.aborted, exits], [true, false, []]);
  interrupt.release();
});

test('a signal is heard by whoever gives a controller, even when all is reported', () => {
  for (const isOver of [false, true]) {
    const { process, interrupt, heard } = stage();
    if (isOver) interrupt.over(() => {});
    assert.equal(heard.signal.aborted, false);
    process.emit('SIGTERM');
    assert.deepEqual([heard.signal.aborted, interrupt.stop.aborted], [true, !isOver]);
    interrupt.release();
  }
});

test('one that came before was the first: the next cuts off', () => {
  const heard = new AbortController();
  heard.abort();
  const { process, interrupt, said } = stage(heard);
  assert.deepEqual([interrupt.stop.aborted, interrupt.cutOff.aborted, said], [true, false, []]);
  process.emit('SIGINT');
  assert.equal(interrupt.cutOff.aborted, true);
  interrupt.release();
});
