/** Verdicts as lines of a terminal: requirements and the measurement, in colour where there is any. */
import { styleText } from 'node:util';
import { labelled } from './layout.js';

/** @type {Record<string, 'green' | 'yellow' | 'red'>} */
const COLOURS = {
  met: 'green',
  valid: 'green',
  'not proven': 'yellow',
  suspect: 'yellow',
  'not met': 'red',
  invalid: 'red',
};

/**
 * @param {string} label what stands in the first column: the verdict, or what has it
 * @param {string} text
 * @param {string} verdict that stands in one of them
 * @param {boolean} color
 * @returns {string[]}
 */
export function verdictLines(label, text, verdict, color) {
  const [first, ...more] = labelled(label, text);
  const painted = color
    ? first.replace(verdict, styleText(COLOURS[verdict], verdict, { validateStream: false }))
    : first;
  return [painted, ...more];
}

/**
 * @param {{text: string, verdict: string, reason: string}[]} requirements
 * @param {boolean} color
 * @returns {string[]}
 */
export function requirementLines(requirements, color) {
  return requirements.flatMap(({ text, verdict, reason }) => [
    ...verdictLines(verdict, text, verdict, color),
    ...labelled('', reason),
  ]);
}
