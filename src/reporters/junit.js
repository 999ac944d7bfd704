/**
 * JUnit XML as Jenkins takes it (xunit-plugin, junit-10.xsd): each requirement is a test case, and so is the measurement.
 *
 * - not met: a failure, as the condition is false.
 * - not proven: an error, as the test could not tell: too few requests, or an invalid measurement. Both break a build,
 *   as both end the program with 99, but a reader sees that the one says something of the target and the other does not.
 * - the measurement is invalid: a failure of the test case that says that it can be believed. A suspect one passes, as it
 *   does on the command line, with its reasons as output.
 * - interrupted or unfinished: an error of a test case of its own; what is here was measured until then.
 */
import { clean } from './layout.js';
import { errorsPhrase, planPhrase, ratePhrase, statePhrase, targetPhrase, timeText } from './phrases.js';
import { render as renderText } from './terminal.js';

/** @typedef {import('../results/schema.js').Result} Result */
/** @typedef {{kind: 'failure' | 'error', type: string, message: string}} Problem */
/** @typedef {{name: string, problem: Problem | null, output: string}} Case */

/** What XML 1.0 cannot hold, not even as a character reference. https://www.w3.org/TR/xml/#charsets */
const ILLEGAL = /[^\t\n\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** @type {Record<string, string>} */
const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

/**
 * @param {Result} result
 * @returns {string} ends with a newline
 */
export function render(result) {
  const cases = [...result.requirements.map(requirementCase), ...measurementCase(result), ...runCase(result)];
  const count = (/** @type {Problem['kind']} */ kind) =>
    cases.filter(({ problem }) => problem?.kind === kind).length;
  const sums = {
    tests: String(cases.length),
    failures: String(count('failure')),
    errors: String(count('error')),
    time: result.durationSeconds.toFixed(3),
  };
  const operations = Object.keys(result.operations).join('+');
  const suite = {
    name: `vault-pki-load ${operations}`,
    ...sums,
    skipped: '0',
    timestamp: result.startedAt.slice(0, 19),
  };
  return `${[
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${attributes({ name: 'vault-pki-load', ...sums })}>`,
    `  <testsuite ${attributes(suite)}>`,
    '    <properties>',
    ...properties(result).map(([name, value]) => `      <property ${attributes({ name, value })}/>`),
    '    </properties>',
    ...cases.flatMap((one) => testcase(one, `vault-pki-load.${operations}`)),
    `    <system-out>${xmlText(renderText(result))}</system-out>`,
    '  </testsuite>',
    '</testsuites>',
  ].join('\n')}\n`;
}

/**
 * @param {Result['requirements'][number]} requirement
 * @returns {Case}
 */
function requirementCase({ text, verdict, reason }) {
  if (verdict === 'met') return { name: text, problem: null, output: reason };
  const kind = verdict === 'not met' ? 'failure' : 'error';
  return { name: text, problem: { kind, type: verdict, message: reason }, output: '' };
}

/**
 * @param {Result} result
 * @returns {Case[]} none while it cannot be judged
 */
function measurementCase({ measurement: { verdict, reasons }, unfinished }) {
  if (unfinished) return [];
  const because = reasons.map(({ text, remedy }) => (remedy === undefined ? text : `${text} ${remedy}`));
  const message = because.join(' ');
  const name = 'the measurement can be believed';
  if (verdict !== 'invalid')
    return [{ name, problem: null, output: verdict === 'valid' ? '' : `${verdict}: ${message}` }];
  return [{ name, problem: { kind: 'failure', type: verdict, message }, output: '' }];
}

/**
 * @param {Result} result
 * @returns {Case[]} none of a whole run
 */
function runCase(result) {
  const message = statePhrase(result);
  if (message === '') return [];
  const type = result.unfinished ? 'unfinished' : 'interrupted';
  return [{ name: 'the run is whole', problem: { kind: 'error', type, message }, output: '' }];
}

/**
 * @param {Case} one
 * @param {string} classname
 * @returns {string[]} lines
 */
function testcase({ name, problem, output }, classname) {
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

/**
 * @param {Result} result
 * @returns {[string, string][]}
 */
function properties(result) {
  const { tool, command, target, measurement, latencyMs, unfinished } = result;
  return [
    ['tool.version', tool.version],
    ['command', command],
    ['target', targetPhrase(target)],
    ['load', planPhrase(result)],
    ['rate', ratePhrase(result)],
    ['errors', errorsPhrase(result)],
    ['response.p50', timeText(latencyMs.response.p50)],
    ['response.p99', timeText(latencyMs.response.p99)],
    ['response.max', timeText(latencyMs.response.max)],
    ['measurement', unfinished ? 'not judged yet' : measurement.verdict],
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
