/** Transit: real keys and real cryptography, one version of each key. */
import {
  constants,
  createCipheriv,
  createDecipheriv,
  generateKeyPairSync,
  privateDecrypt,
  publicEncrypt,
  randomBytes,
  sign,
  verify,
} from 'node:crypto';
import { listed, route, secret, textParam, VaultError } from '../routes.js';

/** @import { KeyPairKeyObjectResult } from 'node:crypto' */
/** @import { Params, Route } from '../routes.js' */

/**
 * @typedef {{encrypt?: (text: Buffer) => Buffer, decrypt?: (bytes: Buffer) => Buffer, sign?: (text: Buffer) => Buffer,
 *   verify?: (text: Buffer, signature: Buffer) => boolean, publicKey?: string, publicName?: string}} Key
 * @typedef {Key & {type: string, createdAt: Date}} NamedKey
 */

const VERSION = 'vault:v1:';

/** By type; https://developer.hashicorp.com/vault/api-docs/secret/transit#create-key @type {Record<string, () => Key>} */
const KEYS = {
  'aes256-gcm96': () => aead('aes-256-gcm', 32),
  'aes128-gcm96': () => aead('aes-128-gcm', 16),
  'chacha20-poly1305': () => aead('chacha20-poly1305', 32),
  ed25519: ed25519Key,
  ...Object.fromEntries([256, 384, 521].map((bits) => [`ecdsa-p${bits}`, () => ecKey(`P-${bits}`)])),
  ...Object.fromEntries([2048, 3072, 4096].map((bits) => [`rsa-${bits}`, () => rsaKey(bits)])),
};

const NO_SIGNING = 'key type TYPE does not support signing';
/** Errors for a key that does not exist, and for a type of key that cannot do this. */
const REFUSALS = Object.freeze({
  encrypt: ['encryption key not found', 'message encryption not supported for key type TYPE'],
  decrypt: ['encryption key not found', 'message decryption not supported for key type TYPE'],
  sign: ['signing key not found', NO_SIGNING],
  verify: ['signature verification key not found', NO_SIGNING],
});

/** @returns {Route[]} */
export function createTransit() {
  /** @type {Map<string, NamedKey>} */
  const keys = new Map();
  const reply = (/** @type {Record<string, unknown>} */ data) => secret(data, { mountType: 'transit' });
  /**
   * Vault creates a missing key on encrypt; this server does not.
   * @param {'encrypt' | 'decrypt' | 'sign' | 'verify'} action
   * @param {(key: Required<Key>, params: Params) => Record<string, unknown>} run
   */
  const actionRoute = (action, run) =>
    route('POST', new RegExp(`^${action}/([\\w-]+)$`), ({ match, params }) => {
      const [noKey, unsupported] = REFUSALS[action];
      const key = keys.get(match[1]);
      if (key === undefined) throw new VaultError(400, noKey);
      if (key[action] === undefined) throw new VaultError(400, unsupported.replace('TYPE', key.type));
      return reply(run(/** @type {Required<Key>} */ (key), params()));
    });
  return [
    route('POST', /^keys\/([\w-]+)$/, ({ match: [, name], params }) => {
      const type = textParam(params(), 'type') || 'aes256-gcm96';
      if (!Object.hasOwn(KEYS, type)) throw new VaultError(400, `unknown key type ${type}`);
      const key = keys.get(name) ?? { type, createdAt: new Date(), ...KEYS[type]() };
      keys.set(name, key);
      return reply(describe(name, key));
    }),
    route('GET', /^keys\/([\w-]+)$/, ({ match: [, name] }) => {
      const key = keys.get(name);
      if (key === undefined) throw new VaultError(404);
      return reply(describe(name, key));
    }),
    actionRoute('encrypt', ({ encrypt }, params) => {
      if (params.plaintext === undefined) throw new VaultError(400, 'missing plaintext to encrypt');
      return { ciphertext: textOf(encrypt(decode(params, 'plaintext'))), key_version: 1 };
    }),
    actionRoute('decrypt', ({ decrypt }, params) => {
      demand(params, 'ciphertext', 'missing ciphertext to decrypt');
      return { plaintext: decrypt(bytesOf(params, 'ciphertext')).toString('base64') };
    }),
    actionRoute('sign', (key, params) => {
      const input = decode(params, 'input', 'unable to decode input: ');
      return { signature: textOf(key.sign(input)), key_version: 1 };
    }),
    actionRoute('verify', (key, params) => {
      demand(params, 'signature', "missing one of 'signature', 'hmac' or 'cmac' arguments to verify");
      const input = decode(params, 'input', 'unable to decode input: ');
      return { valid: key.verify(input, bytesOf(params, 'signature')) };
    }),
  ];
}

/** @param {string} name @param {NamedKey} key as Vault describes it, without its constants */
function describe(name, { type, createdAt, encrypt, sign: signer, publicKey, publicName }) {
  const version =
    publicKey === undefined
      ? Math.floor(createdAt.getTime() / 1000)
      : { creation_time: createdAt.toISOString(), name: publicName, public_key: publicKey };
  const isCipher = encrypt !== undefined;
  return {
    ...{ name, type, latest_version: 1, keys: { 1: version }, supports_signing: signer !== undefined },
    ...{ supports_encryption: isCipher, supports_decryption: isCipher },
    supports_derivation: publicKey === undefined || type === 'ed25519',
  };
}

/** @param {Params} params @param {string} name of a parameter that must not be empty @param {string} message */
function demand(params, name, message) {
  if (textParam(params, name) === '') throw new VaultError(400, message);
}

/** @param {Params} params @param {string} name of a base64 text @param {string} [before] start of the message */
function decode(params, name, before = '') {
  const text = textParam(params, name);
  const good = /^[A-Za-z0-9+/]*={0,2}/.exec(text)?.[0].length ?? 0;
  if (good < text.length) throw new VaultError(400, `${before}illegal base64 data at input byte ${good}`);
  return Buffer.from(text, 'base64');
}

/** @param {Buffer} bytes a ciphertext or a signature */
const textOf = (bytes) => VERSION + bytes.toString('base64');

/** @param {Params} params @param {string} name */
function bytesOf(params, name) {
  const text = textParam(params, name);
  if (text.startsWith(VERSION)) return Buffer.from(text.slice(VERSION.length), 'base64');
  const problem = /^vault:v\d+:/.test(text) ? 'version is too new' : 'no prefix';
  throw new VaultError(400, `invalid ${name}: ${problem}`);
}

/** @param {string} cipher @param {number} length of the key, bytes @returns {Key} */
function aead(cipher, length) {
  const key = randomBytes(length);
  const name = /** @type {'aes-256-gcm'} */ (cipher);
  const options = { authTagLength: 16 };
  return {
    encrypt(text) {
      const nonce = randomBytes(12);
      const sealed = createCipheriv(name, key, nonce, options);
      return Buffer.concat([nonce, sealed.update(text), sealed.final(), sealed.getAuthTag()]);
    },
    decrypt(bytes) {
      if (bytes.length < 12 + 16) throw new VaultError(400, 'invalid ciphertext length');
      const opened = createDecipheriv(name, key, bytes.subarray(0, 12), options);
      opened.setAuthTag(bytes.subarray(-16));
      const refusal = new VaultError(400, 'cipher: message authentication failed');
      return attempt(() => Buffer.concat([opened.update(bytes.subarray(12, -16)), opened.final()]), refusal);
    },
  };
}

/**
 * @param {string} publicName
 * @param {KeyPairKeyObjectResult} pair
 * @param {string | null} hash
 * @param {{padding?: number}} [options]
 * @returns {Required<Pick<Key, 'sign' | 'verify' | 'publicName' | 'publicKey'>>}
 */
function signing(publicName, { privateKey, publicKey }, hash, options) {
  // Of RSA with PSS: the longest salt is made, one of any length is accepted.
  const [longest, any] = [constants.RSA_PSS_SALTLEN_MAX_SIGN, constants.RSA_PSS_SALTLEN_AUTO];
  return {
    sign: (text) => sign(hash, text, { key: privateKey, ...options, saltLength: longest }),
    verify: (text, signature) =>
      verify(hash, text, { key: publicKey, ...options, saltLength: any }, signature),
    publicName,
    publicKey: String(publicKey.export({ type: 'spki', format: 'pem' })),
  };
}

/** @returns {Key} */
function ed25519Key() {
  const pair = generateKeyPairSync('ed25519');
  const der = pair.publicKey.export({ type: 'spki', format: 'der' });
  // Vault gives the bare key of 32 bytes.
  return { ...signing('ed25519', pair, null), publicKey: der.subarray(-32).toString('base64') };
}

/** @param {string} curve @returns {Key} */
function ecKey(curve) {
  const key = signing(curve, generateKeyPairSync('ec', { namedCurve: curve }), 'sha256');
  return {
    ...key,
    verify(text, signature) {
      // Vault reads the ASN.1 first: a SEQUENCE.
      if (signature[0] !== 0x30) throw new VaultError(400, 'supplied signature is invalid');
      return key.verify(text, signature);
    },
  };
}

/** @param {number} bits @returns {Key} */
function rsaKey(bits) {
  const pair = generateKeyPairSync('rsa', { modulusLength: bits });
  const { privateKey, publicKey } = pair;
  const oaep = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' };
  const refusal = (/** @type {string} */ why) => new VaultError(500, listed(`failed to RSA ${why}`));
  const tooLong = refusal('encrypt the plaintext: crypto/rsa: message too long for RSA key size');
  const notOurs = refusal('decrypt the ciphertext: crypto/rsa: decryption error');
  return {
    ...signing(`rsa-${bits}`, pair, 'sha256', { padding: constants.RSA_PKCS1_PSS_PADDING }),
    encrypt: (text) => attempt(() => publicEncrypt({ key: publicKey, ...oaep }, text), tooLong),
    decrypt: (bytes) => attempt(() => privateDecrypt({ key: privateKey, ...oaep }, bytes), notOurs),
  };
}

/** @param {() => Buffer} work @param {VaultError} refusal */
function attempt(work, refusal) {
  try {
    return work();
  } catch {
    throw refusal;
  }
}
