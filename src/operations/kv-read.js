/** `kv-read`: secrets out of a key-value store that is made and filled before the run; each must be the one that was written. */
import pLimit from 'p-limit';
import { createPaths, kvOptions, makeStore, secretData, secretPath, secretValue } from './kv.js';
import { removeOwnMount } from './own-mount.js';
import { CALL_OUTCOMES, createJsonClassifier, prepareCalls } from './vault-call.js';

/** While the store is filled. */
const AT_ONCE = 8;

/** @type {import('./index.js').Operation} */
export const operation = {
  name: 'kv-read',
  describe: 'Read secrets back from a key-value store made and filled for the run',
  things: 'secrets read',
  examples: ["kv-read --rate 200 --duration 1m --require 'p99<100ms'", 'kv-read --paths 10000 --size 4096'],
  options: kvOptions,
  outcomes: Object.freeze({
    read: 'the secret that was written',
    other_secret: 'HTTP 2xx, but not the secret that was written',
    ...CALL_OUTCOMES,
  }),
  async prepare(context) {
    const { client, plan, progress, signal } = context;
    const { kvVersion, size, paths } = plan.options;
    const fixture = await prepareCalls(context);
    const mount = await makeStore(client, kvVersion);
    try {
      const limit = pLimit(AT_ONCE);
      let done = 0;
      const writeOne = async (/** @type {number} */ i) => {
        if (signal.aborted) return;
        const value = secretValue(plan.load.seed, i, size);
        await client.write(secretPath(mount, kvVersion, i), secretData(kvVersion, value));
        progress('Writing secrets to read', ++done, paths);
      };
      await Promise.all(Array.from({ length: paths }, (_, i) => limit(writeOne, i)));
    } catch (error) {
      await removeOwnMount(client, 'mounts', mount);
      throw error;
    }
    return { ...fixture, mount };
  },
  createRequester({ options: { kvVersion, paths } }, { basePath, headers, mount }) {
    const pathOf = createPaths(basePath, mount, kvVersion, paths);
    return (index) => ({ method: 'GET', path: pathOf(index), headers, body: null });
  },
  createClassifier({ options: { kvVersion, size, paths }, load: { seed } }) {
    return createJsonClassifier('read', ({ data }, index) => {
      const value = kvVersion === '2' ? data?.data?.value : data?.value;
      return value === secretValue(seed, index % paths, size) ? null : 'other_secret';
    });
  },
  cleanup: ({ client }, { mount }) => removeOwnMount(client, 'mounts', mount),
};
