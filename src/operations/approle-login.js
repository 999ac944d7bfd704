/**
 * `approle-login`: logins by AppRole, with a method and a role of its own that are removed after the run: tokens, and the entity that
 * Vault creates for each login, and which outlives the method.
 */
import { PkiLoadError, targetError } from '../common/errors.js';
import { formatDuration } from '../common/units.js';
import { longestRunMs } from '../plan/expected.js';
import { makeOwnMount, untilReady } from '../vault/own-mount.js';
import { CALL_OUTCOMES, createJsonClassifier } from './outcomes.js';
import { prepareCalls } from './prepare.js';
import { apiHeaders, apiPath, inGroup, sendAlways } from './request-parts.js';

/** @import { Plan } from '../plan/plan.js' */
/** @import { Operation, PrepareContext } from './index.js' */
/** @import { CallFixture } from './prepare.js' */

const ROLE = 'load';

/** Of the tokens. */
const POLICIES = Object.freeze(['default']);

/** The secret ID outlives the run, and several that share it; but not for ever, should the method be left behind. */
const SECRET_ID_MS = 24 * 3_600_000;

const options = inGroup('AppRole', {
  'token-type': {
    type: 'choice',
    choices: ['service', 'batch'],
    default: 'service',
    describe: 'Token type; Vault stores service tokens, not batch tokens',
  },
  'token-ttl': {
    type: 'duration',
    placeholder: 'TIME',
    default: '5m',
    min: 1000,
    max: 86_400_000,
    describe: 'Lifetime of the tokens',
  },
});

/** @typedef {CallFixture & {mount: string, credentials: {role_id: string, secret_id: string}}} LoginFixture */

/** @type {Operation} */
export const operation = {
  name: 'approle-login',
  unit: 'logins',
  examples: [
    "approle-login --rate 50 --duration 1m --require 'p99<200ms'",
    'approle-login --token-type batch',
  ],
  options,
  outcomes: Object.freeze({
    logged_in: 'a token of the type, with the policies and the lifetime that were asked for',
    no_token: 'HTTP 2xx, but without a token',
    no_accessor: 'HTTP 2xx, but the service token has no accessor, by which it could be revoked',
    other_token: 'HTTP 2xx, but the token is of another type, or has other policies',
    other_lease: 'HTTP 2xx, but the token lives for a time other than was asked for',
    ...CALL_OUTCOMES,
  }),
  async prepare(context) {
    const { client, notice, plan, signal } = context;
    const { tokenType, tokenTtl } = plan.options;
    const fixture = await prepareCalls(context, { usesInRun: false });
    const identity = { entity: '' };
    // Before the method: it runs after the method's removal, when no login can create another entity.
    context.onEnd(() => removeEntity(context, identity.entity));
    const mount = await makeOwnMount(context, 'auth', 'approle');
    const role = `auth/${mount}/role/${ROLE}`;
    await untilReady(() => client.write(role, roleFields(plan)), signal);
    const { data: named } = await client.read(`${role}/role-id`);
    const { data: secret } = await client.write(`${role}/secret-id`);
    const credentials = { role_id: String(named?.role_id), secret_id: String(secret?.secret_id) };
    const { auth } = await client.write(`auth/${mount}/login`, credentials);
    identity.entity = String(auth?.entity_id ?? '');
    if (tokenType === 'service') {
      notice(
        `Every login leaves a token in storage, for at most ${formatDuration(tokenTtl)}; after the run they are revoked with ${mount}.`,
      );
    }
    return {
      ...fixture,
      headers: apiHeaders(null, plan.target.namespace),
      mount,
      credentials,
    };
  },
  createRequester(_plan, { basePath, headers, mount, credentials }) {
    const path = apiPath(basePath, 'auth', mount, 'login');
    return sendAlways({ method: 'POST', path, headers, body: JSON.stringify(credentials) });
  },
  createClassifier({ options: { tokenTtl, tokenType } }) {
    const seconds = Math.round(tokenTtl / 1000);
    return createJsonClassifier('logged_in', ({ auth }) => {
      if (typeof auth?.client_token !== 'string' || auth.client_token === '') return 'no_token';
      if (auth.token_type !== tokenType || !isSameSet(auth.policies, POLICIES)) return 'other_token';
      // Batch tokens have no accessor.
      if (tokenType === 'service' && !(typeof auth.accessor === 'string' && auth.accessor !== ''))
        return 'no_accessor';
      return auth.lease_duration === seconds ? null : 'other_lease';
    });
  },
};

/**
 * All logins with one role are one entity.
 *
 * @param {PrepareContext} context
 * @param {string} entity its ID; empty: none was made
 * @throws {PkiLoadError} naming what is left
 */
async function removeEntity({ client }, entity) {
  if (entity === '') return;
  try {
    await client.remove(`identity/entity/id/${entity}`);
  } catch (error) {
    const why = error instanceof PkiLoadError ? error.message : String(error);
    throw targetError(
      'entity_left',
      `Left behind: the entity ${entity} that Vault made of the logins, which could not be removed (${why}).`,
      `Remove it with vault delete identity/entity/id/${entity}, or give the token delete on identity/entity/id/*.`,
      error,
    );
  }
}

/** Allows any number of logins, from anywhere. @param {Plan} plan */
function roleFields({ load, options: { tokenType, tokenTtl } }) {
  const ttl = `${Math.round(tokenTtl / 1000)}s`;
  const secretIdMs = Math.max(SECRET_ID_MS, 2 * (longestRunMs(load) ?? 0));
  return {
    token_type: tokenType,
    token_policies: POLICIES,
    token_ttl: ttl,
    token_max_ttl: ttl,
    token_num_uses: 0,
    secret_id_num_uses: 0,
    secret_id_ttl: `${Math.ceil(secretIdMs / 1000)}s`,
  };
}

/** @param {unknown} list @param {readonly string[]} wanted */
function isSameSet(list, wanted) {
  return Array.isArray(list) && list.length === wanted.length && wanted.every((one) => list.includes(one));
}
