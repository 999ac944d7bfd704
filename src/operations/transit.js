/** `transit`: encrypt, decrypt, sign or verify with a key created for the run; checks each response. */
import { constants, createPublicKey, verify } from 'node:crypto';
import { rejectIf, targetError } from '../common/errors.js';
import { inGroup, option } from '../common/options.js';
import { publicKeyBits, readAlgorithm } from '../pki/certificate-der.js';
import { DerReader, TAG } from '../pki/der.js';
import { MAX_RSA_EXPONENT, rsaDetails } from '../pki/signature.js';
import { decodePem } from '../pki/text.js';
import { textOf } from '../vault/client.js';
import { createOwnMount, untilReady } from '../vault/own-mount.js';
import { CALL_OUTCOMES, createJsonClassifier } from './outcomes.js';
import { makeMany, prepareCalls } from './prepare.js';
import { apiPath, MAX_BYTES, secretValue } from './request-parts.js';

/** @import { Request } from '../http/exchange.js' */
/** @import { Operation } from './index.js' */

/** `decrypt` and `verify` need inputs that these actions produce: the fields of their response and request. */
const PRODUCERS = Object.freeze({
  encrypt: { field: 'ciphertext', textField: 'plaintext', label: 'Encrypting inputs' },
  sign: { field: 'signature', textField: 'input', label: 'Signing inputs' },
});

/** By producing action; the first is the default. */
export const KEY_TYPES = Object.freeze({
  encrypt: ['aes256-gcm96', 'aes128-gcm96', 'chacha20-poly1305', 'rsa-2048', 'rsa-3072', 'rsa-4096'],
  sign: ['ed25519', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521', 'rsa-2048', 'rsa-3072', 'rsa-4096'],
});

const ACTIONS = ['encrypt', 'decrypt', 'sign', 'verify'];
const KEY = 'load';
/** Total size of the inputs: every thread keeps the bodies of all requests. */
const MAX_POOL_MIB = 64;
/** Bytes that encryption adds to a plaintext. */
const NONCE_AND_TAG = 12 + 16;
/** Bytes that an output has in addition to its input, at most: an RSA signature has 512. */
const MAX_ADDED = 1024;
/** RSA-OAEP with SHA-256 (RFC 8017, 7.1.1): bytes of the modulus that are not text. */
const OAEP_OVERHEAD = 2 * 32 + 2;

/** @type {Operation} */
export const transit = {
  name: 'transit',
  unit: 'transit responses',
  examples: [
    'transit --concurrency 100 --duration 10s',
    "transit --action sign --key-type ecdsa-p256 --rate 200 --duration 1m --require 'p99<50ms'",
  ],
  options: inGroup('Transit', {
    action: option('choice', 'Transit action; inputs are prepared before the run', {
      choices: ACTIONS,
      default: 'encrypt',
    }),
    'key-type': option('choice', 'Type of the key', {
      choices: [...new Set([...KEY_TYPES.encrypt, ...KEY_TYPES.sign])],
      defaultText: `${KEY_TYPES.encrypt[0]}, or ${KEY_TYPES.sign[0]} to sign and verify`,
    }),
    size: option('integer', 'Size of each random input, before base64', {
      placeholder: 'BYTES',
      default: 64,
      min: 1,
      max: MAX_BYTES,
    }),
    pool: option('integer', 'Distinct inputs, used in turn', { default: 100, min: 1, max: 100_000 }),
  }),
  outcomes: {
    encrypted: 'a ciphertext of the right length; it is not decrypted',
    decrypted: 'the text that was encrypted',
    signed: 'a signature of the text that the public key verifies',
    verified: 'the valid signature was accepted',
    no_ciphertext: 'HTTP 2xx, but without a ciphertext',
    wrong_length: 'HTTP 2xx, but the ciphertext is too long or too short for the text',
    wrong_plaintext: 'HTTP 2xx, but not the text that was encrypted',
    no_signature: 'HTTP 2xx, but without a signature',
    bad_signature: 'HTTP 2xx, but not a valid signature of the text',
    signature_rejected: 'HTTP 2xx, but the valid signature was not accepted',
    ...CALL_OUTCOMES,
  },
  check({ action, size, pool, ...options }) {
    const producer = producerOf(action);
    const keyType = options.keyType ?? KEY_TYPES[producer][0];
    const isOaep = producer === 'encrypt' && keyType.startsWith('rsa-');
    const maxSize = isOaep ? ciphertextBytes(keyType, size) - OAEP_OVERHEAD : size;
    const types = KEY_TYPES[producer];
    const wrongType = `--action ${action} does not work with a key of type ${keyType}.`;
    rejectIf(!types.includes(keyType), wrongType, `Use one of ${types.join(', ')}.`);
    const tooLong = `A key of type ${keyType} encrypts at most ${maxSize} bytes, but --size is ${size}.`;
    rejectIf(size > maxSize, tooLong, `Lower --size, or use ${KEY_TYPES.encrypt[0]}.`);
    const all = `--pool ${pool} inputs of --size ${size} bytes exceed ${MAX_POOL_MIB} MiB`;
    const isLarge = size * pool > MAX_POOL_MIB * 1024 * 1024;
    rejectIf(isLarge, `${all}, and every thread would keep them.`, 'Lower --pool or --size.');
  },
  async prepare(context) {
    const { client, plan, signal } = context;
    const { action, keyType, pool, size } = plan.options;
    const producer = producerOf(action);
    const fixture = await prepareCalls(context, { usesBefore: action === producer ? 0 : pool });
    const mount = await createOwnMount(context, 'mounts', 'transit');
    const path = `${mount}/keys/${KEY}`;
    await untilReady(() => client.write(path, { type: keyType ?? KEY_TYPES[producer][0] }), signal);
    const { data: key } = action === 'sign' ? await client.read(path) : { data: null };
    const { field, textField, label } = PRODUCERS[producer];
    // Ciphertexts or signatures, by number of the input.
    const prepared = await makeMany(action === producer ? 0 : pool, { ...context, label }, async (number) => {
      const input = { [textField]: secretValue(plan.load.seed, number, size) };
      const { data } = await client.write(`${mount}/${producer}/${KEY}`, input);
      const bytes = bytesOf(data?.[field]);
      if (bytes !== null && bytes.length <= size + MAX_ADDED) return data?.[field];
      throw targetError('transit_response', `${client.origin} responded to ${producer} without a ${field}.`);
    });
    return {
      ...fixture,
      mount,
      // Several runs may share the inputs, so their own seeds do not apply.
      dataSeed: plan.load.seed,
      prepared,
      publicKey: key === null ? null : textOf(key.keys?.[1]?.public_key),
    };
  },
  createRequester({ options: { action, size, pool } }, { basePath, headers, mount, dataSeed, prepared }) {
    const path = apiPath(basePath, mount, action, KEY);
    const { field, textField } = PRODUCERS[producerOf(action)];
    /** @type {Request[]} */
    const requests = Array.from({ length: pool }, (_, number) => {
      const input = {
        ...(action === 'decrypt' ? {} : { [textField]: secretValue(dataSeed, number, size) }),
        ...(action in PRODUCERS ? {} : { [field]: prepared[number] }),
      };
      return { method: 'POST', path, headers, body: JSON.stringify(input) };
    });
    return (index) => requests[index % pool];
  },
  createClassifier({ options: { action, keyType, size, pool } }, { dataSeed, publicKey }) {
    const inputOf = (/** @type {number} */ index) => secretValue(dataSeed, index % pool, size);
    if (action === 'decrypt') {
      return createJsonClassifier('decrypted', ({ data }, index) =>
        data?.plaintext === inputOf(index) ? null : 'wrong_plaintext',
      );
    }
    if (action === 'verify')
      return createJsonClassifier('verified', ({ data }) =>
        data?.valid === true ? null : 'signature_rejected',
      );
    if (action === 'encrypt') {
      const length = ciphertextBytes(keyType ?? KEY_TYPES.encrypt[0], size);
      return createJsonClassifier('encrypted', ({ data }) => {
        const ciphertext = bytesOf(data?.ciphertext);
        if (ciphertext === null) return 'no_ciphertext';
        return ciphertext.length === length ? null : 'wrong_length';
      });
    }
    const ownType = keyType ?? KEY_TYPES.sign[0];
    return createJsonClassifier('signed', ({ data }, index) => {
      const signature = bytesOf(data?.signature);
      if (signature === null) return 'no_signature';
      const text = Buffer.from(inputOf(index), 'base64');
      return isSignature(text, signature, publicKey, ownType) ? null : 'bad_signature';
    });
  },
};

/** @param {string} action @returns {keyof typeof PRODUCERS} the action itself, or the one that produces its inputs */
const producerOf = (action) => (action === 'encrypt' || action === 'decrypt' ? 'encrypt' : 'sign');

/** @param {string} keyType @param {number} size of the text, bytes @returns {number} bytes of its ciphertext */
export function ciphertextBytes(keyType, size) {
  return keyType.startsWith('rsa-') ? Number(keyType.slice(4)) / 8 : size + NONCE_AND_TAG;
}

/** @param {unknown} text `vault:v1:BASE64`: the key is new, so its version is 1 @returns {Buffer | null} null: not in this form */
export function bytesOf(text) {
  const [, base64] = (typeof text === 'string' && /^vault:v1:([A-Za-z0-9+/]+={0,2})$/.exec(text)) || [];
  return base64 === undefined || base64.length % 4 !== 0 ? null : Buffer.from(base64, 'base64');
}

/**
 * Defaults of transit/sign: SHA-256 (not for Ed25519), ASN.1 for ECDSA, PSS with the longest salt for RSA, as long as
 * the modulus (RFC 8017, 8.1.2): OpenSSL accepts one without its leading zeros.
 * @param {Buffer} text @param {Buffer} signature @param {string} publicKey PEM; for Ed25519, base64 of the bare key
 * @param {string} keyType of Vault: `ed25519`, `ecdsa-p256`, `rsa-2048`
 */
export function isSignature(text, signature, publicKey, keyType) {
  try {
    if (lastKey?.text !== publicKey) lastKey = readPublicKey(publicKey);
    const { key, type } = lastKey;
    const { publicExponent, modulusLength } = rsaDetails(key);
    if (type !== keyType) return false;
    const bits = 8 * signature.length;
    if (bits !== (modulusLength ?? bits) || publicExponent >= MAX_RSA_EXPONENT) return false;
    if (key.asymmetricKeyType === 'ed25519') return verify(null, text, key, signature);
    const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
    return verify('sha256', text, key.asymmetricKeyType === 'ec' ? key : { key, ...pss }, signature);
  } catch {
    return false;
  }
}

/** @type {ReturnType<typeof readPublicKey> | null} */
let lastKey = null;

/** By their OIDs in DER. @type {Record<string, string>} */
const CURVES = {
  '06082a8648ce3d030107': 'ecdsa-p256',
  '06052b81040022': 'ecdsa-p384',
  '06052b81040023': 'ecdsa-p521',
};

/** Does not let Node.js name the curve, which crashes it for a key at infinity. @param {string} text @returns `type`: as Vault names it */
function readPublicKey(text) {
  if (!text.startsWith('-----')) {
    const x = Buffer.from(text, 'base64').toString('base64url');
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return { text, key, type: 'ed25519' };
  }
  const key = createPublicKey(text);
  const der = /** @type {Buffer} */ (decodePem(text, /^PUBLIC KEY$/));
  publicKeyBits(der); // stricter than OpenSSL
  const { parameters } = readAlgorithm(new DerReader(der).enter(TAG.sequence));
  const curve = CURVES[String(parameters?.toString('hex'))];
  return { text, key, type: curve ?? `rsa-${rsaDetails(key).modulusLength}` };
}
