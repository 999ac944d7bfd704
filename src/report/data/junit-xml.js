/** Test suites -> JUnit XML as Jenkins takes it (xunit-plugin, junit-10.xsd). */
import { clean } from '../layout.js';

/** @typedef {{kind: 'failure' | 'error', type: string, message: string}} Problem */
/** @typedef {{name: string, problem: Problem | null, output: string}} Case */
/**
 * @typedef {object} Suite
 * @property {string} name
 * @property {string} classname of its cases: what build servers sort them by
 * @property {number} [seconds]
 * @property {string} [startedAt] ISO 8601
 * @property {[string, string][]} properties
 * @property {Case[]} cases
 * @property {string} output lines
 */

/** What XML 1.0 cannot hold, not even as a character reference. https://www.w3.org/TR/xml/#charsets */
const ILLEGAL = /[^\t\n\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** @type {Record<string, string>} */
const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

/** @param {Suite[]} suites @returns {string} ends with a newline */
export function junitXml(suites) {
  const seconds = suites.flatMap((suite) => suite.seconds ?? []);
  const sums = sumsOf(
    suites.flatMap(({ cases }) => cases),
    seconds.length === 0 ? undefined : seconds.reduce((sum, one) => sum + one, 0),
  );
  return `${[
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${attributes({ name: 'vault-pki-load', ...sums })}>`,
    ...suites.flatMap(suiteLines),
    '</testsuites>',
  ].join('\n')}\n`;
}

/** @param {Case[]} cases @param {number} [seconds] @returns {Record<string, string>} */
function sumsOf(cases, seconds) {
  const count = (/** @type {Problem['kind']} */ kind) =>
    cases.filter(({ problem }) => problem?.kind === kind).length;
  return {
    tests: String(cases.length),
    failures: String(count('failure')),
    errors: String(count('error')),
    ...(seconds === undefined ? {} : { time: seconds.toFixed(3) }),
  };
}

/** @param {Suite} suite */
function suiteLines({ name, classname, seconds, startedAt, properties, cases, output }) {
  const own = { name, ...sumsOf(cases, seconds), skipped: '0' };
  const dated = startedAt === undefined ? own : { ...own, timestamp: startedAt.slice(0, 19) };
  return [
    `  <testsuite ${attributes(dated)}>`,
    '    <properties>',
    ...properties.map(([key, value]) => `      <property ${attributes({ name: key, value })}/>`),
    '    </properties>',
    ...cases.flatMap((one) => caseLines(one, classname)),
    `    <system-out>${xmlText(output.split('\n').map(clean).join('\n'))}</system-out>`,
    '  </testsuite>',
  ];
}

/** @param {Case} one @param {string} classname */
function caseLines({ name, problem, output }, classname) {
  const start = `    <testcase ${attributes({ name, classname })}`;
  if (problem === null && output === '') return [`${start}/>`];
  if (problem === null)
    return [`${start}>`, `      <system-out>${xmlText(clean(output))}</system-out>`, '    </testcase>'];
  const { kind, type, message } = problem;
  const text = xmlText(clean(`${name}: ${type}. ${message}`));
  return [
    `${start}>`,
    `      <${kind} ${attributes({ message, type })}>${text}</${kind}>`,
    '    </testcase>',
  ];
}

/** @param {Record<string, string>} values */
function attributes(values) {
  return Object.entries(values)
    .map(([name, value]) => `${name}="${xmlText(clean(value))}"`)
    .join(' ');
}

/**
 * @param {string} text
 * @returns {string} for the text of an element, and, without line breaks, for the value of an attribute
 */
function xmlText(text) {
  return text.replace(ILLEGAL, '?').replace(/[&<>"']/g, (character) => ENTITIES[character]);
}
