import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { loadOperation } from '../../src/operations/index.js';
import { readKinds } from '../../src/operations/ocsp-kinds.js';
import { createRequestSet } from '../../src/operations/ocsp-requests.js';
import { parseSerial } from '../../src/pki/serial.js';
import { makePlan } from '../../src/plan.js';
import { readEnvironment } from '../../src/vault/environment.js';
import { TestCa } from '../pki/openssl-ca.js';

const ocsp = await loadOperation('ocsp');
const ca = new TestCa();
after(() => {
  ca.close();
});

/** @param {import('../../src/operations/index.js').Operation} operation @param {Record<string, unknown>} given */
const plan = (operation, given) =>
  makePlan(operation, { seed: 1, ...given }, readEnvironment({}, { home: '/nowhere' }));

const leaf = ca.issue('leaf');
const REFUSED = {
  malformed: [1, 'ocsp_malformed_request'],
  later: [3, 'ocsp_try_later'],
  unauthorized: [6, 'ocsp_unauthorized'],
};
const revoked = ca.issue('revoked', { status: 'R' });
const unknown = ca.issue('unknown', { status: null });

/** @param {import('../pki/openssl-ca.js').Issued} cert @param {Record<string, unknown>} [given] */
async function askAbout(cert, given = {}) {
  const made = plan(ocsp, given);
  const set = await createRequestSet({
    issuerDer: ca.ca.der,
    serials: [parseSerial(cert.serialHex)],
    order: Uint32Array.of(0),
    hash: made.options.hash,
    nonce: made.options.nonce,
  });
  const fixture = {
    origin: 'http://a-responder.with-a-long-name.example.com:8080',
    path: '/ocsp',
    method: made.options.method,
    issuerDer: ca.ca.der,
    kinds: [{ ...readKinds([], made.options.expect)[0], requests: set }],
    namespace: 'team',
  };
  return { classify: ocsp.createClassifier(made, fixture), request: ocsp.createRequester(made, fixture) };
}

describe('answers to ocsp', () => {
  /** @type {[string, import('../pki/openssl-ca.js').Issued, string, string, boolean][]} sentence, asked about, expected, outcome, success */
  const statuses = [
    ['good where good is expected', leaf, 'good', 'good', true],
    ['revoked where good is expected', revoked, 'good', 'status_revoked', false],
    ['unknown where good is expected', unknown, 'good', 'status_unknown', false],
    ['revoked where revoked is expected', revoked, 'revoked', 'revoked', true],
    ['good where revoked is expected', leaf, 'revoked', 'status_good', false],
    ['unknown where unknown is expected', unknown, 'unknown', 'unknown', true],
  ];
  for (const [sentence, cert, expect, outcome, success] of statuses) {
    test(sentence, async () => {
      for (const nonce of [false, true]) {
        const { classify, request } = await askAbout(cert, { expect, nonce });
        const body = ca.respond(/** @type {Uint8Array} */ (request(0).body));
        assert.deepEqual(classify(200, body, 0), {
          outcome,
          success,
          verification: success ? 'passed' : 'failed',
        });
        assert.ok(Object.hasOwn(ocsp.outcomes, outcome));
      }
    });
  }

  test('an answer to another request has another nonce, one about another certificate another CertID', async () => {
    const { classify, request } = await askAbout(leaf, { nonce: true });
    const answer = ca.respond(/** @type {Uint8Array} */ (request(0).body));
    assert.equal(classify(200, answer, 1).outcome, 'nonce_mismatch');
    assert.equal((await askAbout(revoked)).classify(200, answer, 0).outcome, 'cert_id_mismatch');
  });

  for (const [name, [code, outcome]] of Object.entries(REFUSED)) {
    test(`${name} is an OCSP refusal with any HTTP status, and nothing to verify`, async () => {
      const { classify } = await askAbout(leaf);
      for (const status of [200, 400, 401, 500, 503]) {
        assert.deepEqual(classify(status, Buffer.from([0x30, 3, 10, 1, Number(code)]), 0), {
          outcome,
          success: false,
          verification: null,
        });
      }
    });
  }

  test('a refusal that is expected is a success, with any HTTP status', async () => {
    const { classify } = await askAbout(unknown, { expect: 'unauthorized' });
    for (const status of [200, 401]) {
      assert.deepEqual(classify(status, Buffer.from([0x30, 3, 10, 1, 6]), 0), {
        outcome: 'unauthorized',
        success: true,
        verification: 'passed',
      });
      assert.equal(classify(status, Buffer.from([0x30, 3, 10, 1, 3]), 0).outcome, 'ocsp_try_later');
    }
  });

  test('what is no OCSP response: a failure of the answer in 2xx, else what the HTTP status says', async () => {
    const { classify, request } = await askAbout(leaf);
    for (const body of [Buffer.alloc(0), Buffer.from('<html>'), Buffer.alloc(100_000, 0x30)]) {
      assert.deepEqual(classify(200, body, 0), {
        outcome: 'not_ocsp',
        success: false,
        verification: 'failed',
      });
      assert.equal(classify(404, body, 0).outcome, 'not_found');
      assert.equal(classify(307, body, 0).outcome, 'redirected');
    }
    const good = ca.respond(/** @type {Uint8Array} */ (request(0).body));
    assert.equal(classify(500, good, 0).success, false, 'a good answer in HTTP 500 is no success');
  });

  test('POST carries the request, GET has it in its path; auto takes GET up to 255 bytes', async () => {
    const post = (await askAbout(leaf, { method: 'post' })).request(0);
    const get = (await askAbout(leaf, { method: 'get' })).request(0);
    assert.deepEqual(
      [post.method, post.path, post.headers['content-type']],
      ['POST', '/ocsp', 'application/ocsp-request'],
    );
    assert.deepEqual([get.method, get.body, get.headers['content-type']], ['GET', null, undefined]);
    assert.ok(
      Buffer.from(decodeURIComponent(get.path.slice('/ocsp/'.length)), 'base64').equals(
        Buffer.from(post.body ?? ''),
      ),
    );
    assert.equal((await askAbout(leaf, { method: 'auto' })).request(0).method, 'GET');
    assert.equal(
      (await askAbout(leaf, { method: 'auto', nonce: true, hash: 'sha256' })).request(0).method,
      'POST',
    );
    assert.equal(post.headers['x-vault-namespace'], 'team');
  });
});
