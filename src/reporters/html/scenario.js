/** The result of a scenario as a page: verdicts, then for each run its tables, and every repeat as a dot, target below target. */
import { formatDuration } from '../../units.js';
import { conclusions, doubtsOf } from '../comparison-phrases.js';
import { errorMeanings, errorTable } from '../scenario-errors.js';
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
} from '../scenario-tables.js';
import { escapeHtml } from './escape.js';
import { page } from './page.js';
import { details, facts, list, paragraph, section, table, verdictBadge } from './parts.js';
import { plotsOfRun } from './scenario-plots.js';

/** @typedef {import('../../results/scenario/scenario-schema.js').ScenarioResult} ScenarioResult */
/** @typedef {import('../../results/scenario/scenario-schema.js').ScenarioStep} ScenarioStep */
/** @typedef {import('../scenario-tables.js').CellTable} CellTable */
/** @typedef {import('../scenario-tables.js').TableRow} TableRow */

/** Whose cells are verdicts. */
const REQUIRED = 'required';

/**
 * @param {ScenarioResult} scenario
 * @returns {string} the file
 */
export function render(scenario) {
  const { name } = scenario;
  const runs = runsOf(scenario).map((run, i) => ofRun(scenario, run, `run-${i}`));
  const body = [
    judged(scenario),
    ...runs.map(({ html }) => html),
    section('How to read this', list(scenario.notes.map(escapeHtml))),
    environment(scenario),
  ];
  return page({
    title: name,
    heading: name,
    lead: lead(scenario),
    body: body.filter((html) => html !== '').join('\n'),
    data: { charts: Object.assign({}, ...runs.map(({ charts }) => charts)) },
    footer: `Written by vault-pki-load ${scenario.tool.version}.`,
  });
}

/** @param {ScenarioResult} scenario */
function lead({ description, interrupted, unfinished, warnings, rows }) {
  return [
    ...(description === null ? [] : [description]),
    ...(interrupted ? ['Interrupted: not all runs were made.'] : unfinished ? ['It still goes on.'] : []),
    ...warnings.map((warning) => `Warning: ${warning}`),
    ...(rows.some(({ counts }) => !counts) ? [NOT_COUNTED_NOTE] : []),
  ]
    .map((text) => paragraph(text))
    .join('\n');
}

/** @param {ScenarioResult} scenario */
function judged({ steps }) {
  const items = steps.flatMap((step) => [
    ...(step.failure === null
      ? []
      : [`${verdictBadge('failed')} ${escapeHtml(`${step.name}: ${step.failure.text}`)}`]),
    ...step.requirements.map(
      (requirement) =>
        `${verdictBadge(requirement.verdict)} ${escapeHtml(`${step.name}: ${requirementText(requirement, step)}`)}`,
    ),
    ...(step.measurement.verdict === null ? [] : [measurement(step)]),
  ]);
  return section('Requirements and measurements', list(items));
}

/** @param {ScenarioStep} step */
function measurement(step) {
  const { verdict, reasons } = step.measurement;
  const because = reasons.map(({ text, remedy }) => (remedy === undefined ? text : `${text} ${remedy}`));
  const text = `${step.name}: the measurement is ${measurementText(step)}`;
  return `${verdictBadge(String(verdict))} ${escapeHtml(text)}${because.map((one) => paragraph(one)).join('')}`;
}

/**
 * @param {ScenarioResult} scenario
 * @param {string} run
 * @param {string} id
 */
function ofRun(scenario, run, id) {
  const steps = scenario.steps.filter((step) => step.run === run);
  const several = hasTargets(scenario);
  const operations = [
    ...new Set(scenario.rows.filter((row) => row.run === run).map(({ operation }) => operation)),
  ];
  const differences = differenceTable(scenario, run);
  const plots = plotsOfRun(scenario, run, id);
  const html = [
    paragraph(`${stepPhrase(steps[0])}.`),
    list(steps.map((step) => escapeHtml(targetOfStep(step)))),
    drawn(
      several ? 'Target' : 'Operation',
      'Of all runs that count, together; response times',
      rowTable(scenario, run),
    ),
    errors(scenario, run),
    ...steps.map((step) => {
      const caption = several ? `Stage by stage, ${step.target}` : 'Stage by stage';
      return drawn('Stage', caption, stageTable(scenario, step));
    }),
    drawn('Target', `Difference of the means over runs to ${differences.base}`, differences),
    ...operations.map((operation) => overRuns(scenario, run, operation)),
    plots.html,
    ...scenario.comparisons.filter((one) => one.run === run).map(compared),
  ];
  return { html: section(run, html.filter((part) => part !== '').join('\n')), charts: plots.charts };
}

/**
 * @param {ScenarioResult} scenario
 * @param {string} run
 */
function errors(scenario, run) {
  const meanings = errorMeanings(scenario, run);
  const html = drawn(
    'Errors',
    'Errors of all runs that count, together; shares of all requests of the target that were due',
    errorTable(scenario, run),
  );
  return meanings.length === 0 ? html : `${html}\n${list(meanings.map(escapeHtml))}`;
}

/**
 * That of the whole is seen, those of the operations are a click away.
 *
 * @param {ScenarioResult} scenario
 * @param {string} run
 * @param {string | null} operation
 */
function overRuns(scenario, run, operation) {
  const caption = 'One value per run that counts';
  const cells = spreadTable(scenario, run, operation);
  if (operation === null || cells.rows.length === 0) return drawn('Of', caption, cells);
  return details(`Over runs, ${operation}`, drawn('Of', `${caption}, ${operation}`, cells));
}

/**
 * @param {string} heading
 * @param {string} caption
 * @param {CellTable} cells
 */
function drawn(heading, caption, { headings, rows }) {
  if (rows.length === 0) return '';
  const columns = [heading, ...headings.map((label) => ({ label, numeric: true }))];
  const body = rows.map(({ name, isInner, cells }) => [
    isInner ? `– ${name}` : name,
    ...cells.map((content, i) =>
      headings[i] === REQUIRED && content !== '–' ? { html: verdictBadge(content) } : content,
    ),
  ]);
  return table({ caption, columns, rows: body });
}

/** @param {ScenarioResult['comparisons'][number]} one */
function compared(one) {
  const { comparison } = one;
  const { groups, warnings, notes } = comparison;
  const pairs = groups.slice(1).map(({ name }, i) => {
    const said = conclusions(comparison, i + 1).map(
      ({ verdict, text }) => `${verdictBadge(verdict)} ${escapeHtml(text)}`,
    );
    const doubts = doubtsOf(comparison, i + 1).map((doubt) => paragraph(doubt));
    return `<h3>${escapeHtml(`${comparisonName(one)}: ${name} beside ${groups[0].name}`)}</h3>\n${list(said)}${doubts.join('\n')}`;
  });
  return [
    ...pairs.map((html) => `<div class="pair">\n${html}\n</div>`),
    ...warnings.map((warning) => paragraph(`Warning: ${warning}`)),
    details(`How ${comparisonName(one)} is compared`, list(notes.map(escapeHtml))),
  ].join('\n');
}

/** @param {ScenarioResult} scenario */
function environment({ command, startedAt, durationSeconds, environment: where }) {
  return section(
    'Plan and environment',
    facts([
      ['Command', command],
      ['Started', startedAt],
      ['Wall time', formatDuration(durationSeconds * 1000)],
      ...(where === null
        ? []
        : [
            /** @type {[string, string]} */ ([
              'Machine',
              `${where.platform}, ${where.cpus} cores, Node ${where.node}`,
            ]),
          ]),
    ]),
  );
}
