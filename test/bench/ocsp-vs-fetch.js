/** One certificate, the same request again and again, as small load scripts do it. */
import { readFileSync } from 'node:fs';
import { readCertificates } from '../../src/pki/certificate.js';
import { buildOcspRequest, createCertId } from '../../src/pki/ocsp-request.js';
import { measureInTurn } from './pairs.js';
import { fetchLoop, ourCommand } from './processes.js';
import { withVault } from './vault.js';

const CONCURRENCY = 10;

/**
 * @param {import('./index.js').Settings} settings
 * @returns {Promise<import('./index.js').Report>}
 */
export async function run(settings) {
  return withVault(async ({ url, cert, issuer }) => {
    const job = {
      url: `${url}/v1/pki_int/ocsp`,
      headers: { 'Content-Type': 'application/ocsp-request' },
      body: (await requestFor(cert, issuer)).toString('base64'),
      concurrency: CONCURRENCY,
    };
    const args = ['ocsp', '--url', url, '--cert', cert, '--issuer', issuer];
    return {
      question: `OCSP responses/s of a real Vault on the same machine: one certificate, POST, RSA-2048 CA, closed loop, ${CONCURRENCY} in flight`,
      ...(await measureInTurn(
        settings,
        { name: 'ocsp', measure: ourCommand(args, {}, CONCURRENCY) },
        { name: 'fetch', measure: fetchLoop(job, {}) },
      )),
    };
  });
}

/**
 * @param {string} cert
 * @param {string} issuer
 */
async function requestFor(cert, issuer) {
  const [leaf] = readCertificates(readFileSync(cert), cert);
  const [ca] = readCertificates(readFileSync(issuer), issuer);
  return buildOcspRequest({
    certId: await createCertId({ issuerDer: ca.der, serial: leaf.serial, hash: 'sha1' }),
  });
}
