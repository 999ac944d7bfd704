/** The result of a scenario as a report: its verdicts, a table of the runs, then each run. */
import { total } from '../../common/sums.js';
import { formatCount, formatDuration, formatLatency, formatRate } from '../../common/units.js';
import { isCutShort } from '../../result/runs/run-set.js';
import { formatPercent } from '../../result/wording.js';
import { facts, notes, report, section, sentence, verdicts } from '../sections.js';
import { requirementItem, spanText, worstVerdict } from './bars.js';
import { conclusions, doubtsOf, finding } from './differences.js';
import { verdictCounts } from './runs.js';
import {
  charts,
  differenceTable,
  errorTable,
  operationTable,
  overview,
  spreadTables,
  stageTable,
} from './scenario-tables.js';
import { counted, extent, loadPhrase, targetPhrase, titled } from './words.js';

/** @import { ScenarioResult, ScenarioRow, ScenarioStep } from '../../result/scenario/scenario-schema.js' */
/** @import { Part, Report, VerdictItem } from '../sections.js' */

/** The worst first. */
const VERDICTS = ['failed', 'invalid', 'not met', 'not proven', 'met'];

/** With more verdicts, the answer has one line per step for all met requirements, and the section of the run lists them. */
const MAX_VERDICTS = 10;

/** @param {ScenarioResult} scenario @returns {Report} */
export function describeScenario(scenario) {
  const { name, description, steps, rows, interrupted, unfinished } = scenario;
  const items = steps.flatMap((step) => stepItems(step));
  const runs = [...new Set(steps.map(({ run }) => run))];
  const [main] = charts(scenario, rowsOf(scenario, runs[0])).filter(({ key }) => key === 'p99');
  const isLong = items.length > MAX_VERDICTS;
  const state = unfinished ? 'Unfinished: the scenario was still running when this was written.' : '';
  return report({
    title: titleOf(scenario, items),
    verdict: worstVerdict(items, VERDICTS),
    subject: description === null ? name : `${name}: ${description}`,
    sections: [
      section('answer', null, [
        ...verdicts(isLong ? steps.flatMap(shortItems) : items),
        ...sentence(interrupted ? 'Interrupted: some runs are missing.' : state, true),
        ...findings(scenario).flatMap((text) => sentence(text)),
        ...(main?.parts ?? []),
      ]),
      section('runs', 'Runs', [
        ...overview(scenario),
        ...sentence(rows.some(({ counts }) => !counts) ? '* This row has no usable runs.' : ''),
      ]),
      ...runs.map((run, i) => section(`run-${i}`, run, ofRun(scenario, run, isLong))),
      section('remarks', 'Remarks', remarks(scenario)),
      section('scenario', 'Scenario', about(scenario)),
    ],
  });
}

/** @param {ScenarioResult} scenario @param {VerdictItem[]} items @returns {string} its name and the worst verdict or a finding */
function titleOf(scenario, items) {
  const worst = worstVerdict(items, VERDICTS);
  const { length } = items.filter(({ verdict }) => verdict === worst);
  const answer = `${length} of ${counted(items.length, 'verdict')}: ${worst}`;
  return `${scenario.name}: ${worst === undefined ? findings(scenario)[0].replace(/\.$/, '') : answer}`;
}

/** @param {ScenarioResult} scenario @param {string} run @returns {ScenarioRow[]} its rows without stages */
const rowsOf = ({ rows }, run) => rows.filter((row) => row.run === run && row.stage === null);

/** @param {ScenarioStep} step @param {string} [name] in front of each @returns {VerdictItem[]} */
function stepItems(step, name = step.name) {
  const { failure, requirements, measurement, runs } = step;
  const prefix = name === '' ? '' : `${name}: `;
  /** @type {VerdictItem[]} */
  const items = requirements.map(({ verdicts: counts, actual, limit, unit, ...one }) => {
    // Older files have no figures.
    const hasFigures = actual !== undefined && limit !== undefined && unit !== undefined;
    const item = hasFigures
      ? requirementItem({ ...one, actual, limit, unit })
      : { verdict: one.verdict, text: one.reason };
    const text = runs.length < 2 ? item.text : `${verdictCounts(counts)}, e.g. ${item.text}`;
    return { ...item, name: `${prefix}${one.text}`, text };
  });
  if (failure !== null) items.unshift({ verdict: 'failed', name: name || 'run', text: failure.text });
  if (measurement.verdict !== 'invalid') return items;
  // Older files have no grades.
  const invalidReasons = measurement.reasons.filter(({ grade }) => grade !== 'remark');
  const reason = invalidReasons.map(({ text }) => text).join(' ');
  items.push({ verdict: 'invalid', name: `${prefix}measurement`, text: measurementText(step), reason });
  return items;
}

/** @param {ScenarioStep} step @returns {VerdictItem[]} one for all met requirements, then the others */
function shortItems(step) {
  const items = stepItems(step);
  const others = items.filter(({ verdict }) => verdict !== 'met');
  const met = items.length - others.length;
  return met === 0
    ? others
    : [{ verdict: 'met', name: step.name, text: counted(met, 'requirement') }, ...others];
}

/** @param {ScenarioStep} step @returns {string} `valid in 3 runs, invalid in 1 run` */
export function measurementText({ measurement: { verdict, verdicts: counts } }) {
  if (verdict === null) return 'not measured';
  return Object.keys(counts).length === 1 ? verdict : verdictCounts(counts);
}

/** @param {ScenarioResult} scenario @returns {string[]} a sentence per comparison of all requests, or one of its figures */
function findings({ comparisons, rows }) {
  const wholes = comparisons.filter(({ operation }) => operation === null);
  const found = wholes.flatMap(({ run, comparison }) => {
    const prefix = wholes.length > 1 ? `${titled(run)}: ` : '';
    return comparison.groups.slice(1).map((_, i) => `${prefix}${finding(comparison, i + 1)}`);
  });
  return found.length > 0 ? found : [figuresSentence(rows)];
}

/** @param {readonly ScenarioRow[]} rows @returns {string} `1,600 requests at 20/s: p99 19.6 to 78.6 ms, no errors.` */
function figuresSentence(rows) {
  const own = rows.filter(({ stage, operation, counts }) => stage === null && operation === null && counts);
  const [count, errors] = [total(own.map((row) => row.count)), total(own.map((row) => row.errors))];
  if (count === 0) return 'No usable runs.';
  const rate = spanText(...extent(own.map(({ perSecond }) => perSecond)), formatRate);
  const p99 = spanText(...extent(own.map((row) => row.p99)), formatLatency);
  const failed =
    errors === 0 ? 'no errors' : `${counted(errors, 'error')} (${formatPercent(errors / count)})`;
  return `${formatCount(count)} requests at ${rate}: p99 ${p99}, ${failed}.`;
}

/** @param {ScenarioResult} scenario @param {string} run @param {boolean} hasVerdicts @returns {Part[]} */
function ofRun(scenario, run, hasVerdicts) {
  const isOfRun = (/** @type {{run: string}} */ one) => one.run === run;
  const steps = scenario.steps.filter(isOfRun);
  const rows = rowsOf(scenario, run);
  const nameOf = (/** @type {ScenarioStep} */ { target }) => (steps.length === 1 ? '' : target);
  return [
    ...verdicts(hasVerdicts ? steps.flatMap((step) => stepItems(step, nameOf(step))) : []),
    ...facts([['Load', stepPhrase(steps[0])], ...steps.map((step) => ['Target', targetOfStep(step)])]),
    ...operationTable(scenario, rows),
    ...errorTable(scenario, rows),
    ...steps.flatMap((step) => stageTable(scenario, step)),
    ...spreadTables(rows),
    ...differenceTable(scenario.differences.filter(isOfRun), rows),
    ...charts(scenario, rows).flatMap(({ parts }) => parts),
    ...compared(scenario.comparisons.filter(isOfRun)),
  ];
}

/** @param {ScenarioStep} step @returns `open loop at 20/s, 20 s, 4 runs`; `open loop in 3 stages up to 200/s, 1 min` */
function stepPhrase({ load, stages, repeat }) {
  const phrase = loadPhrase({ ...load, stageCount: stages.length });
  return repeat === 1 ? phrase : `${phrase}, ${counted(repeat, 'run')}`;
}

/** @param {ScenarioStep} step @returns {number} runs that were neither interrupted nor cut off */
export const completedRuns = ({ runs }) => runs.filter(({ why }) => !isCutShort(why)).length;

/** @param {ScenarioStep} step @returns {string} its name and address, and how many of its runs count */
function targetOfStep(step) {
  const { target, aim, runs, used, repeat } = step;
  const address = aim === null ? 'nothing could be sent' : targetPhrase(aim);
  const isWhole = used.length === runs.length && runs.length === repeat;
  const note = isWhole
    ? ''
    : `; ${completedRuns(step)} of ${counted(repeat, 'run')} completed, ${used.length} count`;
  // A target without a name goes by its URL. The slash keeps a target named `http` apart.
  const isItsUrl = aim?.url === target || aim?.url.startsWith(`${target.replace(/\/$/, '')}/`);
  return isItsUrl ? `${address}${note}` : `${target}: ${address}${note}`;
}

/** @param {ScenarioResult['comparisons']} all of a run @returns {Part[]} */
function compared(all) {
  if (all.length === 0) return [];
  const { groups, method } = all[0].comparison;
  const items = all.flatMap(({ operation, comparison }) =>
    comparison.groups.slice(1).flatMap(({ name }, i) => {
      const subject = operation === null ? name : `${name}, ${operation}`;
      return conclusions(comparison, i + 1).map(([word, text]) => [titled(word), `${subject}: ${text}`]);
    }),
  );
  const remarksOf = all.flatMap(({ comparison }) => [
    ...comparison.groups.slice(1).flatMap((_, i) => doubtsOf(comparison, i + 1)),
    ...comparison.warnings,
  ]);
  return [
    ...sentence(`Compared with ${groups[0].name} by a rank test over runs (p < ${method.alpha}):`),
    ...facts(items),
    ...notes([...new Set(remarksOf)]),
  ];
}

/** @param {ScenarioResult} scenario @returns {Part[]} */
function remarks({ steps, warnings, notes: own }) {
  const ofSteps = steps.flatMap(({ name, measurement: { verdict, reasons } }) => {
    const isInAnswer = verdict === null || verdict === 'invalid';
    return isInAnswer ? [] : reasons.map(({ text, remedy }) => ({ text: `${name}: ${text}`, remedy }));
  });
  return notes([...ofSteps, ...warnings, ...own]);
}

/** @param {ScenarioResult} scenario @returns {Part[]} */
function about({ tool, startedAt, durationSeconds, environment, command }) {
  const { node, platform, cpus = 0 } = environment ?? {};
  const where = environment === null ? '' : `, Node ${node} on ${platform}, ${counted(cpus, 'core')}`;
  return facts([
    ['Time', `${formatDuration(durationSeconds * 1000)} from ${startedAt}`],
    ['Command', command],
    ['Tool', `vault-pki-load ${tool.version}${where}`],
  ]);
}
