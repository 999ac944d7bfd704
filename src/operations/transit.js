/** `transit`: encryption as a service, with a key that is made for the run; what comes back is held against what was sent. */
import { constants, createPublicKey, verify } from 'node:crypto';
import pLimit from 'p-limit';
import { usageError } from '../errors.js';
import { apiPath } from './issuance.js';
import { secretValue } from './kv.js';
import { makeOwnMount, removeOwnMount, untilReady } from './own-mount.js';
import { CALL_OUTCOMES, createJsonClassifier, prepareCalls } from './vault-call.js';

const GROUP = 'Transit';
const KEY = 'load';

/** While ciphertexts and signatures are made that requests are about. */
const AT_ONCE = 8;

const ACTIONS = Object.freeze(['encrypt', 'decrypt', 'sign', 'verify']);

/** Keys by what they can do: https://developer.hashicorp.com/vault/api-docs/secret/transit#create-key */
const KEY_TYPES = Object.freeze({
  encrypt: ['aes256-gcm96', 'aes128-gcm96', 'chacha20-poly1305', 'rsa-2048', 'rsa-4096'],
  sign: ['ed25519', 'ecdsa-p256', 'rsa-2048', 'rsa-4096'],
});

/** @type {Record<string, import('../options.js').OptionSpec>} */
const options = {
  action: { type: 'choice', group: GROUP, choices: ACTIONS, default: 'encrypt', describe: 'What is asked' },
  'key-type': {
    type: 'choice',
    group: GROUP,
    choices: [...new Set([...KEY_TYPES.encrypt, ...KEY_TYPES.sign])],
    describe: 'Type of the key',
    defaultText: 'aes256-gcm96, or ed25519 to sign and verify',
  },
  size: {
    type: 'integer',
    group: GROUP,
    placeholder: 'BYTES',
    default: 64,
    min: 1,
    max: 1024 * 1024,
    describe: 'Bytes of a text, random',
  },
  pool: {
    type: 'integer',
    group: GROUP,
    placeholder: 'N',
    default: 100,
    min: 1,
    max: 100_000,
    describe: 'Different texts; with decrypt and verify they are encrypted or signed before the run',
  },
};

/** @typedef {import('./vault-call.js').CallFixture & {mount: string, made: string[], publicKey: string | null}} TransitFixture `made`:
 *   ciphertexts or signatures, by number of the text */

/** What the answer to each action holds, and what is sent beside the text. @type {Record<string, {field: string, textField: string}>} */
const MAKES = {
  encrypt: { field: 'ciphertext', textField: 'plaintext' },
  sign: { field: 'signature', textField: 'input' },
};

/** @type {import('./index.js').Operation} */
export const operation = {
  name: 'transit',
  describe: 'Encrypt, decrypt, sign or verify with a transit key made for the run',
  things: 'transit answers',
  examples: [
    'transit --concurrency 100 --duration 10s',
    "transit --action sign --key-type ecdsa-p256 --rate 200 --duration 1m --require 'p99<50ms'",
  ],
  options,
  outcomes: Object.freeze({
    encrypted: 'a ciphertext of the current version of the key',
    decrypted: 'the text that had been encrypted',
    signed: 'a signature that is good for the text',
    verified: 'the signature was found to be good, as it is',
    no_ciphertext: 'HTTP 2xx, but without a ciphertext',
    other_text: 'HTTP 2xx, but not the text that had been encrypted',
    no_signature: 'HTTP 2xx, but without a signature',
    bad_signature: 'HTTP 2xx, but the signature is not good for the text',
    called_bad: 'HTTP 2xx, but a good signature was found to be bad',
    ...CALL_OUTCOMES,
  }),
  check({ action, keyType }) {
    const able = isAbout(action) === 'encrypt' ? KEY_TYPES.encrypt : KEY_TYPES.sign;
    if (keyType === null || able.includes(keyType)) return;
    throw contradiction(action, keyType, able);
  },
  async prepare(context) {
    const { client, plan } = context;
    const fixture = await prepareCalls(context);
    const mount = await makeOwnMount(client, 'mounts', 'transit');
    try {
      const { action, keyType } = plan.options;
      const kind = isAbout(action);
      const type = keyType ?? (kind === 'encrypt' ? KEY_TYPES.encrypt[0] : KEY_TYPES.sign[0]);
      await untilReady(() => client.write(`${mount}/keys/${KEY}`, { type }));
      const made = action === kind ? [] : await makeAll(context, mount, kind);
      return {
        ...fixture,
        mount,
        made,
        publicKey: action === 'sign' ? await readPublicKey(client, mount) : null,
      };
    } catch (error) {
      await removeOwnMount(client, 'mounts', mount);
      throw error;
    }
  },
  createRequester({ options: { action, size, pool }, load: { seed } }, { basePath, headers, mount, made }) {
    const path = apiPath(basePath, mount, action, KEY);
    const { field, textField } = MAKES[isAbout(action)];
    const bodies = Array.from({ length: pool }, (_, i) => {
      const text = secretValue(seed, i, size);
      if (action === 'decrypt') return JSON.stringify({ [field]: made[i] });
      return JSON.stringify({ [textField]: text, ...(action === 'verify' ? { [field]: made[i] } : {}) });
    });
    const requests = bodies.map((body) => ({ method: /** @type {const} */ ('POST'), path, headers, body }));
    return (index) => requests[index % pool];
  },
  createClassifier({ options: { action, size, pool }, load: { seed } }, { publicKey }) {
    const textOf = (/** @type {number} */ index) => secretValue(seed, index % pool, size);
    switch (action) {
      case 'encrypt':
        return createJsonClassifier('encrypted', ({ data }) =>
          /^vault:v\d+:.+/.test(data?.ciphertext) ? null : 'no_ciphertext',
        );
      case 'decrypt':
        return createJsonClassifier('decrypted', ({ data }, index) =>
          data?.plaintext === textOf(index) ? null : 'other_text',
        );
      case 'verify':
        return createJsonClassifier('verified', ({ data }) => (data?.valid === true ? null : 'called_bad'));
      default:
        return createJsonClassifier('signed', ({ data }, index) => {
          const [, signature] = /^vault:v\d+:(.+)$/.exec(data?.signature ?? '') ?? [];
          if (signature === undefined) return 'no_signature';
          return isGood(textOf(index), signature, publicKey) ? null : 'bad_signature';
        });
    }
  },
  cleanup: ({ client }, { mount }) => removeOwnMount(client, 'mounts', mount),
};

/**
 * @param {string} action
 * @returns {'encrypt' | 'sign'} what makes that which the action is about
 */
function isAbout(action) {
  return action === 'encrypt' || action === 'decrypt' ? 'encrypt' : 'sign';
}

/**
 * @param {string} action
 * @param {string} keyType
 * @param {readonly string[]} able
 */
function contradiction(action, keyType, able) {
  return usageError(
    'contradiction',
    `--action ${action} cannot be done with a key of type ${keyType}.`,
    `Use one of ${able.join(', ')}.`,
  );
}

/**
 * @param {import('./index.js').PrepareContext} context
 * @param {string} mount
 * @param {'encrypt' | 'sign'} kind
 * @returns {Promise<string[]>}
 */
async function makeAll({ client, plan, progress, signal }, mount, kind) {
  const { size, pool } = plan.options;
  const { field, textField } = MAKES[kind];
  const limit = pLimit(AT_ONCE);
  let done = 0;
  const makeOne = async (/** @type {number} */ i) => {
    if (signal.aborted) return '';
    const asked = { [textField]: secretValue(plan.load.seed, i, size) };
    const { data } = await client.write(`${mount}/${kind}/${KEY}`, asked);
    progress(kind === 'encrypt' ? 'Encrypting texts' : 'Signing texts', ++done, pool);
    return String(data?.[field]);
  };
  return Promise.all(Array.from({ length: pool }, (_, i) => limit(makeOne, i)));
}

/**
 * @param {import('../vault/client.js').VaultClient} client
 * @param {string} mount
 * @returns {Promise<string>} PEM; base64 of the bare key for Ed25519
 */
async function readPublicKey(client, mount) {
  const { data } = await client.read(`${mount}/keys/${KEY}`);
  return String(data?.keys?.[data.latest_version]?.public_key);
}

/**
 * Vault hashes with SHA-256 before it signs (not for Ed25519), encodes ECDSA signatures as ASN.1, and pads RSA by PSS with a salt
 * as long as can be: the defaults of transit/sign.
 *
 * @param {string} text base64
 * @param {string} signature base64
 * @param {string} publicKey see readPublicKey
 */
function isGood(text, signature, publicKey) {
  const [data, bytes] = [Buffer.from(text, 'base64'), Buffer.from(signature, 'base64')];
  try {
    const key = keyOf(publicKey);
    const type = key.asymmetricKeyType;
    if (type === 'ed25519') return verify(null, data, key, bytes);
    if (type === 'ec') return verify('sha256', data, key, bytes);
    const padding = constants.RSA_PKCS1_PSS_PADDING;
    const saltLength = constants.RSA_PSS_SALTLEN_AUTO;
    return verify('sha256', data, { key, padding, saltLength }, bytes);
  } catch {
    return false;
  }
}

/** @type {Map<string, import('node:crypto').KeyObject>} */
const keys = new Map();

/** SubjectPublicKeyInfo of Ed25519 (RFC 8410) up to the key itself. */
const ED25519_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

/** @param {string} publicKey */
function keyOf(publicKey) {
  const known = keys.get(publicKey);
  if (known !== undefined) return known;
  const key = publicKey.startsWith('-----')
    ? createPublicKey(publicKey)
    : createPublicKey({
        key: Buffer.concat([ED25519_HEAD, Buffer.from(publicKey, 'base64')]),
        format: 'der',
        type: 'spki',
      });
  keys.set(publicKey, key);
  return key;
}
