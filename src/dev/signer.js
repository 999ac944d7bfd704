/** Signatures of the CAs: SHA-256 with RSA (PKCS#1 v1.5) or ECDSA. */
import { sign } from 'node:crypto';
import { promisify } from 'node:util';
import { bitString, NULL, sequence } from './der.js';
import { OID_DER } from './oids.js';

const signOnThread =
  /** @type {(digest: string, data: Buffer, key: import('node:crypto').KeyObject) => Promise<Buffer>} */ (
    promisify(sign)
  );

/**
 * @typedef {object} Signer
 * @property {Buffer} algorithm AlgorithmIdentifier
 * @property {(tbs: Buffer) => Promise<Buffer>} sign
 */

/**
 * @param {import('node:crypto').KeyObject} privateKey RSA or EC
 * @returns {Signer}
 */
export function createSigner(privateKey) {
  if (privateKey.asymmetricKeyType === 'rsa') {
    return {
      algorithm: sequence(OID_DER.sha256WithRsa, NULL),
      sign: (tbs) => signOnThread('sha256', tbs, privateKey),
    };
  }
  // A P-256 signature takes less time than the way to a thread and back.
  return {
    algorithm: sequence(OID_DER.ecdsaWithSha256),
    sign: async (tbs) => sign('sha256', tbs, privateKey),
  };
}

/**
 * SEQUENCE { tbs, algorithm, signature }: a certificate, a CRL, or the head of a BasicOCSPResponse.
 *
 * @param {Signer} signer
 * @param {Buffer} tbs
 */
export async function signed(signer, tbs) {
  return sequence(tbs, signer.algorithm, bitString(await signer.sign(tbs)));
}
