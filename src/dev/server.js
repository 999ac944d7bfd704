/**
 * The embedded PKI server: a small real CA that answers in Vault's shapes. For tests only: its keys live in memory, and
 * whoever has its token may do everything.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { PkiLoadError, usageError } from '../common/errors.js';
import { createAuthorities, createServerCertificate } from './authority.js';
import { createCrlBuilder } from './crl.js';
import { createListener } from './http.js';
import { createMounts } from './mounts.js';
import { createResponder } from './ocsp-responder.js';
import { ROLES } from './roles.js';
import { createHandler } from './routes.js';
import { Store } from './store.js';
import { createTokens } from './tokens.js';

/** What to tell people who start it. */
export const DEV_SERVER_NOTICE =
  'This is the embedded PKI server of vault-pki-load, for tests only: its keys and certificates live in memory and are ' +
  'trusted by nobody. Its speed says nothing about Vault.';

/**
 * @typedef {object} DevServerOptions
 * @property {number} [port] 0 takes a free one
 * @property {string} [host] a loopback address unless `allowRemote`
 * @property {boolean} [allowRemote] listen on other addresses too
 * @property {string} [token] random when left out
 * @property {number} [tokenTtlSeconds] 0: never expires
 * @property {string} [mount]
 * @property {'rsa' | 'ec'} [caKeyType] RSA-2048, as Vault's tutorial has it, or P-256
 * @property {boolean | {clientCa?: string}} [tls] HTTPS; with `clientCa` (PEM) clients must show a certificate of it
 *
 * @typedef {object} DevServer
 * @property {string} url without a trailing slash
 * @property {string} token
 * @property {string} caPem the intermediate, which issues and signs OCSP responses
 * @property {string} rootPem also what a TLS client must trust
 * @property {string[]} roles
 * @property {() => Promise<void>} close cuts connections
 */

/**
 * @param {DevServerOptions} [options]
 * @returns {Promise<DevServer>}
 */
export async function createDevServer(options = {}) {
  const { port = 0, host = '127.0.0.1', mount = 'pki_int', caKeyType = 'rsa', tls = false } = options;
  checkOptions({ ...options, port, host, mount, caKeyType });
  const { root, intermediate } = await createAuthorities(caKeyType);
  const store = new Store();
  const tokens = createTokens({ token: options.token, ttlSeconds: options.tokenTtlSeconds });
  const noUrls = { issuing_certificates: [], ocsp_servers: [], crl_distribution_points: [] };
  /** @type {import('./issuing.js').Ca} */
  const ca = { issuer: intermediate, root, store, urls: noUrls };
  const handler = createHandler({
    mount,
    version: `vault-pki-load-dev/${packageVersion()}`,
    issuerId: randomUUID(),
    mounts: createMounts(),
    tokens,
    ca,
    roles: ROLES,
    crl: createCrlBuilder(intermediate, store),
    ocsp: createResponder(intermediate, store),
  });
  const server = createListener(handler, tls === false ? null : await tlsOptions(root, host, tls));
  const url = await listen(server, port, host, tls !== false);
  ca.urls = urlsAt(`${url}/v1/${mount}`);
  return {
    url,
    token: tokens.token,
    caPem: `${intermediate.pem}\n`,
    rootPem: `${root.pem}\n`,
    roles: Object.keys(ROLES),
    close: () => close(server),
  };
}

/** @param {DevServerOptions & {port: number, host: string, mount: string, caKeyType: string}} options */
function checkOptions({ port, host, allowRemote, mount, caKeyType }) {
  if (allowRemote !== true && !/^(localhost|::1|127(\.\d{1,3}){3})$/.test(host)) {
    throw usageError(
      'dev_host_not_loopback',
      `The embedded server would listen on ${JSON.stringify(host)}, which other machines can reach.`,
      'Use 127.0.0.1, or allow it with --allow-remote (allowRemote).',
    );
  }
  if (!/^[A-Za-z0-9_-]+(\/[A-Za-z0-9_-]+)*$/.test(mount) || /^(sys|auth)(\/|$)/.test(mount)) {
    throw usageError(
      'dev_bad_mount',
      `The mount ${JSON.stringify(mount)} cannot be used.`,
      'Use a name such as pki_int.',
    );
  }
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw usageError(
      'dev_bad_port',
      `The port is ${JSON.stringify(port)}.`,
      'Use 0 to 65535; 0 takes a free one.',
    );
  }
  if (caKeyType !== 'rsa' && caKeyType !== 'ec') {
    throw usageError(
      'dev_bad_ca_key_type',
      `The CA key type is ${JSON.stringify(caKeyType)}.`,
      'Use rsa or ec.',
    );
  }
}

/**
 * @param {import('./authority.js').Authority} root
 * @param {string} host
 * @param {true | {clientCa?: string}} tls
 * @returns {Promise<import('node:https').ServerOptions>}
 */
async function tlsOptions(root, host, tls) {
  const files = await createServerCertificate(root, host);
  const clientCa = tls === true ? undefined : tls.clientCa;
  return clientCa === undefined
    ? files
    : { ...files, ca: clientCa, requestCert: true, rejectUnauthorized: true };
}

/**
 * @param {import('node:http').Server} server
 * @param {number} port
 * @param {string} host
 * @param {boolean} secure
 * @returns {Promise<string>} its URL
 */
function listen(server, port, host, secure) {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, port, host)));
    server.listen({ port, host }, () => {
      const address = /** @type {import('node:net').AddressInfo} */ (server.address());
      resolve(`${secure ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${address.port}`);
    });
  });
}

/**
 * @param {Error & {code?: string}} error
 * @param {number} port
 * @param {string} host
 */
function listenError(error, port, host) {
  const known = /** @type {Record<string, [string, string, string]>} */ ({
    EADDRINUSE: [
      'dev_port_in_use',
      'something else listens there',
      'Choose another port, or 0 for a free one.',
    ],
    EACCES: ['dev_port_forbidden', 'this user may not use that port', 'Choose a port above 1023.'],
    EADDRNOTAVAIL: ['dev_host_unknown', 'this machine has no such address', 'Use 127.0.0.1.'],
  });
  const [code, why, remedy] = known[error.code ?? ''] ?? ['dev_listen_failed', error.message, undefined];
  const message = `The embedded server cannot listen on ${host}:${port}: ${why}.`;
  return new PkiLoadError(code, message, { remedy, cause: error });
}

/**
 * @param {string} base of the mount
 * @returns {import('./extensions.js').IssuerUrls}
 */
const urlsAt = (base) => ({
  issuing_certificates: [`${base}/ca`],
  ocsp_servers: [`${base}/ocsp`],
  crl_distribution_points: [`${base}/crl`],
});

/**
 * @param {import('node:http').Server} server
 * @returns {Promise<void>}
 */
function close(server) {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** @returns {string} */
function packageVersion() {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}
