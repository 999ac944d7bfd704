/** Transit with real cryptography. Each key has one version. */
import crypto from 'node:crypto';
import { encodePem } from '../../pki/text.js';
import { orNotFound, route, secret, textParam, VaultError } from '../routes.js';

/** @import { Params, Route } from '../routes.js' */

/**
 * @typedef {{encrypt?: (text: Buffer) => Buffer, decrypt?: (bytes: Buffer) => Buffer, sign?: (text: Buffer) => Buffer,
 *   verify?: (text: Buffer, signature: Buffer) => boolean, publicKey?: string}} Key
 * @typedef {Key & {type: string, createdAt: Date}} NamedKey
 */

const VERSION = 'vault:v1:';

/** https://developer.hashicorp.com/vault/api-docs/secret/transit#create-key @type {Record<string, () => Key>} */
const KEYS = {
  'aes256-gcm96': () => aead('aes-256-gcm', 32),
  'aes128-gcm96': () => aead('aes-128-gcm', 16),
  'chacha20-poly1305': () => aead('chacha20-poly1305', 32),
  ed25519: () => signing(crypto.generateKeyPairSync('ed25519'), null),
  ...Object.fromEntries([256, 384, 521].map((bits) => [`ecdsa-p${bits}`, () => ecKey(`P-${bits}`)])),
  ...Object.fromEntries([2048, 3072, 4096].map((bits) => [`rsa-${bits}`, () => rsaKey(bits)])),
};

/** Vault's names for the key that an action lacks. */
const NEEDED = {
  encrypt: 'encryption',
  decrypt: 'encryption',
  sign: 'signing',
  verify: 'signature verification',
};

/** @returns {Route[]} */
export function createTransit() {
  /** @type {Map<string, NamedKey>} */
  const keys = new Map();
  const reply = (/** @type {Record<string, unknown>} */ data) => secret(data, 'transit');
  /**
   * Vault creates a missing key on encrypt; this server does not.
   * @param {keyof typeof NEEDED} action @param {(key: Required<Key>, params: Params) => Record<string, unknown>} run
   */
  const actionRoute = (action, run) =>
    route('POST', new RegExp(`^${action}/([\\w-]+)$`), ({ match, params }) => {
      const key = keys.get(match[1]);
      if (key === undefined) throw new VaultError(400, `${NEEDED[action]} key not found`);
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
    route('GET', /^keys\/([\w-]+)$/, ({ match: [, name] }) =>
      reply(describe(name, orNotFound(keys.get(name)))),
    ),
    actionRoute('encrypt', (key, params) =>
      versioned('ciphertext', key.encrypt(decode(params, 'plaintext'))),
    ),
    actionRoute('sign', (key, params) => versioned('signature', key.sign(decode(params, 'input')))),
    actionRoute('decrypt', (key, params) => ({
      plaintext: key.decrypt(bytesOf(params, 'ciphertext')).toString('base64'),
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

/** @param {'ciphertext' | 'signature'} name @param {Buffer} bytes */
const versioned = (name, bytes) => ({ [name]: VERSION + bytes.toString('base64'), key_version: 1 });

/** @param {Params} params @param {string} name */
function bytesOf(params, name) {
  const text = textParam(params, name);
  if (text.startsWith(VERSION)) return Buffer.from(text.slice(VERSION.length), 'base64');
  throw new VaultError(400, `invalid ${name}: no prefix`);
}

/** @param {string} cipher @param {number} length of the key, bytes @returns {Key} */
function aead(cipher, length) {
  const key = crypto.randomBytes(length);
  const name = /** @type {'aes-256-gcm'} */ (cipher);
  const options = { authTagLength: 16 };
  return {
    encrypt(text) {
      const nonce = crypto.randomBytes(12);
      const sealed = crypto.createCipheriv(name, key, nonce, options);
      return Buffer.concat([nonce, sealed.update(text), sealed.final(), sealed.getAuthTag()]);
    },
    decrypt(bytes) {
      const opened = crypto.createDecipheriv(name, key, bytes.subarray(0, 12), options);
      opened.setAuthTag(bytes.subarray(-16));
      return Buffer.concat([opened.update(bytes.subarray(12, -16)), opened.final()]);
    },
  };
}

/** @typedef {crypto.KeyPairKeyObjectResult} Pair */

/** @param {Pair} pair @param {string | null} hash @param {{padding?: number}} [options] @returns {Key} */
function signing({ privateKey, publicKey }, hash, options) {
  // By default, Node signs RSA-PSS with the longest salt and verifies any length.
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return {
    sign: (text) => crypto.sign(hash, text, { key: privateKey, ...options }),
    verify: (text, signature) => crypto.verify(hash, text, { key: publicKey, ...options }, signature),
    // Vault returns the bare 32 bytes of an Ed25519 key.
    publicKey: hash === null ? der.subarray(-32).toString('base64') : encodePem('PUBLIC KEY', der),
  };
}

/** @param {string} curve @returns {Key} */
const ecKey = (curve) => signing(crypto.generateKeyPairSync('ec', { namedCurve: curve }), 'sha256');

/** @param {number} bits @returns {Key} */
function rsaKey(bits) {
  const pair = crypto.generateKeyPairSync('rsa', { modulusLength: bits });
  const { privateKey, publicKey } = pair;
  const oaep = { padding: crypto.constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' };
  return {
    ...signing(pair, 'sha256', { padding: crypto.constants.RSA_PKCS1_PSS_PADDING }),
    encrypt: (text) => crypto.publicEncrypt({ key: publicKey, ...oaep }, text),
    decrypt: (bytes) => crypto.privateDecrypt({ key: privateKey, ...oaep }, bytes),
  };
}
