/**
 * Servers with one fault of TLS each, behind one port: what a client sees first, what it must report, and every byte of
 * its requests that arrives. Shared by the fast test (in this process) and the slow one (whole runs).
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { bytesOf, der, extension, oid } from '../pki/ocsp-builder.js';
import { altNames, EXTENSIONS, TestCa } from '../pki/test-ca.js';
import { whole } from './raw-server.js';

/** @import { Issued, IssueOptions } from '../pki/test-ca.js' */
/** @import { AddressInfo, Socket } from 'node:net' */
/** @import { TlsOptions } from 'node:tls' */

/**
 * @typedef {object} Fault
 * @property {string} name
 * @property {string} code of the refusal before a run, and the outcome during it
 * @property {RegExp} remedy
 * @property {(socket: Socket) => void} serve
 * @property {string} [outcome] during a run, if it is not `code`
 * @property {Issued} [alsoKnown] to the client, besides the CA of the good server
 * @property {boolean} [isVerified] the server is the right one, so that it may receive the request
 */

export const TOKEN = 'hvs.only-for-a-verified-server';
const NAMES = altNames({ ip: ['127.0.0.1'] });
const HEALTH = { initialized: true, sealed: false, standby: false, version: '1.21.1', enterprise: false };

export const ca = new TestCa();
export const good = ca.issue('good', { extensions: [NAMES] });

/** Of application data of a client: what TLS servers decrypted, and what others received, latin1. */
export const received = { text: '' };

/** @param {Socket} socket */
function respond(socket) {
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    received.text += bytes.toString('latin1');
    // One response serves sys/health, auth/token/lookup-self and the load.
    socket.write(whole(JSON.stringify({ ...HEALTH, data: { ttl: 0, renewable: false } })));
  });
}

/** @param {Issued} leaf @param {TlsOptions & {chain?: Issued[]}} [options] @param {(socket: Socket) => void} [accept] */
function secure(leaf, { chain = [], ...options } = {}, accept = respond) {
  const cert = [leaf, ...chain].map(({ pem }) => pem).join('');
  const server = createTlsServer({ cert, key: leaf.keyPem, ...options }, accept);
  server.on('tlsClientError', () => {});
  return (/** @type {Socket} */ socket) => void server.emit('connection', socket);
}

/** @param {(socket: Socket) => void} [onHello] the ClientHello has arrived */
const raw = (onHello) => (/** @type {Socket} */ socket) => {
  socket.once('data', () => onHello?.(socket));
  socket.on('data', (bytes) => {
    received.text += bytes.toString('latin1');
  });
};

/** A fatal alert in place of the ServerHello (RFC 8446, 6.2). @param {number} number */
const alert = (number) => raw((socket) => socket.end(Buffer.from([21, 3, 3, 0, 2, 2, number])));

/** The header of a ServerHello, and its first bytes. */
const PART = bytesOf('160303007a 02000076 0303');

export const serveGood = secure(good);

/** @param {string} name @param {IssueOptions} options */
const issue = (name, { extensions = [NAMES], ...options } = {}) => ca.issue(name, { ...options, extensions });

/** @param {Buffer[]} extensions of the intermediate CA @param {IssueOptions} [options] its dates @param {TestCa} [root] */
function intermediate(extensions, options = {}, root = ca) {
  const issuer = root.issue('Intermediate', { ...options, extensions });
  return { issuer, leaf: new TestCa({ ca: issuer }).issue('leaf', { extensions: [NAMES] }) };
}

function makeFaults() {
  const stranger = new TestCa({ name: 'Stranger' });
  const strange = stranger.issue('strange', { extensions: [NAMES] });
  const middle = intermediate([EXTENSIONS.ca]);
  const rootless = intermediate([EXTENSIONS.ca], {}, stranger);
  const notCa = intermediate([EXTENSIONS.notCa]);
  const plainIssuer = intermediate([]);
  const digitalSignature = extension('2.5.29.15', true, bytesOf('03020780'));
  const noSigning = intermediate([EXTENSIONS.ca, digitalSignature]);
  const old = intermediate([EXTENSIONS.ca], { inDays: -2, days: -1 });
  const broken = issue('broken');
  broken.der = Buffer.from(broken.der);
  broken.der[broken.der.length - 1] ^= 1;
  const sha1Signer = Object.create(ca.ca, {
    algorithm: { value: der(0x30, oid('1.2.840.10045.4.1')) },
    sign: { value: (/** @type {Uint8Array} */ data) => sign('sha1', data, ca.ca.privateKey) },
  });
  const sha1Ca = new TestCa({ ca: sha1Signer });
  sha1Ca.subject = ca.subject;
  const again = /** @type {any} */ (generateKeyPairSync('rsa', { modulusLength: 512 }));
  const lax = { ciphers: 'ALL:@SECLEVEL=0' };
  const asksForCertificate = { requestCert: true, ca: ca.ca.pem };

  /** @type {Fault[]} */
  const faults = [
    {
      name: 'an expired certificate',
      code: 'certificate_expired',
      remedy: /Renew/,
      serve: secure(issue('expired', { inDays: -2, days: -1 })),
    },
    {
      name: 'an expired intermediate CA',
      code: 'certificate_expired',
      remedy: /Renew/,
      serve: secure(old.leaf, { chain: [old.issuer] }),
    },
    {
      name: 'a certificate that is not valid yet',
      code: 'certificate_not_yet_valid',
      remedy: /clocks/,
      serve: secure(issue('early', { inDays: 1 })),
    },
    {
      name: 'another name',
      code: 'certificate_name_mismatch',
      remedy: /--tls-server-name/,
      serve: secure(issue('other', { extensions: [altNames({ dns: ['other.test'] })] })),
    },
    {
      name: 'another address',
      code: 'certificate_name_mismatch',
      remedy: /--tls-server-name/,
      serve: secure(issue('address', { extensions: [altNames({ ip: ['127.0.0.9'] })] })),
    },
    {
      name: 'the address as common name only',
      code: 'certificate_name_mismatch',
      remedy: /--tls-server-name/,
      serve: secure(issue('127.0.0.1', { extensions: [] })),
    },
    {
      name: 'the address, NUL and more in a DNS name',
      code: 'certificate_name_mismatch',
      remedy: /--tls-server-name/,
      serve: secure(issue('nul', { extensions: [altNames({ dns: ['127.0.0.1\0.test'] })] })),
    },
    {
      name: 'an unknown CA, sent along',
      code: 'certificate_not_trusted',
      remedy: /--ca-cert.*root CA/,
      serve: secure(strange, { chain: [stranger.ca] }),
    },
    {
      name: 'an unknown CA',
      code: 'certificate_issuer_unknown',
      remedy: /--ca-cert.*root CA/,
      serve: secure(strange),
    },
    {
      name: 'a chain without its intermediate CA',
      code: 'certificate_issuer_unknown',
      remedy: /must also send/,
      serve: secure(middle.leaf),
    },
    {
      name: 'only the intermediate CA in --ca-cert',
      code: 'certificate_root_missing',
      remedy: /Add the root CA/,
      alsoKnown: rootless.issuer,
      serve: secure(rootless.leaf),
    },
    {
      name: 'a self-signed certificate',
      code: 'certificate_self_signed',
      remedy: /--ca-cert.*that certificate/,
      serve: secure(stranger.ca),
    },
    {
      name: 'an issuer with CA:FALSE',
      code: 'certificate_wrong_purpose',
      remedy: /CA:TRUE/,
      serve: secure(notCa.leaf, { chain: [notCa.issuer] }),
    },
    {
      name: 'an issuer without basicConstraints',
      code: 'certificate_wrong_purpose',
      remedy: /CA:TRUE/,
      serve: secure(plainIssuer.leaf, { chain: [plainIssuer.issuer] }),
    },
    {
      name: 'an issuer without keyCertSign',
      code: 'certificate_wrong_purpose',
      remedy: /keyCertSign/,
      serve: secure(noSigning.leaf, { chain: [noSigning.issuer] }),
    },
    {
      name: 'a certificate for clients',
      code: 'certificate_wrong_purpose',
      remedy: /serverAuth/,
      serve: secure(issue('client', { extensions: [NAMES, EXTENSIONS.clientAuth] })),
    },
    {
      name: 'a broken signature',
      code: 'certificate_bad_signature',
      remedy: /another one of the same name/,
      serve: secure(broken),
    },
    {
      name: 'a CA of the same name with another key',
      code: 'certificate_bad_signature',
      remedy: /another one of the same name/,
      serve: secure(new TestCa().issue('twin', { extensions: [NAMES] })),
    },
    {
      name: 'a signature with SHA-1',
      code: 'certificate_too_weak',
      remedy: /SHA-256/,
      serve: secure(sha1Ca.issue('sha1', { extensions: [NAMES] }), lax),
    },
    {
      name: 'an RSA key of 512 bits',
      code: 'certificate_too_weak',
      remedy: /2048 bits/,
      serve: secure(issue('short', { key: 'rsa', again }), { ...lax, maxVersion: 'TLSv1.2' }),
    },
    {
      name: 'a key too short for TLS 1.3',
      code: 'tls_handshake_failure',
      remedy: /key and cipher suites/,
      serve: secure(issue('short', { key: 'rsa', again }), lax),
    },
    {
      name: 'TLS 1.1 only',
      code: 'tls_version_mismatch',
      remedy: /TLS 1\.2 or later/,
      serve: secure(good, { ...lax, minVersion: 'TLSv1', maxVersion: 'TLSv1.1' }),
    },
    {
      name: 'no common cipher suite',
      code: 'tls_handshake_failure',
      remedy: /cipher suites/,
      serve: secure(good, { ciphers: 'ECDHE-ECDSA-NULL-SHA:@SECLEVEL=0', maxVersion: 'TLSv1.2' }),
    },
    {
      name: 'no client certificate, TLS 1.2',
      code: 'tls_handshake_failure',
      remedy: /--client-cert/,
      serve: secure(good, { ...asksForCertificate, maxVersion: 'TLSv1.2' }),
    },
    {
      name: 'no client certificate, TLS 1.3',
      code: 'client_certificate_required',
      remedy: /--client-cert/,
      serve: secure(good, asksForCertificate),
    },
    {
      name: 'alert bad_certificate',
      code: 'client_certificate_required',
      remedy: /--client-cert/,
      serve: alert(42),
    },
    {
      name: 'alert certificate_expired',
      code: 'client_certificate_expired',
      remedy: /Renew/,
      serve: alert(45),
    },
    {
      name: 'alert unknown_ca',
      code: 'client_certificate_rejected',
      remedy: /--client-cert/,
      serve: alert(48),
    },
    {
      name: 'alert access_denied',
      code: 'client_certificate_rejected',
      remedy: /--client-cert/,
      serve: alert(49),
    },
    {
      name: 'alert unrecognized_name',
      code: 'tls_unrecognized_name',
      remedy: /--tls-server-name/,
      serve: alert(112),
    },
    {
      name: 'alert no_application_protocol',
      code: 'tls_no_protocol',
      remedy: /HTTP\/1\.1/,
      serve: alert(120),
    },
    { name: 'alert internal_error', code: 'tls_error', remedy: /log/, serve: alert(80) },
    {
      name: 'plain HTTP',
      code: 'wrong_scheme_https_to_http_port',
      remedy: /http:\/\//,
      serve: raw((socket) => socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n')),
    },
    {
      name: 'SSH',
      code: 'wrong_scheme_https_to_http_port',
      remedy: /correct the port/,
      serve: raw((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n')),
    },
    {
      name: 'application data in place of a handshake',
      code: 'tls_error',
      remedy: /speaks TLS/,
      serve: raw((socket) => socket.end(bytesOf('1703030005aaaaaaaaaa'))),
    },
    {
      name: 'a close before the ClientHello',
      code: 'tls_handshake_cut',
      remedy: /log/,
      serve: (socket) => socket.destroy(),
    },
    {
      name: 'a close after the ClientHello',
      code: 'tls_handshake_cut',
      remedy: /log/,
      serve: raw((socket) => socket.end()),
    },
    {
      name: 'a close within the ServerHello',
      code: 'tls_handshake_cut',
      remedy: /log/,
      serve: raw((socket) => socket.end(PART)),
    },
    {
      name: 'a reset after the ClientHello',
      code: 'tls_handshake_cut',
      remedy: /log/,
      serve: raw((socket) => void socket.resetAndDestroy()),
    },
    {
      name: 'silence after the ClientHello',
      code: 'tls_handshake_timeout',
      outcome: 'timeout',
      remedy: /--timeout/,
      serve: raw(),
    },
    {
      name: 'a close after the handshake',
      code: 'connection_reset',
      remedy: /log/,
      isVerified: true,
      serve: secure(good, {}, (socket) => void socket.on('error', () => {}).destroy()),
    },
  ];
  return faults;
}

/** @param {Fault} fault @returns {string[]} the client's CAs, in PEM */
export const authoritiesOf = ({ alsoKnown }) =>
  [ca.ca, ...(alsoKnown ? [alsoKnown] : [])].map(({ pem }) => pem);

export const FAULTS = Object.freeze(makeFaults());

/** Listens on a port whose server can be replaced at any time. */
export async function startFront() {
  /** @type {Set<Socket>} */
  const sockets = new Set();
  const state = { serve: /** @type {Fault['serve']} */ (serveGood), connections: 0 };
  const server = createServer((socket) => {
    state.connections++;
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    state.serve(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    state,
    origin: `https://127.0.0.1:${/** @type {AddressInfo} */ (server.address()).port}`,
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
