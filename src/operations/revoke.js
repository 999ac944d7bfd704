/** `revoke`: certificates that are issued before the run, each revoked once. */
import pLimit from 'p-limit';
import { usageError } from '../errors.js';
import { apiHeaders, apiPath, certificateParameters, expectedRequests, longestRunMs } from './issuance.js';
import { checkIssuance } from './issuance-check.js';
import { CALL_OUTCOMES, createJsonClassifier, prepareCalls } from './vault-call.js';

const GROUP = 'Revocation';

/** While they are issued. */
const AT_ONCE = 8;
const MOST = 100_000;

/** @type {Record<string, import('../options.js').OptionSpec>} */
const options = {
  role: {
    type: 'text',
    group: GROUP,
    placeholder: 'NAME',
    default: 'example-dot-com',
    describe: 'Role to issue the certificates with; it must store them',
  },
  cn: {
    type: 'text',
    group: GROUP,
    placeholder: 'NAME',
    default: 'localhost',
    describe: 'Their common name',
  },
  pool: {
    type: 'integer',
    group: GROUP,
    placeholder: 'N',
    min: 1,
    max: MOST,
    describe: 'Certificates to issue before the run',
    defaultText: 'as many as will be revoked, where that is known; else 1000',
  },
};

const DEFAULT_POOL = 1000;

const USED_UP =
  'There were more requests than certificates (--pool): the rest were about certificates that were revoked already.';

/** @typedef {import('./vault-call.js').CallFixture & {serials: string[]}} RevokeFixture */

/** @type {import('./index.js').Operation} */
export const operation = {
  name: 'revoke',
  describe: 'Revoke certificates that are issued before the run',
  things: 'revocations',
  examples: [
    "revoke --rate 5 --duration 1m --require 'p99<1s'",
    'revoke --role web --pool 5000 --concurrency 4',
  ],
  options,
  outcomes: Object.freeze({
    revoked: 'revoked, and Vault says when',
    revoked_again: 'it was revoked before: there were more requests than certificates',
    not_revoked: 'HTTP 2xx, but the answer does not say that it is revoked',
    ...CALL_OUTCOMES,
  }),
  async prepare(context) {
    const { plan, client, notice, progress, signal } = context;
    const { role, cn, pool } = plan.options;
    const size = pool ?? Math.min(MOST, expectedRequests(plan.load) ?? DEFAULT_POOL);
    const { role: fields } = await checkIssuance(context, {
      operation: 'issue',
      role,
      commonName: cn,
      requests: size,
      neededMs: longestRunMs(plan.load),
    });
    if (fields?.no_store === true) {
      throw usageError(
        'role_does_not_store',
        `The role ${role} stores no certificates (no_store), so they cannot be revoked by their serial numbers.`,
        'Name a role that stores them with --role.',
      );
    }
    const fixture = await prepareCalls(context);
    const asked = certificateParameters({ commonName: cn, altNames: [], ipSans: [], ttlMs: null });
    const limit = pLimit(AT_ONCE);
    let done = 0;
    const issueOne = async () => {
      if (signal.aborted) return '';
      const { data } = await client.write(`${plan.target.mount}/issue/${role}`, asked);
      progress('Issuing certificates to revoke', ++done, size);
      return String(data?.serial_number);
    };
    const serials = await Promise.all(Array.from({ length: size }, () => limit(issueOne)));
    notice(
      `Issued ${size} certificates with role ${role} to revoke; they stay in storage and, revoked, on the CRL.`,
    );
    return { ...fixture, headers: apiHeaders(context.token, plan.target.namespace), serials };
  },
  createRequester({ target: { mount } }, { basePath, headers, serials }) {
    const path = apiPath(basePath, mount, 'revoke');
    const requests = serials.map((/** @type {string} */ serial) => ({
      method: /** @type {const} */ ('POST'),
      path,
      headers,
      body: JSON.stringify({ serial_number: serial }),
    }));
    return (index) => requests[index % requests.length];
  },
  createClassifier(_plan, { serials }) {
    const isRevoked = (/** @type {Record<string, any>} */ { data }) =>
      data?.revocation_time > 0 ? null : 'not_revoked';
    const [first, again] = [
      createJsonClassifier('revoked', isRevoked),
      createJsonClassifier('revoked_again', isRevoked),
    ];
    let hasAgain = false;
    /** @type {import('../load/recording/recorder.js').Classify} */
    const classify = (status, body, index) => {
      if (index < serials.length) return first(status, body, index);
      hasAgain = true;
      return again(status, body, index);
    };
    classify.notes = () => (hasAgain ? [USED_UP] : []);
    return classify;
  },
};
