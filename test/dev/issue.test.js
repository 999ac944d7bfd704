import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createDevServer } from '../../src/dev/server.js';
import { ask, openssl, scratch } from './support.js';

/** @import { DevServer } from '../../src/dev/server.js' */

/** @type {DevServer} */
let server;
before(async () => {
  server = await createDevServer();
});
after(() => server.close());

const file = scratch({ after });
const EC = 'pki_int/issue/example-dot-com-ec';

/** @param {string} path @param {object} body */
async function issued(path, body) {
  const { status, json } = await ask(server, 'POST', path, body);
  assert.equal(status, 200, JSON.stringify(json));
  return json;
}

describe('issue', () => {
  for (const [role, keyType, label] of [
    ['example-dot-com', 'rsa', 'RSA PRIVATE KEY'],
    ['example-dot-com-ec', 'ec', 'EC PRIVATE KEY'],
    ['example-dot-com-ec-no-store', 'ec', 'EC PRIVATE KEY'],
    ['example-dot-com-ed25519', 'ed25519', 'PRIVATE KEY'],
  ]) {
    it(`${role}: OpenSSL accepts the chain, and the key is the certificate's`, async () => {
      const { data } = await issued(`pki_int/issue/${role}`, { common_name: 'www.example.com', ttl: '1h' });
      const leaf = file(`${role}.pem`, data.certificate);
      const verdict = openssl(
        ...['verify', '-x509_strict', '-purpose', 'sslserver', '-verify_hostname', 'www.example.com'],
        ...['-CAfile', file('root.pem', server.rootPem), '-untrusted', file('ca.pem', server.caPem), leaf],
      );
      assert.equal(verdict.status, 0, verdict.text);
      assert.equal(data.private_key_type, keyType);
      assert.ok(data.private_key.startsWith(`-----BEGIN ${label}-----\n`));
      const own = createPublicKey(createPrivateKey(data.private_key)).export({ type: 'spki', format: 'der' });
      const certified = new X509Certificate(data.certificate).publicKey.export({
        type: 'spki',
        format: 'der',
      });
      assert.deepEqual(own, certified);
    });
  }

  it('OpenSSL reads names, usages, key identifiers and URLs where Vault puts them', async () => {
    const { data } = await issued(EC, {
      common_name: 'localhost',
      alt_names: 'b.example.com, a.example.com,me@mail.example.com',
      ip_sans: '127.0.0.1,2001:db8::1',
    });
    const { text } = openssl('x509', '-noout', '-text', '-in', file('text.pem', data.certificate));
    const base = `${server.url}/v1/pki_int`;
    const wanted = [
      /Version: 3/,
      /Issuer: CN = vault-pki-load dev intermediate/,
      /Subject: CN = localhost/,
      /Key Usage: critical\s+Digital Signature, Key Encipherment, Key Agreement/,
      /Extended Key Usage: \s+TLS Web Server Authentication, TLS Web Client Authentication/,
      /DNS:a.example.com, DNS:b.example.com, DNS:localhost, email:me@mail.example.com, IP Address:127.0.0.1, IP Address:2001:DB8:0:0:0:0:0:1/,
      new RegExp(`OCSP - URI:${base}/ocsp\\s`),
      new RegExp(`CA Issuers - URI:${base}/ca\\s`),
      new RegExp(`URI:${base}/crl\\s`),
      new RegExp(`Authority Key Identifier: \\s+${data.authority_key_id}`, 'i'),
      new RegExp(`Serial Number:\\s+${data.serial_number}`),
    ];
    for (const pattern of wanted) assert.match(text, pattern);
  });

  it('respects the TTL, up to that of the role, and backdates by 30 s', async () => {
    const short = await issued(EC, { common_name: 'localhost', ttl: '1h30m' });
    const { validFrom, validTo } = new X509Certificate(short.data.certificate);
    assert.equal((Date.parse(validTo) - Date.parse(validFrom)) / 1000, 5400 + 30);
    assert.equal(Date.parse(validTo) / 1000, short.data.expiration);
    const long = await issued(EC, { common_name: 'localhost', ttl: '9000h' });
    const days = Date.parse(new X509Certificate(long.data.certificate).validTo) - Date.now();
    assert.equal(Math.ceil(days / 86_400_000), 30);
  });

  it('serials are 20 octets, positive, and differ', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => issued(EC, { common_name: 'localhost' })),
    );
    const serials = answers.map(({ data }) => data.serial_number);
    assert.equal(new Set(serials).size, 50);
    for (const serial of serials) assert.match(serial, /^[0-7][0-9a-f](:[0-9a-f]{2}){19}$/);
  });
});
