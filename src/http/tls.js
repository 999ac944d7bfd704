/**
 * Vault's TLS settings -> plain data that can be handed to worker threads. Files are read here and nowhere else.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { usageError } from '../common/errors.js';

/**
 * @typedef {object} TlsFiles Vault's names for them; a path each
 * @property {string | null} [caCert]
 * @property {string | null} [caPath] a folder of .pem, .crt and .cer files
 * @property {string | null} [clientCert]
 * @property {string | null} [clientKey]
 * @property {string | null} [serverName]
 * @property {boolean} [skipVerify]
 */

/**
 * @typedef {object} Tls structured-cloneable; `key` is a private key: never to be shown
 * @property {string[]} [ca] in place of the default roots
 * @property {string} [cert]
 * @property {string} [key]
 * @property {string} [servername]
 * @property {boolean} rejectUnauthorized
 */

const CERTIFICATE = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[\s\S]+?-----END (?:TRUSTED )?CERTIFICATE-----/g;

/** @param {TlsFiles} [files] @returns {Tls} */
export function loadTls({ caCert, caPath, clientCert, clientKey, serverName, skipVerify = false } = {}) {
  /** @type {Tls} */
  const tls = { rejectUnauthorized: !skipVerify };
  const ca = [
    ...(caCert ? readCertificates(caCert, 'CA file (--ca-cert, VAULT_CACERT)') : []),
    ...readFolder(caPath),
  ];
  if (ca.length > 0) tls.ca = ca;
  if (serverName) tls.servername = checkServerName(serverName);
  if (clientCert || clientKey) Object.assign(tls, readClientPair(clientCert, clientKey));
  return tls;
}

/**
 * @param {Tls | undefined} tls
 * @returns {{ca?: string[], cert?: string, key?: string, servername?: string, rejectUnauthorized: boolean,
 *   ALPNProtocols: string[]}} options of tls.connect; HTTP/1.1 only
 */
export function connectOptions(tls) {
  return { rejectUnauthorized: true, ...tls, ALPNProtocols: ['http/1.1'] };
}

/** @param {string | null | undefined} clientCert @param {string | null | undefined} clientKey */
function readClientPair(clientCert, clientKey) {
  if (!clientCert) {
    throw usageError(
      'client_cert_missing',
      'A client key is given without its certificate.',
      'Give --client-cert (VAULT_CLIENT_CERT) too.',
    );
  }
  if (!clientKey) {
    throw usageError(
      'client_key_missing',
      'A client certificate is given without its key.',
      'Give --client-key (VAULT_CLIENT_KEY) too.',
    );
  }
  const chain = readCertificates(clientCert, 'client certificate (--client-cert, VAULT_CLIENT_CERT)');
  const { pem, key } = readKey(clientKey);
  if (!new X509Certificate(chain[0]).checkPrivateKey(key)) {
    throw usageError(
      'client_key_mismatch',
      `The client key ${clientKey} does not belong to the certificate ${clientCert}.`,
      'Give the key that the certificate was issued for; the leaf must be the first in the file.',
    );
  }
  return { cert: chain.join('\n'), key: pem };
}

/** @param {string} path */
function readKey(path) {
  const pem = readText(path, 'client key (--client-key, VAULT_CLIENT_KEY)');
  try {
    return { pem, key: createPrivateKey(pem) };
  } catch (error) {
    const encrypted =
      /** @type {{code?: string}} */ (error).code === 'ERR_MISSING_PASSPHRASE' || /ENCRYPTED/.test(pem);
    throw usageError(
      encrypted ? 'client_key_encrypted' : 'not_a_key',
      `The client key ${path} ${encrypted ? 'is encrypted' : 'is not a private key in PEM form'}.`,
      encrypted
        ? 'Decrypt it first (openssl pkey -in KEY -out PLAIN).'
        : 'Give a PEM file with a PRIVATE KEY block.',
    );
  }
}

/** @param {string} path @param {string} what @returns {string[]} one PEM certificate each */
function readCertificates(path, what) {
  const found = readText(path, what).match(CERTIFICATE) ?? [];
  if (found.length === 0) {
    throw usageError(
      'not_a_certificate',
      `The ${what} ${path} holds no PEM certificate.`,
      'Give a file with a CERTIFICATE block (DER: openssl x509 -inform der -in FILE -out FILE.pem).',
    );
  }
  for (const pem of found) {
    try {
      new X509Certificate(pem);
    } catch {
      throw usageError('not_a_certificate', `The ${what} ${path} holds a certificate that cannot be read.`);
    }
  }
  return found;
}

/** @param {string | null | undefined} path @returns {string[]} */
function readFolder(path) {
  if (!path) return [];
  const what = 'CA folder (--ca-path, VAULT_CAPATH)';
  let names;
  try {
    names = readdirSync(path).filter((name) => /\.(pem|crt|cer)$/i.test(name));
  } catch (error) {
    throw unreadable(path, what, error);
  }
  if (names.length === 0) {
    throw usageError('ca_path_empty', `The ${what} ${path} has no .pem, .crt or .cer file in it.`);
  }
  return names.sort().flatMap((name) => readCertificates(join(path, name), 'CA file'));
}

/** @param {string} path @param {string} what */
function readText(path, what) {
  try {
    const { size } = statSync(path);
    if (size > 4 * 1024 * 1024)
      throw usageError('file_too_large', `The ${what} ${path} is larger than 4 MiB.`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && error.name === 'PkiLoadError') throw error;
    throw unreadable(path, what, error);
  }
}

/** @param {string} path @param {string} what @param {unknown} error */
function unreadable(path, what, error) {
  const code = /** @type {{code?: string}} */ (error).code ?? 'unknown error';
  const reasons = {
    ENOENT: 'is not there',
    EACCES: 'may not be read',
    EISDIR: 'is a folder',
    ENOTDIR: 'is not a folder',
  };
  const reason = reasons[/** @type {keyof typeof reasons} */ (code)] ?? `cannot be read (${code})`;
  return usageError(
    code === 'ENOENT' ? 'file_not_found' : 'file_unreadable',
    `The ${what} ${path} ${reason}.`,
  );
}

/** @param {string} name TLS carries DNS names only (RFC 6066, 3) */
function checkServerName(name) {
  if (isIP(name) === 0 && /^[A-Za-z0-9._-]{1,253}$/.test(name)) return name;
  throw usageError(
    'bad_tls_server_name',
    `The TLS server name ${JSON.stringify(name.slice(0, 80))} is not a host name.`,
    'Give a DNS name from the certificate with --tls-server-name (VAULT_TLS_SERVER_NAME).',
  );
}
