import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expandName, hasPlaceholder } from '../../src/operations/names.js';
import { REFUSAL_OUTCOMES, refusal } from '../../src/operations/refusals.js';

describe('names', () => {
  /** @type {[string, string, RegExp, boolean][]} sentence, template, name of request 7, has a placeholder */
  const table = [
    ['without a placeholder stay as they are', 'localhost', /^localhost$/, false],
    ['have the number of the request', 'host-{n}.example.com', /^host-7\.example\.com$/, true],
    ['have it as often as it is asked for', '{n}.{n}', /^7\.7$/, true],
    ['have twelve hexadecimal digits', '{random}.example.com', /^[0-9a-f]{12}\.example\.com$/, true],
    ['have the same digits within one name', '{random}{random}', /^(.{12})\1$/, true],
    ['know no other placeholder', '{N}-{x}-{}', /^\{N\}-\{x\}-\{\}$/, false],
  ];
  for (const [sentence, template, name, differs] of table) {
    test(sentence, () => {
      assert.match(expandName(template, 1, 7), name);
      assert.equal(hasPlaceholder(template), differs);
      assert.equal(hasPlaceholder(template), differs, 'asked again');
    });
  }

  test('random ones differ for each request and seed, and follow from them', () => {
    const names = Array.from({ length: 100_000 }, (_, i) => expandName('{random}', 1, i));
    assert.equal(new Set(names).size, names.length);
    assert.notEqual(expandName('{random}', 2, 0), names[0]);
    assert.equal(expandName('{random}', 1, 5), names[5]);
  });
});

describe('refusals', () => {
  test('every status but success has a described outcome that is no success and nothing verified', () => {
    for (const status of [...Array(200).keys(), ...Array.from({ length: 700 }, (_, i) => 300 + i)]) {
      const { outcome, success, verification } = refusal(status);
      assert.ok(Object.hasOwn(REFUSAL_OUTCOMES, outcome), `${status}: ${outcome}`);
      assert.deepEqual([success, verification], [false, null]);
    }
  });

  for (const [status, outcome] of /** @type {[number, string][]} */ ([
    [301, 'redirected'],
    [307, 'redirected'],
    [400, 'bad_request'],
    [403, 'permission_denied'],
    [404, 'not_found'],
    [418, 'http_error'],
    [429, 'rate_limited'],
    [472, 'standby'],
    [473, 'standby'],
    [500, 'server_error'],
    [502, 'bad_gateway'],
    [503, 'unavailable'],
    [504, 'bad_gateway'],
  ])) {
    test(`${status} is ${outcome}`, () => assert.equal(refusal(status).outcome, outcome));
  }
});
