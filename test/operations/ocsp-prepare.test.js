import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer as createHttps } from 'node:https';
import { createServer } from 'node:net';
import { after, test } from 'node:test';
import { createAddressFilter } from '../../src/common/listen.js';
import { createPlan } from '../../src/index.js';
import { findSubjects, prepare, probe } from '../../src/operations/ocsp-prepare.js';
import { ocspGetPath } from '../../src/pki/ocsp-request.js';
import { prepareRun } from '../../src/run.js';
import { runCli } from '../cli/support.js';
import { der, extension, oid } from '../pki/ocsp-builder.js';
import { altNames, TestCa } from '../pki/test-ca.js';
import { assertUsage } from './calls-support.js';

/** @import { AddressInfo } from 'node:net' */
/** @import { TLSSocket } from 'node:tls' */

/** An OCSP response without a status of a certificate. */
const TRY_LATER = Buffer.from('30030a0103', 'hex');

const [ca, stranger, namesake] = [new TestCa(), new TestCa({ name: 'Stranger' }), new TestCa()];
after(() => {
  ca.close();
  stranger.close();
});
const leaf = ca.issue('leaf');
const issuer = ca.ca.certFile;
const { certFile: cert } = leaf;
let files = 0;
/** @param {string | Uint8Array} content */
function file(content) {
  const path = ca.path(`file${++files}`);
  writeFileSync(path, content);
  return path;
}

/** @param {{cert?: string, issuer?: string, serials?: string}} given */
function find(given, signal = new AbortController().signal) {
  const options = { cert: null, issuer: null, serials: null, revokedSerials: null, about: [], ...given };
  return findSubjects(/** @type {any} */ ({ plan: { options, target: { mount: 'pki_int' } }, signal }));
}

const kept = (/** @type {{pem: string, serialHex: string}} */ { pem, serialHex }, serial = serialHex) =>
  JSON.stringify({ serial, certificate: pem });
const listed = (/** @type {string | Uint8Array} */ text) => ({ issuer, serials: file(text) });

/** @type {[string, Parameters<typeof find>[0], string[]?][]} what, files, serials other than that of the leaf */
const GOOD = [
  ['a PEM certificate and its issuer', { cert, issuer }],
  ['both as DER', { cert: file(leaf.der), issuer: file(ca.ca.der) }],
  ['a chain file that includes its issuer', { cert: file(leaf.pem + ca.ca.pem) }],
  ['an issuer anywhere in its file', { cert, issuer: file(stranger.ca.pem + ca.ca.pem) }],
  [
    'an issuer after one of the same name with another key',
    { cert, issuer: file(namesake.ca.pem + ca.ca.pem) },
  ],
  [
    'the same, with lines of issue --keep',
    { serials: file(kept(leaf)), issuer: file(namesake.ca.pem + ca.ca.pem) },
  ],
  [
    'serials, one per line, in any common notation, as INTEGER contents',
    listed('1a:2b\n\n0x1A2C\r\n  ff-01 \n7\n00ab'),
    ['1a2b', '1a2c', '00ff01', '07', '00ab'],
  ],
  [
    'lines of issue --keep, after a byte-order mark and with Windows line ends',
    listed(`\ufeff${kept(leaf)}\r\n{"serial":"1a:2b"}\r\n1a:2c\r\n`),
    [leaf.serial.toString('hex'), '1a2b', '1a2c'],
  ],
];
for (const [what, given, expected = [leaf.serial.toString('hex')]] of GOOD) {
  test(`subjects of ocsp: ${what}`, async () => {
    const subjects = await find(given);
    assert.ok(subjects.issuer.der.equals(ca.ca.der));
    assert.deepEqual(
      subjects.good.map((serial) => Buffer.from(serial).toString('hex')),
      expected,
    );
  });
}

const none = ca.path('none');
/** @param {Buffer} certificate of an EC key */
function withUnknownKey(certificate) {
  const unknown = Buffer.from(certificate);
  unknown[unknown.indexOf(oid('1.2.840.10045.2.1')) + 8] = 99;
  return unknown;
}
/** What readCertificates refuses is in certificate.test.js. @type {[string, Parameters<typeof find>[0], string, RegExp][]} what, files, code, message */
const BAD = [
  ['no such certificate', { cert: none, issuer }, 'cannot_read', /--cert .*none was not found.*Check/],
  [
    'a directory in place of a certificate',
    { cert: ca.dir, issuer },
    'cannot_read',
    /--cert .* is a directory/,
  ],
  ['no such issuer', { cert, issuer: none }, 'cannot_read', /--issuer .*not found/],
  ['no such serials', { serials: none, issuer }, 'cannot_read', /--serials .*not found/],
  [
    'a directory in place of serials',
    { serials: ca.dir, issuer },
    'cannot_read',
    /--serials .* is a directory/,
  ],
  ['a key in place of a certificate', { cert: leaf.keyFile, issuer }, 'no_certificate', /PRIVATE KEY/],
  [
    'the issuer of another certificate',
    { cert, issuer: stranger.ca.certFile },
    'wrong_issuer',
    /did not issue/,
  ],
  ['certificate and issuer swapped', { cert: issuer, issuer: cert }, 'certificates_swapped', /swapped/],
  ['an empty list of serials', listed('\n \n'), 'no_serials', /contains no serials.*--keep/],
  ['a million empty lines', listed('\n'.repeat(1_000_001)), 'too_many_serials', /more than 1000000 lines/],
  ['1 MB of noise', listed(randomBytes(1e6)), 'bad_serials_file', /line 1 .*--keep/],
  ['a bad line among good ones', listed('01\n02\nxyz\n'), 'bad_serials_file', /line 3 /],
  ['JSON cut off', listed('01\n{"serial":"1a'), 'bad_serials_file', /line 2 /],
  ['JSON without a serial', listed('{"cert":"x"}'), 'bad_serials_file', /line 1 /],
  ['a serial that is a number', listed('{"serial":1234}'), 'bad_serials_file', /line 1 /],
  ['a serial of a kilobyte', listed('ab'.repeat(1000)), 'bad_serials_file', /line 1 /],
  ['no certificate', listed('{"serial":"1a","certificate":"x"}'), 'bad_serials_file', /line 1 /],
  ['another serial than in its certificate', listed(kept(leaf, '1a')), 'bad_serials_file', /line 1 /],
  [
    'certificates of two issuers',
    {
      serials: file(`${kept(leaf)}\n${kept(stranger.issue('other'))}`),
      issuer: file(ca.ca.pem + stranger.ca.pem),
    },
    'wrong_issuer',
    /line 2 /,
  ],
  [
    'serials of another issuer',
    { serials: file(kept(leaf)), issuer: stranger.ca.certFile },
    'wrong_issuer',
    /did not issue/,
  ],
  [
    'one that another key signed under the name of the issuer',
    listed(`${kept(leaf)}\n${kept(new TestCa().issue('forged'))}`),
    'wrong_issuer',
    /line 2 /,
  ],
  ...[{ serials: file('1a') }, { cert }, { serials: file(kept(leaf)) }].map(
    (given) =>
      /** @type {[string, object, string, RegExp]} */ ([
        `an issuer whose key OpenSSL cannot decode, and ${Object.keys(given)}`,
        { ...given, issuer: file(withUnknownKey(ca.ca.der)) },
        'unreadable_key',
        /CN=Test CA.*cannot decode/,
      ]),
  ),
  ['one of another issuer', listed(`${kept(leaf)}\n${kept(stranger.issue('x'))}`), 'wrong_issuer', /line 2 /],
];
for (const [what, given, code, message] of BAD) {
  test(`subjects of ocsp: ${what}: ${code}`, async () => {
    const error = await find(given).then(
      () => assert.fail('was accepted'),
      (/** @type {any} */ reason) => reason,
    );
    assert.equal(error.code, code);
    assert.ok(error.full.length < 600 && error.remedy !== undefined);
    assertUsage(() => {
      throw error;
    }, message);
  });
}

/** @param {string} url */
const namesResponder = (url) =>
  extension(
    '1.3.6.1.5.5.7.1.1',
    false,
    der(0x30, der(0x30, oid('1.3.6.1.5.5.7.48.1'), der(0x86, Buffer.from(url)))),
  );

/** @param {string} cert file */
const optionsFor = (cert) => ({
  ...{ cert, issuer, serials: null, revokedSerials: null, about: [], expect: [], ocspUrl: null },
  ...{ hash: 'sha1', method: 'post' },
});

test('--from-aia: a certificate cannot choose an address that the scenario may not use', async () => {
  const { certFile } = ca.issue('named', { extensions: [namesResponder('http://h.example:1/o')] });
  const options = optionsFor(certFile);
  const plan = {
    options: { ...options, fromAia: true },
    target: {},
    load: { seed: 1 },
  };
  const prepared = (/** @type {(url: string) => boolean} */ mayReach, url = 'http://127.0.0.1:8200') =>
    prepare(/** @type {any} */ ({ plan: { ...plan, target: { url } }, mayReach }));
  await assert.rejects(prepared(createAddressFilter([])), {
    code: 'address_not_allowed',
    message:
      'The certificate names the OCSP responder http://h.example:1, an address that the scenario may not use.',
    remedy: 'To allow it, add --allow-url http://h.example:1.',
  });
  // Allowed by the user, the target itself, and not a scenario.
  for (const allowed of [createAddressFilter(['http://h.example:1']), () => true])
    assert.equal((await prepared(allowed)).targetUrl, 'http://h.example:1/o');
  assert.equal((await prepared(() => true)).isForeign, true);
  const own = await prepared(() => false, 'http://h.example:1/v');
  assert.deepEqual([own.origin, own.isForeign], ['http://h.example:1', false]);
});

test('a slash at the end of the URL of a responder counts for POST, and is not doubled by GET', async () => {
  const { certFile } = ca.issue('slash', { extensions: [namesResponder('http://h.example:1/ca/')] });
  const options = optionsFor(certFile);
  for (const [ocspUrl, path] of [
    ['http://h:1/ca/', '/ca/'],
    ['http://h:1/ca', '/ca'],
    ['http://h:1', '/'],
    [null, '/ca/'],
  ]) {
    const plan = {
      options: { ...options, ocspUrl, fromAia: true },
      target: { url: 'http://v' },
      load: { seed: 1 },
    };
    const found = await prepare(/** @type {any} */ ({ plan, mayReach: () => true }));
    assert.equal(found.path, path);
  }
  assert.match(ocspGetPath('/ca/', Buffer.from('x')), /^\/ca\/[^/]/);
});

test('the responder of a Vault is below the base path of its address, also of a Unix socket, and its health may be worth a warning', async () => {
  const { certFile } = ca.issue('any');
  const options = optionsFor(certFile);
  for (const [url, path] of [
    ['http://h:1/vault', '/vault/v1/pki/ocsp'],
    ['unix:///run/s', '/v1/pki/ocsp'],
  ]) {
    const plan = {
      options: { ...options, fromAia: false },
      target: { url, mount: 'pki' },
      load: { seed: 1 },
    };
    const client = {
      health: async () => ({ status: 200, json: { initialized: true, sealed: false }, aheadMs: 8000 }),
      read: async () => ({ data: { path: 'pki/', type: 'pki' } }),
    };
    /** @type {string[]} */
    const warnings = [];
    const warn = (/** @type {string} */ text) => warnings.push(text);
    const context = /** @type {any} */ ({ plan, client, warn, mayReach: () => true });
    assert.equal((await prepare(context)).path, path);
    assert.match(warnings.join(), /^The clock of .* 8 s ahead of this machine's[^.]*\. Synch[^.]*\.$/);
  }
});

test('--from-aia: only the target receives the client certificate, and only it may go unverified', async (t) => {
  const server = ca.issue('server', { extensions: [altNames({ ip: ['127.0.0.1'] })] });
  /** @type {unknown[]} */
  const subjects = [];
  const options = { cert: server.pem, key: server.keyPem, requestCert: true, rejectUnauthorized: false };
  const responder = createHttps(options, (request, response) => {
    subjects.push(/** @type {TLSSocket} */ (request.socket).getPeerCertificate().subject?.CN);
    response.end(TRY_LATER);
  }).listen(0, '127.0.0.1');
  t.after(() => responder.close());
  await once(responder, 'listening');
  const origin = `https://127.0.0.1:${/** @type {AddressInfo} */ (responder.address()).port}`;
  const named = ca.issue('aia', { extensions: [namesResponder(origin)] });
  const client = { clientCert: leaf.certFile, clientKey: leaf.keyFile, tlsSkipVerify: true };
  /** @param {Record<string, unknown>} more */
  const prepareOcsp = async (more) => {
    const given = { cert: named.certFile, issuer, fromAia: true, ...client, ...more };
    const prepared = await prepareRun(await createPlan('ocsp', given));
    await prepared.close();
    return prepared.tls;
  };
  await assert.rejects(prepareOcsp({ url: 'https://127.0.0.1:1' }), { code: 'certificate_issuer_unknown' });
  const foreign = await prepareOcsp({ url: 'https://127.0.0.1:1', caCert: issuer });
  assert.deepEqual(Object.keys(foreign).sort(), ['ca', 'network', 'rejectUnauthorized']);
  assert.equal(foreign.rejectUnauthorized, true);
  assert.ok('key' in (await prepareOcsp({ url: origin })));
  assert.deepEqual(subjects, [undefined, 'leaf']);
});

test('--from-aia: an address that is no responder is blamed on the certificate', async (t) => {
  const response = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
  const server = createServer((socket) => void socket.once('data', () => socket.end(response)));
  t.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${/** @type {AddressInfo} */ (server.address()).port}`;
  const named = ca.issue('no-responder', { extensions: [namesResponder(origin)] });
  const run = async () => {
    const files = ['--cert', named.certFile, '--issuer', issuer];
    const { code, stderr } = await runCli(['ocsp', ...files, '--from-aia', '--requests', '1']);
    assert.equal(code, 2);
    return stderr;
  };
  const place = "the certificate's AIA \\(or set --ocsp-url instead of --from-aia\\)";
  assert.match(
    await run(),
    new RegExp(`Check ${place}: it must be the complete URL of the responder\\.$`, 'm'),
  );
  server.close();
  await once(server, 'close');
  // Without --dev, which would not replace it.
  assert.match(await run(), new RegExp(`correct the host and port in ${place}\\.$`, 'm'));
});

test('a stop ends the wait for the first response of a responder', { timeout: 30_000 }, async (t) => {
  const silent = createServer().listen(0, '127.0.0.1');
  t.after(() => silent.close());
  await once(silent, 'listening');
  const origin = `http://127.0.0.1:${/** @type {AddressInfo} */ (silent.address()).port}`;
  const stop = new AbortController();
  const plan = { load: { timeoutMs: 20_000 }, options: { ocspUrl: origin } };
  const context = /** @type {any} */ ({ plan, tls: undefined, warn() {}, signal: stop.signal });
  const first = /** @type {any} */ ({ request: { method: 'GET', path: '/', headers: {}, body: null } });
  const probing = probe(context, /** @type {any} */ ({ origin, targetUrl: origin }), first);
  const [socket] = await once(silent, 'connection');
  const closed = once(socket.on('error', () => {}).resume(), 'close');
  stop.abort();
  await assert.rejects(probing, { code: 'interrupted' });
  await closed;
});

test('a stop ends the reading of serials', async () => {
  const read = find(listed('01\n'.repeat(100_000)), AbortSignal.abort());
  await assert.rejects(read, { code: 'interrupted' });
});
