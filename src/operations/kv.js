/**
 * What `kv-write` and `kv-read` share: a key-value store, the run's own or one that is there, and secrets that follow from
 * --data-seed and their number, so that another run can read and check what one has left.
 */

import { targetError, usageError } from '../common/errors.js';
import { lookUpMount } from '../vault/check-target.js';
import { makeOwnMount, PREFIX, untilReady } from '../vault/own-mount.js';
import { apiPath, inGroup, MOST_BYTES } from './request-parts.js';
/** @import { Plan } from '../plan/plan.js' */
/** @import { VaultClient } from '../vault/client.js' */
/** @import { PrepareContext } from './index.js' */
/** @import { CallFixture } from './prepare.js' */

export const GROUP = 'Secrets';

const DEFAULT_SIZE = 1024;
const DEFAULT_DATA_SEED = 1;

/** @typedef {'1' | '2'} KvVersion */
/** @typedef {{mount: string, version: KvVersion}} Store */
/** @typedef {CallFixture & Store} KvFixture */

export const kvOptions = inGroup(GROUP, {
  'kv-mount': {
    type: 'text',
    placeholder: 'PATH',
    describe: 'Existing key-value store; secrets stay there',
    defaultText: 'one is created for the run',
    check: checkMountPath,
  },
  'kv-version': {
    type: 'choice',
    choices: ['1', '2'],
    describe: 'Version of the key-value store',
    defaultText: '2, or that of --kv-mount',
  },
  size: {
    type: 'integer',
    placeholder: 'BYTES',
    default: DEFAULT_SIZE,
    min: 1,
    max: MOST_BYTES,
    describe: 'Random bytes per secret, before base64',
  },
  paths: {
    type: 'integer',
    placeholder: 'N',
    default: 1000,
    min: 1,
    max: 1_000_000,
    describe: 'Number of secrets, each at its own path',
  },
  'data-seed': {
    type: 'integer',
    placeholder: 'N',
    default: DEFAULT_DATA_SEED,
    min: 0,
    max: 0xffff_ffff,
    describe: 'Seed of paths and contents',
  },
});

/** @param {string} path @param {string} flag */
function checkMountPath(path, flag) {
  const segments = trimmed(path).split('/');
  if (!segments.some((segment) => ['', '.', '..'].includes(segment) || !/^[\x21-\x7e]+$/.test(segment)))
    return;
  throw usageError(
    'bad_option',
    `${flag} is ${JSON.stringify(path.slice(0, 80))}, which is not the path of a mount.`,
    'Write it as vault secrets list shows it, e.g. secret.',
  );
}

/** @param {string} path */
const trimmed = (path) => path.replace(/^\/+|\/+$/g, '');

/**
 * @param {PrepareContext} context
 * @returns {Promise<Store>} one that takes secrets
 * @throws {PkiLoadError} where it is not there, or is no such store
 */
export async function openStore(context) {
  const { client, plan, signal } = context;
  const { kvMount, kvVersion } = plan.options;
  if (kvMount !== null) return findStore(client, trimmed(kvMount), kvVersion);
  const version = kvVersion ?? '2';
  const mount = await makeOwnMount(context, 'mounts', 'kv', { options: { version } });
  const store = { mount, version };
  await untilReady(() => client.write(`${base(store)}/ready`, secretBody(version, 'ready')), signal);
  return store;
}

/**
 * @param {VaultClient} client
 * @param {string} mount
 * @param {KvVersion | null} wanted
 * @returns {Promise<Store>}
 */
async function findStore(client, mount, wanted) {
  const found = await lookUpMount(client, mount);
  if (found === null || trimmed(String(found.path ?? mount)) !== mount) {
    throw targetError(
      'kv_mount_not_found',
      `There is no key-value store ${mount} on ${client.origin} that this token can see.`,
      `Check --kv-mount and --namespace, or run vault secrets enable -path=${mount} -version=2 kv.`,
    );
  }
  if (found.type !== 'kv') {
    throw targetError(
      'mount_wrong_type',
      `The mount ${mount} on ${client.origin} is of type ${String(found.type).slice(0, 40)}, not kv.`,
      'Name a key-value store with --kv-mount.',
    );
  }
  const version = String(found.options?.version) === '2' ? '2' : '1';
  if (wanted !== null && wanted !== version) {
    throw targetError(
      'kv_version_differs',
      `The store ${mount} is of version ${version}, but --kv-version is ${wanted}.`,
      'Leave --kv-version out.',
    );
  }
  return { mount, version };
}

/** @param {Store} store @returns {string} where secrets are written and read, below `/v1/` */
function base({ mount, version }) {
  return `${mount}/${version === '2' ? 'data/' : ''}${PREFIX}`;
}

/** @param {number} dataSeed */
const folderOf = (dataSeed) => `seed-${dataSeed}`;

/** @param {Store} store @param {number} dataSeed @param {number} number of the secret */
export function secretPath(store, dataSeed, number) {
  return `${base(store)}/${folderOf(dataSeed)}/${number}`;
}

/** @param {KvVersion} version @param {string} value @returns {Record<string, any>} what is written */
export function secretBody(version, value) {
  return version === '2' ? { data: { value } } : { value };
}

/**
 * @param {KvVersion} version
 * @param {Record<string, any> | null} data of an answer
 * @returns {unknown} the written value
 */
export function valueIn(version, data) {
  return version === '2' ? data?.data?.value : data?.value;
}

/**
 * @param {Plan} plan
 * @param {KvFixture} fixture
 * @returns {(number: number) => string} path of a request about that secret
 */
export function createPaths({ options: { dataSeed } }, { basePath, ...store }) {
  const start = apiPath(basePath, base(store), folderOf(dataSeed));
  return (number) => `${start}/${number}`;
}

/**
 * @param {Plan} plan
 * @param {Store} store
 * @param {number} count of secrets that may have been written
 * @param {object} [more]
 * @param {boolean} [more.hasGaps] they are not the first ones, and so not what --filled asks for
 * @param {boolean} [more.isKnown] false: it was for the target's answers to say how many there would be
 * @returns {string} what stays in a store that was there
 */
export function describeLeft(
  { options: { dataSeed, size } },
  store,
  count,
  { hasGaps = false, isKnown = true } = {},
) {
  const stay = `Up to ${count} secrets stay in ${store.mount}, below ${PREFIX}/${folderOf(dataSeed)}/`;
  if (hasGaps) {
    return `${stay}; their numbers may have gaps, so write them with kv-write by itself where kv-read --filled is to read them.`;
  }
  const flags = [
    `--kv-mount ${store.mount} --filled --paths ${count}`,
    ...(size === DEFAULT_SIZE ? [] : [`--size ${size}`]),
    ...(dataSeed === DEFAULT_DATA_SEED ? [] : [`--data-seed ${dataSeed}`]),
  ];
  return `${stay}; kv-read ${flags.join(' ')} reads them${isKnown ? '' : ', if so many were written'}.`;
}
