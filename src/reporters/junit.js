/**
 * A run as JUnit XML: each requirement is a test case, and so is the measurement. What is required of one operation, or of one
 * stage, is in a suite of that name.
 *
 * - not met: a failure, as the condition is false.
 * - not proven: an error, as the test could not tell: too few requests, or an invalid measurement. Both break a build,
 *   as both end the program with 99, but a reader sees that the one says something of the target and the other does not.
 * - the measurement is invalid: a failure of the test case that says that it can be believed. A suspect one passes, as it
 *   does on the command line, with its reasons as output.
 * - interrupted or unfinished: an error of a test case of its own; what is here was measured until then.
 */
import { junitXml } from './junit-xml.js';
import { errorsPhrase, planPhrase, ratePhrase, statePhrase, targetPhrase, timeText } from './phrases.js';
import { render as renderText } from './terminal.js';

/** @typedef {import('../results/schema.js').Result} Result */
/** @typedef {import('./junit-xml.js').Case} Case */

/**
 * @param {Result} result
 * @returns {string} ends with a newline
 */
export function render(result) {
  return junitXml(suitesOfRun(result));
}

/**
 * @param {Result} result
 * @param {string} [run] its name, where there are several
 * @returns {import('./junit-xml.js').Suite[]} of the whole, then of each operation and stage that something is required of
 */
export function suitesOfRun(result, run) {
  const whole = suiteOfRun(result, run);
  const scopes = new Map(
    result.requirements.filter(isScoped).map(({ operation, stage }) => {
      const words = [
        ...(operation === undefined ? [] : ['operation', operation]),
        ...(stage === undefined ? [] : ['stage', stage]),
      ];
      return [JSON.stringify([operation, stage]), { operation, stage, words }];
    }),
  );
  const scoped = [...scopes.values()].map(({ operation, stage, words }) => ({
    ...whole,
    name: [whole.name, ...words].join(' '),
    classname: [whole.classname, ...words].join('.'),
    // The time is the whole's.
    seconds: 0,
    properties: [],
    cases: result.requirements
      .filter((one) => isScoped(one) && one.operation === operation && one.stage === stage)
      .map(requirementCase),
    output: '',
  }));
  return [whole, ...scoped];
}

/** @param {Result['requirements'][number]} requirement */
function isScoped({ operation, stage }) {
  return operation !== undefined || stage !== undefined;
}

/**
 * @param {Result} result
 * @param {string} [run] its name, where there are several
 * @returns {import('./junit-xml.js').Suite} of the whole
 */
function suiteOfRun(result, run) {
  const operations = Object.keys(result.operations).join('+');
  return {
    name: ['vault-pki-load', operations, ...(run === undefined ? [] : [run])].join(' '),
    classname: ['vault-pki-load', operations, ...(run === undefined ? [] : [run])].join('.'),
    seconds: result.durationSeconds,
    startedAt: result.startedAt,
    properties: properties(result),
    cases: [
      ...result.requirements.filter((one) => !isScoped(one)).map(requirementCase),
      ...measurementCase(result),
      ...runCase(result),
    ],
    output: renderText(result),
  };
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
