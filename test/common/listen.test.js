import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAddressFilter } from '../../src/common/listen.js';

/** @type {[given: (string | null)[], url: string, isAllowed: boolean][]} */
const CASES = [
  [[null], 'http://127.0.0.1:8200', true],
  [[null, 'http://localhost:8200'], 'https://[::1]:1', true],
  [[null], 'http://vault.example', false],
  [[null], 'unix:///run/vault.sock', false],
  [[null], 'ftp://127.0.0.1', false],
  [['https://vault.example'], 'https://VAULT.example:443/v1', true],
  [['https://vault.example'], 'http://vault.example', false],
  [['https://vault.example'], 'http://127.0.0.1:8200', false],
  [['http://127.0.0.1:8200', 'https://vault.example'], 'http://127.0.0.1:8201', false],
  [['unix:///run/vault.sock/'], 'unix:///run/vault.sock', true],
  [['unix:///run/vault.sock'], 'unix:///run/vault.sock:/v1/x', false],
  [['unix:///run/agent:/v.sock'], 'unix:///run/agent:/v.sock', true],
  [['unix:///run/agent:/v.sock'], 'unix:///run/agent', false],
  [['unix:///run/vault.sock'], 'http://127.0.0.1:8200', false],
  // Other files, though a URL parser would make them the same.
  [['unix:///run/vault.sock'], 'unix:///tmp/x/../../run/vault.sock', false],
  [['unix:///run/vault.sock'], 'unix:///tmp/%2e%2e/run/vault.sock', false],
  [['unix:///run/vault.sock'], 'unix:///run/vault.sock ', false],
  [['nonsense'], 'nonsense', false],
];

for (const [given, url, isAllowed] of CASES)
  test(`a scenario may ${isAllowed ? '' : 'not '}send to ${url}, if the user named ${given.join(' and ')}`, () =>
    assert.equal(createAddressFilter(given)(url), isAllowed));
