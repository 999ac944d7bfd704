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
import { readParams, textParam } from '../params.js';
import { raw, secret, VaultError } from '../replies.js';

/** @typedef {{encrypt?: (text: Buffer) => Buffer, decrypt?: (bytes: Buffer) => Buffer, sign?: (text: Buffer) => Buffer, verify?: (text: Buffer, signature: Buffer) => boolean, publicKey?: string}} Key */

const VERSION = 'vault:v1:';

/** By type; https://developer.hashicorp.com/vault/api-docs/secret/transit#create-key @type {Readonly<Record<string, () => Key>>} */
const KEYS = Object.freeze({
  'aes256-gcm96': () => aead('aes-256-gcm', 32),
  'aes128-gcm96': () => aead('aes-128-gcm', 16),
  'chacha20-poly1305': () => aead('chacha20-poly1305', 32),
  ed25519: () => ed25519Key(),
  'ecdsa-p256': () => ecKey(),
  'rsa-2048': () => rsaKey(2048),
  'rsa-4096': () => rsaKey(4096),
});

/** @type {import('./index.js').CreateEngine} */
export function createTransit() {
  /** @type {Map<string, Key & {type: string}>} */
  const keys = new Map();
  const keyOf = (/** @type {string} */ name) => {
    const key = keys.get(name);
    if (key === undefined) throw new VaultError(400, 'encryption key not found');
    return key;
  };
  const paramsOf = (/** @type {import('../routes.js').Call} */ { request }) =>
    readParams(request.body, request.headers['content-type']);
  /**
   * @param {string} action
   * @param {(key: Key, params: import('../params.js').Params) => Record<string, unknown>} answer
   * @returns {import('../routes.js').Route}
   */
  const route = (action, answer) => ({
    method: 'POST',
    path: new RegExp(`^${action}/([\\w-]+)$`),
    handle: (call) => secret({ data: answer(keyOf(call.match[1]), paramsOf(call)), mountType: 'transit' }),
  });
  return {
    openRoutes: [],
    routes: [
      {
        method: 'POST',
        path: /^keys\/([\w-]+)$/,
        handle(call) {
          const type = textParam(paramsOf(call), 'type') || 'aes256-gcm96';
          if (!Object.hasOwn(KEYS, type)) throw new VaultError(400, `unknown key type ${type}`);
          if (!keys.has(call.match[1])) keys.set(call.match[1], { type, ...KEYS[type]() });
          return raw('', '', 204);
        },
      },
      {
        method: 'GET',
        path: /^keys\/([\w-]+)$/,
        handle({ match }) {
          const { type, publicKey = '' } = keyOf(match[1]);
          const versions = publicKey === '' ? { 1: 0 } : { 1: { public_key: publicKey } };
          return secret({
            data: { name: match[1], type, latest_version: 1, keys: versions },
            mountType: 'transit',
          });
        },
      },
      route('encrypt', (key, params) => ({
        ciphertext: VERSION + able(key.encrypt, 'encryption')(textOf(params, 'plaintext')).toString('base64'),
        key_version: 1,
      })),
      route('decrypt', (key, params) => ({
        plaintext: able(key.decrypt, 'decryption')(bytesOf(params, 'ciphertext')).toString('base64'),
      })),
      route('sign', (key, params) => ({
        signature: VERSION + able(key.sign, 'signing')(textOf(params, 'input')).toString('base64'),
        key_version: 1,
      })),
      route('verify', (key, params) => ({
        valid: able(key.verify, 'verification')(textOf(params, 'input'), bytesOf(params, 'signature')),
      })),
    ],
  };
}

/**
 * @template T
 * @param {T | undefined} action
 * @param {string} what
 * @returns {T}
 */
function able(action, what) {
  if (action === undefined) throw new VaultError(400, `key type does not support ${what}`);
  return action;
}

/**
 * @param {import('../params.js').Params} params
 * @param {string} name
 */
function textOf(params, name) {
  const text = textParam(params, name);
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw new VaultError(400, `failed to base64-decode ${name}`);
  return Buffer.from(text, 'base64');
}

/**
 * @param {import('../params.js').Params} params
 * @param {string} name
 */
function bytesOf(params, name) {
  const text = textParam(params, name);
  if (!text.startsWith(VERSION)) throw new VaultError(400, `invalid ${name}: no prefix`);
  return Buffer.from(text.slice(VERSION.length), 'base64');
}

/**
 * @param {'aes-256-gcm' | 'aes-128-gcm' | 'chacha20-poly1305'} cipher
 * @param {number} length of the key, bytes
 * @returns {Key}
 */
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
      try {
        const opened = createDecipheriv(name, key, bytes.subarray(0, 12), options);
        opened.setAuthTag(bytes.subarray(-16));
        return Buffer.concat([opened.update(bytes.subarray(12, -16)), opened.final()]);
      } catch {
        throw new VaultError(400, 'cipher: message authentication failed');
      }
    },
  };
}

/** @returns {Key} */
function ed25519Key() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    sign: (text) => sign(null, text, privateKey),
    verify: (text, signature) => verify(null, text, publicKey, signature),
    // Vault gives the bare key of 32 bytes.
    publicKey: publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64'),
  };
}

/** @returns {Key} */
function ecKey() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    sign: (text) => sign('sha256', text, privateKey),
    verify: (text, signature) => verify('sha256', text, publicKey, signature),
    publicKey: String(publicKey.export({ type: 'spki', format: 'pem' })),
  };
}

/** @param {number} bits @returns {Key} */
function rsaKey(bits) {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: bits });
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_MAX_SIGN };
  const any = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
  const oaep = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' };
  return {
    encrypt: (text) => publicEncrypt({ key: publicKey, ...oaep }, text),
    decrypt: (bytes) => privateDecrypt({ key: privateKey, ...oaep }, bytes),
    sign: (text) => sign('sha256', text, { key: privateKey, ...pss }),
    verify: (text, signature) => verify('sha256', text, { key: publicKey, ...any }, signature),
    publicKey: String(publicKey.export({ type: 'spki', format: 'pem' })),
  };
}
