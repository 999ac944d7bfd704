/** The result of a scenario as Markdown: verdicts first, then for each run its tables. */
import { formatDuration } from '../units.js';
import { conclusions, doubtsOf } from './comparison-phrases.js';
import { bullets, markdownTable, paragraphs, plain } from './markdown-tables.js';
import { errorMeanings, errorTable } from './scenario-errors.js';
import {
  comparisonName,
  differenceTable,
  hasTargets,
  measurementText,
  NOT_COUNTED_NOTE,
  requirementText,
  rowTable,
  runsOf,
  spreadTable,
  stageTable,
  stepPhrase,
  targetOfStep,
} from './scenario-tables.js';

/** @typedef {import('../results/scenario/scenario-schema.js').ScenarioResult} ScenarioResult */
/** @typedef {import('../results/scenario/scenario-schema.js').ScenarioStep} ScenarioStep */
/** @typedef {import('./scenario-tables.js').CellTable} CellTable */

/**
 * @param {ScenarioResult} scenario
 * @returns {string} ends with a newline
 */
export function render(scenario) {
  const { name, description, steps, interrupted, unfinished } = scenario;
  return paragraphs([
    `## ${plain(name)}`,
    description === null ? '' : plain(description),
    interrupted ? '**Interrupted: not all runs were made.**' : unfinished ? '**It still goes on.**' : '',
    bullets(steps.flatMap(judged)),
    ...runsOf(scenario).flatMap((run) => ofRun(scenario, run)),
    scenario.rows.some(({ counts }) => !counts) ? plain(NOT_COUNTED_NOTE) : '',
    bullets(scenario.warnings.map((warning) => `**Warning:** ${plain(warning)}`)),
    bullets(scenario.notes.map((note) => plain(note))),
    plain(footer(scenario)),
  ]);
}

/** @param {ScenarioStep} step @returns {string[]} items */
function judged(step) {
  const { verdict, reasons } = step.measurement;
  const name = plain(step.name);
  return [
    ...(step.failure === null ? [] : [`**failed** ${name}: ${plain(step.failure.text)}`]),
    ...step.requirements.map(
      (requirement) => `**${requirement.verdict}** ${name}: ${plain(requirementText(requirement, step))}`,
    ),
    ...(verdict === null || verdict === 'valid'
      ? []
      : [
          `**${verdict}** ${name}: the measurement is ${plain(measurementText(step))}. ${plain(reasons.map(({ text }) => text).join(' '))}`,
        ]),
  ];
}

/**
 * @param {ScenarioResult} scenario
 * @param {string} run
 * @returns {string[]} paragraphs and tables
 */
function ofRun(scenario, run) {
  const steps = scenario.steps.filter((step) => step.run === run);
  const operations = [
    ...new Set(scenario.rows.filter((row) => row.run === run).map(({ operation }) => operation)),
  ];
  const differences = differenceTable(scenario, run);
  return [
    `### ${plain(run)}`,
    `${plain(stepPhrase(steps[0]))}.`,
    bullets(steps.map((step) => plain(targetOfStep(step)))),
    drawn(hasTargets(scenario) ? 'Target' : 'Operation', rowTable(scenario, run)),
    drawn('Errors', errorTable(scenario, run)),
    bullets(errorMeanings(scenario, run).map(plain)),
    ...steps.map((step) =>
      drawn(hasTargets(scenario) ? `Stages, ${step.target}` : 'Stages', stageTable(scenario, step)),
    ),
    ...operations.map((operation) =>
      drawn(
        operation === null ? 'Over runs' : `Over runs, ${operation}`,
        spreadTable(scenario, run, operation),
      ),
    ),
    drawn(`Beside ${differences.base}`, differences),
    ...scenario.comparisons.filter((one) => one.run === run).flatMap(compared),
  ];
}

/**
 * @param {string} heading
 * @param {CellTable} cells
 */
function drawn(heading, { headings, rows }) {
  if (rows.length === 0) return '';
  return markdownTable(
    [heading, ...headings],
    rows.map(({ name, isInner, cells }) => [isInner ? `– ${plain(name)}` : plain(name), ...cells.map(plain)]),
  );
}

/** @param {ScenarioResult['comparisons'][number]} one @returns {string[]} */
function compared(one) {
  const { comparison } = one;
  const { groups, method, warnings } = comparison;
  return groups
    .slice(1)
    .flatMap(({ name }, i) => [
      `${plain(comparisonName(one))}: ${plain(name)} beside ${plain(groups[0].name)}, by the ranks of the runs (p < ${method.alpha}):`,
      bullets([
        ...conclusions(comparison, i + 1).map(({ verdict, text }) => `**${plain(verdict)}** ${plain(text)}`),
        ...doubtsOf(comparison, i + 1).map(plain),
        ...(i === 0 ? warnings.map((warning) => `**Warning:** ${plain(warning)}`) : []),
      ]),
    ]);
}

/** @param {ScenarioResult} scenario */
function footer({ tool, startedAt, durationSeconds, environment }) {
  const where =
    environment === null
      ? ''
      : `, Node ${environment.node} on ${environment.platform}, ${environment.cpus} cores`;
  return `vault-pki-load ${tool.version}, started ${startedAt}, ${formatDuration(durationSeconds * 1000)}${where}.`;
}
