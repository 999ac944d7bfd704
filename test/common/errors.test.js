import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { EXIT, PkiLoadError, restoreErrorClass, targetError, usageError } from '../../src/common/errors.js';

test('exit codes are stable', () => {
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
    'a complete usage error',
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
    'a minimal usage error',
    usageError('bad_file', 'No such file.'),
    { code: 'bad_file', exitCode: 1, remedy: undefined, full: 'No such file.', cause: undefined },
  ],
  [
    'a target error',
    targetError('sealed', 'Vault is sealed.', 'Unseal it.', cause),
    { code: 'sealed', exitCode: 2, remedy: 'Unseal it.', full: 'Vault is sealed. Unseal it.', cause },
  ],
  [
    'an error with another exit code',
    new PkiLoadError('odd', 'Odd.', { exitCode: 98 }),
    { code: 'odd', exitCode: 98, remedy: undefined, full: 'Odd.', cause: undefined },
  ],
];

for (const [why, error, expected] of ERRORS) {
  test(`${why} has its code, exit code and remedy`, () => {
    const { code, exitCode, remedy, full } = error;
    assert.deepEqual({ code, exitCode, remedy, full, cause: error.cause }, expected);
    assert.ok(error instanceof PkiLoadError && error instanceof Error);
    assert.equal(error.name, 'PkiLoadError');
    assert.equal('cause' in error, error.cause !== undefined, 'no empty cause');
  });
}

test('restores the class of an error from a worker', async () => {
  const code = `throw Object.assign(new Error('Sealed.'), { name: 'PkiLoadError', code: 'sealed', exitCode: 2, remedy: 'Unseal.' })`;
  const [thrown] = await once(new Worker(code, { eval: true }), 'error').catch((error) => [error]);
  assert.ok(!(thrown instanceof PkiLoadError));
  const error = restoreErrorClass(thrown);
  assert.ok(error instanceof PkiLoadError);
  assert.equal(error.full, 'Sealed. Unseal.');
  assert.deepEqual([error.code, error.exitCode], ['sealed', 2]);
  for (const other of [new TypeError('x is not a function'), 'text'])
    assert.equal(restoreErrorClass(other), other);
});
