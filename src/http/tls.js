/** Reads Vault's TLS settings and their files into plain data for worker threads. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { checkServerIdentity, createSecureContext } from 'node:tls';
import { quote, usageError } from '../common/errors.js';
import { readBytes, readError } from '../common/read-file.js';

/** @import { Network } from './route.js' */
/** @import { PeerCertificate } from 'node:tls' */

/**
 * @typedef {Partial<Record<'caCert' | 'caPath' | 'clientCert' | 'clientKey' | 'clientCerts' | 'serverName', string | null>> &
 *   {skipVerify?: boolean}} TlsFiles paths; `caPath`: a directory of .pem, .crt and .cer files;
 *   `clientCerts`: one of NAME.pem, .crt or .cer and NAME.key
 * @typedef {{ca?: string[], cert?: string, key?: string, servername?: string, rejectUnauthorized: boolean,
 *   clients?: {cert?: string, key?: string}[], network?: Network}} Tls
 *   structured-cloneable; `ca` replaces the default roots; `key` is a private key: never print it; `network`: the way to
 *   the server, with or without TLS
 */

/** @param {TlsFiles} [files] @returns {Tls} */
export function loadTls({
  caCert,
  caPath,
  clientCert,
  clientKey,
  clientCerts,
  serverName,
  skipVerify = false,
} = {}) {
  /** @type {Tls} */
  const tls = { rejectUnauthorized: !skipVerify };
  const own = caCert ? readCertificates(caCert, 'CA file (--ca-cert, VAULT_CACERT)') : [];
  const ca = caPath ? [...own, ...readFolder(caPath)] : own;
  if (ca.length > 0) tls.ca = ca;
  if (serverName) tls.servername = checkServerName(serverName);
  if (clientCerts) {
    const [flag, options] = ['--client-certs', { mayBePipe: false, budget: createBudget() }];
    tls.clients = listClientPairs(clientCerts).map((pair) => readClientPair(pair, [flag, flag], options));
  }
  if (clientCert || clientKey) Object.assign(tls, readClientPair([clientCert, clientKey]));
  return tls;
}

/** @param {Tls} tls @returns {Tls[]} for the connections to use in rotation: one for each client certificate */
export const tlsInRotation = ({ clients = [{}], ...tls }) => clients.map((client) => ({ ...tls, ...client }));

/** For a server that the user did not name. @param {Tls} tls @returns {Tls} no client certificate, always verified */
export const foreignTls = ({ ca, network }) => ({
  rejectUnauthorized: true,
  ...(ca && { ca }),
  ...(network && { network }),
});

/**
 * @param {Tls | undefined} tls @param {string} host of the server, which Node would take from the connected address
 * @param {string[]} [alpn] HTTP versions @returns options of tls.connect
 */
export function connectOptions(
  { network, clients, ...tls } = { rejectUnauthorized: true },
  host,
  alpn = ['http/1.1'],
) {
  // SNI carries names without a final dot, never addresses: RFC 6066, 3.
  const servername = isIP(host) === 0 ? host.replace(/\.$/, '') : '';
  const name = tls.servername || host;
  // Without a name in the certificate's subjectAltName, Node would use the common name: RFC 9525, 2.
  const check = (/** @type {string} */ _, /** @type {PeerCertificate} */ { subject, ...peer }) =>
    checkServerIdentity(name, /** @type {PeerCertificate} */ ({ ...peer, subject: {} }));
  return { servername, ...tls, ALPNProtocols: alpn, checkServerIdentity: check };
}

const PAIR_FLAGS = ['--client-cert, VAULT_CLIENT_CERT', '--client-key, VAULT_CLIENT_KEY'];

/** @param {(string | null | undefined)[]} paths of certificate and key @param {string[]} [flags] that set them @param {ReadOptions} [options] */
function readClientPair([clientCert, clientKey], [certFlag, keyFlag] = PAIR_FLAGS, options = {}) {
  if (!clientCert || !clientKey) {
    const remedy = 'Set both --client-cert (VAULT_CLIENT_CERT) and --client-key (VAULT_CLIENT_KEY).';
    if (clientCert)
      throw usageError('client_key_missing', 'A client certificate is given without its key.', remedy);
    throw usageError('client_cert_missing', 'A client key is given without its certificate.', remedy);
  }
  const chain = readCertificates(clientCert, `client certificate (${certFlag})`, options);
  const key = readText(clientKey, `client key (${keyFlag})`, options);
  const cert = chain.join('\n');
  try {
    createPrivateKey(key);
    createSecureContext({ cert, key });
    return { cert, key };
  } catch (error) {
    if (/mismatch/i.test(String(error))) {
      const message = `The client key ${clientKey} does not belong to the certificate ${clientCert}.`;
      const remedy = 'Use the key of the first certificate in the file, which must be the leaf.';
      throw usageError('client_key_mismatch', message, remedy);
    }
    const remedy = 'Decrypt it with openssl pkey -in KEY -out PLAIN.';
    const message = `The client key ${clientKey} is not an unencrypted private key in PEM.`;
    throw usageError('not_a_key', message, remedy);
  }
}

const CERTIFICATE = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[^-]+-----END (?:TRUSTED )?CERTIFICATE-----/g;

/** Of a file, and of all files of a directory, which may be links to one file: reading them blocks the process. */
const [MAX_CERTIFICATES, MAX_MIB] = [1000, 4];
const createBudget = () => ({ certificates: MAX_CERTIFICATES, characters: MAX_MIB * 2 ** 20 });
/** @typedef {ReturnType<typeof createBudget>} Budget */
/** @typedef {{mayBePipe?: boolean, budget?: Budget}} ReadOptions */

/** @param {Budget} budget @param {Partial<Budget>} used @param {string} file */
function spend(budget, { certificates = 0, characters = 0 }, file) {
  budget.certificates -= certificates;
  budget.characters -= characters;
  if (budget.certificates >= 0 && budget.characters >= 0) return;
  const message = `The ${file} exceeds the limit of ${MAX_CERTIFICATES} certificates and ${MAX_MIB} MiB.`;
  const remedy =
    'Use only the certificates that the target needs; the limit applies to all files of a directory.';
  throw usageError('too_many_certificates', message, remedy);
}

/** @param {string} path @param {string} subject @param {ReadOptions} [options] @returns {string[]} in PEM */
function readCertificates(path, subject, { mayBePipe, budget = createBudget() } = {}) {
  const text = readText(path, subject, { mayBePipe, budget });
  const certificates = text.match(CERTIFICATE) ?? [];
  spend(budget, { certificates: certificates.length }, `${subject} ${path}`);
  try {
    for (const pem of certificates) new X509Certificate(pem);
    if (certificates.length > 0) return certificates;
  } catch {
    throw usageError('not_a_certificate', `The ${subject} ${path} contains an invalid certificate.`);
  }
  const remedy = 'Use a PEM file; openssl x509 -inform der -in FILE -out FILE.pem converts DER.';
  throw usageError('not_a_certificate', `The ${subject} ${path} contains no PEM certificate.`, remedy);
}

const CA_DIRECTORY = 'CA directory (--ca-path, VAULT_CAPATH)';
const CERTIFICATE_FILE = /\.(pem|crt|cer)$/i;

/** @param {string} path of a folder @param {string} subject @returns {string[]} paths of its certificates */
function listCertificates(path, subject) {
  let names = [''];
  try {
    names = readdirSync(path).filter((name) => CERTIFICATE_FILE.test(name));
  } catch (error) {
    throw readError(`The ${subject} ${path}`, error);
  }
  if (names.length === 0)
    throw usageError(
      'folder_empty',
      `The ${subject} ${path} contains no .pem, .crt or .cer file.`,
      'Check the path, and the names of its files.',
    );
  return names.sort().map((name) => join(path, name));
}

/** @param {string} path @returns {string[]} */
function readFolder(path) {
  const budget = createBudget();
  const files = listCertificates(path, CA_DIRECTORY);
  return files.flatMap((file) => readCertificates(file, 'CA file', { mayBePipe: false, budget }));
}

/** @param {string} path @returns {[certificate: string, key: string][]} paths */
const listClientPairs = (path) =>
  listCertificates(path, 'directory of client certificates (--client-certs)').map((file) => [
    file,
    file.replace(CERTIFICATE_FILE, '.key'),
  ]);

/** @param {TlsFiles} files @returns {string[]} paths of all of them, also of those in directories */
export function listFiles({ caCert, caPath, clientCert, clientKey, clientCerts }) {
  return [
    ...[caCert, clientCert, clientKey].filter((path) => path != null),
    ...(caPath ? listCertificates(caPath, CA_DIRECTORY) : []),
    ...(clientCerts ? listClientPairs(clientCerts).flat() : []),
  ];
}

/** @param {string} path @param {string} subject @param {ReadOptions} [options] */
function readText(path, subject, { mayBePipe, budget = createBudget() } = {}) {
  const text = readBytes(path, `The ${subject} ${path}`, { maxMiB: MAX_MIB, mayBePipe }).toString();
  spend(budget, { characters: text.length }, `${subject} ${path}`);
  return text;
}

/** SNI allows only DNS names (RFC 6066, 3). @param {string} name */
function checkServerName(name) {
  if (isIP(name) === 0 && /^[A-Za-z0-9._-]{1,253}$/.test(name)) return name.replace(/\.$/, '');
  const message = `The TLS server name ${quote(name)} is not a host name.`;
  const remedy = 'Set --tls-server-name (VAULT_TLS_SERVER_NAME) to a DNS name from the certificate.';
  throw usageError('bad_tls_server_name', message, remedy);
}
