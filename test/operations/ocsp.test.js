import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { shuffled } from '../../src/common/random.js';
import { loadOperation } from '../../src/operations/index.js';
import { readKinds } from '../../src/operations/ocsp-kinds.js';
import { createRequestSet, openRequestSet } from '../../src/operations/ocsp-requests.js';
import { buildOcspRequest, createCertId } from '../../src/pki/ocsp-request.js';
import { parseSerial } from '../../src/pki/text.js';
import { buildResponse, bytesOf, der, extension, refusal, single } from '../pki/ocsp-builder.js';
import { TestCa } from '../pki/test-ca.js';
import { planOf } from './calls-support.js';

const ocsp = await loadOperation('ocsp');
const { ca } = new TestCa();
const issuerDer = ca.der;
const STATUS = {
  good: bytesOf('8000'),
  revoked: der(0xa1, der(0x18, Buffer.from('20260101000000Z'))),
  unknown: bytesOf('8200'),
};

/** About one serial. @param {Record<string, unknown>} [given] @param {string} [serial] */
async function open(given = {}, serial = '4a') {
  const plan = planOf(ocsp, given);
  const { hash, nonce, method, expect } = plan.options;
  const order = Uint32Array.of(0);
  const requests = createRequestSet({ issuerDer, serials: [parseSerial(serial)], order, hash, nonce });
  const fixture = {
    origin: 'http://a-responder.with-a-long-name.example.com:8080',
    path: '/ocsp',
    method,
    issuerDer,
    kinds: [{ ...readKinds([], expect)[0], requests }],
    headers: { 'x-vault-namespace': 'team' },
  };
  const set = openRequestSet(requests, plan.load.seed);
  /** @param {keyof typeof STATUS} status @param {number} [index] */
  const respond = (status, index = 0) => {
    const { certId, nonce: sent } = set.expectation(index);
    const echo = sent && extension('1.3.6.1.5.5.7.48.1.2', false, der(4, sent));
    const singles = [single({ certId: certId.raw, thisUpdate: Date.now(), status: STATUS[status] })];
    return buildResponse({ signer: ca, singles, extensions: echo ? [echo] : [] });
  };
  return {
    respond,
    classify: ocsp.createClassifier(plan, fixture),
    request: ocsp.createRequester(plan, fixture),
  };
}

describe('responses to ocsp', () => {
  for (const [status, expect, outcome] of /** @type {const} */ ([
    ['good', 'good', 'good'],
    ['revoked', 'good', 'status_revoked'],
    ['unknown', 'good', 'status_unknown'],
    ['revoked', 'revoked', 'revoked'],
    ['good', 'revoked', 'status_good'],
    ['unknown', 'unknown', 'unknown'],
  ])) {
    test(`${status}, expected ${expect}: ${outcome}`, async () => {
      const success = status === expect;
      for (const nonce of [false, true]) {
        const { classify, respond } = await open({ expect, nonce });
        const expected = { outcome, success, verification: success ? 'passed' : 'failed' };
        assert.deepEqual(classify(200, respond(status), 0), expected);
        assert.equal(classify(500, respond(status), 0).success, false, 'HTTP 500 is no success');
        assert.ok(Object.hasOwn(ocsp.outcomes, outcome));
      }
    });
  }

  test("another request's response has another nonce, another certificate's another CertID", async () => {
    const { classify, respond } = await open({ nonce: true });
    assert.equal(classify(200, respond('good'), 1).outcome, 'nonce_mismatch');
    assert.equal((await open({}, '4b')).classify(200, respond('good'), 0).outcome, 'cert_id_mismatch');
  });

  test('a refusal is one at any HTTP status, with nothing to verify, unless it is expected', async () => {
    const { classify } = await open();
    const lenient = (await open({ expect: 'unauthorized' })).classify;
    for (const status of [200, 400, 401, 500, 503]) {
      for (const [code, outcome] of /** @type {const} */ ([
        [1, 'ocsp_malformed_request'],
        [3, 'ocsp_try_later'],
        [6, 'ocsp_unauthorized'],
      ])) {
        const refused = { outcome, success: false, verification: null };
        assert.deepEqual(classify(status, refusal(code), 0), refused);
        const expected =
          code === 6 ? { outcome: 'unauthorized', success: true, verification: 'passed' } : refused;
        assert.deepEqual(lenient(status, refusal(code), 0), expected);
      }
    }
  });

  test('not an OCSP response: a failure with 2xx, else the meaning of the HTTP status', async () => {
    const { classify } = await open();
    for (const body of [Buffer.alloc(0), Buffer.from('<html>'), Buffer.alloc(100_000, 0x30)]) {
      const failed = { outcome: 'not_ocsp', success: false, verification: 'failed' };
      assert.deepEqual(classify(200, body, 0), failed);
      assert.equal(classify(404, body, 0).outcome, 'not_found');
      assert.equal(classify(307, body, 0).outcome, 'redirected');
    }
  });

  test('POST has the request in its body, GET in its path; auto is GET up to 255 bytes', async () => {
    const [post, get] = [
      (await open({ method: 'post' })).request(0),
      (await open({ method: 'get' })).request(0),
    ];
    const { 'content-type': type, 'x-vault-namespace': namespace } = post.headers;
    assert.deepEqual(
      [post.method, post.path, type, namespace],
      ['POST', '/ocsp', 'application/ocsp-request', 'team'],
    );
    assert.deepEqual([get.method, get.body, get.headers['content-type']], ['GET', null, undefined]);
    const encoded = decodeURIComponent(get.path.slice('/ocsp/'.length));
    assert.deepEqual(Buffer.from(encoded, 'base64'), Buffer.from(post.body ?? ''));
    assert.equal((await open({ method: 'auto' })).request(0).method, 'GET');
    const long = { method: 'auto', nonce: true, hash: 'sha256' };
    assert.equal((await open(long)).request(0).method, 'POST');
  });
});

describe('requests for many serials', () => {
  /** @param {Uint8Array[]} serials @param {{hash?: 'sha1' | 'sha256', nonce?: boolean, order?: Uint32Array}} [options] */
  async function openSet(
    serials,
    { hash = 'sha1', nonce = false, order = shuffled(serials.length, 1) } = {},
    seed = 1,
  ) {
    const set = createRequestSet({ issuerDer, serials, order, hash, nonce });
    return openRequestSet(structuredClone(set), seed);
  }
  const serial = fc.bigInt({ min: 1n, max: 2n ** 159n - 1n }).map((value) => parseSerial(value.toString(16)));

  test('equal those that pkijs builds, with any serial, hash and nonce', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(serial, { minLength: 1, maxLength: 8 }),
        fc.constantFrom(/** @type {const} */ ('sha1'), /** @type {const} */ ('sha256')),
        fc.boolean(),
        async (serials, hash, nonce) => {
          const order = Uint32Array.from(serials.keys());
          const set = await openSet(serials, { hash, nonce, order });
          for (const [i, each] of serials.entries()) {
            const certId = await createCertId({ issuerDer, serial: each, hash });
            const expected = set.expectation(i);
            assert.ok(expected.certId.raw.equals(certId.raw));
            assert.equal(expected.nonce?.length, nonce ? 32 : undefined);
            assert.ok(set.request(i).equals(await buildOcspRequest({ certId, nonce: expected.nonce })));
          }
        },
      ),
      { numRuns: 20 },
    );
  });

  test('repeat the order, each with its own bytes', async () => {
    const serials = ['01', '02', '0300'].map((hex) => parseSerial(hex));
    const set = await openSet(serials, { order: Uint32Array.of(2, 0, 1) });
    const asked = [0, 1, 2, 3, 4, 5, 3_000_000_001].map((index) =>
      serials.findIndex((each) => set.expectation(index).certId.raw.subarray(-each.length).equals(each)),
    );
    assert.deepEqual(asked, [2, 0, 1, 2, 0, 1, 0]);
    const first = set.request(0);
    const before = Buffer.from(first);
    set.request(1);
    assert.ok(first.equals(before));
  });

  test('have nonces that differ by request and seed, and depend only on them', async () => {
    const [one, same, other] = await Promise.all(
      [1, 1, 2].map((seed) => openSet([parseSerial('7f')], { nonce: true }, seed)),
    );
    const hex = (/** @type {typeof one} */ set, /** @type {number} */ i) =>
      set.expectation(i).nonce?.toString('hex');
    assert.equal(new Set(Array.from({ length: 1000 }, (_, i) => hex(one, i))).size, 1000);
    assert.equal(hex(one, 5), hex(same, 5));
    assert.notEqual(hex(one, 5), hex(other, 5));
  });

  test('are constant only for one serial without a nonce', async () => {
    const [one, two] = [[parseSerial('01')], [parseSerial('01'), parseSerial('02')]];
    assert.equal((await openSet(one)).constant, true);
    assert.equal((await openSet(one, { nonce: true })).constant, false);
    assert.equal((await openSet(two)).constant, false);
  });
});
