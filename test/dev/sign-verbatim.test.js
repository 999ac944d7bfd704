import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { createDevServer } from '../../src/dev/server.js';
import { ask, openssl, scratch } from './support.js';

/** @type {import('../../src/dev/server.js').DevServer} */
let server;
before(async () => {
  server = await createDevServer({ caKeyType: 'ec' });
});
after(() => server.close());

const file = scratch({ after });

/** @param {...string} more */
function csr(...more) {
  const [key, out] = [file('key.pem', ''), file('csr.pem', '')];
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key];
  const made = openssl('req', '-new', ...newKey, '-out', out, '-subj', '/CN=any name at all', ...more);
  assert.equal(made.status, 0, made.text);
  return readFileSync(out, 'utf8');
}

/** @param {object} body @param {string} [role] */
const sign = (body, role = '') => ask(server, 'POST', `pki_int/sign-verbatim${role}`, body);

describe('sign-verbatim, as Vault 1.21.1 does it', () => {
  it('certifies names that no role allows, without an extended key usage, and stores the certificate', async () => {
    const asked = csr('-addext', 'subjectAltName=DNS:not.allowed,IP:10.0.0.1');
    const { status, json } = await sign({ csr: asked, common_name: 'ignored.example.com' });
    assert.equal(status, 200, JSON.stringify(json));
    const { certificate, serial_number: serial } = json.data;
    const x509 = new X509Certificate(certificate);
    assert.equal(x509.subject, 'CN=any name at all');
    assert.equal(x509.subjectAltName, 'DNS:not.allowed, IP Address:10.0.0.1');
    assert.equal(x509.keyUsage, undefined, 'Node calls the extended key usage so');
    assert.match(json.warnings.join(), /common_name field was provided/);
    assert.equal((await ask(server, 'GET', `pki_int/cert/${serial}`)).status, 200);
  });

  it('a role says how long, and whether it is stored; nothing else', async () => {
    const { json } = await sign({ csr: csr(), ttl: '1h' }, '/example-dot-com-ec-no-store');
    const { certificate, serial_number: serial } = json.data;
    assert.equal(new X509Certificate(certificate).subject, 'CN=any name at all');
    assert.equal((await ask(server, 'GET', `pki_int/cert/${serial}`)).status, 404);
  });

  for (const [what, body, role, error] of /** @type {[string, () => object, string, RegExp][]} */ ([
    ['a role that there is not', () => ({ csr: csr() }), '/nosuch', /^unknown role: nosuch$/],
    ['no CSR', () => ({}), '', /^"csr" is empty$/],
    ['no PEM', () => ({ csr: 'zz' }), '', /^csr contains no data$/],
  ])) {
    it(`refuses ${what}`, async () => {
      const { status, json } = await sign(body(), role);
      assert.equal(status, 400);
      assert.match(json.errors[0], error);
    });
  }
});
