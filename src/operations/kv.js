/**
 * `kv-write` and `kv-read`: a key-value store, created for the run or existing. The secrets follow from --data-seed and their number, so
 * another run can read and check what one has left.
 */
import { badValue, rejectContradictions, targetError } from '../common/errors.js';
import { inGroup, option } from '../common/options.js';
import { shuffled } from '../common/random.js';
import { allRequests, expectedRequests } from '../plan/due.js';
import { lookUpMount } from '../vault/check-target.js';
import { withoutSlashes } from '../vault/environment.js';
import { makeOwnMount, PREFIX, untilReady } from '../vault/own-mount.js';
import { CALL_OUTCOMES, createJsonClassifier, passed } from './outcomes.js';
import { makeMany, prepareCalls } from './prepare.js';
import { apiPath, MOST_BYTES, secretValue } from './request-parts.js';

/** @import { Plan } from '../plan/plan.js' */
/** @import { Operation, PrepareContext } from './index.js' */

const GROUP = 'Secrets';
const DEFAULT_SIZE = 1024;
const DEFAULT_DATA_SEED = 1;

/** @typedef {{mount: string, version: '1' | '2'}} Store */

const storeOptions = inGroup(GROUP, {
  'kv-mount': option('text', 'Existing key-value store; secrets stay there', {
    placeholder: 'PATH',
    defaultText: 'one is created for the run',
    check: checkMountPath,
  }),
  'kv-version': option('choice', 'Version of the key-value store', {
    choices: ['1', '2'],
    defaultText: '2, or that of --kv-mount',
  }),
  size: option('integer', 'Random bytes per secret, before base64', {
    placeholder: 'BYTES',
    default: DEFAULT_SIZE,
    min: 1,
    max: MOST_BYTES,
  }),
  paths: option('integer', 'Number of secrets, each at its own path', {
    default: 1000,
    min: 1,
    max: 1_000_000,
  }),
  'data-seed': option('integer', 'Seed of paths and contents', {
    default: DEFAULT_DATA_SEED,
    max: 0xffff_ffff,
  }),
});

/** @type {Operation} */
export const kvWrite = {
  name: 'kv-write',
  unit: 'secrets written',
  examples: [
    "kv-write --rate 50 --duration 1m --require 'p99<300ms'",
    'kv-write --kv-version 1 --size 4096 --paths 10000',
    'kv-write --kv-mount secret --paths 10000 --requests 10000',
  ],
  options: storeOptions,
  leaves: ({ kvMount }) => (kvMount === null ? null : `the secrets, in ${kvMount} below ${PREFIX}/`),
  outcomes: {
    written: 'the secret was written, and in version 2 it has a version',
    no_version: 'HTTP 2xx, but without the version that a write to version 2 gives',
    not_vault:
      'HTTP 2xx, but neither the empty 204 nor the response with a request_id that a write to version 1 gives',
    ...CALL_OUTCOMES,
  },
  async prepare(context) {
    const { owns, plan } = context;
    const fixture = { ...(await prepareCalls(context)), ...(await openStore(context)) };
    // A closed loop's warm-up writes secrets, too.
    const requests = allRequests(plan.load) === null ? null : expectedRequests(plan.load, owns);
    reportLeft(context, fixture, Math.min(plan.options.paths, requests ?? Number.POSITIVE_INFINITY));
    return fixture;
  },
  createRequester({ options: { size, paths, dataSeed } }, { basePath, headers, ...store }) {
    const start = apiPath(basePath, folderOf(store, dataSeed));
    return (index) => {
      const number = index % paths;
      const body = JSON.stringify(secretBody(store, secretValue(dataSeed, number, size)));
      return { method: 'POST', path: `${start}/${number}`, headers, body };
    };
  },
  createClassifier(_plan, { version }) {
    if (version === '2') {
      return createJsonClassifier('written', ({ data }) =>
        Number.isInteger(data?.version) && data.version >= 1 ? null : 'no_version',
      );
    }
    // With warnings, Vault responds with 200 and its envelope.
    const judgeEnvelope = createJsonClassifier('written', ({ request_id: id }) =>
      typeof id === 'string' && id !== '' ? null : 'not_vault',
    );
    return (status, body, index) =>
      status === 204 && body.length === 0 ? passed('written') : judgeEnvelope(status, body, index);
  },
};

/** @type {Operation} */
export const kvRead = {
  name: 'kv-read',
  unit: 'secrets read',
  examples: [
    "kv-read --rate 200 --duration 1m --require 'p99<100ms'",
    'kv-read --kv-version 1 --size 4096 --paths 10000',
    'kv-read --kv-mount secret --filled --paths 10000 --requests 1000',
  ],
  options: {
    ...storeOptions,
    ...inGroup(GROUP, {
      filled: option('flag', 'Read the secrets that kv-write left in --kv-mount'),
      pick: option('choice', 'Order of reading; all are read before any is read again', {
        choices: ['random', 'in-turn'],
        default: 'random',
      }),
    }),
  },
  leaves: ({ kvMount, filled }) =>
    kvMount === null || filled ? null : `the secrets, in ${kvMount} below ${PREFIX}/`,
  outcomes: {
    read: 'the secret that was written',
    other_secret: 'HTTP 2xx, but not the secret that was written',
    ...CALL_OUTCOMES,
  },
  check: ({ filled, kvMount }) =>
    rejectContradictions([
      [
        filled && kvMount === null,
        '--filled reads existing secrets, but --kv-mount is not given.',
        'Give --kv-mount, or leave --filled out: a store is created and filled for the run.',
      ],
    ]),
  async prepare(context) {
    const { filled, paths } = context.plan.options;
    const call = await prepareCalls(context, { usesBefore: filled ? 0 : paths });
    const fixture = { ...call, ...(await openStore(context)) };
    if (filled) {
      await checkFilled(context, fixture);
    } else {
      reportLeft(context, fixture, paths);
      await fill(context, fixture);
    }
    return fixture;
  },
  createRequester(plan, { basePath, headers, ...store }) {
    const start = apiPath(basePath, folderOf(store, plan.options.dataSeed));
    const numberOf = createPick(plan);
    return (index) => ({ method: 'GET', path: `${start}/${numberOf(index)}`, headers, body: null });
  },
  createClassifier(plan, store) {
    const { size, dataSeed } = plan.options;
    const numberOf = createPick(plan);
    return createJsonClassifier('read', ({ data }, index) =>
      valueIn(store, data) === secretValue(dataSeed, numberOf(index), size) ? null : 'other_secret',
    );
  },
};

/** @param {string} path @param {string} flag */
function checkMountPath(path, flag) {
  const isSegment = (/** @type {string} */ text) => /^[\x21-\x7e]+$/.test(text) && !/^\.\.?$/.test(text);
  if (withoutSlashes(path).split('/').every(isSegment)) return;
  const remedy = 'Write it as vault secrets list shows it, e.g. secret.';
  throw badValue(flag, path, 'not the path of a mount', remedy);
}

/** @param {PrepareContext} context @returns {Promise<Store>} that accepts secrets */
async function openStore(context) {
  const { client, plan, signal } = context;
  const { kvMount, kvVersion } = plan.options;
  if (kvMount !== null) return findStore(client, withoutSlashes(kvMount), kvVersion);
  const version = kvVersion ?? '2';
  const store = { mount: await makeOwnMount(context, 'mounts', 'kv', { options: { version } }), version };
  await untilReady(() => client.write(`${rootOf(store)}/ready`, secretBody(store, 'ready')), signal);
  return store;
}

/** @param {PrepareContext['client']} client @param {string} mount @param {string | null} wanted version @returns {Promise<Store>} */
async function findStore(client, mount, wanted) {
  const found = await lookUpMount(client, mount);
  if (found === null || withoutSlashes(String(found.path ?? mount)) !== mount) {
    throw targetError(
      'kv_mount_not_found',
      `There is no key-value store ${mount} on ${client.origin} that this token can see.`,
      `Check --kv-mount and --namespace, or run vault secrets enable -path=${mount} -version=2 kv.`,
    );
  }
  if (found.type !== 'kv') {
    const type = String(found.type).slice(0, 40);
    const message = `The mount ${mount} on ${client.origin} is of type ${type}, not kv.`;
    throw targetError('mount_wrong_type', message, 'Name a key-value store with --kv-mount.');
  }
  const version = String(found.options?.version) === '2' ? '2' : '1';
  if (wanted === null || wanted === version) return { mount, version };
  const message = `The store ${mount} is of version ${version}, but --kv-version is ${wanted}.`;
  throw targetError('kv_version_differs', message, 'Leave --kv-version out.');
}

/** @param {Store} store @returns {string} where secrets are written and read, below `/v1/` */
function rootOf({ mount, version }) {
  return `${mount}/${version === '2' ? 'data/' : ''}${PREFIX}`;
}

/** @param {Store} store @param {number} dataSeed */
function folderOf(store, dataSeed) {
  return `${rootOf(store)}/seed-${dataSeed}`;
}

/** @param {Store} store @param {string} value @returns {Record<string, any>} */
function secretBody({ version }, value) {
  return version === '2' ? { data: { value } } : { value };
}

/** @param {Store} store @param {Record<string, any> | null} data of a response @returns {unknown} the written value */
function valueIn({ version }, data) {
  return version === '2' ? data?.data?.value : data?.value;
}

/** @param {Plan} plan @returns {(index: number) => number} which secret a request reads */
function createPick({ options: { paths, pick }, load: { seed } }) {
  if (pick === 'in-turn') return (index) => index % paths;
  const order = shuffled(paths, seed);
  return (index) => order[index % paths];
}

/** After the run, names the secrets that stay in an existing store. @param {PrepareContext} context @param {Store} store @param {number} count at most */
function reportLeft({ plan, notice, onEnd }, { mount }, count) {
  const { kvMount, dataSeed, size } = plan.options;
  if (kvMount === null) return;
  const flags = [
    `--kv-mount ${mount} --filled --paths ${count}`,
    ...(size === DEFAULT_SIZE ? [] : [`--size ${size}`]),
    ...(dataSeed === DEFAULT_DATA_SEED ? [] : [`--data-seed ${dataSeed}`]),
  ];
  onEnd(async () =>
    notice(
      `Up to ${count} secrets stay in ${mount}, below ${PREFIX}/seed-${dataSeed}/; if all of them were written, kv-read ${flags.join(' ')} reads them.`,
    ),
  );
}

/** @param {PrepareContext} context @param {Store} store */
async function fill(context, store) {
  const { dataSeed, size, paths } = context.plan.options;
  const folder = folderOf(store, dataSeed);
  await makeMany(paths, { ...context, label: 'Writing secrets to read' }, (number) =>
    context.client.write(`${folder}/${number}`, secretBody(store, secretValue(dataSeed, number, size))),
  );
}

/** Checks the first and the last secret; the run checks those that it reads. @param {PrepareContext} context @param {Store} store */
async function checkFilled({ client, plan }, store) {
  const { dataSeed, size, paths } = plan.options;
  for (const number of [0, paths - 1]) {
    const path = `${folderOf(store, dataSeed)}/${number}`;
    const { data } = await client.read(path).catch((error) => {
      if (error.code === 'vault_not_found') return { data: null };
      throw error;
    });
    if (valueIn(store, data) === secretValue(dataSeed, number, size)) continue;
    throw targetError(
      data === null ? 'not_filled' : 'other_secrets',
      `--filled is given, but ${path} is not the secret that kv-write writes there with --size ${size} and --data-seed ${dataSeed}.`,
      `Give the --size and --data-seed of the existing secrets, or write them: kv-write --kv-mount ${store.mount} --paths ${paths} --requests ${paths}.`,
    );
  }
}
