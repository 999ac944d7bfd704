/** How long revocations took to be seen, as JUnit XML: each requirement is a test case, and the measurement itself. */
import { junitXml } from './junit-xml.js';
import { targetPhrase, timeText } from './phrases.js';
import { interruptedPhrase } from './propagation-phrases.js';
import { render as renderText } from './propagation-text.js';

/** @typedef {import('../results/propagation/propagation-schema.js').Propagation} Propagation */
/** @typedef {import('./junit-xml.js').Case} Case */

/**
 * @param {Propagation} found
 * @returns {string} ends with a newline
 */
export function render(found) {
  const { tool, command, target, everywhere, measurement } = found;
  return junitXml([
    {
      name: 'vault-pki-load propagation',
      classname: 'vault-pki-load.propagation',
      seconds: found.durationSeconds,
      startedAt: found.startedAt,
      properties: [
        ['tool.version', tool.version],
        ['command', command],
        ['target', targetPhrase(target)],
        ['upper.p50', timeText(everywhere.sinceAnswered.upper.p50)],
        ['upper.p99', timeText(everywhere.sinceAnswered.upper.p99)],
        ['upper.max', timeText(everywhere.sinceAnswered.upper.max)],
        ['measurement', measurement.verdict],
      ],
      cases: [...found.requirements.map(requirementCase), measurementCase(found), ...wholeCase(found)],
      output: renderText(found),
    },
  ]);
}

/** @param {Propagation['requirements'][number]} requirement @returns {Case} */
function requirementCase({ text, verdict, reason }) {
  if (verdict === 'met') return { name: text, problem: null, output: reason };
  const kind = verdict === 'not met' ? 'failure' : 'error';
  return { name: text, problem: { kind, type: verdict, message: reason }, output: '' };
}

/** @param {Propagation} found @returns {Case} */
function measurementCase({ measurement: { verdict, reasons } }) {
  const name = 'the measurement can be believed';
  const message = reasons
    .map(({ text, remedy }) => (remedy === undefined ? text : `${text} ${remedy}`))
    .join(' ');
  if (verdict === 'invalid')
    return { name, problem: { kind: 'failure', type: verdict, message }, output: '' };
  return { name, problem: null, output: verdict === 'valid' ? '' : `${verdict}: ${message}` };
}

/** @param {Propagation} found @returns {Case[]} none where it is whole */
function wholeCase(found) {
  const message = interruptedPhrase(found);
  if (message === '') return [];
  return [{ name: 'it is whole', problem: { kind: 'error', type: 'interrupted', message }, output: '' }];
}
