/** A certificate authority in memory, for tests; files of its certificates and keys are written when asked for. */
import { constants, createHash, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodePem, parseSerial } from '../../src/pki/text.js';
import { bytesOf, der, extension, generalizedTime, oid } from './ocsp-builder.js';

/** @import { KeyObject, KeyPairKeyObjectResult } from 'node:crypto' */

const DAY = 86_400_000;
const SHA256 = der(0x30, oid('2.16.840.1.101.3.4.2.1'), bytesOf('0500'));
const PSS = {
  padding: constants.RSA_PKCS1_PSS_PADDING,
  saltLength: 32,
  parameters: der(
    0x30,
    der(0xa0, SHA256),
    der(0xa1, der(0x30, oid('1.2.840.113549.1.1.8'), SHA256)),
    bytesOf('a203020120'),
  ),
};

/** @type {Record<string, {algorithm: Buffer, hash: string | null}>} */
const KINDS = {
  rsa: { algorithm: der(0x30, oid('1.2.840.113549.1.1.11'), bytesOf('0500')), hash: 'sha256' },
  'rsa-pss': { algorithm: der(0x30, oid('1.2.840.113549.1.1.10'), PSS.parameters), hash: 'sha256' },
  ec: { algorithm: der(0x30, oid('1.2.840.10045.4.3.2')), hash: 'sha256' },
  ec384: { algorithm: der(0x30, oid('1.2.840.10045.4.3.3')), hash: 'sha384' },
  ed25519: { algorithm: der(0x30, oid('1.3.101.112')), hash: null },
  ed448: { algorithm: der(0x30, oid('1.3.101.113')), hash: null },
};
export const KEY_KINDS = Object.keys(KINDS);

/** Extensions by a name. */
export const EXTENSIONS = Object.freeze({
  ca: extension('2.5.29.19', true, bytesOf('3003 0101ff')),
  notCa: extension('2.5.29.19', false, bytesOf('3000')),
  ocspSigning: usage('1.3.6.1.5.5.7.3.9'),
  clientAuth: usage('1.3.6.1.5.5.7.3.2'),
});

/** @param {...string} purposes */
function usage(...purposes) {
  return extension('2.5.29.37', false, der(0x30, ...purposes.map(oid)));
}

/** @param {{dns?: string[], ip?: string[]}} names `ip`: IPv4 addresses @returns {Buffer} the extension */
export function altNames({ dns = [], ip = [] }) {
  const names = [
    ...dns.map((name) => der(0x82, Buffer.from(name))),
    ...ip.map((address) => der(0x87, Buffer.from(address.split('.').map(Number)))),
  ];
  return extension('2.5.29.17', false, der(0x30, ...names));
}

/** @param {Buffer} exponent positive @returns {KeyObject} a public RSA key of 2048 bits */
export function rsaKeyWith(exponent) {
  const { n } = makeKeys('rsa').publicKey.export({ format: 'jwk' });
  const key = { kty: 'RSA', n, e: exponent.toString('base64url') };
  return createPublicKey({ key, format: 'jwk' });
}

/** @param {string} kind @returns {KeyPairKeyObjectResult} */
export function makeKeys(kind) {
  if (kind === 'ed25519') return generateKeyPairSync('ed25519');
  if (kind === 'ed448') return generateKeyPairSync('ed448');
  if (kind === 'rsa') return generateKeyPairSync('rsa', { modulusLength: 2048 });
  if (kind === 'rsa-pss') return generateKeyPairSync('rsa-pss', { modulusLength: 2048 });
  return generateKeyPairSync('ec', { namedCurve: kind === 'ec' ? 'P-256' : 'P-384' });
}

/** @param {string} commonName @param {string} [organization] */
export function nameOf(commonName, organization = '') {
  const parts = [
    ['2.5.4.10', organization],
    ['2.5.4.3', commonName],
  ].filter(([, text]) => text !== '');
  return der(0x30, ...parts.map(([id, text]) => der(0x31, der(0x30, oid(id), der(0x0c, Buffer.from(text))))));
}

/** A certificate with its key. */
export class Issued {
  /** @type {Buffer} */
  der = Buffer.alloc(0);
  /** @type {Buffer} */
  serial = Buffer.alloc(0);

  /** @param {{path: (file: string) => string}} files @param {string} name @param {string} kind of key @param {Issued} [again] */
  constructor(files, name, kind, again) {
    this.files = files;
    this.file = 'ca';
    this.name = name;
    this.kind = kind;
    /** @type {KeyPairKeyObjectResult} */
    const pair = again ?? makeKeys(kind);
    /** @type {KeyObject} */
    this.privateKey = pair.privateKey;
    /** @type {KeyObject} */
    this.publicKey = pair.publicKey;
    this.spki = pair.publicKey.export({ format: 'der', type: 'spki' });
    this.algorithm = KINDS[kind].algorithm;
  }

  /** @param {Uint8Array} data */
  sign(data) {
    const key = this.privateKey;
    return sign(KINDS[this.kind].hash, data, this.kind === 'rsa-pss' ? { key, ...PSS } : key);
  }

  get pem() {
    return encodePem('CERTIFICATE', this.der);
  }

  get keyPem() {
    return this.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  }

  /** As `openssl x509 -serial` prints it. */
  get serialHex() {
    return (this.serial[0] === 0 ? this.serial.subarray(1) : this.serial).toString('hex').toUpperCase();
  }

  get certFile() {
    return this.#write('.pem', this.pem);
  }

  get keyFile() {
    return this.#write('.key', this.keyPem);
  }

  /** @param {string} ending @param {string} text */
  #write(ending, text) {
    const file = this.files.path(this.file + ending);
    writeFileSync(file, text);
    return file;
  }
}

/**
 * @typedef {object} IssueOptions
 * @property {string} [key] kind of key
 * @property {Issued} [again] whose key it has instead of a new one
 * @property {(Buffer | 'extendedKeyUsage=OCSPSigning')[]} [extensions]
 * @property {number} [days] from now until it ends
 * @property {number} [inDays] from now until it begins
 * @property {'V' | 'R' | null} [status] V: valid, R: revoked, null: not known to the responder
 * @property {string} [serial]
 * @property {string} [reason]
 */

export class TestCa {
  #dir = '';

  /** @param {{key?: string, name?: string, ca?: Issued}} [options] `ca`: instead of a new self-signed one */
  constructor({ key = 'ec', name = 'Test CA', ca } = {}) {
    /** Rows of the index `openssl ocsp` responds from. @type {string[]} */
    this.index = [];
    this.count = 0;
    this.subject = ca ? nameOf(ca.name) : nameOf(name, 'Throw-away');
    this.ca = ca ?? new Issued(this, name, key);
    if (ca) return;
    const keyId = extension('2.5.29.14', false, der(4, createHash('sha1').update(this.ca.spki).digest()));
    this.#fill(this.ca, this.subject, { days: 30, extensions: [EXTENSIONS.ca, keyId] });
  }

  get dir() {
    this.#dir ||= mkdtempSync(join(tmpdir(), 'pki-test-'));
    return this.#dir;
  }

  /** @param {string} file */
  path(file) {
    return join(this.dir, file);
  }

  close() {
    if (this.#dir !== '') rmSync(this.#dir, { recursive: true, force: true });
  }

  /** @param {string} name commonName @param {IssueOptions} [options] @returns {Issued} */
  issue(name, options = {}) {
    const { key = 'ec', status = 'V', reason = 'keyCompromise' } = options;
    const issued = this.#fill(new Issued(this, name, key, options.again), nameOf(name), options);
    issued.file = `cert${++this.count}`;
    const revoked = status === 'R' ? `260101000000Z,${reason}` : '';
    if (status !== null)
      this.index.push(`${status}\t491231235959Z\t${revoked}\t${issued.serialHex}\tunknown\t/CN=${name}`);
    return issued;
  }

  /** @param {Issued} issued changed @param {Buffer} subject @param {IssueOptions} options */
  #fill(issued, subject, { days = 20, inDays = 0, serial, extensions = [] }) {
    issued.serial = parseSerial(serial ?? `4${randomBytes(15).toString('hex')}0`);
    const now = Math.floor(Date.now() / 1000) * 1000;
    const all = extensions.map((one) => (typeof one === 'string' ? EXTENSIONS.ocspSigning : one));
    const tbs = der(
      0x30,
      bytesOf('a003 020102'),
      der(0x02, issued.serial),
      this.ca.algorithm,
      this.subject,
      der(0x30, generalizedTime(now + inDays * DAY), generalizedTime(now + days * DAY)),
      subject,
      issued.spki,
      ...(all.length > 0 ? [der(0xa3, der(0x30, ...all))] : []),
    );
    issued.der = signed(this.ca, tbs);
    return issued;
  }
}

/** @param {Issued} signer @param {Buffer} tbs @param {Buffer} [algorithm] @returns {Buffer} SEQUENCE of the two and their signature */
export function signed(signer, tbs, algorithm = signer.algorithm) {
  return der(0x30, tbs, algorithm, der(0x03, Buffer.alloc(1), signer.sign(tbs)));
}
