/**
 * The result of a scenario as plain text, 80 columns: what was required and whether it can be believed, then for each run the
 * table that test authors publish, its errors by kind, its stages, its figures over runs, and how its targets differ.
 */
import { formatDuration } from '../units.js';
import { conclusions, doubtsOf } from './comparison-phrases.js';
import { labelled, table, wrap } from './layout.js';
import { errorMeanings, errorTable } from './scenario-errors.js';
import {
  comparisonName,
  differenceTable,
  FEW_DIFFERENCES,
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
import { verdictLines } from './verdict-lines.js';

/** @typedef {import('../results/scenario/scenario-schema.js').ScenarioResult} ScenarioResult */
/** @typedef {import('../results/scenario/scenario-schema.js').ScenarioStep} ScenarioStep */
/** @typedef {import('./scenario-tables.js').CellTable} CellTable */

/** Beside the verdicts of comparisons, which are longer than other labels. */
const VERDICT_INDENT = 23;

/**
 * @param {ScenarioResult} scenario
 * @param {{color?: boolean}} [options]
 * @returns {string} ends with a newline
 */
export function render(scenario, { color = false } = {}) {
  const { name, description, steps, interrupted, unfinished, durationSeconds } = scenario;
  const state = interrupted ? 'Interrupted: not all runs were made.' : unfinished ? 'It still goes on.' : '';
  const sections = [
    [...wrap(name), ...(description === null ? [] : wrap(description)), ...(state === '' ? [] : wrap(state))],
    steps.flatMap((step) => judged(step, color)),
    ...runsOf(scenario).flatMap((run) => ofRun(scenario, run)),
    scenario.rows.some(({ counts }) => !counts) ? wrap(NOT_COUNTED_NOTE) : [],
    scenario.warnings.flatMap((warning) => labelled('Warning', warning)),
    [
      ...scenario.notes.flatMap((note) => labelled('Note', note)),
      ...labelled('Wall time', formatDuration(durationSeconds * 1000)),
    ],
  ];
  const filled = sections.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/**
 * @param {ScenarioStep} step
 * @param {boolean} color
 */
function judged(step, color) {
  const { verdict, reasons } = step.measurement;
  const lines = [
    ...(step.failure === null ? [] : labelled('Failed', `${step.name}: ${step.failure.text}`)),
    ...step.requirements.flatMap((requirement) =>
      verdictLines(
        requirement.verdict,
        `${step.name}: ${requirementText(requirement, step)}`,
        requirement.verdict,
        color,
      ),
    ),
  ];
  if (verdict === null || verdict === 'valid') return lines;
  const because = reasons.flatMap(({ text }) => labelled('', text));
  return [
    ...lines,
    ...verdictLines(verdict, `${step.name}: the measurement is ${measurementText(step)}`, verdict, color),
    ...because,
  ];
}

/**
 * @param {ScenarioResult} scenario
 * @param {string} run
 * @returns {string[][]} sections
 */
function ofRun(scenario, run) {
  const steps = scenario.steps.filter((step) => step.run === run);
  const stages = steps.map((step) => ({ step, cells: stageTable(scenario, step, false) }));
  const spreads = spreadTable(scenario, run, null);
  const differences = differenceTable(scenario, run, FEW_DIFFERENCES);
  return [
    [
      ...labelled('Run', `${run}: ${stepPhrase(steps[0])}`),
      ...steps.flatMap((step, i) => labelled(i === 0 ? 'On' : '', targetOfStep(step))),
    ],
    drawn(hasTargets(scenario) ? 'Target' : 'Operation', rowTable(scenario, run)),
    [
      ...drawn('Errors', errorTable(scenario, run)),
      ...errorMeanings(scenario, run).flatMap((meaning) => labelled('', meaning)),
    ],
    ...stages.map(({ step, cells }) =>
      drawn(hasTargets(scenario) ? `Stages, ${step.target}` : 'Stages', cells),
    ),
    drawn('Over runs', spreads),
    drawn(`Beside ${differences.base}`, differences),
    ...scenario.comparisons.filter((one) => one.run === run).map(compared),
  ];
}

/**
 * @param {string} heading
 * @param {CellTable} cells
 */
function drawn(heading, { headings, rows }) {
  if (rows.length === 0) return [];
  return table([
    [heading, ...headings],
    ...rows.map(({ name, isInner, cells }) => [isInner ? `  ${name}` : name, ...cells]),
  ]);
}

/** @param {ScenarioResult['comparisons'][number]} one */
function compared(one) {
  const { comparison } = one;
  const { groups } = comparison;
  return [
    ...wrap(
      `${comparisonName(one)}: beside ${groups[0].name}, by the ranks of the runs (p < ${comparison.method.alpha})`,
    ),
    ...groups
      .slice(1)
      .flatMap(({ name }, i) => [
        ...conclusions(comparison, i + 1).flatMap(({ verdict, text }, at) => [
          ...(at === 0 ? wrap(name) : []),
          ...labelled(`  ${verdict}`, text, VERDICT_INDENT),
        ]),
        ...doubtsOf(comparison, i + 1).flatMap((doubt) => labelled('', doubt, VERDICT_INDENT)),
      ]),
    ...comparison.warnings.flatMap((warning) => labelled('Warning', warning)),
  ];
}
