/** `revoke`: certificates that are issued before the run, each revoked once. */
import { usageError } from '../common/errors.js';
import { allRequests, expectedRequests, longestRunMs } from '../plan/expected.js';
import { checkPermission } from '../vault/check-role.js';
import { CALL_OUTCOMES, createJsonClassifier } from './outcomes.js';
import { checkIssuance, describeLifetime, fixtureOf, issueBefore, lifetimeMs } from './prepare.js';
import { apiPath, expandName, inGroup } from './request-parts.js';
/** @import { LoadPlan } from '../plan/load.js' */
/** @import { Classify, Fixture, Operation, PrepareContext } from './index.js' */

/** Certificates that may be issued before a run. */
export const MOST_POOL = 100_000;

const options = inGroup('Revocation', {
  role: {
    type: 'text',
    placeholder: 'NAME',
    default: 'example-dot-com',
    describe: 'Role of the certificates; it must store them',
  },
  cn: {
    type: 'text',
    placeholder: 'NAME',
    default: 'localhost',
    describe: 'Common name; {n} is the certificate number, {random} a random string',
  },
  pool: {
    type: 'integer',
    placeholder: 'N',
    min: 1,
    max: MOST_POOL,
    describe: 'Certificates to issue before the run',
    defaultText: 'one per request, or 1000',
  },
});

const DEFAULT_POOL = 1000;

/** A note in the result. */
export const USED_UP =
  'There were more requests than certificates (--pool): the rest were about certificates that were revoked already, and count as failed. Raise --pool, or limit the run by --requests.';

/**
 * @typedef {Fixture & {path: string, headers: Record<string, string>, serials: string[], indexes: Float64Array}} RevokeFixture
 *   request `indexes[i]` is about `serials[i]`
 */

/** @type {Operation} */
export const operation = {
  name: 'revoke',
  unit: 'revocations',
  examples: [
    'revoke --dev --rate 20 --duration 10s',
    "revoke --rate 5 --duration 1m --require 'p99<1s'",
    'revoke --role web --pool 5000 --concurrency 4',
  ],
  options,
  leaves: () =>
    'the certificates, in storage until it is tidied: those revoked on the CRL, those not reached valid until they expire',
  outcomes: Object.freeze({
    revoked: 'revoked, and Vault says when',
    revoked_again: 'it was revoked before: there were more requests than certificates; not a success',
    not_revoked: 'HTTP 2xx, but the response does not confirm the revocation',
    ...CALL_OUTCOMES,
  }),
  prepare,
  createRequester(_plan, { path, headers, serials, indexes }) {
    const requests = serials.map((/** @type {string} */ serial) => ({
      method: /** @type {const} */ ('POST'),
      path,
      headers,
      body: JSON.stringify({ serial_number: serial }),
    }));
    return (index) => {
      const place = placeOf(indexes, index);
      return requests[place < 0 ? index % requests.length : place];
    };
  },
  createClassifier(_plan, { indexes }) {
    const first = createJsonClassifier('revoked', whyNotRevoked);
    const judgeAgain = createJsonClassifier('revoked_again', whyNotRevoked);
    let hasAgain = false;
    /** @type {Classify} */
    const classify = (status, body, index) => {
      if (placeOf(indexes, index) >= 0) return first(status, body, index);
      hasAgain = true;
      const verdict = judgeAgain(status, body, index);
      // Cheaper than a revocation: it must not raise the rate.
      return verdict.success ? { ...verdict, success: false, verification: null } : verdict;
    };
    classify.notes = () => (hasAgain ? [USED_UP] : []);
    return classify;
  },
};

/** @param {Record<string, any>} answer with the time in seconds since 1970 */
function whyNotRevoked({ data }) {
  const isRevoked = data?.revocation_time > 0 && (data.state ?? 'revoked') === 'revoked';
  return isRevoked ? null : 'not_revoked';
}

/**
 * A closed loop's warm-up sends requests, too.
 *
 * @param {LoadPlan} load
 * @param {((index: number) => boolean) | undefined} owns
 */
function defaultPool(load, owns) {
  if (allRequests(load) !== null) return MOST_POOL;
  return Math.min(MOST_POOL, DEFAULT_POOL + (expectedRequests(load, owns) ?? 0));
}

/** @param {PrepareContext} context @returns {Promise<RevokeFixture>} */
async function prepare(context) {
  const { plan, client, token, notice, owns } = context;
  const { target, load } = plan;
  const { role, cn, pool } = plan.options;
  const indexes = ownIndexes(load, { owns, most: pool ?? defaultPool(load, owns) });
  const size = Math.max(1, indexes.length);
  const inRun = expectedRequests(load);
  const { health, role: fields } = await checkIssuance(context, {
    operation: 'issue',
    role,
    commonName: expandName(cn, load.seed, 0),
    ttl: `${Math.round(lifetimeMs(load) / 1000)}s`,
    requests: inRun === null ? null : size + inRun,
    neededMs: longestRunMs(load),
  });
  await checkPermission(client, `${target.mount}/revoke`);
  if (fields?.no_store === true) {
    throw usageError(
      'role_does_not_store',
      `The role ${role} stores no certificates (no_store), so they cannot be revoked by their serial numbers.`,
      'Name a role that stores them with --role.',
    );
  }
  notice(
    `Issues ${size === 1 ? 'a certificate' : `${size} certificates`} with role ${role} to revoke, ${describeLifetime(load)}; until they are tidied after that they stay in storage and, revoked, on the CRL. What the run does not come to stays valid until then.`,
  );
  const issued = await issueBefore(context, { size, label: 'Issuing certificates to revoke' });
  const fixture = fixtureOf(plan, health, token);
  return {
    ...fixture,
    path: apiPath(fixture.basePath, target.mount, 'revoke'),
    serials: issued.map(({ serial }) => serial),
    indexes,
  };
}

/** Indexes to examine at most, 50 ns each: an operation with a tiny share of a mix gets fewer certificates. */
const MAX_EXAMINED = 10_000_000;
const MAX_EXAMINED_EACH = 1000;

/**
 * @param {LoadPlan} load
 * @param {object} what
 * @param {(index: number) => boolean} [what.owns] which requests are about these things; none: all
 * @param {number} what.most things
 * @returns {Float64Array} ascending indexes of the requests that get a thing of their own: the first ones of this part of the plan
 */
export function ownIndexes(load, { owns = () => true, most }) {
  const { index: first, of: step } = load.shard ?? { index: 0, of: 1 };
  const examined = Math.max(MAX_EXAMINED, MAX_EXAMINED_EACH * most);
  const end = Math.min(allRequests(load) ?? Number.POSITIVE_INFINITY, first + examined * step);
  const found = [];
  for (let index = first; index < end && found.length < most; index += step) {
    if (owns(index)) found.push(index);
  }
  return Float64Array.from(found);
}

/**
 * @param {Float64Array} indexes ascending
 * @param {number} index
 * @returns {number} where it stands among them; -1: nowhere
 */
export function placeOf(indexes, index) {
  let low = 0;
  let high = indexes.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (indexes[middle] === index) return middle;
    if (indexes[middle] < index) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
