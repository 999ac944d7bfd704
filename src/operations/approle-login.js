/**
 * `approle-login`: logins with an AppRole method and role created for the run. Removing the method revokes its
 * tokens; the entity that Vault creates for the logins outlives it and must be removed separately.
 */
import { isDeepStrictEqual } from 'node:util';
import { PkiLoadError, rejectIf, targetError } from '../common/errors.js';
import { inGroup, option } from '../common/options.js';
import { formatDuration } from '../common/units.js';
import { mayHaveTakenEffect, textOf } from '../vault/client.js';
import { createOwnMount, PREFIX, removeOrReport, untilReady } from '../vault/own-mount.js';
import { quoted } from '../vault/setup/command.js';
import { CALL_OUTCOMES, createJsonClassifier } from './outcomes.js';
import { prepareCalls } from './prepare.js';
import { apiHeaders, apiPath, repeatRequest, vaultDuration } from './request-parts.js';
import { openSerialSet, serialMemoryFor } from './serial-set.js';

/** @import { VaultClient } from '../vault/client.js' */
/** @import { Operation, PrepareContext } from './index.js' */

const ROLE = 'load';
const TOKEN_POLICIES = ['default'];
/** Vault's have 36 characters; each login sends two. Longer ones might echo a part of the token. @param {unknown} id */
const idOf = (id) => (textOf(id).length > 256 ? '' : textOf(id));

/** As in a login's response. @param {number} ms */
const secondsOf = (ms) => Math.round(ms / 1000);

/** @type {Operation} */
export const approleLogin = {
  name: 'approle-login',
  unit: 'logins',
  examples: [
    "approle-login --rate 50 --duration 1m --require 'p99<200ms'",
    'approle-login --token-type batch',
  ],
  options: inGroup('AppRole', {
    'token-type': option('choice', 'Token type; Vault stores service tokens, not batch tokens', {
      choices: ['service', 'batch'],
      default: 'service',
    }),
    'token-ttl': option('duration', 'Lifetime of the tokens', { default: '5m', min: 1000, max: 86_400_000 }),
  }),
  outcomes: {
    logged_in: 'a token of the requested type, policies and lifetime',
    no_token: 'HTTP 2xx, but without a token',
    no_accessor: 'HTTP 2xx, but the service token has no accessor to revoke it by',
    wrong_token: 'HTTP 2xx, but the token is of another type, or has other policies',
    token_repeated:
      'the token of an earlier login of this run: a cache responds, such as that of Vault Proxy',
    wrong_lifetime: 'HTTP 2xx, but the lifetime of the token is not the requested one',
    ...CALL_OUTCOMES,
  },
  async prepare(context) {
    const { client, plan, signal, owns } = context;
    const { tokenType, tokenTtl } = plan.options;
    const fixture = await prepareCalls(context, { usesInRun: false });
    let entity = '';
    // Registered first, so it runs last: once the method is removed, no login can create another entity.
    context.onEnd(() => removeEntity(context, entity));
    const mount = await createOwnMount(context, 'auth', 'approle');
    let alias = '';
    // Before the method is removed, and with it the name by which the entity can be found.
    context.onEnd(async () => {
      if (entity === '' && alias !== '') entity = await findEntity(client, mount, alias);
    });
    const role = `auth/${mount}/role/${ROLE}`;
    const fields = {
      token_type: tokenType,
      token_policies: TOKEN_POLICIES,
      token_ttl: vaultDuration(tokenTtl),
      token_max_ttl: vaultDuration(tokenTtl),
      token_num_uses: 0,
      secret_id_num_uses: 0,
      // Longer than any run; finite in case the method is left behind.
      secret_id_ttl: '768h',
    };
    await untilReady(() => client.write(role, fields), signal);
    const { data: roleId } = await client.read(`${role}/role-id`);
    const { data: secret } = await client.write(`${role}/secret-id`);
    const credentials = { role_id: idOf(roleId?.role_id), secret_id: idOf(secret?.secret_id) };
    // All logins with one role share one entity.
    alias = credentials.role_id;
    const { auth } = await client.write(`auth/${mount}/login`, credentials).catch((error) => {
      if (!mayHaveTakenEffect(error)) alias = '';
      throw error;
    });
    entity = idOf(auth?.entity_id);
    const seconds = Number(auth?.lease_duration);
    const limit = `Vault limits these tokens to ${formatDuration(seconds * 1000)}, less than --token-ttl.`;
    rejectIf(seconds > 0 && seconds < secondsOf(tokenTtl), limit, `Use --token-ttl ${seconds}s.`);
    const headers = apiHeaders(null, plan.target.namespace);
    return { ...fixture, headers, mount, credentials, tokens: serialMemoryFor(plan.load, owns) };
  },
  createRequester(_plan, { basePath, headers, mount, credentials }) {
    const path = apiPath(basePath, 'auth', mount, 'login');
    return repeatRequest({ method: 'POST', path, headers, body: JSON.stringify(credentials) });
  },
  createClassifier({ options: { tokenTtl, tokenType }, load: { shard } }, { tokens }) {
    const tokenSet = openSerialSet(tokens);
    const classify = createJsonClassifier('logged_in', ({ auth }) => {
      if (textOf(auth?.client_token) === '') return 'no_token';
      if (auth.token_type !== tokenType || !isDeepStrictEqual(auth.policies, TOKEN_POLICIES))
        return 'wrong_token';
      // Batch tokens have no accessor.
      if (tokenType === 'service' && textOf(auth.accessor) === '') return 'no_accessor';
      if (auth.lease_duration !== secondsOf(tokenTtl)) return 'wrong_lifetime';
      return tokenSet.add(Buffer.from(auth.client_token)) === 'repeated' ? 'token_repeated' : null;
    });
    classify.notes = () => tokenSet.notes('Tokens', shard);
    return classify;
  },
};

/**
 * After a login whose response did not name it: the response was lost, or MFA is required.
 * @param {VaultClient} client @param {string} mount @param {string} alias the role ID @returns {Promise<string>} its ID; empty: there is none
 */
async function findEntity(client, mount, alias) {
  try {
    const { data: method } = await client.read(`sys/auth/${mount}`);
    const place = { alias_name: alias, alias_mount_accessor: textOf(method?.accessor) };
    return idOf((await client.write('identity/lookup/entity', place)).data?.id);
  } catch (error) {
    const why = error instanceof PkiLoadError ? error.message : String(error);
    const message = `Possibly left behind: the entity of the logins, which could not be looked up (${why}).`;
    const remedy = `Grant the token read on sys/auth/${PREFIX}-* and update on identity/lookup/entity; vault list identity/entity/id shows all entities.`;
    throw targetError('entity_left_behind', message, remedy, error);
  }
}

/** @param {PrepareContext} context @param {string} entity its ID; empty: none was created */
async function removeEntity({ client }, entity) {
  if (entity === '') return;
  const path = `identity/entity/id/${entity}`;
  const remedy = `Remove it with vault delete ${quoted(path)}, or grant the token delete on identity/entity/id/*.`;
  const item = `the entity ${entity} of the logins`;
  await removeOrReport(() => client.remove(path), 'entity_left_behind', item, remedy);
}
