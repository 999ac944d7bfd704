import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { EXIT, PkiLoadError, packError, targetError, unpackError, usageError } from '../src/errors.js';

test('exit codes are what scripts rely on', () => {
  assert.deepEqual(
    { ...EXIT },
    { ok: 0, usage: 1, target: 2, invalidMeasurement: 98, requirement: 99, interrupted: 130 },
  );
  assert.ok(Object.isFrozen(EXIT));
});

const cause = new Error('ENOENT');
/** @type {[string, PkiLoadError, object][]} */
const ERRORS = [
  [
    'a usage error with everything',
    usageError('bad_file', 'No such file.', 'Check the path.', cause),
    {
      code: 'bad_file',
      exitCode: 1,
      remedy: 'Check the path.',
      full: 'No such file. Check the path.',
      cause,
    },
  ],
  [
    'a usage error with the least',
    usageError('bad_file', 'No such file.'),
    { code: 'bad_file', exitCode: 1, remedy: undefined, full: 'No such file.', cause: undefined },
  ],
  [
    'a target error',
    targetError('sealed', 'Vault is sealed.', 'Unseal it.', cause),
    { code: 'sealed', exitCode: 2, remedy: 'Unseal it.', full: 'Vault is sealed. Unseal it.', cause },
  ],
  [
    'an error of another exit code',
    new PkiLoadError('odd', 'Odd.', { exitCode: 98 }),
    { code: 'odd', exitCode: 98, remedy: undefined, full: 'Odd.', cause: undefined },
  ],
];

for (const [why, error, expected] of ERRORS) {
  test(`${why} carries its code, exit code and remedy`, () => {
    const { code, exitCode, remedy, full } = error;
    assert.deepEqual({ code, exitCode, remedy, full, cause: error.cause }, expected);
    assert.ok(error instanceof PkiLoadError && error instanceof Error);
    assert.equal(error.name, 'PkiLoadError');
    assert.equal('cause' in error, error.cause !== undefined, 'no empty cause');
  });
}

const THROWER = `
  const { parentPort, workerData } = require('node:worker_threads');
  import(workerData.module).then(({ packError, targetError }) => {
    const error = targetError('sealed', 'Vault is sealed.', 'Unseal it.');
    if (workerData.posts) parentPort.postMessage(packError(error));
    else process.nextTick(() => { throw error; });
  });`;

for (const [how, posts, event] of /** @type {[string, boolean, string][]} */ ([
  ['thrown in a thread', false, 'error'],
  ['sent by a thread', true, 'message'],
])) {
  test(`an error ${how} keeps its class, code, exit code and remedy`, async () => {
    const module = new URL('../src/errors.js', import.meta.url).href;
    const worker = new Worker(THROWER, { eval: true, workerData: { module, posts } });
    const [plain] = await once(worker, event);
    const error = unpackError(plain);
    assert.ok(error instanceof PkiLoadError);
    const { code, exitCode, full } = error;
    assert.deepEqual(
      { code, exitCode, full },
      { code: 'sealed', exitCode: 2, full: 'Vault is sealed. Unseal it.' },
    );
    await worker.terminate();
  });
}

test('a fault of another kind crosses as what it is', () => {
  const fault = new TypeError('x is not a function');
  const { name, message, stack } = unpackError(packError(fault));
  assert.deepEqual(
    { name, message, stack },
    { name: 'TypeError', message: fault.message, stack: fault.stack },
  );
  assert.equal(unpackError(packError('text')).message, 'text');
});
