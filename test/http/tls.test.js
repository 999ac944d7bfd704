import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connectOptions, foreignTls, loadTls } from '../../src/http/tls.js';
import { TestCa } from '../pki/test-ca.js';

/** @import { TlsFiles } from '../../src/http/tls.js' */

describe('loadTls', () => {
  let folder = '';
  const at = (/** @type {string} */ name) => join(folder, name);
  const authority = new TestCa();
  const { ca } = authority;
  const leaf = authority.issue('leaf');

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'vault-pki-load-tls-'));
    for (const name of ['cas', 'none', 'many', 'heavy', 'chains', 'keys']) mkdirSync(at(name));
    /** @type {Record<string, string>} */
    const files = {
      'ca.pem': `some words before\n${ca.pem}`,
      'leaf.pem': leaf.pem + ca.pem,
      'leaf.key': leaf.keyPem,
      'other.key': ca.keyPem,
      'encrypted.key':
        '-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIBvTBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0BBQww\n-----END ENCRYPTED PRIVATE KEY-----\n',
      'broken.pem': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
      'noise.pem': 'no certificate at all',
      'empty.pem': '',
      'large.pem': 'x'.repeat(10_000_000),
      'many.pem': ca.pem.repeat(1001),
      'many/1.pem': ca.pem.repeat(500),
      'many/2.pem': ca.pem.repeat(501),
      'heavy/1.pem': ca.pem + ' '.repeat(3_000_000),
      'heavy/2.pem': ca.pem + ' '.repeat(3_000_000),
      'chains/1.pem': leaf.pem + ca.pem.repeat(600),
      'chains/1.key': leaf.keyPem,
      'keys/1.pem': leaf.pem,
      'keys/1.key': leaf.keyPem + '#'.repeat(3_000_000),
      'cas/1.pem': ca.pem,
      'cas/2.crt': leaf.pem,
      'cas/README': 'not read',
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(at(name), text);
    for (const name of ['chains', 'keys'])
      for (const type of ['pem', 'key']) symlinkSync(at(`${name}/1.${type}`), at(`${name}/2.${type}`));
  });
  after(() => rmSync(folder, { recursive: true }));

  test('no options: the default roots, verified', () => {
    assert.deepEqual(loadTls(), { rejectUnauthorized: true });
    assert.equal('ca' in connectOptions(loadTls(), 'a.test'), false);
    assert.equal(connectOptions(undefined, 'a.test').rejectUnauthorized, true);
  });

  test('a server that the user did not name is verified and receives no client certificate', () => {
    const own = {
      clientCert: at('leaf.pem'),
      clientKey: at('leaf.key'),
      serverName: 'a.b',
      skipVerify: true,
    };
    assert.deepEqual(foreignTls(loadTls(own)), { rejectUnauthorized: true });
    const { ca: authorities } = loadTls({ caCert: at('ca.pem') });
    assert.deepEqual(foreignTls(loadTls({ ...own, caCert: at('ca.pem') })), {
      rejectUnauthorized: true,
      ca: authorities,
    });
  });

  test('CA file and CA directory are combined', () => {
    const tls = loadTls({ caCert: at('ca.pem'), caPath: at('cas') });
    assert.deepEqual(
      tls.ca?.map((pem) => pem.trim()),
      [ca, ca, leaf].map(({ pem }) => pem.trim()),
    );
  });

  test('client certificate with its chain, its key, server name, no verification', () => {
    const tls = loadTls({
      clientCert: at('leaf.pem'),
      clientKey: at('leaf.key'),
      serverName: 'vault.example.com',
      skipVerify: true,
    });
    assert.deepEqual(structuredClone(tls), tls);
    assert.equal(tls.cert?.match(/BEGIN/g)?.length, 2);
    assert.equal(tls.key, leaf.keyPem);
    assert.deepEqual([tls.servername, tls.rejectUnauthorized], ['vault.example.com', false]);
  });

  /** @type {[string, TlsFiles, string, RegExp][]} a name for a file is put below the folder */
  const wrong = [
    ['a missing CA file', { caCert: 'absent' }, 'cannot_read', /--ca-cert.*absent was not found/],
    ['a CA file that is a directory', { caCert: 'cas' }, 'cannot_read', /is a directory/],
    ['a CA file without certificate', { caCert: 'noise.pem' }, 'not_a_certificate', /no PEM certificate/],
    ['an empty CA file', { caCert: 'empty.pem' }, 'not_a_certificate', /no PEM certificate/],
    ['a key in place of a CA file', { caCert: 'leaf.key' }, 'not_a_certificate', /no PEM certificate/],
    [
      'a CA file that only looks like one',
      { caCert: 'broken.pem' },
      'not_a_certificate',
      /invalid certificate/,
    ],
    ['10 MB of noise', { caCert: 'large.pem' }, 'file_too_large', /larger than 4 MiB/],
    ['1001 certificates', { caCert: 'many.pem' }, 'too_many_certificates', /limit of 1000/],
    ['a directory of 1001 certificates', { caPath: 'many' }, 'too_many_certificates', /2\.pem exceeds/],
    ['a directory of 6 MB', { caPath: 'heavy' }, 'too_many_certificates', /4 MiB/],
    [
      'links to one chain of 601 certificates',
      { clientCerts: 'chains' },
      'too_many_certificates',
      /client certificate \(--client-certs\) .*2\.pem exceeds/,
    ],
    [
      'links to one key file of 3 MB',
      { clientCerts: 'keys' },
      'too_many_certificates',
      /client key \(--client-certs\) .*2\.key exceeds/,
    ],
    ['a CA directory that is a file', { caPath: 'ca.pem' }, 'cannot_read', /is a file, not a directory/],
    ['a missing CA directory', { caPath: 'absent' }, 'cannot_read', /was not found/],
    ['a CA directory without certificates', { caPath: 'none' }, 'folder_empty', /no .pem/],
    ['a certificate without its key', { clientCert: 'leaf.pem' }, 'client_key_missing', /without its key/],
    ['a key alone', { clientKey: 'leaf.key' }, 'client_cert_missing', /without its certificate/],
    [
      'the key of another certificate',
      { clientCert: 'leaf.pem', clientKey: 'other.key' },
      'client_key_mismatch',
      /does not belong/,
    ],
    ['a certificate', { clientCert: 'leaf.pem', clientKey: 'ca.pem' }, 'not_a_key', /not an unencrypted/],
    ['an empty key', { clientCert: 'leaf.pem', clientKey: 'empty.pem' }, 'not_a_key', /not an unencrypted/],
    [
      'an encrypted key',
      { clientCert: 'leaf.pem', clientKey: 'encrypted.key' },
      'not_a_key',
      /unencrypted private key/,
    ],
  ];
  for (const [what, files, code, message] of wrong) {
    test(`${what}: ${code}`, () => {
      const paths = Object.fromEntries(Object.entries(files).map(([flag, name]) => [flag, at(String(name))]));
      assert.throws(() => loadTls(paths), { code, message, exitCode: 1 });
    });
  }

  for (const [type, what] of Object.entries({ pem: 'certificate', key: 'key' })) {
    const skip = process.platform !== 'linux' && 'mkfifo';
    test(`a directory of client certificates in which a ${what} is a pipe: not read`, { skip }, () => {
      const clientCerts = at(`pipe-${type}`);
      mkdirSync(clientCerts);
      writeFileSync(join(clientCerts, '1.pem'), leaf.pem);
      rmSync(join(clientCerts, `1.${type}`), { force: true });
      execFileSync('mkfifo', [join(clientCerts, `1.${type}`)]);
      const message = new RegExp(`client ${what} \\(--client-certs\\) .*1\\.${type} is a device, a pipe`);
      assert.throws(() => loadTls({ clientCerts }), { code: 'cannot_read', message, exitCode: 1 });
    });
  }

  for (const serverName of ['10.0.0.1', '::1', 'a b', 'https://x']) {
    test(`the server name ${serverName} is rejected`, () => {
      assert.throws(() => loadTls({ serverName }), { code: 'bad_tls_server_name' });
    });
  }
});
