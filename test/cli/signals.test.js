import assert from 'node:assert/strict';
import { fork, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { onInterrupt } from '../../src/cli/process.js';
import { startCli } from './support.js';

function stage() {
  /** @type {string[]} */
  const said = [];
  /** @type {number[]} */
  const exits = [];
  const process = new EventEmitter();
  const interrupt = onInterrupt(/** @type {any} */ (process), () => exits.push(130));
  interrupt.attach((text) => said.push(text));
  return { process, interrupt, said, exits };
}

test('the first signal stops, the second cuts off, the third exits', () => {
  const { process, interrupt, said, exits } = stage();
  process.emit('SIGINT');
  assert.deepEqual([interrupt.stop.aborted, interrupt.cutOff.aborted, said.length], [true, false, 1]);
  process.emit('SIGTERM');
  assert.deepEqual([interrupt.cutOff.aborted, exits], [true, []]);
  assert.match(said[1], /not waiting any longer\. Press Ctrl-C a third time to end the process/);
  process.emit('SIGINT');
  assert.deepEqual(exits, [130]);
  interrupt.release();
});

test('after the report, a signal ends the wait, and the next one the process', () => {
  const { process, interrupt, said, exits } = stage();
  let hurried = 0;
  interrupt.onNextSignal(() => hurried++);
  process.emit('SIGINT');
  assert.deepEqual([hurried, interrupt.cutOff.aborted, said, exits], [1, false, [], []]);
  process.emit('SIGINT');
  assert.deepEqual([hurried, exits], [1, [130]], 'whatever blocks it');
  interrupt.release();
});

test('the third always ends the process', () => {
  const { process, interrupt, exits } = stage();
  process.emit('SIGINT');
  process.emit('SIGINT');
  interrupt.onNextSignal(() => assert.fail('no third chance'));
  process.emit('SIGTERM');
  assert.deepEqual(exits, [130]);
  interrupt.release();
});

/** A thread is blocked in a write that nobody reads, as on a stopped terminal. */
const BLOCKED = `
  import { write, writeSync } from 'node:fs';
  import { onInterrupt } from ${JSON.stringify(new URL('../../src/cli/process.js', import.meta.url).href)};
  onInterrupt(process).attach((text) => writeSync(2, text + '\\n'));
  write(1, Buffer.alloc(10_000_000), () => {});
  setInterval(() => {}, 1000);
  writeSync(2, 'ready\\n');
`;

test('the third ends the process while a thread is blocked', { timeout: 20_000 }, async (t) => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', BLOCKED], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  for (let i = 0; i < 3; i++) {
    await once(child.stderr, 'data');
    await sleep(100);
    child.kill('SIGTERM');
  }
  assert.deepEqual(await ended, [null, 'SIGINT']);
});

test('release removes the handlers and the deadline', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { process, interrupt, exits } = stage();
  process.emit('SIGINT');
  process.emit('SIGINT');
  interrupt.release();
  t.mock.timers.tick(60_000);
  assert.deepEqual([exits, process.eventNames()], [[], []]);
});

test('the second starts a deadline', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { process, exits } = stage();
  process.emit('SIGINT');
  process.emit('SIGINT');
  t.mock.timers.tick(29_999);
  assert.deepEqual(exits, []);
  t.mock.timers.tick(1);
  assert.deepEqual(exits, [130]);
});

test('after the report, the clean-up has no deadline', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { process, interrupt, exits } = stage();
  process.emit('SIGINT');
  process.emit('SIGINT');
  interrupt.onNextSignal(() => {});
  t.mock.timers.tick(600_000);
  assert.deepEqual(exits, []);
});

test('repeated hang-ups count as one signal', () => {
  const { process, interrupt, exits } = stage();
  for (let i = 0; i < 3; i++) process.emit('SIGHUP', 'SIGHUP');
  assert.deepEqual([interrupt.stop.aborted, interrupt.cutOff.aborted, exits], [true, false, []]);
  interrupt.release();
});

test('a signal before or between two pieces of work stops the next one', () => {
  const { process, interrupt, said } = stage();
  interrupt.onNextSignal(() => {});
  process.emit('SIGTERM', 'SIGTERM');
  interrupt.attach((text) => said.push(text), 'Ended.');
  assert.deepEqual([interrupt.stop.aborted, said], [true, []]);
  process.emit('SIGINT', 'SIGINT');
  assert.equal(interrupt.cutOff.aborted, true);
  interrupt.release();
});

test('the first prints the message of the work', () => {
  const { process, interrupt, said } = stage();
  interrupt.attach((text) => said.push(text), 'Ended.');
  process.emit('SIGINT', 'SIGINT');
  assert.deepEqual(said, ['Ended.']);
  interrupt.release();
});

for (const entry of ['dev/child.js', 'campaigns/calibrate/target-child.js']) {
  test(`SIGUSR1 does not open the debugger in ${entry}`, async () => {
    const path = fileURLToPath(new URL(`../../src/${entry}`, import.meta.url));
    const child = fork(path, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], serialization: 'advanced' });
    if (entry.startsWith('dev')) child.send({});
    await once(child, 'message');
    child.kill('SIGUSR1');
    await sleep(300);
    child.disconnect();
    assert.doesNotMatch(await text(/** @type {import('node:stream').Readable} */ (child.stderr)), /Debugger/);
  });
}

test('SIGUSR1 does not open the debugger of Node.js', async () => {
  const { prints, kill, ended } = startCli(['dev', '--port', '0']);
  await prints(/VAULT_ADDR/);
  kill('SIGUSR1');
  // Node.js would report the debugger on another thread.
  await sleep(300);
  kill('SIGTERM');
  assert.doesNotMatch((await ended).stderr, /Debugger/);
});
