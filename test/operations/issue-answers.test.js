import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { loadOperation } from '../../src/operations/index.js';
import { createSerialMemory } from '../../src/operations/serial-set.js';
import { makePlan } from '../../src/plan.js';
import { readEnvironment } from '../../src/vault/environment.js';
import { TestCa } from '../pki/openssl-ca.js';

const issue = await loadOperation('issue');
const ca = new TestCa();
const stranger = new TestCa({ name: 'Stranger' });
after(() => {
  ca.close();
  stranger.close();
});

/** @param {import('../../src/operations/index.js').Operation} operation @param {Record<string, unknown>} given */
const plan = (operation, given) =>
  makePlan(operation, { seed: 1, ...given }, readEnvironment({}, { home: '/nowhere' }));

/** @typedef {Record<string, any>} Data */
const san = { extensions: ['subjectAltName=DNS:localhost,DNS:host-3.example.com'] };
const leaf = ca.issue('localhost', san);
const key = readFileSync(leaf.keyFile, 'utf8');
/** @type {Data} */
const right = {
  certificate: leaf.pem,
  issuing_ca: ca.ca.pem,
  private_key: key,
  serial_number: leaf.serialHex,
};
const otherKey = readFileSync(ca.issue('other').keyFile, 'utf8');

/** @type {[string, unknown, string][]} sentence, body, outcome */
const ISSUED = [
  ['a right answer is a certificate', { data: right }, 'issued'],
  ['warnings do no harm', { data: right, errors: null, warnings: ['w'] }, 'issued'],
  ['HTML is not JSON', '<!doctype html>', 'not_json'],
  ['nothing is not JSON', '', 'not_json'],
  ['half an answer is not JSON', JSON.stringify({ data: right }).slice(0, -20), 'not_json'],
  ['an error in 200 is an error', { errors: ['permission denied'] }, 'error_body'],
  ['an error beside data is an error', { errors: ['x'], data: right }, 'error_body'],
  ['null holds no certificate', 'null', 'no_certificate'],
  ['a list holds no certificate', '[1]', 'no_certificate'],
  ['a number holds no certificate', '5', 'no_certificate'],
  ['data that is a text holds no certificate', { data: 'x' }, 'no_certificate'],
  ['data that is a list holds no certificate', { data: [] }, 'no_certificate'],
  ['a certificate that is a number is none', { data: { ...right, certificate: 5 } }, 'no_certificate'],
  [
    'a certificate cut off cannot be read',
    { data: { ...right, certificate: leaf.pem.slice(0, 300) } },
    'certificate_unreadable',
  ],
  ['no issuing CA', { data: { ...right, issuing_ca: null } }, 'no_issuing_ca'],
  ['another issuing CA', { data: { ...right, issuing_ca: stranger.ca.pem } }, 'wrong_issuer'],
  ['another key', { data: { ...right, private_key: otherKey } }, 'key_mismatch'],
  ['a key that is none', { data: { ...right, private_key: 'x' } }, 'private_key_unreadable'],
  ['no key at all', { data: { ...right, private_key: undefined } }, 'no_private_key'],
  ['an empty key', { data: { ...right, private_key: '' } }, 'private_key_unreadable'],
  [
    'another name',
    { data: { ...right, certificate: ca.issue('elsewhere').pem, private_key: null } },
    'wrong_subject',
  ],
  [
    "a CA's certificate",
    {
      data: {
        ...right,
        certificate: ca.issue('localhost', {
          extensions: [...san.extensions, 'basicConstraints=critical,CA:TRUE'],
        }).pem,
        private_key: null,
      },
    },
    'ca_certificate',
  ],
  [
    'a name that is missing',
    { data: { ...right, certificate: ca.issue('localhost').pem, private_key: null } },
    'wrong_sans',
  ],
];

/** @param {unknown} body */
const bytes = (body) => Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));

/** @param {Record<string, unknown>} [given] */
function issueClassifier(given = {}) {
  const made = plan(issue, { altNames: 'host-{n}.example.com', ...given });
  return issue.createClassifier(made, { serials: createSerialMemory(), csrs: null });
}

describe('answers to issue', () => {
  for (const [sentence, body, outcome] of ISSUED) {
    test(sentence, () => {
      const verdict = issueClassifier()(200, bytes(body), 3);
      assert.equal(verdict.outcome, outcome);
      assert.deepEqual(
        [verdict.success, verdict.verification],
        outcome === 'issued' ? [true, 'passed'] : [false, 'failed'],
      );
      assert.ok(Object.hasOwn(issue.outcomes, outcome));
      assert.equal(verdict.kept, undefined);
    });
  }

  test('a body on loan among other bytes is read at its place', () => {
    const body = bytes({ data: right });
    const lent = Buffer.concat([Buffer.from('xxxx'), body, Buffer.from('yyyy')]);
    assert.equal(issueClassifier()(200, lent.subarray(4, -4), 3).outcome, 'issued');
  });

  test('names follow the index: the certificate of request 3 is not one for request 4', () => {
    assert.equal(issueClassifier()(200, bytes({ data: right }), 4).outcome, 'wrong_sans');
  });

  test('a serial given out twice is a failure, and only then', () => {
    const classify = issueClassifier();
    const outcomes = [200, 200].map((status) => classify(status, bytes({ data: right }), 3).outcome);
    assert.deepEqual(outcomes, ['issued', 'serial_repeated']);
  });

  test('with --keep serial and certificate are handed over, and nothing else that an answer may hold', () => {
    const planted = { ...right, certificate: `${key}\n${leaf.pem}\n${key}`, serial_number: key };
    const { kept, outcome } = issueClassifier({ keep: 'x' })(200, bytes({ data: planted }), 3);
    assert.equal(outcome, 'issued');
    assert.deepEqual(kept, {
      serial: leaf.serialHex.toLowerCase().match(/../g)?.join(':'),
      certificate: leaf.pem.trim(),
    });
  });

  test('an HTTP error is a refusal, whatever it holds', () => {
    assert.deepEqual(issueClassifier()(503, bytes({ data: right }), 3), {
      outcome: 'unavailable',
      success: false,
      verification: null,
    });
  });
});
