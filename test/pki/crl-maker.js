/** CRLs made by `openssl ca -gencrl`, and by hand for what it does not make. */
import { createPrivateKey, sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseCertificate } from '../../src/pki/certificate-der.js';
import { der, generalizedTime, oid } from './ocsp-builder.js';
import { openssl } from './openssl-ca.js';

/** @typedef {import('./openssl-ca.js').Issued} Issued */

/**
 * @param {Issued} ca
 * @param {{revoked?: [serial: string, date: string, reason?: string][], extensions?: string[], days?: number, number?: string}} [options] dates
 *   as `YYMMDDHHMMSSZ`; extensions as lines of OpenSSL's configuration, none: version 1
 * @returns {Buffer} DER
 */
export function opensslCrl(ca, { revoked = [], extensions, days = 3, number = '1000' } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'crl-test-'));
  const path = (/** @type {string} */ name) => join(folder, name);
  try {
    const rows = revoked.map(
      ([serial, date, reason]) =>
        `R\t491231235959Z\t${date}${reason ? `,${reason}` : ''}\t${serial}\tunknown\t/CN=x`,
    );
    writeFileSync(path('index.txt'), rows.map((row) => `${row}\n`).join(''));
    writeFileSync(path('number'), `${number}\n`);
    const lines = [
      '[ca]',
      'default_ca = it',
      '[it]',
      `database = ${path('index.txt')}`,
      'default_md = default',
    ];
    // Without extensions there is no CRL number either.
    if (extensions !== undefined)
      lines.push(`crlnumber = ${path('number')}`, 'crl_extensions = ext', '[ext]');
    writeFileSync(path('ca.cnf'), `${[...lines, ...(extensions ?? [])].join('\n')}\n`);
    const keys = ['-cert', ca.certFile, '-keyfile', ca.keyFile, '-crldays', String(days)];
    openssl(['ca', '-gencrl', '-config', path('ca.cnf'), ...keys, '-out', path('crl.pem')]);
    return openssl(['crl', '-in', path('crl.pem'), '-outform', 'DER']);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What a CRL is made of; each can be replaced, or left out with null. */
const ECDSA_SHA256 = der(0x30, oid('1.2.840.10045.4.3.2'));

/**
 * @param {Issued} ca with an EC key
 * @param {{version?: Buffer | null, inside?: Buffer, outside?: Buffer, issuer?: Buffer, thisUpdate?: Buffer, nextUpdate?: Buffer | null,
 *   entries?: Buffer | null, extensions?: Buffer | null, more?: Buffer}} [parts]
 */
export function crlByHand(
  ca,
  {
    version = der(2, Buffer.from([1])),
    inside = ECDSA_SHA256,
    outside = ECDSA_SHA256,
    issuer = parseCertificate(ca.der).subject,
    thisUpdate = generalizedTime(Date.now()),
    nextUpdate = generalizedTime(Date.now() + 3_600_000),
    entries = null,
    extensions = null,
    more = Buffer.alloc(0),
  } = {},
) {
  const parts = [version, inside, issuer, thisUpdate, nextUpdate, entries, extensions, more];
  const tbs = der(0x30, ...parts.filter((part) => part !== null));
  const signature = sign('sha256', tbs, createPrivateKey(readFileSync(ca.keyFile)));
  return der(0x30, tbs, outside, der(3, Buffer.from([0]), signature));
}

/** @param {string | number} serial one octet @param {...Buffer} more */
export function entry(serial, ...more) {
  return der(0x30, der(2, Buffer.from([Number(serial)])), generalizedTime(Date.now() - 5000), ...more);
}
