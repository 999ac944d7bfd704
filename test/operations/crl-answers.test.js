import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { loadOperation } from '../../src/operations/index.js';
import { REFUSAL_OUTCOMES } from '../../src/operations/refusals.js';
import { crlByHand, entry, opensslCrl } from '../pki/crl-maker.js';
import { der, extension, generalizedTime, oid } from '../pki/ocsp-builder.js';
import { TestCa } from '../pki/openssl-ca.js';

const { createClassifier, createRequester, outcomes, takeNotes } = await loadOperation('crl');
const cas = {
  rsa: new TestCa({ key: 'rsa', name: 'RSA' }),
  ec: new TestCa({ name: 'EC' }),
  pss: new TestCa({ name: 'EC' }),
};
after(() => {
  for (const ca of Object.values(cas)) ca.close();
});
const NOW = Date.now();
const HOUR_MS = 3_600_000;
const at = (/** @type {number} */ hours) => generalizedTime(NOW + hours * HOUR_MS);
const UNKNOWN_ALGORITHM = der(0x30, oid('1.2.840.10045.4.3.99'));
const delta = der(0xa0, der(0x30, extension('2.5.29.27', true, Buffer.from('020105', 'hex'))));
const { ec } = cas;

/** @type {[string, Buffer, string][]} sentence, body, outcome with the EC CA as the issuer */
const ROWS = [
  ['a right one', crlByHand(ec.ca), 'crl'],
  ['one of OpenSSL', opensslCrl(ec.ca, { extensions: [], revoked: [['01', '260101000000Z']] }), 'crl'],
  ['one that never ends', crlByHand(ec.ca, { nextUpdate: null }), 'crl'],
  ['clocks a little apart', crlByHand(ec.ca, { thisUpdate: at(0.001) }), 'crl'],
  ['HTML', Buffer.from('<!doctype html>'), 'not_crl'],
  ['nothing', Buffer.alloc(0), 'not_crl'],
  [
    'the PEM of one',
    Buffer.from(`-----BEGIN X509 CRL-----\n${crlByHand(ec.ca).toString('base64')}`),
    'not_crl',
  ],
  ['half of one', crlByHand(ec.ca).subarray(0, 100), 'not_crl'],
  ['that of another CA', opensslCrl(cas.rsa.ca, {}), 'other_issuer'],
  ['that of another CA of the same name', crlByHand(cas.pss.ca), 'bad_signature'],
  [
    'an algorithm that nobody knows',
    crlByHand(ec.ca, { inside: UNKNOWN_ALGORITHM, outside: UNKNOWN_ALGORITHM }),
    'unsupported_signature_algorithm',
  ],
  ['a delta CRL', crlByHand(ec.ca, { extensions: delta }), 'unknown_critical_extension'],
  ['one from tomorrow', crlByHand(ec.ca, { thisUpdate: at(24), nextUpdate: at(48) }), 'not_yet_valid'],
  ['one from yesterday', crlByHand(ec.ca, { thisUpdate: at(-24), nextUpdate: at(-1) }), 'expired'],
];

/** @param {TestCa} [ca] */
const open = (ca = ec) =>
  createClassifier(/** @type {any} */ ({}), { issuerPem: ca.ca.pem, most: new SharedArrayBuffer(24) });

describe('answers to crl', () => {
  for (const [sentence, body, outcome] of ROWS) {
    test(`${sentence}: ${outcome}`, () => {
      const classify = open();
      for (const once of [classify(200, body, 0), classify(200, body, 1)]) {
        const success = outcome === 'crl';
        assert.deepEqual(once, { outcome, success, verification: success ? 'passed' : 'failed' });
      }
    });
  }

  test('each declared outcome can occur', () => {
    const seen = new Set([...ROWS.map(([, , outcome]) => outcome), ...Object.keys(REFUSAL_OUTCOMES)]);
    assert.deepEqual([...seen].sort(), Object.keys(outcomes).sort());
  });

  test('an RSA issuer', () => {
    const classify = open(cas.rsa);
    assert.equal(classify(200, opensslCrl(cas.rsa.ca, {}), 0).outcome, 'crl');
    assert.equal(classify(200, crlByHand(ec.ca), 0).outcome, 'other_issuer');
  });

  test('a verdict is not that of the list before, and a damaged one is noticed', () => {
    const classify = open();
    const right = crlByHand(ec.ca);
    const damaged = Buffer.from(right);
    damaged[damaged.length - 1] ^= 1;
    const outcomesSeen = [right, damaged, right].map((body) => classify(200, body, 0).outcome);
    assert.deepEqual(outcomesSeen, ['crl', 'bad_signature', 'crl']);
  });

  test('a list on loan among other bytes may be overwritten afterwards', () => {
    const right = crlByHand(ec.ca);
    const lent = new Uint8Array(right.length + 8);
    lent.set(right, 4);
    const body = lent.subarray(4, -4);
    const classify = open();
    assert.equal(classify(200, body, 0).outcome, 'crl');
    lent.fill(0);
    assert.equal(classify(200, body, 0).outcome, 'not_crl');
    assert.equal(classify(200, right, 0).outcome, 'crl');
  });

  test('an HTTP error is a refusal, whatever it holds', () => {
    assert.deepEqual(open()(503, crlByHand(ec.ca), 0), {
      outcome: 'unavailable',
      success: false,
      verification: null,
    });
  });

  test('the note tells the largest of all threads once they have ended, and nothing where there was no CRL', () => {
    const most = new SharedArrayBuffer(24);
    const [one, other] = [1, 2].map(() =>
      createClassifier(/** @type {any} */ ({}), { issuerPem: ec.ca.pem, most }),
    );
    one(200, Buffer.alloc(100_000), 0);
    assert.deepEqual(takeNotes?.({ most }), []);
    const long = crlByHand(ec.ca, { entries: der(0x30, entry(1), entry(2)), thisUpdate: at(-2) });
    other(200, crlByHand(ec.ca), 0);
    assert.equal(one.notes ?? other.notes, undefined, 'no thread knows what the others will see');
    one(200, long, 0);
    const notes = takeNotes?.({ most });
    assert.match(
      String(notes),
      new RegExp(`had ${long.length} bytes, the longest 2 entries; the oldest was up to 2 h`),
    );
    assert.equal(notes?.length, 1);
  });

  test('the note of a run says nothing of the run before', () => {
    const most = new SharedArrayBuffer(24);
    const classify = createClassifier(/** @type {any} */ ({}), { issuerPem: ec.ca.pem, most });
    const hoursOld = (/** @type {number} */ hours, /** @type {Buffer[]} */ ...entries) =>
      crlByHand(ec.ca, { entries: der(0x30, ...entries), thisUpdate: at(-hours) });
    classify(200, hoursOld(5, entry(1), entry(2)), 0);
    takeNotes?.({ most });
    const short = hoursOld(2, entry(1));
    classify(200, short, 0);
    assert.match(
      String(takeNotes?.({ most })),
      new RegExp(`had ${short.length} bytes, the longest 1 entry; the oldest was up to 2 h`),
    );
    assert.deepEqual(takeNotes?.({ most }), []);
  });

  test('asks without a token', () => {
    const plan = /** @type {any} */ ({ target: { mount: 'a b/pki' } });
    const headers = { accept: 'x' };
    assert.deepEqual(createRequester(plan, { basePath: '/base', headers })(7), {
      method: 'GET',
      path: '/base/v1/a%20b/pki/crl',
      headers,
      body: null,
    });
  });
});
