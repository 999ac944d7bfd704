import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { nextMessage } from '../../src/dev/forked.js';

test('a message from a child leaves no listeners behind', async () => {
  const child = /** @type {any} */ (Object.assign(new EventEmitter(), { exitCode: null, signalCode: null }));
  const waiting = nextMessage(child);
  child.emit('message', 'ready');
  assert.equal(await waiting, 'ready');
  assert.deepEqual(child.eventNames(), []);
});

test('a child that exits first is named by its code or signal', async () => {
  const child = /** @type {any} */ (Object.assign(new EventEmitter(), { exitCode: null, signalCode: null }));
  const waiting = nextMessage(child);
  child.emit('exit', null, 'SIGKILL');
  await assert.rejects(waiting, /its process exited with SIGKILL/);
  assert.deepEqual(child.eventNames(), []);
});
