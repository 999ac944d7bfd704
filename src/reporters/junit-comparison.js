/**
 * A comparison as JUnit XML: each rule of `--fail-if` is a test case.
 *
 * - failed: a failure, as what must not be is shown.
 * - not proven: an error, as these runs could not have shown it. Both end the program with 99.
 */
import { render as renderText } from './comparison-text.js';
import { junitXml } from './junit-xml.js';

/** @typedef {import('../results/comparison/comparison-schema.js').Comparison} Comparison */

/**
 * @param {Comparison} comparison
 * @returns {string} ends with a newline
 */
export function render(comparison) {
  const { tool, command, createdAt, groups, failIf } = comparison;
  return junitXml([
    {
      name: 'vault-pki-load compare',
      classname: 'vault-pki-load.compare',
      ...(createdAt === null ? {} : { startedAt: createdAt }),
      properties: [
        ['tool.version', tool.version],
        ...(command === null ? [] : [/** @type {[string, string]} */ (['command', command])]),
        ...groups.map(({ name }, i) => /** @type {[string, string]} */ ([i === 0 ? 'base' : 'with', name])),
      ],
      cases: failIf.map(ruleCase),
      output: renderText(comparison),
    },
  ]);
}

/**
 * @param {Comparison['failIf'][number]} rule
 * @returns {import('./junit-xml.js').Case}
 */
function ruleCase({ text, verdict, reason }) {
  if (verdict === 'passed') return { name: text, problem: null, output: reason };
  const kind = verdict === 'failed' ? 'failure' : 'error';
  return { name: text, problem: { kind, type: verdict, message: reason }, output: '' };
}
