/** `revoke`: certificates that are issued before the run, each revoked once. */
import { isTime } from '../common/json.js';
import { inGroup, option } from '../common/options.js';
import { allRequests, expectedRequests } from '../plan/due.js';
import { CALL_OUTCOMES, createJsonClassifier, refused } from './outcomes.js';
import { issueBefore } from './prepare.js';
import { apiPath } from './request-parts.js';
/** @import { Request } from '../http/exchange.js' */
/** @import { LoadPlan } from '../plan/load.js' */
/** @import { Classify, Operation, PrepareContext } from './index.js' */

/** Maximum number of certificates to issue before a run. */
export const MAX_POOL = 100_000;
const DEFAULT_POOL = 1000;

/** A note in the result. */
export const USED_UP =
  'There were more requests than certificates (--pool): the extra requests revoked a certificate again, which is no success, and not a failure of the target. Raise --pool, or limit the run with --requests, without --warmup.';

/** In Vault 1.21: "certificate with serial ... already expired; refusing to add to CRL". @param {unknown} warnings of a response */
export const saysExpired = (warnings) =>
  [warnings].flat().some((one) => typeof one === 'string' && /already expired/.test(one));

/** @type {Operation} */
export const revoke = {
  name: 'revoke',
  unit: 'revocations',
  examples: [
    'revoke --dev --rate 20 --duration 10s',
    "revoke --rate 5 --duration 1m --require 'p99<1s'",
    'revoke --role web --requests 5000 --concurrency 4',
  ],
  options: inGroup('Revocation', {
    role: option('text', 'Role of the certificates; it must store them', { default: 'example-dot-com' }),
    cn: option('text', 'Common name; {n} is the certificate number, {random} a random string', {
      default: 'localhost',
    }),
    pool: option('integer', 'Certificates to issue before the run', {
      min: 1,
      max: MAX_POOL,
      defaultText: 'one per request, or 1000',
    }),
  }),
  leaves: () => 'the certificates, in storage until tidied: valid or, once revoked, on the CRL',
  outcomes: {
    revoked: 'revoked, and the response has the time of the revocation',
    revoked_again: 'already revoked: there were more requests than certificates; not a success',
    already_expired: 'the certificate had expired before its turn; not a success',
    not_revoked: 'HTTP 2xx, but the response does not confirm the revocation',
    ...CALL_OUTCOMES,
  },
  prepare,
  createRequester(_plan, { path, headers, serials, certificateOf }) {
    /** @type {Request[]} */
    const requests = serials.map((/** @type {string} */ serial) => {
      return { method: 'POST', path, headers, body: JSON.stringify({ serial_number: serial }) };
    });
    return (index) => requests[certificateOf.get(index) ?? index % requests.length];
  },
  createClassifier(_plan, { certificateOf }) {
    const judge = createJsonClassifier('revoked', ({ data, warnings }) => {
      const isRevoked = isTime(data?.revocation_time) && (data.state ?? 'revoked') === 'revoked';
      if (isRevoked) return null;
      return saysExpired(warnings) ? 'already_expired' : 'not_revoked';
    });
    let hasRepeats = false;
    /** @type {Classify} */
    const classify = (status, body, index) => {
      const verdict = judge(status, body, index);
      if (verdict.outcome === 'already_expired') return refused('already_expired');
      if (certificateOf.has(index)) return verdict;
      hasRepeats = true;
      // Cheaper than a revocation: it must not raise the rate.
      return verdict.success ? refused('revoked_again') : verdict;
    };
    classify.notes = () => (hasRepeats ? [USED_UP] : []);
    return classify;
  },
};

/** @param {PrepareContext} context */
async function prepare(context) {
  const { target, load, options } = context.plan;
  // A closed loop's warm-up sends requests, too.
  const warmUpAndRun = DEFAULT_POOL + (expectedRequests(load, context.owns) ?? 0);
  const max = options.pool ?? (allRequests(load) === null ? Math.min(MAX_POOL, warmUpAndRun) : MAX_POOL);
  const indexes = ownIndexes(load, { owns: context.owns, max });
  const size = Math.max(1, indexes.length);
  const { fixture, issued } = await issueBefore(context, {
    size,
    label: 'Issuing certificates to revoke',
    subject: `${size === 1 ? 'a certificate' : `${size} certificates`} with role ${options.role} to revoke`,
    usesBefore: size,
    revokes: true,
    mustStore: true,
  });
  const path = apiPath(fixture.basePath, target.mount, 'revoke');
  // Index of a request -> number of its certificate.
  const certificateOf = new Map(indexes.map((index, place) => [index, place]));
  return { ...fixture, path, serials: issued.map(({ serial }) => serial), certificateOf };
}

/** Maximum number of indexes to examine, 50 ns each: an operation with a tiny share of a mix has fewer certificates. */
const MAX_EXAMINED = 10_000_000;

/**
 * Gives each request a certificate of its own.
 * @param {LoadPlan} load
 * @param {{owns?: (index: number) => boolean, max: number}} options `owns`: which requests revoke; by default, all
 * @returns {number[]} ascending indexes of the first requests of this part of the plan
 */
export function ownIndexes(load, { owns = () => true, max }) {
  const { index: first, of: step } = load.shard ?? { index: 0, of: 1 };
  const end = Math.min(allRequests(load) ?? Number.POSITIVE_INFINITY, first + MAX_EXAMINED * step);
  const indexes = [];
  for (let index = first; index < end && indexes.length < max; index += step) {
    if (owns(index)) indexes.push(index);
  }
  return indexes;
}
