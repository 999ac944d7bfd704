/** `token-lookup`: `auth/token/lookup-self`, the cheapest request that needs a token. */
import { CALL_OUTCOMES, createJsonClassifier } from './outcomes.js';
import { prepareCalls } from './prepare.js';
import { apiPath, repeatRequest } from './request-parts.js';
/** @import { Operation } from './index.js' */

/** @type {Operation} */
export const tokenLookup = {
  name: 'token-lookup',
  unit: 'lookups',
  examples: ['token-lookup --rate 100 --duration 1m'],
  options: {},
  outcomes: {
    looked_up: 'the token that was sent, and its policies',
    wrong_token: 'HTTP 2xx, but about another token, or without policies',
    ...CALL_OUTCOMES,
  },
  prepare: (context) => prepareCalls(context),
  createRequester: (_plan, { basePath, headers }) =>
    repeatRequest({ path: apiPath(basePath, 'auth/token/lookup-self'), headers }),
  createClassifier: (_plan, { headers }) =>
    createJsonClassifier('looked_up', ({ data }) =>
      data?.id === headers['x-vault-token'] && Array.isArray(data.policies) ? null : 'wrong_token',
    ),
};
