/** Routes of the PKI mount. */
import { createPublicKey, randomUUID } from 'node:crypto';
import { parseCertificate } from '../pki/certificate-der.js';
import { verifySignature } from '../pki/signature.js';
import { colonHex, decodePem, encodePem } from '../pki/text.js';
import { issue, signCsr, signVerbatim } from './issuing.js';
import { NO_ROLE, ROLES } from './roles.js';
import { openRoute, orNotFound, raw, route, secret, textParam, VaultError } from './routes.js';
import { createCrlBuilder, createResponder, MALFORMED_REQUEST } from './status.js';

/** @import { Ca } from './issuing.js' */
/** @import { Params, Reply, Route } from './routes.js' */

const NAME = '([A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?)';
const PEM = 'application/pem-certificate-chain';

/** Vault rejects a request, or the base64 text of a GET, of this many bytes or more. */
const MAX_OCSP_REQUEST = 2048;

/** @param {Ca} ca @returns {Route[]} */
export function createPki(ca) {
  const { issuer, root, store } = ca;
  const buildCrl = createCrlBuilder(issuer, store);
  const respond = createResponder(issuer, store);
  const issuerId = randomUUID();

  /** @param {Buffer} request @returns {Promise<Reply>} */
  async function ocsp(request) {
    const response = request.length >= MAX_OCSP_REQUEST ? null : await respond(request);
    return raw('application/ocsp-response', response ?? MALFORMED_REQUEST, response === null ? 400 : 200);
  }

  /** @param {string} serial hex with colons or hyphens, or `ca` */
  function readCertificate(serial) {
    const isCa = serial === 'ca';
    if (!isCa && !/^[0-9A-Fa-f]{2}([:-]?[0-9A-Fa-f]{2})*$/.test(serial))
      throw new VaultError(404, 'unsupported path');
    const { der, revokedAt } = isCa ? { ...issuer, revokedAt: null } : orNotFound(store.get(idOf(serial)));
    return secret({
      authority_key_id: colonHex((isCa ? root : issuer).keyId),
      certificate: encodePem('CERTIFICATE', der).trimEnd(),
      ...revocationOf(revokedAt),
      ...(revokedAt === null ? {} : { issuer_id: issuerId }),
    });
  }

  /** @param {string} path @param {Route['handle']} handle */
  const get = (path, handle) => openRoute('GET', new RegExp(`^${path}$`, 's'), handle);
  /** @param {string} path @param {typeof issue} make */
  const certify = (path, make) =>
    route('POST', new RegExp(`^${path}$`), async ({ match: [, name = ''], params }) => {
      const role = Object.hasOwn(ROLES, name) ? ROLES[name] : null;
      if (role === null && name !== '') throw new VaultError(400, `unknown role: ${name}`);
      return pki(await make(ca, role ?? NO_ROLE, params()));
    });

  return [
    openRoute('POST', /^ocsp$/, ({ request }) => ocsp(request.body)),
    get('ocsp/(.*)', ({ match: [, base64] }) => {
      const isBase64 = base64.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(base64);
      const isShort = base64.length < MAX_OCSP_REQUEST;
      return ocsp(Buffer.from(isBase64 && isShort ? base64 : '', 'base64'));
    }),
    get('ca', () => raw('application/pkix-cert', issuer.der)),
    get('ca/pem', () => raw(PEM, issuer.pem)),
    get('ca_chain', () => raw('application/pkix-cert', issuer.pem + root.pem)),
    get('crl', async () => raw('application/pkix-crl', await buildCrl())),
    get('crl/pem', async () => raw('application/x-pem-file', encodePem('X509 CRL', await buildCrl()))),
    get('cert/([0-9A-Za-z:_-]+)', ({ match }) => readCertificate(match[1])),
    certify(`issue/${NAME}`, issue),
    certify(`sign/${NAME}`, signCsr),
    certify(`sign-verbatim(?:/${NAME})?`, signVerbatim),
    route('POST', /^revoke$/, ({ params }) => revoke(ca, params())),
    route('GET', new RegExp(`^roles/${NAME}$`), ({ match }) => {
      if (!Object.hasOwn(ROLES, match[1])) throw new VaultError(404);
      return pki(ROLES[match[1]]);
    }),
    route('LIST', /^roles\/?$/, () => keys(Object.keys(ROLES))),
    route('LIST', /^certs\/?$/, () => keys([...store.entries.keys()])),
    route('LIST', /^certs\/revoked\/?$/, () => keys([...store.revoked.keys()])),
  ];
}

/** @param {Record<string, unknown>} data */
const pki = (data) => secret(data, 'pki');

/** @param {string[]} list */
function keys(list) {
  // Vault returns 404 for an empty list.
  if (list.length === 0) throw new VaultError(404);
  return pki({ keys: list.sort() });
}

/** @param {string} serial */
const idOf = (serial) => serial.toLowerCase().replaceAll('-', ':');

/** @param {Date | null} at */
const revocationOf = (at) => ({
  revocation_time: Math.floor(Number(at) / 1000),
  revocation_time_rfc3339: at?.toISOString() ?? '',
});

/** @param {Ca} ca @param {Params} params `serial_number`, or `certificate` if it was not stored */
function revoke({ issuer, store }, params) {
  const serial = textParam(params, 'serial_number').trim();
  const pem = textParam(params, 'certificate');
  if (serial === '' && pem === '')
    throw new VaultError(400, 'The serial number or certificate to revoke must be provided.');
  const entry = store.revoke(serial === '' ? adopt({ issuer, store }, pem) : idOf(serial));
  if (entry === undefined) throw new VaultError(400, `certificate with serial ${serial} not found.`);
  return pki({ ...revocationOf(entry.revokedAt), state: 'revoked' });
}

/** Stores a certificate that a `no_store` role issued. @param {Pick<Ca, 'issuer' | 'store'>} ca @param {string} pem @returns {string} ID */
function adopt({ issuer, store }, pem) {
  try {
    const der = decodePem(pem, /^CERTIFICATE$/) ?? Buffer.alloc(0);
    const { serial, signed } = parseCertificate(der);
    const id = colonHex(serial);
    const isOurs = verifySignature(signed, createPublicKey(issuer.privateKey)) === null;
    if (isOurs) return store.get(id) === undefined ? store.add(serial, der) : id;
  } catch {
    throw new VaultError(400, 'unable to parse the provided certificate');
  }
  throw new VaultError(400, 'unable to verify the certificate: it was not issued by this mount');
}
