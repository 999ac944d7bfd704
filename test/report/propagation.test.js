import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderDocument } from '../../src/report/index.js';
import { readJunit } from './data/junit-document.js';
import { PROPAGATIONS } from './documents.js';

test('JUnit: cases for requirements, the measurement and the interruption', async () => {
  const { suites } = readJunit(await renderDocument('junit', PROPAGATIONS['propagation-troubled']));
  assert.deepEqual(
    suites[0].cases.map(({ name, problems }) => [
      name,
      ...problems.map(({ kind, type }) => `${kind}: ${type}`),
    ]),
    [
      ['p99<2s', 'failure: not met'],
      ['errors<10%', 'failure: not met'],
      ['min<1s', 'error: not proven'],
      ['the measurement is valid', 'failure: invalid'],
      ['the measurement is complete', 'error: interrupted'],
    ],
  );
});
