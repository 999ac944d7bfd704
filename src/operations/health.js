/** `health`: `sys/health`, as load balancers ask it. No token. */

import { PkiLoadError } from '../common/errors.js';
import { createJsonClassifier, REFUSAL_OUTCOMES } from './outcomes.js';
import { fixtureOf, prepareCalls } from './prepare.js';
import { inGroup, sendAlways } from './request-parts.js';

/** @import { Operation } from './index.js' */

const options = inGroup('Health', {
  'standby-ok': {
    type: 'flag',
    describe: 'Accept standby nodes (status 429, 472 or 473)',
  },
});

/** https://developer.hashicorp.com/vault/api-docs/system/health: what these statuses mean here alone. @type {Record<number, string>} */
const BY_STATUS = {
  429: 'standby',
  472: 'standby',
  473: 'standby',
  501: 'uninitialised',
  503: 'sealed',
};

/** What the checks before a run say of nodes that --standby-ok is about. */
const STANDBY = new Set(['vault_standby', 'vault_dr_secondary']);

/** What these statuses mean on other paths cannot come up here. */
const { rate_limited: _quota, unavailable: _overload, ...OTHER_REFUSALS } = REFUSAL_OUTCOMES;

/** @type {Operation} */
export const operation = {
  name: 'health',
  unit: 'health checks',
  examples: ['health --rate 10 --duration 1m', "health --standby-ok --concurrency 5 --require 'p99<50ms'"],
  options,
  outcomes: Object.freeze({
    ...OTHER_REFUSALS,
    active: 'initialised, unsealed and active',
    standby: 'a standby node (HTTP 429, 472 or 473)',
    uninitialised: 'HTTP 501: not initialised',
    sealed: 'HTTP 503: sealed',
    not_json: 'HTTP 2xx, or that of a standby that would do, but the body is not a JSON object',
    error_body: 'as not_json, but the body reports errors',
    not_health:
      'the body does not say what the status says: initialised, unsealed, and active (HTTP 2xx) or a standby',
  }),
  async prepare(context) {
    try {
      return await prepareCalls(context, { withToken: false });
    } catch (error) {
      const isStandby = error instanceof PkiLoadError && STANDBY.has(error.code);
      if (!isStandby || !context.plan.options.standbyOk) throw error;
      // A standby does not reveal which product it is.
      return fixtureOf(context.plan, { product: null, version: null }, null);
    }
  },
  createRequester(_plan, { basePath, headers }) {
    return sendAlways({ path: `${basePath}/v1/sys/health`, headers });
  },
  createClassifier({ options: { standbyOk } }) {
    const classify = createJsonClassifier('active', (json) =>
      serves(json) && json.standby !== true ? null : 'not_health',
    );
    // A rate limiter in front of a Vault also answers 429.
    const classifyStandby = createJsonClassifier('standby', (json) =>
      serves(json) && isStandby(json) ? null : 'not_health',
    );
    return (status, body, index) => {
      const outcome = BY_STATUS[status];
      if (outcome === undefined) return classify(status, body, index);
      if (outcome === 'standby' && standbyOk) return classifyStandby(200, body, index);
      return { outcome, success: false, verification: null };
    };
  },
};

/** @param {Record<string, any>} json */
function serves({ initialized, sealed, version }) {
  return initialized === true && sealed === false && typeof version === 'string';
}

/** @param {Record<string, any>} json a disaster-recovery secondary is active in its own cluster */
function isStandby({ standby, performance_standby: performance, replication_dr_mode: dr }) {
  return standby === true || performance === true || dr === 'secondary';
}
