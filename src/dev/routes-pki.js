/** The PKI mount. */
import { X509Certificate } from 'node:crypto';
import { colonHex, fromPem, toPem } from './der.js';
import { issue, signCsr, signVerbatim } from './issuing.js';
import { listParam, raw, secret, textParam, VaultError } from './messages.js';
import { MALFORMED_REQUEST, MAX_OCSP_REQUEST } from './ocsp-responder.js';

/** @import { IssuerUrls } from './certificate.js' */
/** @import { Ca } from './issuing.js' */
/** @import { Params, Reply } from './messages.js' */
/** @import { Route, World } from './routes.js' */
/** @import { Entry } from './store.js' */

/** @typedef {import('./routes.js').Call} Call @typedef {Route} Route @typedef {World} World */

const NAME = '([A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?)';

/** @param {World} world @returns {Route[]} */
export function mountRoutes(world) {
  const { ca, roles } = world;
  return [
    { method: 'POST', path: new RegExp(`^issue/${NAME}$`), handle: (call) => certify(world, issue, call) },
    { method: 'POST', path: new RegExp(`^sign/${NAME}$`), handle: (call) => certify(world, signCsr, call) },
    {
      method: 'POST',
      path: new RegExp(`^sign-verbatim(?:/${NAME})?$`),
      handle: async (call) => {
        const name = call.match[1];
        const role = name === undefined ? null : roleOf(roles, name);
        const { data, warnings } = await signVerbatim(ca, role, call.params());
        return pki(data, warnings);
      },
    },
    { method: 'POST', path: /^revoke$/, handle: (call) => revoke(ca, call.params()) },
    {
      method: 'GET',
      path: new RegExp(`^roles/${NAME}$`),
      handle: ({ match }) => {
        if (!Object.hasOwn(roles, match[1])) throw new VaultError(404);
        return pki(roles[match[1]]);
      },
    },
    { method: 'LIST', path: /^roles\/?$/, handle: () => keys(Object.keys(roles).sort()) },
    { method: 'LIST', path: /^certs\/?$/, handle: () => keys([...ca.store.entries.keys()].sort()) },
    { method: 'LIST', path: /^certs\/revoked\/?$/, handle: () => keys([...ca.store.revoked.keys()].sort()) },
    { method: 'GET', path: /^config\/urls$/, handle: () => pki(urlsShape(ca.urls)) },
    { method: 'POST', path: /^config\/urls$/, handle: (call) => setUrls(ca, call.params()) },
  ];
}

/** @param {Record<string, unknown>} data @param {string[]} [warnings] */
const pki = (data, warnings) => secret({ data, warnings, mountType: 'pki' });

/** @param {string[]} list */
function keys(list) {
  // Vault returns 404 for an empty list.
  if (list.length === 0) throw new VaultError(404);
  return pki({ keys: list });
}

/** @param {World} world @param {typeof issue} make @param {Call} call */
async function certify({ ca, roles }, make, call) {
  const name = call.match[1];
  const params = call.params();
  const { data, warnings } = await make(ca, roleOf(roles, name), params);
  return pki(data, warnings);
}

/** @param {World['roles']} roles @param {string} name */
function roleOf(roles, name) {
  if (!Object.hasOwn(roles, name)) throw new VaultError(400, `unknown role: ${name}`);
  return roles[name];
}

/** @param {Ca} ca @param {Params} params `serial_number`, or `certificate` for one that was not stored */
function revoke(ca, params) {
  const serial = textParam(params, 'serial_number').trim();
  const pem = textParam(params, 'certificate');
  if (serial === '' && pem === '') {
    throw new VaultError(400, 'The serial number or certificate to revoke must be provided.');
  }
  const id = serial === '' ? adopt(ca, pem) : serial.toLowerCase().replaceAll('-', ':');
  const entry = ca.store.revoke(id);
  if (entry === undefined) throw new VaultError(400, `certificate with serial ${serial} not found.`);
  const at = /** @type {Date} */ (entry.revokedAt);
  return pki({
    revocation_time: Math.floor(Number(at) / 1000),
    revocation_time_rfc3339: at.toISOString(),
    state: 'revoked',
  });
}

/**
 * Stores a certificate of ours that a `no_store` role issued.
 *
 * @param {Ca} ca
 * @param {string} pem
 * @returns {string} its serial
 */
function adopt({ issuer, store }, pem) {
  const der = fromPem(pem);
  let certificate;
  try {
    certificate = new X509Certificate(der ?? '');
  } catch {
    throw new VaultError(400, 'unable to parse the provided certificate');
  }
  if (!certificate.verify(new X509Certificate(issuer.der).publicKey)) {
    throw new VaultError(
      400,
      'unable to verify signature on presented certificate: it was not issued by this mount',
    );
  }
  const serial = Buffer.from(certificate.serialNumber, 'hex');
  const id = colonHex(serial);
  return store.get(id) === undefined ? store.add(serial, certificate.raw) : id;
}

/** @param {IssuerUrls} urls */
const urlsShape = (urls) => ({
  crl_distribution_points: urls.crl_distribution_points,
  delta_crl_distribution_points: [],
  enable_templating: false,
  issuing_certificates: urls.issuing_certificates,
  ocsp_servers: urls.ocsp_servers,
});

/** @param {Ca} ca @param {Params} params */
function setUrls(ca, params) {
  const next = { ...ca.urls };
  for (const name of /** @type {(keyof IssuerUrls)[]} */ (Object.keys(next))) {
    if (params[name] === undefined) continue;
    const urls = listParam(params, name);
    const wrong = urls.find((url) => !/^[a-z][a-z0-9+.-]*:\/\/[\x21-\x7e]+$/i.test(url));
    if (wrong !== undefined) {
      throw new VaultError(
        400,
        `invalid URL found in Authority Information Access (AIA) parameter ${name}: ${wrong}`,
      );
    }
    next[name] = urls;
  }
  ca.urls = next;
  return pki(urlsShape(next));
}

const PEM = 'application/pem-certificate-chain';

/** @param {World} world @returns {Route[]} */
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

/** @param {World} world @param {Buffer} body */
function ocspPost(world, body) {
  return body.length >= MAX_OCSP_REQUEST ? malformed() : ocsp(world, body);
}

/** @param {World} world @param {string} base64 percent-decoded */
function ocspGet(world, base64) {
  const isBase64 = base64.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(base64);
  return isBase64 && base64.length < MAX_OCSP_REQUEST
    ? ocsp(world, Buffer.from(base64, 'base64'))
    : malformed();
}

const malformed = () => raw('application/ocsp-response', MALFORMED_REQUEST, 400);

/** @param {World} world @param {Buffer} request */
async function ocsp(world, request) {
  const response = await world.ocsp(request);
  return response === null ? malformed() : raw('application/ocsp-response', response);
}

/** @param {World} world @param {string} serial hex with colons or hyphens, or `ca` @returns {Entry} */
function find({ ca }, serial) {
  if (serial === 'ca') return { serial: ca.issuer.serial, der: ca.issuer.der, revokedAt: null };
  if (!/^[0-9A-Fa-f]{2}([:-]?[0-9A-Fa-f]{2})*$/.test(serial)) throw new VaultError(404, 'unsupported path');
  const entry = ca.store.get(serial.toLowerCase().replaceAll('-', ':'));
  if (entry === undefined) throw new VaultError(404);
  return entry;
}

/** @param {World} world @param {string} serial or `ca`, `ca_chain`, `crl` @returns {Promise<Reply>} */
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
