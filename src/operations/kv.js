/** What `kv-write` and `kv-read` share: a store of their own, and secrets that follow from the seed. */
import { fillBytes } from '../random.js';
import { apiPath } from './issuance.js';
import { makeOwnMount, untilReady } from './own-mount.js';

export const GROUP = 'Secrets';

/** Keeps the secrets apart from what else is drawn. */
const STREAM = 4000;

/** More would make one secret larger than Vault takes by default (32 MiB a request) by far. */
const MOST_BYTES = 1024 * 1024;

/** @type {Record<string, import('../options.js').OptionSpec>} */
export const kvOptions = {
  'kv-version': {
    type: 'choice',
    group: GROUP,
    choices: ['1', '2'],
    default: '2',
    describe: 'Version of the key-value store, which is made for the run',
  },
  size: {
    type: 'integer',
    group: GROUP,
    placeholder: 'BYTES',
    default: 1024,
    min: 1,
    max: MOST_BYTES,
    describe: 'Bytes in a secret, random; they travel as base64, a third more',
  },
  paths: {
    type: 'integer',
    group: GROUP,
    placeholder: 'N',
    default: 1000,
    min: 1,
    max: 1_000_000,
    describe: 'Secrets: request i is about secret i modulo N',
  },
};

/** @typedef {import('./vault-call.js').CallFixture & {mount: string}} KvFixture */

/**
 * @param {import('../vault/client.js').VaultClient} client
 * @param {'1' | '2'} version
 * @returns {Promise<string>} path of a store that takes secrets
 */
export async function makeStore(client, version) {
  const mount = await makeOwnMount(client, 'mounts', 'kv', { options: { version } });
  await untilReady(() => client.write(secretPath(mount, version, 'ready'), secretData(version, 'ready')));
  return mount;
}

/**
 * @param {string} mount
 * @param {'1' | '2'} version
 * @param {string | number} name
 */
export function secretPath(mount, version, name) {
  return version === '2' ? `${mount}/data/secret-${name}` : `${mount}/secret-${name}`;
}

/**
 * @param {'1' | '2'} version
 * @param {string} value
 * @returns {Record<string, any>} what is written
 */
export function secretData(version, value) {
  return version === '2' ? { data: { value } } : { value };
}

/**
 * @param {number} seed
 * @param {number} number of the secret, or of the write
 * @param {number} size bytes
 * @returns {string} base64
 */
export function secretValue(seed, number, size) {
  const bytes = Buffer.alloc(size);
  fillBytes(bytes, seed, number, STREAM);
  return bytes.toString('base64');
}

/**
 * @param {string} basePath
 * @param {string} mount
 * @param {'1' | '2'} version
 * @param {number} paths
 * @returns {(index: number) => string} path of the request
 */
export function createPaths(basePath, mount, version, paths) {
  const [before, after] = apiPath(basePath, secretPath(mount, version, '{n}')).split('%7Bn%7D');
  return (index) => `${before}${index % paths}${after}`;
}
