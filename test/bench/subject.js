/**
 * The benches' certificate, from the embedded server, and the one response to all requests for it: valid for hours, so our
 * tool checks every response and accepts it.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDevServer } from '../../src/dev/server.js';
import { readCertificates } from '../../src/pki/certificate.js';
import { buildOcspRequest, createCertId } from '../../src/pki/ocsp-request.js';
import { altNames, TestCa } from '../pki/test-ca.js';

export const OCSP_REQUEST = 'application/ocsp-request';

/**
 * @typedef {object} Subject paths of files
 * @property {string} folder
 * @property {string} cert
 * @property {string} issuer
 * @property {string} request DER, as our tool sends it
 * @property {string} response DER
 * @property {{certFile: string, keyFile: string, caFile: string}} [tls] of the target, for HTTP/2
 */

/** @template T @param {(subject: Subject) => Promise<T>} use @returns {Promise<T>} */
export async function withSubject(use) {
  const folder = mkdtempSync(join(tmpdir(), 'vault-pki-load-bench-'));
  try {
    return await use(await makeSubject(folder));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @param {string} folder */
async function makeSubject(folder) {
  const server = await createDevServer();
  try {
    const issued = await fetch(`${server.url}/v1/pki_int/issue/example-dot-com`, {
      method: 'POST',
      headers: { 'X-Vault-Token': server.token },
      body: JSON.stringify({ common_name: 'localhost' }),
    });
    const { data } = /** @type {{data: {certificate: string}}} */ (await issued.json());
    const [leaf] = readCertificates(Buffer.from(data.certificate), 'the certificate');
    const [ca] = readCertificates(Buffer.from(server.caPem), 'the issuer');
    const certId = await createCertId({ issuerDer: ca.der, serial: leaf.serial, hash: 'sha1' });
    const request = await buildOcspRequest({ certId });
    const ocsp = await fetch(`${server.url}/v1/pki_int/ocsp`, {
      method: 'POST',
      headers: { 'Content-Type': OCSP_REQUEST },
      body: new Uint8Array(request),
    });
    const file = (/** @type {string} */ name, /** @type {string | Uint8Array} */ content) => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    const tlsCa = new TestCa();
    const own = tlsCa.issue('target', { extensions: [altNames({ ip: ['127.0.0.1'] })] });
    return {
      tls: {
        certFile: file('tls.pem', own.pem),
        keyFile: file('tls.key', own.keyPem),
        caFile: file('tls-ca.pem', tlsCa.ca.pem),
      },
      folder,
      cert: file('leaf.pem', data.certificate),
      issuer: file('issuer.pem', server.caPem),
      request: file('request.der', request),
      response: file('response.der', new Uint8Array(await ocsp.arrayBuffer())),
    };
  } finally {
    await server.close();
  }
}
