/** `health`: requests `sys/health`, as load balancers do. No token. */
import { PkiLoadError } from '../common/errors.js';
import { inGroup, option } from '../common/options.js';
import { createJsonClassifier, REFUSAL_OUTCOMES, refused } from './outcomes.js';
import { fixtureOf, prepareCalls } from './prepare.js';
import { repeatRequest } from './request-parts.js';

/** @import { Operation } from './index.js' */

/** Of this path only: developer.hashicorp.com/vault/api-docs/system/health. @type {Record<number, string>} */
const BY_STATUS = { 429: 'standby', 472: 'standby', 473: 'standby', 501: 'uninitialised', 503: 'sealed' };

/** Errors before the run that --standby-ok accepts. */
const STANDBY = new Set(['vault_standby', 'vault_dr_secondary']);

const { rate_limited: _429, unavailable: _503, ...OTHER_REFUSALS } = REFUSAL_OUTCOMES;

/** @type {Operation} */
export const health = {
  name: 'health',
  unit: 'health checks',
  examples: ['health --rate 10 --duration 1m', "health --standby-ok --concurrency 5 --require 'p99<50ms'"],
  options: inGroup('Health', {
    'standby-ok': option('flag', 'Accept standby nodes (status 429, 472 or 473)'),
  }),
  outcomes: {
    ...OTHER_REFUSALS,
    active: 'initialised, unsealed and active',
    // A name of its own: in a mix, other operations fail with `standby`.
    standby_accepted: 'a standby node (HTTP 429, 472 or 473), with --standby-ok',
    standby: 'a standby node (HTTP 429, 472 or 473)',
    uninitialised: 'HTTP 501: not initialised',
    sealed: 'HTTP 503: sealed',
    not_json: 'HTTP 2xx, or the status of an accepted standby, but the body is not a JSON object',
    error_body: 'HTTP 2xx, or the status of an accepted standby, but the body reports errors',
    status_mismatch:
      'the body contradicts the status: uninitialised, sealed, or the wrong role (active or standby)',
  },
  async prepare(context) {
    try {
      return await prepareCalls(context, { withToken: false });
    } catch (error) {
      const isStandby = error instanceof PkiLoadError && STANDBY.has(error.code);
      if (!isStandby || !context.plan.options.standbyOk) throw error;
      // A standby does not reveal its product.
      return fixtureOf(context.plan, null, null);
    }
  },
  createRequester: (_plan, { basePath, headers }) =>
    repeatRequest({ path: `${basePath}/v1/sys/health`, headers }),
  createClassifier({ options: { standbyOk } }) {
    const classifierOf = (/** @type {string} */ outcome, /** @type {'active' | 'standby'} */ role) =>
      createJsonClassifier(outcome, (json) => (roleOf(json) === role ? null : 'status_mismatch'));
    const classify = classifierOf('active', 'active');
    // A rate limiter in front of a Vault also responds with 429.
    const classifyStandby = classifierOf('standby_accepted', 'standby');
    return (status, body, index) => {
      const outcome = BY_STATUS[status];
      if (outcome === undefined) return classify(status, body, index);
      return outcome === 'standby' && standbyOk ? classifyStandby(200, body, index) : refused(outcome);
    };
  },
};

/** A disaster-recovery secondary is active in its own cluster. @param {Record<string, any>} json @returns null: not ready, or not of Vault's types */
function roleOf({ initialized, sealed, version, ...roles }) {
  const { standby = false, performance_standby: performance = false, replication_dr_mode: dr = '' } = roles;
  const isReady = initialized === true && sealed === false && [version, dr].every(isText);
  if (!isReady || typeof standby !== 'boolean' || typeof performance !== 'boolean') return null;
  return standby || performance || dr === 'secondary' ? 'standby' : 'active';
}

const isText = (/** @type {unknown} */ value) => typeof value === 'string';
