/** `transit`: encryption as a service, with a key that is made for the run; what comes back is held against what was sent. */
import { targetError, usageError } from '../common/errors.js';
import { makeOwnMount, untilReady } from '../vault/own-mount.js';
import { apiPath } from './issuance.js';
import { manyCalls } from './many-calls.js';
import { MOST_BYTES, secretValue } from './secret-value.js';
import { bytesOf, ciphertextBytes, isSignature, KEY_TYPES, longestText } from './transit-keys.js';
import { CALL_OUTCOMES, createJsonClassifier, prepareCalls } from './vault-call.js';

const GROUP = 'Transit';
const KEY = 'load';

/** All texts together; every thread holds the bodies of all requests. */
const MOST_POOL_BYTES = 64 * 1024 * 1024;

const ACTIONS = Object.freeze(['encrypt', 'decrypt', 'sign', 'verify']);

/** @type {Record<string, import('../common/options.js').OptionSpec>} */
const options = {
  action: {
    type: 'choice',
    group: GROUP,
    choices: ACTIONS,
    default: 'encrypt',
    describe: 'Transit action; inputs are prepared before the run',
  },
  'key-type': {
    type: 'choice',
    group: GROUP,
    choices: [...new Set([...KEY_TYPES.encrypt, ...KEY_TYPES.sign])],
    describe: 'Type of the key',
    defaultText: `${KEY_TYPES.encrypt[0]}, or ${KEY_TYPES.sign[0]} to sign and verify`,
  },
  size: {
    type: 'integer',
    group: GROUP,
    placeholder: 'BYTES',
    default: 64,
    min: 1,
    max: MOST_BYTES,
    describe: 'Size of a random text, before base64',
  },
  pool: {
    type: 'integer',
    group: GROUP,
    placeholder: 'N',
    default: 100,
    min: 1,
    max: 100_000,
    describe: 'Different texts, used in turn',
  },
};

/** @typedef {'encrypt' | 'sign'} Making the action that makes what another is about */
/** @typedef {import('./vault-call.js').CallFixture & {mount: string, dataSeed: number, made: string[], publicKey: string | null}} TransitFixture
 *   `dataSeed`: what the texts follow from, also where several runs share them; `made`: ciphertexts or signatures, by number of the text */

/** What the answer holds, and what the text is called that is sent. @type {Record<Making, {field: string, textField: string}>} */
const MAKES = {
  encrypt: { field: 'ciphertext', textField: 'plaintext' },
  sign: { field: 'signature', textField: 'input' },
};

/** @type {import('./index.js').Operation} */
export const operation = {
  name: 'transit',
  things: 'transit responses',
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
    if (!KEY_TYPES[making].includes(type)) throw cannotDo(action, type, KEY_TYPES[making]);
    if (making === 'encrypt' && size > longestText(type)) throw tooLong(type, size);
    if (size * pool > MOST_POOL_BYTES) throw tooMuch(size, pool);
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

/**
 * @param {string} action
 * @returns {Making}
 */
function makingOf(action) {
  return action === 'encrypt' || action === 'decrypt' ? 'encrypt' : 'sign';
}

/**
 * @param {Making} making
 * @param {string | null} given
 * @returns {string}
 */
function keyTypeOf(making, given) {
  return given ?? KEY_TYPES[making][0];
}

/**
 * @param {string} action
 * @param {string} keyType
 * @param {readonly string[]} able
 */
function cannotDo(action, keyType, able) {
  return usageError(
    'contradiction',
    `--action ${action} cannot be done with a key of type ${keyType}.`,
    `Use one of ${able.join(', ')}.`,
  );
}

/**
 * @param {string} keyType
 * @param {number} size
 */
function tooLong(keyType, size) {
  return usageError(
    'contradiction',
    `A key of type ${keyType} encrypts at most ${longestText(keyType)} bytes, but --size is ${size}.`,
    `Lower --size, or use ${KEY_TYPES.encrypt[0]}.`,
  );
}

/**
 * @param {number} size
 * @param {number} pool
 */
function tooMuch(size, pool) {
  return usageError(
    'contradiction',
    `--pool ${pool} texts of --size ${size} bytes are more than ${MOST_POOL_BYTES / 1024 / 1024} MiB, which every thread would hold.`,
    'Lower one of them.',
  );
}

/**
 * @param {import('./index.js').PrepareContext} context
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

/**
 * @param {import('../vault/client.js').VaultClient} client
 * @param {string} mount
 * @returns {Promise<string>} see transit-keys.js
 */
async function readPublicKey(client, mount) {
  const { data } = await client.read(`${mount}/keys/${KEY}`);
  return String(data?.keys?.[data.latest_version]?.public_key);
}
