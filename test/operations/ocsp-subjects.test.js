import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { PkiLoadError } from '../../src/errors.js';
import { findSubjects } from '../../src/operations/ocsp-subjects.js';
import { TestCa } from '../pki/test-ca.js';

const ca = new TestCa();
const stranger = new TestCa({ name: 'Stranger' });
const leaf = ca.issue('leaf');
const directory = mkdtempSync(join(tmpdir(), 'vpl-subjects-'));
after(() => {
  ca.close();
  stranger.close();
  rmSync(directory, { recursive: true, force: true });
});

let files = 0;
/** @param {string | Uint8Array} content */
function file(content) {
  const path = join(directory, `file${++files}`);
  writeFileSync(path, content);
  return path;
}

/** @param {{cert?: string, issuer?: string, serials?: string}} given */
function find({ cert, issuer, serials }) {
  const options = { cert: cert ?? null, issuer: issuer ?? null, serials: serials ?? null };
  return findSubjects(/** @type {any} */ ({ plan: { options, target: { mount: 'pki_int' } } }));
}

const kept = (/** @type {import('../pki/test-ca.js').Issued} */ { pem, serialHex }) =>
  JSON.stringify({ serial: serialHex, certificate: pem });
const issuer = ca.ca.certFile;

/** @type {[string, Parameters<typeof find>[0], number][]} sentence, files, serials found */
const GOOD = [
  ['a PEM certificate and its issuer', { cert: leaf.certFile, issuer }, 1],
  ['both as DER', { cert: file(leaf.der), issuer: file(ca.ca.der) }, 1],
  ['a chain file brings its issuer', { cert: file(leaf.pem + ca.ca.pem) }, 1],
  [
    'the issuer is found anywhere in its file',
    { cert: leaf.certFile, issuer: file(stranger.ca.pem + ca.ca.pem) },
    1,
  ],
  [
    'serials, one a line, in any of the usual forms',
    { issuer, serials: file('1a:2b\n\n0x1A2C\r\n  ff-01 \n7') },
    4,
  ],
  [
    'a byte-order mark and Windows line ends',
    { issuer, serials: file(`\ufeff${kept(leaf)}\r\n1a:2b\r\n`) },
    2,
  ],
  ['lines that issue --keep wrote', { issuer, serials: file(`${kept(leaf)}\n{"serial":"1a:2b"}\n`) }, 2],
];

/** @type {[string, Parameters<typeof find>[0], string, RegExp][]} sentence, files, code, message */
const BAD = [
  [
    'no such certificate',
    { cert: join(directory, 'none'), issuer },
    'cannot_read',
    /--cert .*none is not there.*Check/,
  ],
  ['a folder for a certificate', { cert: directory, issuer }, 'cannot_read', /--cert .* is a folder/],
  [
    'no such issuer',
    { cert: leaf.certFile, issuer: join(directory, 'none') },
    'cannot_read',
    /--issuer .*not there/,
  ],
  ['no such serials', { serials: join(directory, 'none'), issuer }, 'cannot_read', /--serials .*not there/],
  ['a folder for serials', { serials: directory, issuer }, 'cannot_read', /--serials .* is a folder/],
  ['an empty certificate file', { cert: file(''), issuer }, 'certificate_file_empty', /empty/],
  ['a key for a certificate', { cert: leaf.keyFile, issuer }, 'private_key_given', /private key/],
  [
    'noise for a certificate',
    { cert: file(randomBytes(1000)), issuer },
    'no_certificate|certificate_unreadable',
    /./,
  ],
  ['10 MB of noise', { cert: file(randomBytes(10e6)), issuer }, 'certificate_file_too_large', /10 MiB/],
  [
    'a certificate cut off',
    { cert: file(leaf.pem.slice(0, 300)), issuer },
    'certificate_truncated',
    /cut off/,
  ],
  [
    'the issuer of another',
    { cert: leaf.certFile, issuer: stranger.ca.certFile },
    'wrong_issuer',
    /did not issue/,
  ],
  [
    'certificate and issuer swapped',
    { cert: issuer, issuer: leaf.certFile },
    'certificates_swapped',
    /swapped/,
  ],
  [
    'twice the same certificate',
    { cert: leaf.certFile, issuer: leaf.certFile },
    'wrong_issuer',
    /same certificate/,
  ],
  ['an empty list of serials', { serials: file('\n \n'), issuer }, 'no_serials', /holds no serial.*--keep/],
  [
    '10 MB of noise for serials',
    { serials: file(randomBytes(10e6)), issuer },
    'bad_serials_file',
    /line 1 .*--keep/,
  ],
  ['a bad line among good ones', { serials: file('01\n02\nxyz\n'), issuer }, 'bad_serials_file', /line 3 /],
  ['JSON cut off', { serials: file('01\n{"serial":"1a'), issuer }, 'bad_serials_file', /line 2 /],
  ['JSON without a serial', { serials: file('{"cert":"x"}'), issuer }, 'bad_serials_file', /line 1 /],
  ['a serial that is a number', { serials: file('{"serial":1234}'), issuer }, 'bad_serials_file', /line 1 /],
  ['a serial of a kilobyte', { serials: file('ab'.repeat(1000)), issuer }, 'bad_serials_file', /line 1 /],
  [
    'a kept certificate that is none',
    { serials: file('{"serial":"1a","certificate":"x"}'), issuer },
    'bad_serials_file',
    /line 1 /,
  ],
  [
    'serials of another issuer',
    { serials: file(kept(leaf)), issuer: stranger.ca.certFile },
    'wrong_issuer',
    /did not issue/,
  ],
  [
    'a certificate of another CA among its own',
    { serials: file(`${kept(leaf)}\n${kept(stranger.issue('localhost'))}`), issuer },
    'wrong_issuer',
    /line 2 /,
  ],
  [
    'a certificate with another serial than the one beside it',
    { serials: file(JSON.stringify({ serial: '1a', certificate: leaf.pem })), issuer },
    'bad_serials_file',
    /line 1 /,
  ],
];

describe('subjects of ocsp, from files', () => {
  for (const [sentence, given, count] of GOOD) {
    test(sentence, async () => {
      const subjects = await find(given);
      assert.equal(subjects.serials.length, count);
      assert.ok(subjects.issuer.der.equals(ca.ca.der));
    });
  }

  for (const [sentence, given, code, message] of BAD) {
    test(`refuses ${sentence}`, async () => {
      await assert.rejects(find(given), (error) => {
        assert.ok(error instanceof PkiLoadError, String(error));
        assert.match(error.code, new RegExp(`^(${code})$`));
        assert.match(error.full, message);
        assert.equal(error.exitCode, 1);
        assert.ok(error.full.length < 600 && error.remedy !== undefined);
        return true;
      });
    });
  }

  test('serials are INTEGER contents: a zero goes before a set high bit', async () => {
    const { serials } = await find({ issuer, serials: file('ff:01\n7f01\n00ab') });
    assert.deepEqual(
      serials.map((serial) => Buffer.from(serial).toString('hex')),
      ['00ff01', '7f01', '00ab'],
    );
  });
});
