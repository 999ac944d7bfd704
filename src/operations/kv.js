/**
 * `kv-write` and `kv-read`: a key-value store, created for the run or existing. A secret depends only on
 * --data-seed, --size and its number, so a later run can read and check it.
 */
import { rejectIf, targetError } from '../common/errors.js';
import { inGroup, option } from '../common/options.js';
import { shuffled } from '../common/random.js';
import { checkPath } from '../plan/common-options.js';
import { allRequests, expectedRequests } from '../plan/due.js';
import { checkMount, lookUpMount } from '../vault/check-target.js';
import { unlessRefused } from '../vault/client.js';
import { withoutSlashes } from '../vault/environment.js';
import { createOwnMount, PREFIX, untilReady } from '../vault/own-mount.js';
import { CALL_OUTCOMES, createJsonClassifier, passed } from './outcomes.js';
import { makeMany, prepareCalls } from './prepare.js';
import { apiPath, MAX_BYTES, secretValue } from './request-parts.js';

/** @import { Plan } from '../plan/plan.js' */
/** @import { Operation, PrepareContext } from './index.js' */

const GROUP = 'Secrets';

/** @typedef {{mount: string, version: '1' | '2'}} Store */

const storeOptions = inGroup(GROUP, {
  'kv-mount': option('text', 'Existing key-value store; secrets stay there', {
    placeholder: 'PATH',
    defaultText: 'one is created for the run',
    check: checkPath,
  }),
  'kv-version': option('choice', 'Version of the key-value store', {
    choices: ['1', '2'],
    defaultText: '2, or that of --kv-mount',
  }),
  size: option('integer', 'Random bytes per secret, before base64', {
    placeholder: 'BYTES',
    default: 1024,
    min: 1,
    max: MAX_BYTES,
  }),
  paths: option('integer', 'Number of secrets, each at its own path', { default: 1000, min: 1, max: 1e6 }),
  'data-seed': option('integer', 'Seed of paths and contents', { default: 1, max: 0xffff_ffff }),
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
    written: 'the secret was written; in version 2, the response has its version',
    no_version: 'HTTP 2xx, but the response of a version 2 store lacks the version of the secret',
    not_vault: 'HTTP 2xx, but not from a version 1 store: neither an empty 204 nor JSON with a request_id',
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
  createRequester({ options }, { basePath, headers, ...store }) {
    const { folder, body } = secretsOf(store, options);
    const start = apiPath(basePath, folder);
    return (index) => {
      const number = index % options.paths;
      return { method: 'POST', path: `${start}/${number}`, headers, body: JSON.stringify(body(number)) };
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
      pick: option('choice', 'Order of reads; each secret is read once before any repeats', {
        choices: ['random', 'in-turn'],
        default: 'random',
      }),
    }),
  },
  leaves: ({ kvMount, filled }) =>
    kvMount === null || filled ? null : `the secrets, in ${kvMount} below ${PREFIX}/`,
  outcomes: {
    read: 'the secret that was written',
    wrong_secret: 'HTTP 2xx, but not the secret that was written',
    ...CALL_OUTCOMES,
  },
  check({ filled, kvMount }) {
    const problem = '--filled reads existing secrets, but --kv-mount is not given.';
    const remedy = 'Add --kv-mount, or leave --filled out: the run then creates and fills a store.';
    rejectIf(filled && kvMount === null, problem, remedy);
  },
  async prepare(context) {
    const { client, plan } = context;
    const { filled, paths } = plan.options;
    const call = await prepareCalls(context, { usesBefore: filled ? 0 : paths });
    const fixture = { ...call, ...(await openStore(context)) };
    if (filled) {
      await checkFilled(context, fixture);
    } else {
      reportLeft(context, fixture, paths);
      const { folder, body } = secretsOf(fixture, plan.options);
      await makeMany(paths, { ...context, label: 'Writing secrets to read' }, (number) =>
        client.write(`${folder}/${number}`, body(number)),
      );
    }
    return fixture;
  },
  createRequester(plan, { basePath, headers, ...store }) {
    const start = apiPath(basePath, secretsOf(store, plan.options).folder);
    const numberOf = createPick(plan);
    return (index) => ({ method: 'GET', path: `${start}/${numberOf(index)}`, headers, body: null });
  },
  createClassifier(plan, store) {
    const { isIn } = secretsOf(store, plan.options);
    const numberOf = createPick(plan);
    return createJsonClassifier('read', ({ data }, index) =>
      isIn(data, numberOf(index)) ? null : 'wrong_secret',
    );
  },
};

/** @param {PrepareContext} context @returns {Promise<Store>} that accepts secrets */
async function openStore(context) {
  const { client, plan, signal } = context;
  const { kvMount, kvVersion } = plan.options;
  if (kvMount !== null) return findStore(client, withoutSlashes(kvMount), kvVersion);
  const version = kvVersion ?? '2';
  const store = { mount: await createOwnMount(context, 'mounts', 'kv', { options: { version } }), version };
  const { folder, body } = secretsOf(store, plan.options);
  await untilReady(() => client.write(`${folder}/ready`, body(0)), signal);
  return store;
}

/** @type {(client: PrepareContext['client'], mount: string, wanted: string | null) => Promise<Store>} */
async function findStore(client, mount, wanted) {
  await checkMount(client, mount, 'kv');
  const existing = await lookUpMount(client, mount);
  const version = String(existing?.options?.version) === '2' ? '2' : '1';
  if (wanted === null || wanted === version) return { mount, version };
  const message = `The store ${mount} has version ${version}, but --kv-version is ${wanted}.`;
  throw targetError('kv_version_differs', message, 'Leave --kv-version out.');
}

/** @param {Store} store @param {Record<string, any>} options */
function secretsOf({ mount, version }, { dataSeed, size }) {
  const hasVersions = version === '2';
  const secret = (/** @type {number} */ number) => secretValue(dataSeed, number, size);
  return {
    /** Below `/v1/`. */
    folder: `${mount}/${hasVersions ? 'data/' : ''}${PREFIX}/seed-${dataSeed}`,
    /** @param {number} number @returns {Record<string, any>} JSON of the request that writes it */
    body: (number) => (hasVersions ? { data: { value: secret(number) } } : { value: secret(number) }),
    /** @param {Record<string, any> | null | undefined} data of a response @param {number} number */
    isIn: (data, number) => (hasVersions ? data?.data?.value : data?.value) === secret(number),
  };
}

/** @param {Plan} plan @returns {(index: number) => number} number of the secret that a request reads */
function createPick({ options: { paths, pick }, load: { seed } }) {
  if (pick === 'in-turn') return (index) => index % paths;
  const order = shuffled(paths, seed);
  return (index) => order[index % paths];
}

/**
 * After the run, reports the secrets that stay in an existing store.
 * @param {PrepareContext} context @param {Store} store @param {number} count at most
 */
function reportLeft({ plan, owns, notice, onEnd }, { mount }, count) {
  const { kvMount, dataSeed, size } = plan.options;
  if (kvMount === null) return;
  const command = `kv-read --kv-mount ${mount} --filled --paths ${count} --size ${size} --data-seed ${dataSeed}`;
  const place = `${mount}, below ${PREFIX}/seed-${dataSeed}/`;
  // In a mix, or in a part, their numbers have gaps.
  const isWhole = owns === undefined && plan.load.shard === null;
  const how = isWhole ? `; if all were written, ${command} reads them.` : '.';
  onEnd(async () => notice(`Up to ${count} secrets stay in ${place}${how}`));
}

/** Checks the first and last secret; the run checks the rest. @param {PrepareContext} context @param {Store} store */
async function checkFilled({ client, plan }, store) {
  const { dataSeed, size, paths } = plan.options;
  const { folder, isIn } = secretsOf(store, plan.options);
  for (const number of [0, paths - 1]) {
    const response = await unlessRefused(client.read(`${folder}/${number}`), 'vault_not_found');
    if (isIn(response?.data, number)) continue;
    throw targetError(
      'not_filled',
      `--filled is given, but ${folder}/${number} is not the secret that kv-write writes there with --size ${size} and --data-seed ${dataSeed}.`,
      `Use the --size and --data-seed of the existing secrets, or write them: kv-write --kv-mount ${store.mount} --paths ${paths} --requests ${paths}.`,
    );
  }
}
