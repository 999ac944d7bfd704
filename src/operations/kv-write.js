/** `kv-write`: random secrets into a key-value store, made for the run or there already. */
import { allRequests, expectedRequests } from '../plan/expected.js';
import { createPaths, describeLeft, kvOptions, openStore, secretBody } from './kv.js';
import { CALL_OUTCOMES, createJsonClassifier, passed } from './outcomes.js';
import { prepareCalls } from './prepare.js';
import { secretValue } from './request-parts.js';
/** @import { Operation } from './index.js' */

/** @type {Operation} */
export const operation = {
  name: 'kv-write',
  unit: 'secrets written',
  examples: [
    "kv-write --rate 50 --duration 1m --require 'p99<300ms'",
    'kv-write --kv-version 1 --size 4096 --paths 10000',
    'kv-write --kv-mount secret --paths 10000 --requests 10000',
  ],
  options: kvOptions,
  leaves: ({ kvMount }) => (kvMount === null ? null : `the secrets, in ${kvMount} below vault-pki-load/`),
  outcomes: Object.freeze({
    written: 'the secret was taken, and in version 2 it has a version',
    no_version: 'HTTP 2xx, but without the version that a write to version 2 gives',
    not_vault:
      'HTTP 2xx, but neither the empty 204 nor the response with a request_id that a write to version 1 gives',
    ...CALL_OUTCOMES,
  }),
  async prepare(context) {
    const fixture = await prepareCalls(context);
    const { owns, plan } = context;
    // A closed loop's warm-up writes secrets, too.
    const requests = allRequests(plan.load) === null ? null : expectedRequests(plan.load, owns);
    return {
      ...fixture,
      ...(await openStore(context)),
      most: Math.min(plan.options.paths, requests ?? Number.POSITIVE_INFINITY),
      isKnown: requests !== null,
      // Other operations or parts take the indexes in between.
      hasGaps: owns !== undefined || plan.load.shard !== null,
    };
  },
  createRequester(plan, fixture) {
    const { size, paths, dataSeed } = plan.options;
    const { headers, version } = fixture;
    const pathOf = createPaths(plan, fixture);
    return (index) => {
      const number = index % paths;
      const body = JSON.stringify(secretBody(version, secretValue(dataSeed, number, size)));
      return { method: 'POST', path: pathOf(number), headers, body };
    };
  },
  createClassifier(_plan, { version }) {
    if (version === '2') {
      return createJsonClassifier('written', ({ data }) =>
        Number.isInteger(data?.version) && data.version >= 1 ? null : 'no_version',
      );
    }
    const written = passed('written');
    // With warnings Vault answers 200 and its envelope.
    const withWarnings = createJsonClassifier('written', ({ request_id: id }) =>
      typeof id === 'string' && id !== '' ? null : 'not_vault',
    );
    return (status, body, index) =>
      status === 204 && body.length === 0 ? written : withWarnings(status, body, index);
  },
  async cleanup({ plan, notice }, fixture) {
    if (plan.options.kvMount === null) return;
    const { most, hasGaps, isKnown } = fixture;
    notice(describeLeft(plan, fixture, most, { hasGaps, isKnown }));
  },
};
