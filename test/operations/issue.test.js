import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadOperation } from '../../src/operations/index.js';
import { createSerialMemory } from '../../src/operations/serial-set.js';
import { serialHex } from '../../src/pki/text.js';
import { der, extension } from '../pki/ocsp-builder.js';
import { EXTENSIONS, TestCa } from '../pki/test-ca.js';
import { planOf } from './calls-support.js';

const issue = await loadOperation('issue');
const [ca, stranger] = [new TestCa(), new TestCa({ name: 'Stranger' })];
const names = ['localhost', 'host-3.example.com'].map((name) => der(0x82, Buffer.from(name)));
const sanOf = (/** @type {Buffer[]} */ ...list) => extension('2.5.29.17', false, der(0x30, ...list));
const san = sanOf(...names);
const [localhost, more] = [sanOf(names[0]), sanOf(...names, der(0x86, Buffer.from('https://example.com')))];
const leaf = ca.issue('localhost', { extensions: [san] });
const right = {
  certificate: leaf.pem,
  issuing_ca: ca.ca.pem,
  private_key: leaf.keyPem,
  serial_number: serialHex(leaf.serial),
};
/** @param {Record<string, unknown>} change */
const but = (change) => ({ data: { ...right, ...change } });
/** @param {Parameters<typeof ca.issue>} issued */
function certificate(...issued) {
  const { pem, serial } = ca.issue(...issued);
  return but({ certificate: pem, private_key: null, serial_number: serialHex(serial) });
}

/** @type {[string, unknown, string][]} what, body, outcome */
const ROWS = [
  ['a correct response', { data: right }, 'issued'],
  ['warnings', { data: right, errors: null, warnings: ['w'] }, 'issued'],
  ['HTML', '<!doctype html>', 'not_json'],
  ['nothing', '', 'not_json'],
  ['half a response', JSON.stringify({ data: right }).slice(0, -20), 'not_json'],
  ['an error in 200', { errors: ['permission denied'] }, 'error_body'],
  ['an error beside data', { errors: ['x'], data: right }, 'error_body'],
  ['null', 'null', 'not_json'],
  ['a list', '[1]', 'not_json'],
  ['a number', '5', 'not_json'],
  ['data that is a string', { data: 'x' }, 'no_certificate'],
  ['data that is a list', { data: [] }, 'no_certificate'],
  ['a certificate that is a number', but({ certificate: 5 }), 'no_certificate'],
  ['a truncated certificate', but({ certificate: leaf.pem.slice(0, 300) }), 'certificate_unreadable'],
  ['a key before the certificate', but({ certificate: leaf.keyPem + leaf.pem }), 'certificate_unreadable'],
  ['a key behind the certificate', but({ certificate: leaf.pem + leaf.keyPem }), 'certificate_unreadable'],
  ['an object of errors', { errors: { a: 1 }, data: right }, 'error_body'],
  ['a string as errors', { errors: 'x', data: right }, 'error_body'],
  ['no errors', { errors: [], data: right }, 'issued'],
  ['null as errors', { errors: null, data: right }, 'issued'],
  ['no issuing CA', but({ issuing_ca: null }), 'no_issuing_ca'],
  ['another issuing CA', but({ issuing_ca: stranger.ca.pem }), 'wrong_issuer'],
  ['another key', but({ private_key: ca.issue('other').keyPem }), 'key_mismatch'],
  ['an invalid key', but({ private_key: 'x' }), 'private_key_unreadable'],
  ['no key', but({ private_key: undefined }), 'no_private_key'],
  ['an empty key', but({ private_key: '' }), 'private_key_unreadable'],
  ['another serial number', but({ serial_number: '01:02' }), 'serial_mismatch'],
  ['a leaf as issuing CA', but({ issuing_ca: leaf.pem }), 'wrong_issuer'],
  ['another name', certificate('elsewhere'), 'wrong_subject'],
  ["a CA's certificate", certificate('localhost', { extensions: [san, EXTENSIONS.ca] }), 'ca_certificate'],
  ['no alternative names', certificate('localhost'), 'common_name_only'],
  ['a missing name', certificate('localhost', { extensions: [localhost] }), 'wrong_sans'],
  ['a name that was not requested', certificate('localhost', { extensions: [more] }), 'extra_sans'],
];
const bytes = (/** @type {unknown} */ body) =>
  Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));

/** @param {Record<string, unknown>} [given] */
const open = (given = {}) =>
  issue.createClassifier(planOf(issue, { altNames: 'host-{n}.example.com', ...given }), {
    serials: createSerialMemory(),
    csrs: null,
  });

for (const [what, body, outcome] of ROWS) {
  test(`issue: ${what}: ${outcome}`, () => {
    const verdict = open()(200, bytes(body), 3);
    const success = outcome === 'issued';
    assert.deepEqual(
      [verdict.outcome, verdict.success, verdict.verification, verdict.kept],
      [outcome, success, success ? 'passed' : 'failed', undefined],
    );
    assert.ok(Object.hasOwn(issue.outcomes, outcome));
  });
}

test('issue: exact bytes, names by index, each serial once, HTTP errors as refusals', () => {
  const body = bytes({ data: right });
  const lent = Buffer.concat([Buffer.from('xxxx'), body, Buffer.from('yyyy')]);
  const classify = open();
  assert.equal(open()(200, body, 4).outcome, 'wrong_sans');
  assert.equal(classify(200, lent.subarray(4, -4), 3).outcome, 'issued');
  assert.equal(classify(200, body, 3).outcome, 'serial_repeated');
  const refused = { outcome: 'unavailable', success: false, verification: null };
  assert.deepEqual(classify(503, body, 3), refused);
});

test('issue: --keep passes on serial and certificate, and nothing else of the response', () => {
  const { keyPem, pem, serial } = leaf;
  const planted = but({ certificate: `\n${pem}\n`, other: keyPem });
  const { kept, outcome } = open({ keep: 'x' })(200, bytes(planted), 3);
  assert.equal(outcome, 'issued');
  assert.deepEqual(kept, { serial: serialHex(serial), certificate: pem.trim() });
});
