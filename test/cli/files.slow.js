/** Files that are not what they should be, for ocsp and for TLS: one line that says which and why, exit code 1. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { startDevServer } from '../../src/dev/spawn.js';
import { TestCa } from '../pki/openssl-ca.js';
import { assertRefused, environmentOf, measure, scratch, startBatch } from './support.js';

/** @import { SpawnedDevServer } from '../../src/dev/spawn.js' */

/** @type {TestCa} */
let ca;
/** @type {Record<string, string>} */
const files = {};
/** @type {(() => void)[]} */
const cleanups = [];
/** @type {SpawnedDevServer} */
let server;

before(async () => {
  server = await startDevServer({ caKeyType: 'ec' });
  ca = new TestCa();
  const path = scratch({ after: (fn) => cleanups.push(fn) });
  const [leaf, other] = [ca.issue('leaf'), new TestCa({ name: 'Other CA' })];
  cleanups.push(
    () => ca.close(),
    () => other.close(),
  );
  Object.assign(files, { leaf: leaf.certFile, key: leaf.keyFile, ca: ca.ca.certFile, caKey: ca.ca.keyFile });
  files.other = other.ca.certFile;
  files.chain = path('chain.pem', leaf.pem + ca.ca.pem);
  files.backwards = path('backwards.pem', ca.ca.pem + leaf.pem);
  files.der = path('leaf.der', leaf.der);
  files.cut = path('cut.pem', leaf.pem.slice(0, 300));
  files.cutDer = path('cut.der', leaf.der.subarray(0, 100));
  files.empty = path('empty', '');
  files.noise = path('noise', Buffer.alloc(10_000_000, 'noise\u0000\u0001\u0002'));
  files.lines = path('lines', Buffer.alloc(10_000_000, 'what is this\n'));
  files.serial = path('serial', `${leaf.serialHex}\n`);
  files.noSerial = path('noSerial', '{"certificate":"x"}\n');
  files.badSerial = path('badSerial', '12:34\n{"serial":"zz"}\n');
  files.badJson = path('badJson', '{"serial":"12:34"\n');
  files.list = path('list', '[1]\n');
  files.notACertificate = path('notACertificate', '{"serial":"12:34","certificate":"x"}\n');
  files.missing = path('missing');
  files.folder = path('folder');
  mkdirSync(files.folder);
});
after(async () => {
  await server.stop();
  for (const cleanup of cleanups) cleanup();
});

const runOne = startBatch({ after });

/** `@name` stands for a file. */
const run = (/** @type {string} */ line) =>
  runOne(
    line.split(' ').map((word) => (word.startsWith('@') ? files[word.slice(1)] : word)),
    { env: environmentOf(server) },
  );

/** @type {[string, RegExp][]} */
const REFUSED = [
  ['ocsp --cert @key --issuer @ca', /cert1\.key contains a PEM block "PRIVATE KEY", not a certificate\./],
  ['ocsp --cert @leaf --issuer @caKey', /ca\.key contains a PEM block "PRIVATE KEY", not a certificate\./],
  [
    'ocsp --cert @leaf --issuer @other',
    /\(.*CN=Other CA\) did not issue .*: the issuer is .*CN=Test CA\. Use/,
  ],
  ['ocsp --cert @ca --issuer @leaf', /ca\.pem issued .*cert1\.pem: the two were swapped\./],
  ['ocsp --cert @leaf --issuer @leaf', /\(CN=leaf\) did not issue .*: the issuer is .*CN=Test CA/],
  ['ocsp --cert @leaf', /the CA of pki_int \(.*\) did not issue .*: the issuer is .*CN=Test CA/],
  ['ocsp --cert @empty --issuer @ca', /empty is empty\. Use a certificate in PEM/],
  ['ocsp --cert @noise --issuer @ca', /noise is larger than 512 KiB/],
  ['ocsp --cert @leaf --issuer @lines', /lines is larger than 512 KiB/],
  ['ocsp --cert @cut --issuer @ca', /cut\.pem is truncated: a PEM block has no END line/],
  ['ocsp --cert @cutDer --issuer @ca', /cut\.der contains an invalid certificate/],
  ['ocsp --cert @folder --issuer @ca', /--cert .*folder is a directory\. Check the path\./],
  ['ocsp --cert @leaf --issuer @folder', /--issuer .*folder is a directory\. Check the path\./],
  ['ocsp --cert @missing --issuer @ca', /--cert .*missing was not found\. Check the path\./],
  ['ocsp --cert @leaf --issuer @missing', /--issuer .*missing was not found\. Check the path\./],
  ['ocsp --cert /dev/null --issuer @ca', /\/dev\/null is a device, a pipe, a socket or a kernel file/],
  [
    'ocsp --cert @backwards',
    /has a certificate after that of its issuer: the leaf certificate must come first/,
  ],
  [
    'ocsp --serials @noise',
    /noise line 1 is neither a serial \(1a:2b:\.\.\.\) nor a JSON line with a serial and its certificate\./,
  ],
  ['ocsp --serials @lines', /lines line 1 is neither a serial/],
  ['ocsp --serials @key', /cert1\.key line 1 is neither a serial/],
  ['ocsp --serials @leaf', /cert1\.pem line 1 is neither a serial/],
  ['ocsp --serials @empty', /empty contains no serials\. Create it with issue --keep FILE\./],
  ['ocsp --serials @folder', /--serials .*folder is a directory\./],
  ['ocsp --serials @missing', /--serials .*missing was not found\./],
  ['ocsp --serials @noSerial', /noSerial line 1 is neither a serial/],
  ['ocsp --serials @badSerial', /badSerial line 2 is neither a serial/],
  ['ocsp --serials @badJson', /badJson line 1 is neither a serial/],
  ['ocsp --serials @list', /list line 1 is neither a serial/],
  ['ocsp --serials @notACertificate', /notACertificate line 1 is neither a serial/],
  [
    'ocsp --serials @serial --issuer @key',
    /cert1\.key contains a PEM block "PRIVATE KEY", not a certificate/,
  ],
  ['ocsp --cert @leaf --issuer @ca --from-aia', /names no OCSP responder\. Set --ocsp-url/],
  [
    'ocsp --serials @serial --issuer @ca --from-aia',
    /--from-aia needs a certificate, but --serials has only/,
  ],
  [
    'issue --ca-cert @key',
    /The CA file \(--ca-cert, VAULT_CACERT\) .*cert1\.key contains no PEM certificate/,
  ],
  ['issue --ca-cert @empty', /CA file .*empty contains no PEM certificate/],
  ['issue --ca-cert @noise', /CA file .*noise is larger than 4 MiB/],
  ['issue --ca-cert @folder', /CA file .*folder is a directory/],
  ['issue --ca-cert @missing', /CA file .*missing was not found/],
  ['issue --ca-path @missing', /CA directory .*missing was not found/],
  ['issue --ca-path @folder', /CA directory .*folder contains no \.pem, \.crt or \.cer file/],
  ['issue --client-cert @leaf', /client certificate is given without its key\. Set both --client-cert/],
  ['issue --client-key @key', /--client-cert/],
  ['issue --client-cert @leaf --client-key @caKey', /The client key .* does not belong to the certificate/],
];

describe('rejected:', () => {
  for (const [line, message] of REFUSED) {
    test(line, async () => assertRefused(await run(line), message));
  }
});

describe('accepted:', () => {
  /** @type {[string, string][]} the dev server knows nothing of this CA, and says so */
  const TAKEN = [
    ['a chain file without an issuer', '--cert @chain'],
    ['a chain in the wrong order as issuer', '--cert @leaf --issuer @backwards'],
    ['serials, one per line', '--serials @serial --issuer @ca'],
  ];
  for (const [what, line] of TAKEN) {
    test(what, async () => {
      const args = line.split(' ').map((word) => (word.startsWith('@') ? files[word.slice(1)] : word));
      const result = await measure(['ocsp', ...args, '--requests', '3'], { env: environmentOf(server) });
      assert.deepEqual(result.outcomes, { cert_id_mismatch: 3 });
    });
  }
});
