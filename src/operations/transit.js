/** `transit`: encryption as a service, with a key made for the run; each response is compared with the request. */
import { constants, createPublicKey, verify } from 'node:crypto';
import { targetError, usageError } from '../common/errors.js';
import { makeOwnMount, untilReady } from '../vault/own-mount.js';
import { CALL_OUTCOMES, createJsonClassifier } from './outcomes.js';
import { manyCalls, prepareCalls } from './prepare.js';
import { apiPath, inGroup, MOST_BYTES, secretValue } from './request-parts.js';

/** @import { VaultClient } from '../vault/client.js' */
/** @import { Operation, PrepareContext } from './index.js' */
/** @import { CallFixture } from './prepare.js' */
/** @import { KeyObject } from 'node:crypto' */

/** A ciphertext holds its nonce and its tag: bytes more than the text. */
const NONCE_AND_TAG = 12 + 16;

/** RSA-OAEP with SHA-256 (RFC 8017, 7.1.1): bytes of the modulus that are no text. */
const OAEP_OVERHEAD = 2 * 32 + 2;

/** @typedef {{modulusBytes?: number}} EncryptionKey */

/** @type {Readonly<Record<string, EncryptionKey>>} */
const ENCRYPT = Object.freeze({
  'aes256-gcm96': {},
  'aes128-gcm96': {},
  'chacha20-poly1305': {},
  'rsa-2048': { modulusBytes: 256 },
  'rsa-3072': { modulusBytes: 384 },
  'rsa-4096': { modulusBytes: 512 },
});

/** By capability; the first is the default. */
export const KEY_TYPES = Object.freeze({
  encrypt: Object.keys(ENCRYPT),
  sign: ['ed25519', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521', 'rsa-2048', 'rsa-3072', 'rsa-4096'],
});

const KEY = 'load';

/** All texts together; every thread holds the bodies of all requests. */
const MOST_POOL_BYTES = 64 * 1024 * 1024;

const ACTIONS = Object.freeze(['encrypt', 'decrypt', 'sign', 'verify']);

const options = inGroup('Transit', {
  action: {
    type: 'choice',
    choices: ACTIONS,
    default: 'encrypt',
    describe: 'Transit action; inputs are prepared before the run',
  },
  'key-type': {
    type: 'choice',
    choices: [...new Set([...KEY_TYPES.encrypt, ...KEY_TYPES.sign])],
    describe: 'Type of the key',
    defaultText: `${KEY_TYPES.encrypt[0]}, or ${KEY_TYPES.sign[0]} to sign and verify`,
  },
  size: {
    type: 'integer',
    placeholder: 'BYTES',
    default: 64,
    min: 1,
    max: MOST_BYTES,
    describe: 'Size of a random text, before base64',
  },
  pool: {
    type: 'integer',
    placeholder: 'N',
    default: 100,
    min: 1,
    max: 100_000,
    describe: 'Different texts, used in turn',
  },
});

/** @typedef {'encrypt' | 'sign'} Making the action that makes what another is about */
/** @typedef {CallFixture & {mount: string, dataSeed: number, made: string[], publicKey: string | null}} TransitFixture
 *   `dataSeed`: what the texts follow from, also where several runs share them; `made`: ciphertexts or signatures, by number of the text */

/** What the answer holds, and what the text is called that is sent. @type {Record<Making, {field: string, textField: string}>} */
const MAKES = {
  encrypt: { field: 'ciphertext', textField: 'plaintext' },
  sign: { field: 'signature', textField: 'input' },
};

/** @type {Operation} */
export const operation = {
  name: 'transit',
  unit: 'transit responses',
  examples: [
    'transit --concurrency 100 --duration 10s',
    "transit --action sign --key-type ecdsa-p256 --rate 200 --duration 1m --require 'p99<50ms'",
  ],
  options,
  outcomes: Object.freeze({
    encrypted: 'a ciphertext, as long as one of such a text is; what it holds is not looked at',
    decrypted: 'the text that had been encrypted',
    signed: "a signature of the text by the key's public key",
    verified: 'the signature was found to be good, as it is',
    no_ciphertext: 'HTTP 2xx, but without a ciphertext',
    wrong_length: 'HTTP 2xx, but the ciphertext is too long or too short to be one of the text',
    other_text: 'HTTP 2xx, but not the text that had been encrypted',
    no_signature: 'HTTP 2xx, but without a signature',
    bad_signature: 'HTTP 2xx, but the signature is not good for the text',
    called_bad: 'HTTP 2xx, but a good signature was not found to be good',
    ...CALL_OUTCOMES,
  }),
  check({ action, keyType, size, pool }) {
    const making = makingOf(action);
    const type = keyTypeOf(making, keyType);
    const able = KEY_TYPES[making];
    if (!able.includes(type)) {
      throw usageError(
        'contradiction',
        `--action ${action} cannot be done with a key of type ${type}.`,
        `Use one of ${able.join(', ')}.`,
      );
    }
    if (making === 'encrypt' && size > longestText(type)) {
      throw usageError(
        'contradiction',
        `A key of type ${type} encrypts at most ${longestText(type)} bytes, but --size is ${size}.`,
        `Lower --size, or use ${KEY_TYPES.encrypt[0]}.`,
      );
    }
    if (size * pool > MOST_POOL_BYTES) {
      throw usageError(
        'contradiction',
        `--pool ${pool} texts of --size ${size} bytes are more than ${MOST_POOL_BYTES / 1024 / 1024} MiB, which every thread would hold.`,
        'Lower one of them.',
      );
    }
  },
  async prepare(context) {
    const { client, plan, signal } = context;
    const { action, keyType } = plan.options;
    const making = makingOf(action);
    const fixture = await prepareCalls(context, { usesBefore: action === making ? 0 : plan.options.pool });
    const mount = await makeOwnMount(context, 'mounts', 'transit');
    const type = keyTypeOf(making, keyType);
    await untilReady(() => client.write(`${mount}/keys/${KEY}`, { type }), signal);
    return {
      ...fixture,
      mount,
      dataSeed: plan.load.seed,
      made: action === making ? [] : await makeAll(context, mount, making),
      publicKey: action === 'sign' ? await readPublicKey(client, mount) : null,
    };
  },
  createRequester({ options: { action, size, pool } }, { basePath, headers, mount, dataSeed, made }) {
    const path = apiPath(basePath, mount, action, KEY);
    const { field, textField } = MAKES[makingOf(action)];
    const bodyOf = (/** @type {number} */ number) => {
      if (action === 'decrypt') return { [field]: made[number] };
      const text = { [textField]: secretValue(dataSeed, number, size) };
      return action === 'verify' ? { ...text, [field]: made[number] } : text;
    };
    const requests = Array.from({ length: pool }, (_, number) => ({
      method: /** @type {const} */ ('POST'),
      path,
      headers,
      body: JSON.stringify(bodyOf(number)),
    }));
    return (index) => requests[index % pool];
  },
  createClassifier({ options: { action, keyType, size, pool } }, { dataSeed, publicKey }) {
    const textOf = (/** @type {number} */ index) => secretValue(dataSeed, index % pool, size);
    switch (action) {
      case 'encrypt':
        return createEncryptClassifier(ciphertextBytes(keyTypeOf('encrypt', keyType), size));
      case 'decrypt':
        return createJsonClassifier('decrypted', ({ data }, index) =>
          data?.plaintext === textOf(index) ? null : 'other_text',
        );
      case 'verify':
        return createJsonClassifier('verified', ({ data }) => (data?.valid === true ? null : 'called_bad'));
      default:
        return createJsonClassifier('signed', ({ data }, index) => {
          const signature = bytesOf(data?.signature);
          if (signature === null) return 'no_signature';
          const text = Buffer.from(textOf(index), 'base64');
          return isSignature(text, signature, publicKey) ? null : 'bad_signature';
        });
    }
  },
};

/** @param {number} length bytes of a right ciphertext */
function createEncryptClassifier(length) {
  return createJsonClassifier('encrypted', ({ data }) => {
    const ciphertext = bytesOf(data?.ciphertext);
    if (ciphertext === null) return 'no_ciphertext';
    return ciphertext.length === length ? null : 'wrong_length';
  });
}

/** @param {string} action @returns {Making} */
function makingOf(action) {
  return action === 'encrypt' || action === 'decrypt' ? 'encrypt' : 'sign';
}

/** @param {Making} making @param {string | null} given @returns {string} */
function keyTypeOf(making, given) {
  return given ?? KEY_TYPES[making][0];
}

/**
 * @param {PrepareContext} context
 * @param {string} mount
 * @param {Making} making
 * @returns {Promise<string[]>} ciphertexts or signatures, by number of the text
 */
async function makeAll({ client, plan, progress, signal }, mount, making) {
  const { size, pool } = plan.options;
  const { field, textField } = MAKES[making];
  const label = making === 'encrypt' ? 'Encrypting texts' : 'Signing texts';
  return manyCalls(pool, { label, progress, signal }, async (number) => {
    const { data } = await client.write(`${mount}/${making}/${KEY}`, {
      [textField]: secretValue(plan.load.seed, number, size),
    });
    if (bytesOf(data?.[field]) !== null) return data?.[field];
    throw targetError(
      'transit_answer',
      `${client.origin} answered ${making} without a ${field}, so there is nothing to ask about.`,
    );
  });
}

/** @param {VaultClient} client @param {string} mount @returns {Promise<string>} */
async function readPublicKey(client, mount) {
  const { data } = await client.read(`${mount}/keys/${KEY}`);
  return String(data?.keys?.[data.latest_version]?.public_key);
}

/** @param {string} keyType @returns {number} the longest text that it encrypts, bytes */
export function longestText(keyType) {
  const { modulusBytes } = ENCRYPT[keyType];
  return modulusBytes === undefined ? Number.POSITIVE_INFINITY : modulusBytes - OAEP_OVERHEAD;
}

/**
 * @param {string} keyType
 * @param {number} size of the text, bytes
 * @returns {number} bytes of its ciphertext
 */
export function ciphertextBytes(keyType, size) {
  return ENCRYPT[keyType].modulusBytes ?? size + NONCE_AND_TAG;
}

/**
 * @param {unknown} text of an answer
 * @returns {Buffer | null} what follows the version of the key; null: it is no such text
 */
export function bytesOf(text) {
  const [, base64] = (typeof text === 'string' && /^vault:v\d+:([A-Za-z0-9+/]+={0,2})$/.exec(text)) || [];
  return base64 === undefined ? null : Buffer.from(base64, 'base64');
}

/**
 * The defaults of transit/sign: SHA-256 before it signs (not for Ed25519), ECDSA signatures as ASN.1, RSA padded by PSS with a salt
 * as long as can be.
 *
 * @param {Buffer} text
 * @param {Buffer} signature
 * @param {string} publicKey as Vault shows it: PEM; base64 of the bare key for Ed25519
 */
export function isSignature(text, signature, publicKey) {
  try {
    const key = keyOf(publicKey);
    const type = key.asymmetricKeyType;
    if (type === 'ed25519') return verify(null, text, key, signature);
    if (type === 'ec') return verify('sha256', text, key, signature);
    const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
    return verify('sha256', text, { key, ...pss }, signature);
  } catch {
    return false;
  }
}

/** @type {Map<string, KeyObject>} */
const known = new Map();

/** SubjectPublicKeyInfo of Ed25519 (RFC 8410) up to the key itself. */
const ED25519_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

/** @param {string} publicKey */
function keyOf(publicKey) {
  const before = known.get(publicKey);
  if (before !== undefined) return before;
  const der = () => Buffer.concat([ED25519_HEAD, Buffer.from(publicKey, 'base64')]);
  const key = publicKey.startsWith('-----')
    ? createPublicKey(publicKey)
    : createPublicKey({ key: der(), format: 'der', type: 'spki' });
  known.set(publicKey, key);
  return key;
}
