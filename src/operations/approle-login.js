/** `approle-login`: logins by AppRole, with a role of its own that is taken away after the run, tokens and all. */
import { apiHeaders, apiPath } from './issuance.js';
import { makeOwnMount, removeOwnMount, untilReady } from './own-mount.js';
import { CALL_OUTCOMES, createJsonClassifier, prepareCalls } from './vault-call.js';

const GROUP = 'AppRole';
const ROLE = 'load';

/** @type {Record<string, import('../options.js').OptionSpec>} */
const options = {
  'token-type': {
    type: 'choice',
    group: GROUP,
    choices: ['service', 'batch'],
    default: 'service',
    describe: 'Tokens that a login gives: service tokens are stored, batch tokens are not',
  },
  'token-ttl': {
    type: 'duration',
    group: GROUP,
    placeholder: 'TIME',
    default: '5m',
    min: 1000,
    max: 86_400_000,
    describe: 'How long they live; they are revoked with the auth method after the run',
  },
};

/** @typedef {import('./vault-call.js').CallFixture & {mount: string, roleId: string, secretId: string}} LoginFixture */

/** @type {import('./index.js').Operation} */
export const operation = {
  name: 'approle-login',
  describe: 'Log in by AppRole, with a role made for the run',
  things: 'logins',
  examples: [
    "approle-login --rate 50 --duration 1m --require 'p99<200ms'",
    'approle-login --token-type batch',
  ],
  options,
  outcomes: Object.freeze({
    logged_in: 'a token, with a lease as long as was asked for',
    no_token: 'HTTP 2xx, but without a token',
    wrong_lease: 'HTTP 2xx, but the token lives for longer than was asked for',
    ...CALL_OUTCOMES,
  }),
  async prepare(context) {
    const { client, plan } = context;
    const fixture = await prepareCalls(context);
    const mount = await makeOwnMount(client, 'auth', 'approle');
    try {
      const { tokenType, tokenTtl } = plan.options;
      const ttl = `${Math.round(tokenTtl / 1000)}s`;
      const role = `auth/${mount}/role/${ROLE}`;
      await untilReady(() =>
        client.write(role, {
          token_type: tokenType,
          token_ttl: ttl,
          token_max_ttl: ttl,
          secret_id_num_uses: 0,
        }),
      );
      const { data: named } = await client.read(`${role}/role-id`);
      const { data: secret } = await client.write(`${role}/secret-id`);
      return {
        ...fixture,
        // Whoever logs in has no token yet.
        headers: apiHeaders(null, plan.target.namespace),
        mount,
        roleId: String(named?.role_id),
        secretId: String(secret?.secret_id),
      };
    } catch (error) {
      await removeOwnMount(client, 'auth', mount);
      throw error;
    }
  },
  createRequester(_plan, { basePath, headers, mount, roleId, secretId }) {
    /** @type {import('../http/exchange.js').Request} */
    const request = {
      method: 'POST',
      path: apiPath(basePath, 'auth', mount, 'login'),
      headers,
      body: JSON.stringify({ role_id: roleId, secret_id: secretId }),
    };
    return () => request;
  },
  createClassifier({ options: { tokenTtl } }) {
    const seconds = Math.round(tokenTtl / 1000);
    return createJsonClassifier('logged_in', ({ auth }) => {
      if (typeof auth?.client_token !== 'string' || auth.client_token === '') return 'no_token';
      return auth.lease_duration > seconds ? 'wrong_lease' : null;
    });
  },
  cleanup: ({ client }, { mount }) => removeOwnMount(client, 'auth', mount),
};
