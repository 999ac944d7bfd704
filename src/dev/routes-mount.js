/** The PKI mount: what needs a token. */
import { X509Certificate } from 'node:crypto';
import { issue, signCsr, signVerbatim } from './issuing.js';
import { listParam, readParams, textParam } from './params.js';
import { secret, VaultError } from './replies.js';
import { colonHex, fromPem } from './text.js';

export { openMountRoutes } from './routes-open.js';

/**
 * @typedef {import('./routes.js').Call} Call
 * @typedef {import('./routes.js').Route} Route
 * @typedef {import('./routes.js').World} World
 */

const NAME = '([A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?)';

/**
 * @param {World} world
 * @returns {Route[]}
 */
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
        const { data, warnings } = await signVerbatim(ca, role, paramsOf(call));
        return pki(data, warnings);
      },
    },
    { method: 'POST', path: /^revoke$/, handle: (call) => revoke(ca, paramsOf(call)) },
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
    { method: 'POST', path: /^config\/urls$/, handle: (call) => setUrls(ca, paramsOf(call)) },
  ];
}

/** @param {Record<string, unknown>} data @param {string[]} [warnings] */
const pki = (data, warnings) => secret({ data, warnings, mountType: 'pki' });

/** @param {string[]} list */
function keys(list) {
  // Vault answers an empty list with 404.
  if (list.length === 0) throw new VaultError(404);
  return pki({ keys: list });
}

/** @param {Call} call */
const paramsOf = ({ request }) => readParams(request.body, request.headers['content-type']);

/**
 * @param {World} world
 * @param {typeof issue} make
 * @param {Call} call
 */
async function certify({ ca, roles }, make, call) {
  const name = call.match[1];
  const params = paramsOf(call);
  const { data, warnings } = await make(ca, roleOf(roles, name), params);
  return pki(data, warnings);
}

/**
 * @param {World['roles']} roles
 * @param {string} name
 */
function roleOf(roles, name) {
  if (!Object.hasOwn(roles, name)) throw new VaultError(400, `unknown role: ${name}`);
  return roles[name];
}

/**
 * @param {import('./issuing.js').Ca} ca
 * @param {import('./params.js').Params} params `serial_number`, or `certificate` for one that was not stored
 */
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
 * @param {import('./issuing.js').Ca} ca
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

/** @typedef {import('./extensions.js').IssuerUrls} IssuerUrls */

/** @param {IssuerUrls} urls */
const urlsShape = (urls) => ({
  crl_distribution_points: urls.crl_distribution_points,
  delta_crl_distribution_points: [],
  enable_templating: false,
  issuing_certificates: urls.issuing_certificates,
  ocsp_servers: urls.ocsp_servers,
});

/**
 * @param {import('./issuing.js').Ca} ca
 * @param {import('./params.js').Params} params
 */
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
