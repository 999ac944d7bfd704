/** The PKI mount: what needs no token. */

import { MALFORMED_REQUEST, MAX_OCSP_REQUEST } from './ocsp-responder.js';
import { raw, secret, VaultError } from './replies.js';
import { colonHex, toPem } from './text.js';

/**
 * @typedef {import('./routes.js').Route} Route
 * @typedef {import('./routes.js').World} World
 * @typedef {import('./routes.js').Reply} Reply
 */

const PEM = 'application/pem-certificate-chain';

/**
 * @param {World} world
 * @returns {Route[]}
 */
export function openMountRoutes(world) {
  const { issuer, root } = world.ca;
  const chain = `${issuer.pem}\n${root.pem}\n`;
  /** @param {RegExp} path @param {Route['handle']} handle @returns {Route} */
  const get = (path, handle) => ({ method: 'GET', path, handle });
  return [
    { method: 'POST', path: /^ocsp$/, handle: ({ request }) => ocspPost(world, request.body) },
    get(/^ocsp\/(.*)$/s, ({ match }) => ocspGet(world, match[1])),
    get(/^ca$/, () => raw('application/pkix-cert', issuer.der)),
    get(/^ca\/pem$/, () => raw(PEM, `${issuer.pem}\n`)),
    get(/^ca_chain$/, () => raw('application/pkix-cert', chain)),
    get(/^crl$/, async () => raw('application/pkix-crl', await world.crl())),
    get(/^crl\/pem$/, async () => raw('application/x-pem-file', `${toPem('X509 CRL', await world.crl())}\n`)),
    get(/^cert\/([0-9A-Za-z:_-]+)$/, ({ match }) => readCertificate(world, match[1])),
    get(/^cert\/([0-9A-Za-z:_-]+)\/raw$/, ({ match }) =>
      raw('application/pkix-cert', find(world, match[1]).der),
    ),
    get(/^cert\/([0-9A-Za-z:_-]+)\/raw\/pem$/, ({ match }) =>
      raw(PEM, `${toPem('CERTIFICATE', find(world, match[1]).der)}\n`),
    ),
  ];
}

/**
 * @param {World} world
 * @param {Buffer} body
 */
function ocspPost(world, body) {
  return body.length >= MAX_OCSP_REQUEST ? malformed() : ocsp(world, body);
}

/**
 * @param {World} world
 * @param {string} base64 percent-decoded
 */
function ocspGet(world, base64) {
  const isBase64 = base64.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(base64);
  return isBase64 && base64.length < MAX_OCSP_REQUEST
    ? ocsp(world, Buffer.from(base64, 'base64'))
    : malformed();
}

const malformed = () => raw('application/ocsp-response', MALFORMED_REQUEST, 400);

/**
 * @param {World} world
 * @param {Buffer} request
 */
async function ocsp(world, request) {
  const response = await world.ocsp(request);
  return response === null ? malformed() : raw('application/ocsp-response', response);
}

/**
 * @param {World} world
 * @param {string} serial hex with colons or hyphens, or `ca`
 * @returns {import('./store.js').Entry}
 */
function find({ ca }, serial) {
  if (serial === 'ca') return { serial: ca.issuer.serial, der: ca.issuer.der, revokedAt: null };
  if (!/^[0-9A-Fa-f]{2}([:-]?[0-9A-Fa-f]{2})*$/.test(serial)) throw new VaultError(404, 'unsupported path');
  const entry = ca.store.get(serial.toLowerCase().replaceAll('-', ':'));
  if (entry === undefined) throw new VaultError(404);
  return entry;
}

/**
 * @param {World} world
 * @param {string} serial or `ca`, `ca_chain`, `crl`
 * @returns {Promise<Reply>}
 */
async function readCertificate(world, serial) {
  const { issuer, root } = world.ca;
  const current = { revocation_time: 0, revocation_time_rfc3339: '' };
  if (serial === 'crl') {
    return secret({ data: { certificate: toPem('X509 CRL', await world.crl()), ...current } });
  }
  const parent = { authority_key_id: colonHex(root.keyId) };
  if (serial === 'ca_chain') {
    const chain = `${issuer.pem}\n${root.pem}`;
    return secret({ data: { ...parent, ca_chain: chain, certificate: chain, ...current } });
  }
  if (serial === 'ca') return secret({ data: { ...parent, certificate: issuer.pem, ...current } });
  const { der, revokedAt } = find(world, serial);
  const own = { authority_key_id: colonHex(issuer.keyId), certificate: toPem('CERTIFICATE', der) };
  if (revokedAt === null) return secret({ data: { ...own, ...current } });
  const revocation = {
    issuer_id: world.issuerId,
    revocation_time: Math.floor(Number(revokedAt) / 1000),
    revocation_time_rfc3339: revokedAt.toISOString(),
  };
  return secret({ data: { ...own, ...revocation } });
}
