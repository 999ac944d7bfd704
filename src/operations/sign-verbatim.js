/** `sign-verbatim`: CSRs made beforehand, sent to `sign-verbatim`, where no role applies: Vault certifies the CSR as it is. */
import { expectedRequests } from '../plan/expected.js';
import { checkPermission, describeFootprint } from '../vault/check-role.js';
import { checkIssuer, checkMount } from '../vault/check-target.js';
import { operation as issue } from './issue.js';
import { createSerialMemory, openKeepFile } from './issue-parts.js';
import { makeCsrs } from './issue-prepare.js';
import { prepareCalls } from './prepare.js';
import { apiPath } from './request-parts.js';
import { operation as sign } from './sign.js';

/** @import { Plan } from '../plan/plan.js' */
/** @import { Operation } from './index.js' */

const { role: _role, 'ip-sans': _ipSans, ...options } = sign.options;

/** @param {Plan} plan @returns {Plan} as `issue --sign` would have it; addresses are not in these CSRs */
function asIssue(plan) {
  return { ...plan, options: { ...plan.options, sign: true, ipSans: [] } };
}

/** @type {Operation} */
export const operation = {
  ...issue,
  name: 'sign-verbatim',
  examples: [
    'sign-verbatim --dev --duration 10s',
    "sign-verbatim --key-type ec-256 --pool 200 --cn 'host-{n}.example.com' --rate 50 --duration 1m",
  ],
  options: Object.fromEntries(
    Object.entries(options).map(([name, spec]) => [
      name,
      {
        ...spec,
        ...(name === 'key-type' ? { default: 'ec-256', defaultText: undefined } : {}),
      },
    ]),
  ),
  leaves: () => 'certificates in storage until it is tidied',
  check: undefined,
  async prepare(context) {
    const { client, plan, notice, owns } = context;
    const { mount } = plan.target;
    if (plan.options.keep !== null) openKeepFile(plan.options.keep).close();
    const fixture = await prepareCalls(context);
    await checkMount(client, mount);
    await checkIssuer(client, mount);
    await checkPermission(client, `${mount}/sign-verbatim`);
    if (!plan.dev) {
      const count = expectedRequests(plan.load, owns);
      describeFootprint({ role: {}, count, mount }).forEach(notice);
      notice('No role limits what sign-verbatim certifies: what the CSR asks for is in the certificate.');
    }
    return {
      ...fixture,
      path: apiPath(fixture.basePath, mount, 'sign-verbatim'),
      serials: createSerialMemory(),
      csrs: await makeCsrs({ ...context, plan: asIssue(plan) }, null),
    };
  },
  createRequester: (plan, fixture) => issue.createRequester(asIssue(plan), fixture),
  createClassifier: (plan, fixture) => issue.createClassifier(asIssue(plan), fixture),
};
