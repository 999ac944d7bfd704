/** The result of a scenario as JUnit XML: each step is a suite, with each of its requirements and its measurement as test cases. */
import { junitXml } from './junit-xml.js';
import { counted } from './phrases.js';
import { measurementText, requirementText, stepPhrase, targetOfStep } from './scenario-tables.js';
import { render as renderText } from './scenario-text.js';

/** @typedef {import('../results/scenario/scenario-schema.js').ScenarioResult} ScenarioResult */
/** @typedef {import('../results/scenario/scenario-schema.js').ScenarioStep} ScenarioStep */
/** @typedef {import('./junit-xml.js').Case} Case */

/**
 * @param {ScenarioResult} scenario
 * @returns {string} ends with a newline
 */
export function render(scenario) {
  const { steps, tool, command, name } = scenario;
  return junitXml(
    steps.map((step, i) => ({
      name: step.name,
      classname: `vault-pki-load.${name.replaceAll('.', ' ')}.${step.name.replaceAll('.', ' ')}`,
      ...(step.runs.length === 0 ? {} : { startedAt: step.runs[0].startedAt }),
      properties: [
        ['tool.version', tool.version],
        ['command', command],
        ['target', targetOfStep(step)],
        ['load', stepPhrase(step)],
      ],
      cases: [
        ...step.requirements.map((requirement) => requirementCase(requirement, step)),
        ...madeCase(step),
        ...measurementCase(step),
      ],
      output: i === 0 ? renderText(scenario) : '',
    })),
  );
}

/**
 * @param {ScenarioStep['requirements'][number]} requirement
 * @param {ScenarioStep} step
 * @returns {Case}
 */
function requirementCase(requirement, step) {
  const { text, verdict } = requirement;
  const message = requirementText(requirement, step);
  if (verdict === 'met') return { name: text, problem: null, output: message };
  const kind = verdict === 'not met' ? 'failure' : 'error';
  return { name: text, problem: { kind, type: verdict, message }, output: '' };
}

/**
 * What was not made passes nothing, nor does it hide what the runs before it have shown.
 *
 * @param {ScenarioStep} step
 * @returns {Case[]} none where all runs were made
 */
function madeCase({ failure, runs, repeat }) {
  if (failure === null && runs.length >= repeat) return [];
  const made = `${runs.length} of ${counted(repeat, 'run')} made.`;
  const problem = /** @type {const} */ ({
    kind: 'error',
    type: failure === null ? 'interrupted' : 'failed',
    message: failure === null ? made : failure.text,
  });
  return [{ name: 'all runs were made', problem, output: '' }];
}

/** @param {ScenarioStep} step @returns {Case[]} none where it failed before there was any */
function measurementCase(step) {
  const { verdict, reasons } = step.measurement;
  if (verdict === null && step.failure !== null) return [];
  const name = 'the measurement can be believed';
  const because = reasons.map(({ text, remedy }) => (remedy === undefined ? text : `${text} ${remedy}`));
  const message = [`${measurementText(step)}.`, ...because].join(' ');
  if (verdict === 'invalid' || verdict === null) {
    const type = verdict ?? 'not measured';
    return [{ name, problem: { kind: verdict === null ? 'error' : 'failure', type, message }, output: '' }];
  }
  return [{ name, problem: null, output: verdict === 'valid' ? '' : message }];
}
