/** The result of a scenario as a report: its verdicts, a row a run, then each run. */
import { formatDuration } from '../../common/units.js';
import { facts, notes, report, section, sentence, verdicts, worstVerdict } from '../sections.js';
import { conclusions, doubtsOf, finding } from './differences.js';
import { requirementItem } from './result.js';
import { runsChart, verdictCounts } from './runs.js';
import {
  differenceTable,
  errorTable,
  NOT_COUNTED,
  operationTable,
  overview,
  SPREAD_METRICS,
  spreadTables,
  stageTable,
} from './scenario-tables.js';
import { counted, loadPhrase, targetPhrase, titled } from './words.js';

/** @import { ScenarioResult, ScenarioStep } from '../../result/scenario/scenario-schema.js' */
/** @import { Part, Report, Verdicts } from '../sections.js' */

/** @typedef {Verdicts['items'][number]} VerdictItem */

/** The worst first. */
const VERDICTS = Object.freeze(['failed', 'invalid', 'not met', 'not proven', 'met']);

/** With more verdicts, the answer has one line per step for its met requirements, and the section of the run lists them. */
const MAX_VERDICTS = 10;

/** @param {ScenarioResult} scenario @returns {Report} */
export function describeScenario(scenario) {
  const { name, description, steps } = scenario;
  const items = steps.flatMap((step) => stepItems(step));
  const runs = [...new Set(steps.map(({ run }) => run))];
  const isLong = items.length > MAX_VERDICTS;
  return report({
    title: titleOf(scenario, items),
    verdict: worstVerdict(items, VERDICTS),
    subject: description === null ? name : `${name}: ${description}`,
    sections: [
      section('answer', null, [
        ...verdicts(isLong ? steps.flatMap(shortItems) : items),
        ...sentence(statePhrase(scenario), true),
        ...findings(scenario),
        ...charts(scenario, runs[0], 'p99').slice(0, 1),
      ]),
      section('runs', 'Runs', [
        ...overview(scenario),
        ...sentence(scenario.rows.some(({ counts }) => !counts) ? '* none of its runs counts' : ''),
      ]),
      ...runs.map((run, i) =>
        section(`run-${i}`, run, [
          ...(isLong ? allVerdicts(steps.filter((step) => step.run === run)) : []),
          ...ofRun(scenario, run),
        ]),
      ),
      section('remarks', 'Remarks', remarks(scenario)),
      section('scenario', 'Scenario', about(scenario)),
    ],
  });
}

/**
 * @param {ScenarioResult} scenario
 * @param {VerdictItem[]} items
 * @returns {string} its name and its finding: verdicts, else the first difference
 */
function titleOf({ name, steps, comparisons }, items) {
  const [compared] = comparisons.filter(({ operation }) => operation === null);
  if (items.length === 0) {
    const found = compared === undefined ? counted(steps.length, 'step') : finding(compared.comparison, 1);
    return `${name}: ${found.replace(/\.$/, '')}`;
  }
  const worst = worstVerdict(items, VERDICTS);
  const count = items.filter(({ verdict }) => verdict === worst).length;
  return `${name}: ${count} of ${counted(items.length, 'verdict')} ${worst}`;
}

/** @param {ScenarioResult} scenario */
function statePhrase({ interrupted, unfinished }) {
  if (interrupted) return 'Interrupted: some runs are missing.';
  return unfinished ? 'Unfinished: runs were still to come when this was written.' : '';
}

/** @param {ScenarioStep} step @param {string} [name] in front of each @returns {VerdictItem[]} */
function stepItems(step, name = step.name) {
  const { failure, requirements, measurement } = step;
  const prefix = name === '' ? '' : `${name}: `;
  const { reasons } = measurement;
  // Files from before there were grades have none.
  const against = reasons.filter(({ grade }) => grade !== 'remark');
  return [
    ...(failure === null ? [] : [{ verdict: 'failed', name: name || 'run', text: failure.text }]),
    ...requirements.map((one) => ({ ...requirementOfStep(one, step), name: `${prefix}${one.text}` })),
    ...(measurement.verdict === 'invalid'
      ? [
          {
            verdict: 'invalid',
            name: `${prefix}measurement`,
            text: measurementText(step),
            reason: against.map(({ text }) => text).join(' '),
          },
        ]
      : []),
  ];
}

/** @param {ScenarioStep[]} steps of one run @returns {Part[]} */
function allVerdicts(steps) {
  return verdicts(steps.flatMap((step) => stepItems(step, steps.length === 1 ? '' : step.target)));
}

/** @param {ScenarioStep} step @returns {VerdictItem[]} one for all that is met, and each that is not */
function shortItems(step) {
  const items = stepItems(step);
  const others = items.filter(({ verdict }) => verdict !== 'met');
  const met = items.length - others.length;
  return met === 0
    ? others
    : [{ verdict: 'met', name: step.name, text: counted(met, 'requirement') }, ...others];
}

/**
 * @param {ScenarioStep['requirements'][number]} requirement
 * @param {ScenarioStep} step
 * @returns {VerdictItem}
 */
function requirementOfStep(requirement, { runs }) {
  const { text: name, verdict, verdicts: counts, reason, actual, limit, unit } = requirement;
  const item =
    actual === undefined || limit === undefined || unit === undefined
      ? { verdict, name, text: reason }
      : requirementItem({ ...requirement, actual, limit, unit });
  return runs.length < 2 ? item : { ...item, text: `${verdictCounts(counts)}, e.g. ${item.text}` };
}

/** @param {ScenarioStep} step @returns {string} `valid in 3 runs, invalid in 1 run` */
export function measurementText({ measurement: { verdict, verdicts: counts } }) {
  if (verdict === null) return 'not measured';
  return Object.keys(counts).length === 1 ? verdict : verdictCounts(counts);
}

/** @param {ScenarioResult} scenario @returns {Part[]} one sentence a comparison of all requests */
function findings({ comparisons }) {
  const runs = new Set(comparisons.map(({ run }) => run)).size;
  return comparisons
    .filter(({ operation }) => operation === null)
    .flatMap(({ run, comparison }) =>
      comparison.groups
        .slice(1)
        .flatMap((_, i) => sentence(`${runs > 1 ? `${titled(run)}: ` : ''}${finding(comparison, i + 1)}`)),
    );
}

/** @param {ScenarioResult} scenario @param {string} run @returns {Part[]} */
function ofRun(scenario, run) {
  const steps = scenario.steps.filter((step) => step.run === run);
  return [
    ...facts([
      ['Load', stepPhrase(steps[0])],
      ...steps.map((step) => /** @type {[string, string]} */ (['Target', targetOfStep(step)])),
    ]),
    ...operationTable(scenario, run),
    ...errorTable(scenario, run),
    ...steps.flatMap((step) => stageTable(scenario, step)),
    ...spreadTables(scenario, run),
    ...differenceTable(scenario, run),
    ...charts(scenario, run, null),
    ...compared(scenario.comparisons.filter((one) => one.run === run)),
  ];
}

/**
 * @param {ScenarioStep} step
 * @returns {string} `open loop at 20/s, 20 s, 4 runs`; `open loop in 3 stages up to 200/s, 1 min`
 */
export function stepPhrase({ load, stages, repeat }) {
  const phrase = loadPhrase({ ...load, stageCount: stages.length });
  return repeat === 1 ? phrase : `${phrase}, ${counted(repeat, 'run')}`;
}

/** @param {ScenarioStep} step @returns {string} its address, and how many of its runs count */
export function targetOfStep({ target, aim, runs, used, repeat }) {
  const address = aim === null ? 'nothing could be sent' : targetPhrase(aim);
  const made =
    used.length === runs.length && runs.length === repeat
      ? ''
      : `; ${runs.length} of ${counted(repeat, 'run')} made, ${used.length} count`;
  // A target without a name of its own goes by its URL; one may be called http.
  const isItsUrl = aim?.url === target || aim?.url.startsWith(`${target.replace(/\/$/, '')}/`);
  return isItsUrl ? `${address}${made}` : `${target}: ${address}${made}`;
}

/**
 * @param {ScenarioResult} scenario
 * @param {string} run
 * @param {string | null} only key of a metric; null: all
 * @returns {Part[]} a chart a metric, and operation where there are several
 */
function charts({ steps, rows }, run, only) {
  const own = rows.filter((row) => row.run === run && row.stage === null && row.overRuns !== null);
  const operations = [...new Set(own.map(({ operation }) => operation))];
  return operations.flatMap((operation) =>
    SPREAD_METRICS.filter(([key]) => only === null || key === only).map(([key, label, unit]) => {
      const groups = own
        .filter((row) => row.operation === operation)
        .map((row) => {
          const step = steps.find((one) => one.run === run && one.target === row.target);
          return {
            name: `${row.target}${row.counts ? '' : NOT_COUNTED}`,
            runs: (row.counts ? step?.used : step?.runs.map(({ name }) => name)) ?? [],
            values: row.overRuns?.[key].values ?? [],
          };
        });
      return runsChart(operation === null ? label : `${label}, ${operation}`, unit, groups);
    }),
  );
}

/** @param {ScenarioResult['comparisons']} all of a run @returns {Part[]} */
function compared(all) {
  const [first] = all;
  if (first === undefined) return [];
  const { groups, method } = first.comparison;
  const pairs = all.flatMap(({ operation, comparison }) =>
    comparison.groups
      .map(({ name }, other) => ({
        comparison,
        other,
        name: operation === null ? name : `${name}, ${operation}`,
      }))
      .slice(1),
  );
  const items = pairs.flatMap(({ comparison, other, name }) =>
    conclusions(comparison, other).map(
      ({ verdict, text }) => /** @type {[string, string]} */ ([titled(verdict), `${name}: ${text}`]),
    ),
  );
  const doubts = pairs.flatMap(({ comparison, other }) => doubtsOf(comparison, other));
  const warnings = all.flatMap(({ comparison }) => comparison.warnings);
  return [
    ...sentence(`Beside ${groups[0].name}, by the ranks of the runs (p < ${method.alpha}):`),
    ...facts(items),
    ...notes([...new Set([...doubts, ...warnings])]),
  ];
}

/** @param {ScenarioResult} scenario @returns {Part[]} */
function remarks({ steps, warnings, notes: own }) {
  const ofSteps = steps.flatMap((step) => {
    const { verdict, reasons } = step.measurement;
    const isInAnswer = verdict === null || verdict === 'invalid';
    return isInAnswer ? [] : reasons.map(({ text, remedy }) => ({ text: `${step.name}: ${text}`, remedy }));
  });
  return notes([...ofSteps, ...warnings, ...own]);
}

/** @param {ScenarioResult} scenario @returns {Part[]} */
function about({ tool, startedAt, durationSeconds, environment, command }) {
  const where =
    environment === null
      ? ''
      : `, Node ${environment.node} on ${environment.platform}, ${counted(environment.cpus, 'core')}`;
  return facts([
    ['Time', `${formatDuration(durationSeconds * 1000)} from ${startedAt}`],
    ['Command', command],
    ['Tool', `vault-pki-load ${tool.version}${where}`],
  ]);
}
