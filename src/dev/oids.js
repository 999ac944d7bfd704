/** Object identifiers the embedded server writes or reads, as dotted text and, where written, as DER. */
import { oid } from './der.js';

export const OID = Object.freeze({
  commonName: '2.5.4.3',
  extensionRequest: '1.2.840.113549.1.9.14',
  subjectAltName: '2.5.29.17',
  ocspBasic: '1.3.6.1.5.5.7.48.1.1',
  ocspNonce: '1.3.6.1.5.5.7.48.1.2',
});

export const OID_DER = Object.freeze({
  commonName: oid(OID.commonName),
  subjectKeyIdentifier: oid('2.5.29.14'),
  keyUsage: oid('2.5.29.15'),
  subjectAltName: oid(OID.subjectAltName),
  basicConstraints: oid('2.5.29.19'),
  crlNumber: oid('2.5.29.20'),
  crlDistributionPoints: oid('2.5.29.31'),
  authorityKeyIdentifier: oid('2.5.29.35'),
  extendedKeyUsage: oid('2.5.29.37'),
  authorityInfoAccess: oid('1.3.6.1.5.5.7.1.1'),
  ocsp: oid('1.3.6.1.5.5.7.48.1'),
  caIssuers: oid('1.3.6.1.5.5.7.48.2'),
  ocspBasic: oid(OID.ocspBasic),
  ocspNonce: oid(OID.ocspNonce),
  serverAuth: oid('1.3.6.1.5.5.7.3.1'),
  clientAuth: oid('1.3.6.1.5.5.7.3.2'),
  sha256WithRsa: oid('1.2.840.113549.1.1.11'),
  ecdsaWithSha256: oid('1.2.840.10045.4.3.2'),
});

/** Signature algorithms a CSR may be signed with: OID to Node's digest name, null where the algorithm has its own. */
export const SIGNATURE_DIGEST = Object.freeze(
  /** @type {Record<string, string | null>} */ ({
    '1.2.840.113549.1.1.5': 'sha1',
    '1.2.840.113549.1.1.11': 'sha256',
    '1.2.840.113549.1.1.12': 'sha384',
    '1.2.840.113549.1.1.13': 'sha512',
    '1.2.840.10045.4.1': 'sha1',
    '1.2.840.10045.4.3.2': 'sha256',
    '1.2.840.10045.4.3.3': 'sha384',
    '1.2.840.10045.4.3.4': 'sha512',
    '1.3.101.112': null,
  }),
);

/** CertID hash algorithms the responder answers, as Vault does. */
export const CERT_ID_DIGEST = Object.freeze(
  /** @type {Record<string, string>} */ ({
    '1.3.14.3.2.26': 'sha1',
    '2.16.840.1.101.3.4.2.1': 'sha256',
    '2.16.840.1.101.3.4.2.2': 'sha384',
    '2.16.840.1.101.3.4.2.3': 'sha512',
  }),
);
