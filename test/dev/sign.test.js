import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { createDevServer } from '../../src/dev/server.js';
import { ask, derOf, openssl, scratch } from './support.js';

/** @import { DevServer } from '../../src/dev/server.js' */

/** @type {DevServer} */
let server;
before(async () => {
  server = await createDevServer({ caKeyType: 'ec' });
});
after(() => server.close());

const file = scratch({ after });

/** @param {string[]} newKey @param {...string} more */
function csr(newKey, ...more) {
  const [key, out] = [file('csr-key.pem', ''), file('csr.pem', '')];
  const files = ['-keyout', key, '-out', out, '-subj', '/O=ignored/CN=csr.example.com'];
  const made = openssl('req', '-new', '-nodes', ...newKey, ...files, ...more);
  assert.equal(made.status, 0, made.text);
  return { csr: readFileSync(out, 'utf8'), key };
}

const RSA = ['-newkey', 'rsa:2048'];
const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
const EXPLICIT = [...EC, '-pkeyopt', 'ec_param_enc:explicit'];
const SECP256K1 = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp256k1'];
const ED = ['-newkey', 'ed25519'];

describe('sign', () => {
  for (const [role, newKey] of /** @type {[string, string[]][]} */ ([
    ['example-dot-com', RSA],
    ['example-dot-com-ec', EC],
    ['example-dot-com-ed25519', ED],
  ])) {
    it(`${role}: a CSR made by OpenSSL becomes a certificate for its key that OpenSSL accepts`, async () => {
      const made = csr(newKey, '-addext', 'subjectAltName=DNS:alt.example.com,IP:10.1.2.3,IP:2001:db8::2');
      const { status, json } = await ask(server, 'POST', `pki_int/sign/${role}`, {
        csr: made.csr,
        ttl: '1h',
      });
      assert.equal(status, 200, JSON.stringify(json));
      const leaf = file('signed.pem', json.data.certificate);
      const verdict = openssl(
        ...[
          'verify',
          '-x509_strict',
          '-verify_hostname',
          'alt.example.com',
          '-CAfile',
          file('root.pem', server.rootPem),
        ],
        ...['-untrusted', file('ca.pem', server.caPem), leaf],
      );
      assert.equal(verdict.status, 0, verdict.text);
      const ownKey = openssl('pkey', '-in', made.key, '-pubout').text;
      assert.equal(openssl('x509', '-in', leaf, '-noout', '-pubkey').text, ownKey);
      const certificate = new X509Certificate(json.data.certificate);
      assert.equal(certificate.subject, 'CN=csr.example.com');
      assert.equal(
        certificate.subjectAltName,
        'DNS:alt.example.com, DNS:csr.example.com, IP Address:10.1.2.3, IP Address:2001:DB8:0:0:0:0:0:2',
      );
      assert.equal(json.data.private_key, undefined);
    });
  }

  const san = (/** @type {string} */ name) => csr(EC, '-addext', `subjectAltName=${name}`);
  const [ROLE, RSA_ROLE] = ['example-dot-com-ec', 'example-dot-com'];
  /** Sentence, what to send, the role, and the error of Vault 1.21.1. */
  const cases = /** @type {[string, () => object, string, RegExp][]} */ ([
    ['no CSR', () => ({}), ROLE, /^"csr" is empty$/],
    ['no PEM', () => ({ csr: 'zz' }), ROLE, /^csr contains no data$/],
    ['nonsense', () => ({ csr: pem(Buffer.alloc(3)) }), ROLE, /^certificate request could not be parsed: /],
    ['a curve without a name', () => csr(EXPLICIT), ROLE, /^certificate request could not be parsed: /],
    ['a wrong signature', () => ({ csr: pem(tampered(csr(EC).csr)) }), ROLE, /^request signature invalid$/],
    ['another key type', () => csr(RSA), ROLE, /^role requires keys of type ec$/],
    ['short', () => csr(['-newkey', 'rsa:1024']), RSA_ROLE, /^role requires a minimum of a 2048-bit key/],
    ['another curve', () => csr(SECP256K1), ROLE, /^role requires a minimum of a 256-bit key/],
    ['a name', () => san('DNS:evil.com'), ROLE, /^subject alternate name evil.com not allowed by this role$/],
    ['a URI', () => san('URI:spiffe://x/y'), ROLE, /^URI Subject Alternative Names are not allowed/],
  ]);
  for (const [name, body, role, error] of cases) {
    it(`refuses ${name}`, async () => {
      const { status, json } = await ask(server, 'POST', `pki_int/sign/${role}`, body());
      assert.equal(status, 400);
      assert.match(json.errors[0], error);
    });
  }
});

/** @param {object} body @param {string} [role] */
const sign = (body, role = '') => ask(server, 'POST', `pki_int/sign-verbatim${role}`, body);

describe('sign-verbatim, like Vault 1.21.1', () => {
  it('certifies names that no role allows, without an extended key usage, and stores the certificate', async () => {
    const asked = csr(
      EC,
      '-subj',
      '/CN=any name at all',
      '-addext',
      'subjectAltName=DNS:not.allowed,IP:10.0.0.1',
    ).csr;
    const { status, json } = await sign({ csr: asked, common_name: 'ignored.example.com' });
    assert.equal(status, 200, JSON.stringify(json));
    const { certificate, serial_number: serial } = json.data;
    const x509 = new X509Certificate(certificate);
    assert.equal(x509.subject, 'CN=any name at all');
    assert.equal(x509.subjectAltName, 'DNS:not.allowed, IP Address:10.0.0.1');
    assert.equal(x509.keyUsage, undefined, 'Node calls the extended key usage so');
    assert.equal((await ask(server, 'GET', `pki_int/cert/${serial}`)).status, 200);
  });

  it('a role determines only lifetime and storage', async () => {
    const { json } = await sign(
      { csr: csr(EC, '-subj', '/CN=any name at all').csr, ttl: '1h' },
      '/example-dot-com-ec-no-store',
    );
    const { certificate, serial_number: serial } = json.data;
    assert.equal(new X509Certificate(certificate).subject, 'CN=any name at all');
    assert.equal((await ask(server, 'GET', `pki_int/cert/${serial}`)).status, 404);
  });

  it('refuses an unknown role and an invalid CSR', async () => {
    for (const [asked, role, error] of /** @type {[object, string, string][]} */ ([
      [csr(EC), '/nosuch', 'unknown role: nosuch'],
      [{}, '', '"csr" is empty'],
    ])) {
      const { status, json } = await sign(asked, role);
      assert.deepEqual([status, json.errors], [400, [error]]);
    }
  });
});

/** @param {Buffer} der */
const pem = (der) =>
  `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;

/** @param {string} text */
function tampered(text) {
  const der = derOf(text);
  der[der.length - 1] ^= 1;
  return der;
}
