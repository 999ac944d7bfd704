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
import { route, secret, textParam, VaultError } from '../routes.js';

/** @import { KeyPairKeyObjectResult } from 'node:crypto' */
/** @import { Params, Route } from '../routes.js' */

/**
 * @typedef {{encrypt?: (text: Buffer) => Buffer, decrypt?: (bytes: Buffer) => Buffer, sign?: (text: Buffer) => Buffer,
 *   verify?: (text: Buffer, signature: Buffer) => boolean, publicKey?: string}} Key
 * @typedef {Key & {type: string, createdAt: Date}} NamedKey
 */

const VERSION = 'vault:v1:';

/** Makers of keys by type; https://developer.hashicorp.com/vault/api-docs/secret/transit#create-key @type {Record<string, () => Key>} */
const KEYS = {
  'aes256-gcm96': () => aead('aes-256-gcm', 32),
  'aes128-gcm96': () => aead('aes-128-gcm', 16),
  'chacha20-poly1305': () => aead('chacha20-poly1305', 32),
  ed25519: ed25519Key,
  ...Object.fromEntries([256, 384, 521].map((bits) => [`ecdsa-p${bits}`, () => ecKey(`P-${bits}`)])),
  ...Object.fromEntries([2048, 3072, 4096].map((bits) => [`rsa-${bits}`, () => rsaKey(bits)])),
};

/** @returns {Route[]} */
export function createTransit() {
  /** @type {Map<string, NamedKey>} */
  const keys = new Map();
  const reply = (/** @type {Record<string, unknown>} */ data) => secret(data, 'transit');
  /**
   * Vault creates a missing key on encrypt; this server does not.
   * @param {'encrypt' | 'decrypt' | 'sign' | 'verify'} action
   * @param {(key: Required<Key>, params: Params) => Record<string, unknown>} run
   */
  const actionRoute = (action, run) =>
    route('POST', new RegExp(`^${action}/([\\w-]+)$`), ({ match, params }) => {
      const key = keys.get(match[1]);
      if (key === undefined) throw new VaultError(400, 'encryption key not found');
      if (key[action] === undefined)
        throw new VaultError(400, `key type ${key.type} does not support ${action}`);
      try {
        return reply(run(/** @type {Required<Key>} */ (key), params()));
      } catch (error) {
        throw new VaultError(400, /** @type {Error} */ (error).message);
      }
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
    actionRoute('encrypt', (key, params) => ({
      ...{ ciphertext: textOf(key.encrypt(decode(params, 'plaintext'))), key_version: 1 },
    })),
    actionRoute('decrypt', (key, params) => ({
      plaintext: key.decrypt(bytesOf(params, 'ciphertext')).toString('base64'),
    })),
    actionRoute('sign', (key, params) => ({
      ...{ signature: textOf(key.sign(decode(params, 'input'))), key_version: 1 },
    })),
    actionRoute('verify', (key, params) => ({
      valid: key.verify(decode(params, 'input'), bytesOf(params, 'signature')),
    })),
  ];
}

/** @param {string} name @param {NamedKey} key part of Vault's description */
function describe(name, { type, createdAt, publicKey }) {
  const seconds = Math.floor(createdAt.getTime() / 1000);
  const version =
    publicKey === undefined ? seconds : { creation_time: createdAt.toISOString(), public_key: publicKey };
  return { name, type, latest_version: 1, keys: { 1: version } };
}

/** @param {Params} params @param {string} name of a base64 text */
const decode = (params, name) => Buffer.from(textParam(params, name), 'base64');

/** @param {Buffer} bytes a ciphertext or a signature */
const textOf = (bytes) => VERSION + bytes.toString('base64');

/** @param {Params} params @param {string} name */
function bytesOf(params, name) {
  const text = textParam(params, name);
  if (text.startsWith(VERSION)) return Buffer.from(text.slice(VERSION.length), 'base64');
  throw new VaultError(400, `invalid ${name}: no prefix`);
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
      const opened = createDecipheriv(name, key, bytes.subarray(0, 12), options);
      opened.setAuthTag(bytes.subarray(-16));
      return Buffer.concat([opened.update(bytes.subarray(12, -16)), opened.final()]);
    },
  };
}

/**
 * @param {KeyPairKeyObjectResult} pair
 * @param {string | null} hash
 * @param {{padding?: number}} [options]
 * @returns {Required<Pick<Key, 'sign' | 'verify' | 'publicKey'>>}
 */
function signing({ privateKey, publicKey }, hash, options) {
  // By Node's defaults, RSA-PSS signatures have the longest salt, and verify accepts any length.
  return {
    sign: (text) => sign(hash, text, { key: privateKey, ...options }),
    verify: (text, signature) => verify(hash, text, { key: publicKey, ...options }, signature),
    publicKey: String(publicKey.export({ type: 'spki', format: 'pem' })),
  };
}

/** @returns {Key} */
function ed25519Key() {
  const pair = generateKeyPairSync('ed25519');
  const der = pair.publicKey.export({ type: 'spki', format: 'der' });
  // As in Vault, the bare key of 32 bytes.
  return { ...signing(pair, null), publicKey: der.subarray(-32).toString('base64') };
}

/** @param {string} curve @returns {Key} */
const ecKey = (curve) => signing(generateKeyPairSync('ec', { namedCurve: curve }), 'sha256');

/** @param {number} bits @returns {Key} */
function rsaKey(bits) {
  const pair = generateKeyPairSync('rsa', { modulusLength: bits });
  const { privateKey, publicKey } = pair;
  const oaep = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' };
  return {
    ...signing(pair, 'sha256', { padding: constants.RSA_PKCS1_PSS_PADDING }),
    encrypt: (text) => publicEncrypt({ key: publicKey, ...oaep }, text),
    decrypt: (bytes) => privateDecrypt({ key: privateKey, ...oaep }, bytes),
  };
}
