import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createDevServer } from '../../src/dev/server.js';
import { Store } from '../../src/dev/status.js';
import { ask, openssl, scratch } from './support.js';

/** @import { DevServer } from '../../src/dev/server.js' */

/** @type {DevServer} */
let server;
before(async () => {
  server = await createDevServer({ caKeyType: 'ec' });
});
after(() => server.close());

const file = scratch({ after });

/** @param {string} [role] */
async function issue(role = 'example-dot-com-ec') {
  const { json } = await ask(server, 'POST', `pki_int/issue/${role}`, {
    common_name: 'localhost',
    ttl: '1h',
  });
  return json.data;
}

describe('revocation', () => {
  it('a revoked serial is in the CRL, which OpenSSL verifies, and in cert/:serial', async () => {
    const [revoked, kept] = [await issue(), await issue()];
    const before = await ask(server, 'GET', 'pki_int/crl/pem');
    const first = await ask(server, 'POST', 'pki_int/revoke', { serial_number: revoked.serial_number });
    const again = await ask(server, 'PUT', 'pki_int/revoke', {
      serial_number: revoked.serial_number.toUpperCase(),
    });
    assert.deepEqual(first.json.data, again.json.data);
    const { body } = await ask(server, 'GET', 'pki_int/crl');
    const crl = file('crl.der', body);
    const args = [
      'crl',
      '-inform',
      'DER',
      '-in',
      crl,
      '-noout',
      '-text',
      '-CAfile',
      file('ca.pem', server.caPem),
    ];
    const { text } = openssl(...args);
    assert.match(text, /verify OK/);
    const plain = (/** @type {string} */ serial) => serial.replaceAll(':', '').toUpperCase();
    assert.match(text, new RegExp(`Serial Number: ${plain(revoked.serial_number)}`));
    assert.doesNotMatch(text, new RegExp(plain(kept.serial_number)));
    assert.notDeepEqual(before.body, (await ask(server, 'GET', 'pki_int/crl/pem')).body);
    const { json } = await ask(
      { url: server.url },
      'GET',
      `pki_int/cert/${revoked.serial_number.replaceAll(':', '-')}`,
    );
    assert.equal(json.data.certificate, revoked.certificate);
    assert.equal(json.data.revocation_time, first.json.data.revocation_time);
    const { json: keys } = await ask(server, 'LIST', 'pki_int/certs/revoked');
    assert.deepEqual(keys.data.keys, [revoked.serial_number]);
  });

  it('a certificate that is not stored can be revoked only by its PEM, and only if this CA issued it', async () => {
    const { serial_number, certificate } = await issue('example-dot-com-ec-no-store');
    const unknown = await ask(server, 'POST', 'pki_int/revoke', { serial_number });
    assert.deepEqual(unknown.json.errors, [`certificate with serial ${serial_number} not found.`]);
    assert.equal((await ask(server, 'GET', `pki_int/cert/${serial_number}`)).status, 404);
    assert.equal((await ask(server, 'POST', 'pki_int/revoke', { certificate })).json.data.state, 'revoked');
    assert.equal((await ask(server, 'POST', 'pki_int/revoke', { certificate: server.rootPem })).status, 400);
    assert.equal((await ask(server, 'POST', 'pki_int/revoke', { certificate: 'no' })).status, 400);
  });
});

describe('store', () => {
  it('drops the oldest certificates above its limit, but no revoked ones', () => {
    const store = new Store(2);
    const ids = [1, 2, 3, 4].map((value) => {
      const id = store.add(Buffer.from([value]), Buffer.alloc(0));
      if (value === 1) store.revoke(id);
      return id;
    });
    assert.deepEqual(
      ids.map((id) => store.get(id) !== undefined),
      [true, false, true, true],
    );
    assert.equal(store.revoke(ids[1]), undefined);
  });
});
