/**
 * Creates any number of OCSP responses of any size, from a P-256 CA of the benches: each individually signed and valid for
 * hours. The embedded server repeats its responses and does not reveal its key.
 */
import { createPrivateKey, sign } from 'node:crypto';
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { readCertificates } from '../../src/pki/certificate.js';
import { buildOcspRequest, createCertId } from '../../src/pki/ocsp-request.js';
import { buildResponse, extension, single } from '../pki/ocsp-builder.js';
import { TestCa } from '../pki/openssl-ca.js';

/** @import { Subject } from './subject.js' */

const SECOND_MS = 1000;
const HOUR_MS = 3600 * SECOND_MS;
/** An unknown, non-critical extension that makes a response long. */
const FILLER_OID = '1.3.6.1.4.1.55555.1';

/**
 * @template T
 * @param {(authority: Awaited<ReturnType<typeof openAuthority>>) => Promise<T>} use
 * @returns {Promise<T>}
 */
export async function withAuthority(use) {
  const ca = new TestCa({ key: 'ec' });
  try {
    return await use(await openAuthority(ca));
  } finally {
    ca.close();
  }
}

/** @param {TestCa} ca */
async function openAuthority(ca) {
  const leaf = ca.issue('localhost');
  const key = createPrivateKey(readFileSync(ca.ca.keyFile));
  const [{ serial }] = readCertificates(leaf.der, 'the certificate');
  const certId = await createCertId({ issuerDer: ca.ca.der, serial, hash: 'sha1' });
  const now = Math.floor(Date.now() / SECOND_MS) * SECOND_MS;
  const path = (/** @type {string} */ name) => join(ca.dir, name);

  /** @param {number} nth makes nextUpdate, and so the signed bytes, unique @param {number} fillerBytes */
  function response(nth, fillerBytes = 0) {
    const nextUpdate = now + 12 * HOUR_MS + nth * SECOND_MS;
    return buildResponse({
      signer: ca.ca,
      singles: [single({ certId: certId.raw, thisUpdate: now - HOUR_MS, nextUpdate })],
      extensions: fillerBytes === 0 ? undefined : [extension(FILLER_OID, false, Buffer.alloc(fillerBytes))],
      producedAt: now - HOUR_MS,
      signWith: (tbs) => sign('sha256', tbs, key),
    });
  }

  /** @type {Subject} */
  const subject = {
    folder: ca.dir,
    cert: leaf.certFile,
    issuer: ca.ca.certFile,
    request: path('request.der'),
    response: path('response.der'),
  };
  writeFileSync(subject.request, await buildOcspRequest({ certId }));
  writeFileSync(subject.response, response(0));
  return {
    subject,
    /** @param {number} bytes of filler @returns {string} file with one response, slightly longer than that */
    longResponse(bytes) {
      writeFileSync(path('long.der'), response(0, bytes));
      return path('long.der');
    },
    /** @param {number} count @returns {string} file for the target's -bodies; all responses differ */
    distinctResponses(count) {
      const file = openSync(path('bodies.bin'), 'w');
      for (let nth = 0; nth < count; nth++) {
        const body = response(nth);
        const length = Buffer.alloc(4);
        length.writeUInt32LE(body.length);
        writeSync(file, Buffer.concat([length, body]));
      }
      closeSync(file);
      return path('bodies.bin');
    },
  };
}
