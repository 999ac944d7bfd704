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
import { listed, secret, textParam, VaultError } from '../messages.js';
import { route } from '../routes.js';

/** @import { Params } from '../messages.js' */
/** @import { Route } from '../routes.js' */

/** @typedef {{encrypt?: (text: Buffer) => Buffer, decrypt?: (bytes: Buffer) => Buffer, sign?: (text: Buffer) => Buffer, verify?: (text: Buffer, signature: Buffer) => boolean, publicKey?: string, publicName?: string}} Key */
/** @typedef {Key & {type: string, createdAt: Date}} NamedKey */

const VERSION = 'vault:v1:';

/** By type; https://developer.hashicorp.com/vault/api-docs/secret/transit#create-key @type {Readonly<Record<string, () => Key>>} */
const KEYS = Object.freeze({
  'aes256-gcm96': () => aead('aes-256-gcm', 32),
  'aes128-gcm96': () => aead('aes-128-gcm', 16),
  'chacha20-poly1305': () => aead('chacha20-poly1305', 32),
  ed25519: ed25519Key,
  'ecdsa-p256': () => ecKey('P-256'),
  'ecdsa-p384': () => ecKey('P-384'),
  'ecdsa-p521': () => ecKey('P-521'),
  'rsa-2048': () => rsaKey(2048),
  'rsa-3072': () => rsaKey(3072),
  'rsa-4096': () => rsaKey(4096),
});

/** @returns {Route[]} */
export function createTransit() {
  /** @type {Map<string, NamedKey>} */
  const keys = new Map();
  const reply = (/** @type {Record<string, unknown>} */ data) => secret(data, { mountType: 'transit' });
  /**
   * @param {'encrypt' | 'decrypt' | 'sign' | 'verify'} action
   * @param {string} noKey error for a key that does not exist
   * @param {string} refusal error for a type of key that cannot do it, before that type
   * @param {(key: Required<Key>, params: Params) => Record<string, unknown>} run
   */
  const actionRoute = (action, noKey, refusal, run) =>
    route('POST', new RegExp(`^${action}/([\\w-]+)$`), ({ match, params }) => {
      const key = keys.get(match[1]);
      // Vault creates a missing key on encrypt; this server does not.
      if (key === undefined) throw new VaultError(400, noKey);
      if (key[action] === undefined) throw new VaultError(400, refusal.replace('TYPE', key.type));
      return reply(run(/** @type {Required<Key>} */ (key), params()));
    });
  const noSigning = 'key type TYPE does not support signing';
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
    actionRoute(
      'encrypt',
      'encryption key not found',
      'message encryption not supported for key type TYPE',
      ({ encrypt }, params) => {
        if (params.plaintext === undefined) throw new VaultError(400, 'missing plaintext to encrypt');
        const text = textOf(params, 'plaintext');
        return { ciphertext: VERSION + encrypt(text).toString('base64'), key_version: 1 };
      },
    ),
    actionRoute(
      'decrypt',
      'encryption key not found',
      'message decryption not supported for key type TYPE',
      ({ decrypt }, params) => {
        if (textParam(params, 'ciphertext') === '')
          throw new VaultError(400, 'missing ciphertext to decrypt');
        return { plaintext: decrypt(bytesOf(params, 'ciphertext')).toString('base64') };
      },
    ),
    actionRoute('sign', 'signing key not found', noSigning, (key, params) => {
      const text = textOf(params, 'input', 'unable to decode input: ');
      return { signature: VERSION + key.sign(text).toString('base64'), key_version: 1 };
    }),
    actionRoute('verify', 'signature verification key not found', noSigning, (key, params) => {
      if (textParam(params, 'signature') === '')
        throw new VaultError(400, "missing one of 'signature', 'hmac' or 'cmac' arguments to verify");
      const text = textOf(params, 'input', 'unable to decode input: ');
      return { valid: key.verify(text, bytesOf(params, 'signature')) };
    }),
  ];
}

/** @param {string} name @param {NamedKey} key as Vault describes it, without its constants */
function describe(name, { type, createdAt, encrypt, sign: signer, publicKey, publicName }) {
  const version =
    publicKey === undefined
      ? Math.floor(createdAt.getTime() / 1000)
      : { creation_time: createdAt.toISOString(), name: publicName, public_key: publicKey };
  return {
    keys: { 1: version },
    latest_version: 1,
    name,
    supports_decryption: encrypt !== undefined,
    supports_derivation: publicKey === undefined || type === 'ed25519',
    supports_encryption: encrypt !== undefined,
    supports_signing: signer !== undefined,
    type,
  };
}

/** @param {Params} params @param {string} name @param {string} [before] start of the message */
function textOf(params, name, before = '') {
  const text = textParam(params, name);
  const good = /^[A-Za-z0-9+/]*={0,2}/.exec(text)?.[0].length ?? 0;
  if (good < text.length) throw new VaultError(400, `${before}illegal base64 data at input byte ${good}`);
  return Buffer.from(text, 'base64');
}

/** @param {Params} params @param {string} name */
function bytesOf(params, name) {
  const text = textParam(params, name);
  if (/^vault:v\d+:/.test(text) && !text.startsWith(VERSION))
    throw new VaultError(400, `invalid ${name}: version is too new`);
  if (!text.startsWith(VERSION)) throw new VaultError(400, `invalid ${name}: no prefix`);
  return Buffer.from(text.slice(VERSION.length), 'base64');
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
    publicName: 'ed25519',
  };
}

/** @param {string} curve @returns {Key} */
function ecKey(curve) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: curve });
  return {
    sign: (text) => sign('sha256', text, privateKey),
    verify(text, signature) {
      // Vault reads the ASN.1 first: a SEQUENCE.
      if (signature[0] !== 0x30) throw new VaultError(400, 'supplied signature is invalid');
      return verify('sha256', text, publicKey, signature);
    },
    publicName: curve,
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
    encrypt: (text) =>
      rsa(
        () => publicEncrypt({ key: publicKey, ...oaep }, text),
        'failed to RSA encrypt the plaintext: crypto/rsa: message too long for RSA key size',
      ),
    decrypt: (bytes) =>
      rsa(
        () => privateDecrypt({ key: privateKey, ...oaep }, bytes),
        'failed to RSA decrypt the ciphertext: crypto/rsa: decryption error',
      ),
    sign: (text) => sign('sha256', text, { key: privateKey, ...pss }),
    verify: (text, signature) => verify('sha256', text, { key: publicKey, ...any }, signature),
    publicName: `rsa-${bits}`,
    publicKey: String(publicKey.export({ type: 'spki', format: 'pem' })),
  };
}

/** @param {() => Buffer} work @param {string} refusal */
function rsa(work, refusal) {
  try {
    return work();
  } catch {
    throw new VaultError(500, listed(refusal));
  }
}
