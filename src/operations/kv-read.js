/** `kv-read`: secrets out of a key-value store; each must be the one that was written, before this run or by an earlier one. */
import { PkiLoadError, targetError, usageError } from '../common/errors.js';
import { shuffled } from '../common/random.js';
import {
  createPaths,
  describeLeft,
  GROUP,
  kvOptions,
  openStore,
  secretBody,
  secretPath,
  valueIn,
} from './kv.js';
import { CALL_OUTCOMES, createJsonClassifier } from './outcomes.js';
import { manyCalls, prepareCalls } from './prepare.js';
import { inGroup, secretValue } from './request-parts.js';

/** @import { Plan } from '../plan/plan.js' */
/** @import { VaultClient } from '../vault/client.js' */
/** @import { Operation, PrepareContext } from './index.js' */
/** @import { Store } from './kv.js' */

const options = {
  ...kvOptions,
  ...inGroup(GROUP, {
    filled: {
      type: 'flag',
      describe: 'Read the secrets that kv-write left in --kv-mount',
    },
    pick: {
      type: 'choice',
      choices: ['random', 'in-turn'],
      default: 'random',
      describe: 'Order of reading; all are read before any is read again',
    },
  }),
};

/** @type {Operation} */
export const operation = {
  name: 'kv-read',
  unit: 'secrets read',
  examples: [
    "kv-read --rate 200 --duration 1m --require 'p99<100ms'",
    'kv-read --kv-version 1 --size 4096 --paths 10000',
    'kv-read --kv-mount secret --filled --paths 10000 --requests 1000',
  ],
  options,
  leaves: ({ kvMount, filled }) =>
    kvMount === null || filled ? null : `the secrets, in ${kvMount} below vault-pki-load/`,
  outcomes: Object.freeze({
    read: 'the secret that was written',
    other_secret: 'HTTP 2xx, but not the secret that was written',
    ...CALL_OUTCOMES,
  }),
  check({ filled, kvMount }) {
    if (!filled || kvMount !== null) return;
    throw usageError(
      'contradiction',
      '--filled says that the secrets are there, but --kv-mount does not say where.',
      'Give --kv-mount, or leave --filled out: a store is made and filled for the run.',
    );
  },
  async prepare(context) {
    const { notice, onEnd, plan } = context;
    const { filled, kvMount, paths } = plan.options;
    const usesBefore = filled ? 0 : paths;
    const fixture = { ...(await prepareCalls(context, { usesBefore })), ...(await openStore(context)) };
    if (filled) {
      await checkFilled(context, fixture);
    } else {
      if (kvMount !== null) onEnd(async () => notice(describeLeft(plan, fixture, paths)));
      await fill(context, fixture);
    }
    return fixture;
  },
  createRequester(plan, fixture) {
    const pathOf = createPaths(plan, fixture);
    const numberOf = createPick(plan);
    const { headers } = fixture;
    return (index) => ({ method: 'GET', path: pathOf(numberOf(index)), headers, body: null });
  },
  createClassifier(plan, { version }) {
    const { size, dataSeed } = plan.options;
    const numberOf = createPick(plan);
    return createJsonClassifier('read', ({ data }, index) =>
      valueIn(version, data) === secretValue(dataSeed, numberOf(index), size) ? null : 'other_secret',
    );
  },
};

/** @param {Plan} plan @returns {(index: number) => number} which secret a request reads */
function createPick({ options: { paths, pick }, load: { seed } }) {
  if (pick === 'in-turn') return (index) => index % paths;
  const order = shuffled(paths, seed);
  return (index) => order[index % paths];
}

/** @param {PrepareContext} context @param {Store} store */
async function fill({ client, plan, progress, signal }, store) {
  const { dataSeed, size, paths } = plan.options;
  const label = 'Writing secrets to read';
  await manyCalls(paths, { label, progress, signal }, async (number) => {
    const body = secretBody(store.version, secretValue(dataSeed, number, size));
    await client.write(secretPath(store, dataSeed, number), body);
  });
}

/**
 * Whether the first and the last secret are there. The run checks those that it reads.
 *
 * @param {PrepareContext} context
 * @param {Store} store
 */
async function checkFilled({ client, plan }, store) {
  const { dataSeed, size, paths } = plan.options;
  for (const number of new Set([0, paths - 1])) {
    const path = secretPath(store, dataSeed, number);
    const data = await readOrNull(client, path);
    if (data === null) {
      throw targetError(
        'not_filled',
        `There is no secret ${path}, though --filled says so.`,
        `Write them first: kv-write --kv-mount ${store.mount} --paths ${paths} --requests ${paths}, with the same --size and --data-seed.`,
      );
    }
    if (valueIn(store.version, data) !== secretValue(dataSeed, number, size)) {
      throw targetError(
        'other_secrets',
        `The secret ${path} is not the one that kv-write writes there with --size ${size} and --data-seed ${dataSeed}.`,
        'Give the --size and --data-seed that they were written with, or write them again.',
      );
    }
  }
}

/** @param {VaultClient} client @param {string} path */
async function readOrNull(client, path) {
  try {
    return (await client.read(path)).data;
  } catch (error) {
    if (error instanceof PkiLoadError && error.code === 'vault_not_found') return null;
    throw error;
  }
}
