/** `kv-write`: random secrets into a key-value store that is made for the run. */
import { createPaths, kvOptions, makeStore, secretData, secretValue } from './kv.js';
import { removeOwnMount } from './own-mount.js';
import { refusal } from './refusals.js';
import { CALL_OUTCOMES, createJsonClassifier, passed, prepareCalls } from './vault-call.js';

/** @type {import('./index.js').Operation} */
export const operation = {
  name: 'kv-write',
  describe: 'Write random secrets into a key-value store made for the run',
  things: 'secrets written',
  examples: [
    "kv-write --rate 50 --duration 1m --require 'p99<300ms'",
    'kv-write --kv-version 1 --size 4096 --paths 10000',
  ],
  options: kvOptions,
  outcomes: Object.freeze({
    written: 'the secret was taken, and in version 2 it has a version',
    no_version: 'HTTP 2xx, but without the version that a write to version 2 gives',
    ...CALL_OUTCOMES,
  }),
  async prepare(context) {
    const fixture = await prepareCalls(context);
    return { ...fixture, mount: await makeStore(context.client, context.plan.options.kvVersion) };
  },
  createRequester({ options: { kvVersion, size, paths }, load: { seed } }, { basePath, headers, mount }) {
    const pathOf = createPaths(basePath, mount, kvVersion, paths);
    return (index) => ({
      method: 'POST',
      path: pathOf(index),
      headers,
      body: JSON.stringify(secretData(kvVersion, secretValue(seed, index, size))),
    });
  },
  createClassifier({ options: { kvVersion } }) {
    const written = passed('written');
    if (kvVersion === '1') {
      return (status) => (status < 200 || status > 299 ? refusal(status) : written);
    }
    return createJsonClassifier('written', ({ data }) => (data?.version >= 1 ? null : 'no_version'));
  },
  cleanup: ({ client }, { mount }) => removeOwnMount(client, 'mounts', mount),
};
