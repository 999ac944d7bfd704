/** `ocsp` against the responder of OpenSSL, which knows nothing of our code: what is right passes, what is odd is named. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { measure, scratch } from '../cli/support.js';
import { TestCa } from '../pki/openssl-ca.js';
import { runHere } from './support.js';

for (const key of ['rsa', 'ec']) {
  describe(`openssl ocsp with an ${key} CA`, () => {
    const ca = new TestCa({ key });
    const certs = {
      good: ca.issue('good', { key }),
      revoked: ca.issue('revoked', { key, status: 'R' }),
      unknown: ca.issue('unknown', { key, status: null }),
    };
    const delegate = ca.issue('delegate', { key, extensions: ['extendedKeyUsage=OCSPSigning'] });
    const plain = ca.issue('no OCSPSigning', { key });
    const stranger = new TestCa({ key, name: 'Stranger' });
    after(() => {
      ca.close();
      stranger.close();
    });

    /**
     * It takes one connection at a time and closes it after each answer.
     * @param {{certFile: string}} cert
     * @param {Record<string, unknown>} [options]
     * @param {Parameters<TestCa['listen']>[0]} [responder]
     */
    const ask = async (cert, options = {}, responder = {}) => {
      const { url, stop } = await ca.listen(responder);
      const asked = {
        cert: cert.certFile,
        issuer: ca.ca.certFile,
        ocspUrl: url,
        concurrency: 1,
        requests: 5,
      };
      try {
        return await runHere('ocsp', { ...asked, ...options });
      } finally {
        await stop();
      }
    };

    // Each hash with and without nonce, one half with either CA.
    const noncesOf = { sha1: key !== 'rsa', sha256: key === 'rsa' };
    for (const [status, cert] of Object.entries(certs)) {
      for (const [hash, nonce] of Object.entries(noncesOf)) {
        test(`${status}, ${hash}, ${nonce ? 'with' : 'without'} nonce`, async () => {
          const result = await ask(cert, { expect: status, hash, nonce });
          assert.deepEqual(result.outcomes, { [status]: 5 });
          const { checked, passed, sampled } = result.verification;
          assert.deepEqual({ checked, passed, sampled }, { checked: 5, passed: 5, sampled: false });
        });
      }
    }

    test('by GET', async () => {
      const result = await ask(certs.good, { method: 'get' });
      assert.deepEqual(result.outcomes, { good: 5 });
    });

    test('an unexpected status has its own outcome and is not a success', async () => {
      const revoked = await ask(certs.revoked);
      assert.deepEqual(revoked.outcomes, { status_revoked: 5 });
      assert.equal(revoked.totals.failed, 5);
      const good = await ask(certs.good, { expect: 'unknown' });
      assert.deepEqual(good.outcomes, { status_good: 5 });
    });

    /** @type {[string, () => Parameters<TestCa['listen']>[0], string][]} */
    const ODD = [
      ['a broken signature', () => ({ args: ['-badsig', '-ndays', '1'] }), 'bad_signature'],
      ['a signature by another CA', () => ({ signer: stranger.ca }), 'responder_not_authorized'],
      ['a delegate without OCSPSigning', () => ({ signer: plain }), 'responder_not_authorized'],
      ['a delegate', () => ({ signer: delegate }), 'good'],
      [
        'a delegate named by key',
        () => ({ signer: delegate, args: ['-resp_key_id', '-ndays', '1'] }),
        'good',
      ],
      ['the CA named by key', () => ({ args: ['-resp_key_id', '-ndays', '1'] }), 'good'],
      ['no certificates', () => ({ args: ['-resp_no_certs', '-ndays', '1'] }), 'good'],
      ['no nextUpdate', () => ({ args: [] }), 'good'],
    ];
    for (const [what, options, outcome] of key === 'ec' ? ODD : []) {
      test(`${what}: ${outcome}`, async () => {
        assert.deepEqual((await ask(certs.good, {}, options())).outcomes, { [outcome]: 5 });
      });
    }

    /** @type {[string, number, string][]} OpenSSL's clock cannot be set, so ours is */
    const CLOCKS = [
      ['a nextUpdate that has passed', 25, 'expired'],
      ['a thisUpdate in the future', -25, 'not_yet_valid'],
      ['a clock that is a little fast', 0.01, 'good'],
    ];
    for (const [what, hours, outcome] of key === 'ec' ? CLOCKS : []) {
      test(`${what}: ${outcome}`, async (t) => {
        const module = `const now = Date.now; Date.now = () => now() + ${hours * 3_600_000};`;
        const env = { NODE_OPTIONS: `--import=${scratch(t)('clock.mjs', module)}` };
        const { url, stop } = await ca.listen();
        const files = ['--cert', certs.good.certFile, '--issuer', ca.ca.certFile, '--ocsp-url', url];
        try {
          const load = ['--concurrency', '1', '--requests', '5'];
          assert.deepEqual((await measure(['ocsp', ...files, ...load], { env })).outcomes, { [outcome]: 5 });
        } finally {
          await stop();
        }
      });
    }
  });
}
