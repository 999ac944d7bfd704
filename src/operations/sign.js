/** `sign`: CSRs made beforehand, sent to `sign/<role>`: what `issue --sign` does, as an operation of its own for mixes. */
import { operation as issue } from './issue.js';

/** @import { Plan } from '../plan/plan.js' */
/** @import { Operation } from './index.js' */

const { sign: _sign, ...options } = issue.options;

/** @param {Plan} plan @returns {Plan} as `issue --sign` would have it */
function asIssue(plan) {
  return { ...plan, options: { ...plan.options, sign: true } };
}

/** @param {string} text */
function capitalized(text) {
  return text[0].toUpperCase() + text.slice(1);
}

/** @type {Operation} */
export const operation = {
  ...issue,
  name: 'sign',
  examples: [
    'sign --dev --duration 10s',
    "sign --key-type ec-256 --pool 200 --cn 'host-{random}.example.com' --rate 50 --duration 1m",
  ],
  options: Object.fromEntries(
    Object.entries(options).map(([name, spec]) => [
      name,
      {
        ...spec,
        describe: capitalized(
          spec.describe
            .replace(/^With --sign: /, '')
            .replace('request number (with --sign: CSR number)', 'CSR number'),
        ),
      },
    ]),
  ),
  check: (given, common) => issue.check?.({ ...given, sign: true }, common),
  prepare: (context) => issue.prepare({ ...context, plan: asIssue(context.plan) }),
  createRequester: (plan, fixture) => issue.createRequester(asIssue(plan), fixture),
  createClassifier: (plan, fixture) => issue.createClassifier(asIssue(plan), fixture),
};
