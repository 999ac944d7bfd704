/**
 * A document as JUnit XML, as Jenkins reads it (xunit-plugin, junit-10.xsd): each requirement, or rule of `--fail-if`, is a test
 * case, and so is the measurement. `not met`, `failed` and an invalid measurement are failures. Not proven, interrupted, unfinished
 * and missing runs are errors.
 */
import { kindOf } from '../../result/document.js';
import { truncate } from '../../result/runs/run-differences.js';
import { isCutShort } from '../../result/runs/run-set.js';
import { describe } from '../describe/index.js';
import { verdictCounts } from '../describe/runs.js';
import { completedRuns, measurementText } from '../describe/scenario.js';
import { finding, requirementVerdict, searchTitle } from '../describe/search.js';
import { counted, statePhrase } from '../describe/words.js';
import { escapeHtml } from '../html/escape.js';
import { render as renderText } from '../text.js';

/** @import { Comparison } from '../../result/comparison/comparison-schema.js' */
/** @import { Document } from '../../result/document.js' */
/** @import { Propagation } from '../../result/propagation/propagation-schema.js' */
/** @import { RunSet } from '../../result/runs/run-set-schema.js' */
/** @import { ScenarioResult, ScenarioStep } from '../../result/scenario/scenario-schema.js' */
/** @import { Result } from '../../result/schema.js' */
/** @import { Search } from '../../result/search/search-schema.js' */

/** @typedef {{name: string, verdict: string, message: string}} Case `message`: the reason */
/** @typedef {{path: string[], seconds?: number, startedAt?: string | null, cases: Case[]}} Suite `path`: its name */

/** Characters of a name, at most: each case repeats it. */
const MAX_NAME = 1000;

const PASSES = ['met', 'passed'];
const FAILURES = ['not met', 'failed', 'invalid'];

/** Values of `why` that show nothing about the target. @type {Search['why'][]} */
const UNKNOWN = ['generator', 'interrupted', 'broken off', 'going on'];

/** By kind. @type {Record<string, (document: any) => Suite[]>} */
const SUITES = {
  result: (result) => [suiteOfRun(result, [])],
  'run-set': (/** @type {RunSet} */ { name, runs, planned = runs.length, summary }) => {
    const completed = runs.length - summary.leftOut.filter(({ why }) => isCutShort(why)).length;
    const missing = runs.length < planned ? [{ path: [name], cases: [runsCase(completed, planned)] }] : [];
    return [...missing, ...runs.map((result, i) => suiteOfRun(result, [`run ${i + 1}`]))];
  },
  comparison: (/** @type {Comparison} */ { createdAt, failIf }) => [
    { path: ['compare'], startedAt: createdAt, cases: failIf.map(caseOf) },
  ],
  search: (search) => [suiteOfSearch(search)],
  propagation: (found) => [suiteOfPropagation(found)],
  'scenario-result': (/** @type {ScenarioResult} */ { name, steps }) =>
    steps.map((step) => suiteOfStep(name, step)),
};

/** @param {Document} document @returns {Promise<string>} with the text report as the output of the first suite; ends with a newline */
export async function render(document) {
  const report = renderText(await describe(document));
  const output = report.split('\n').map(escapeHtml).join('\n');
  const suites = SUITES[kindOf(document)](document);
  const sums = sumsOf(suites.flatMap(({ cases }) => cases));
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites ${attributes({ name: 'vault-pki-load', ...sums })}>
${suites.map((suite, i) => suiteText(suite, i === 0 ? `    <system-out>${output}</system-out>\n` : '')).join('\n')}
</testsuites>
`;
}

/** @param {{text: string, verdict: string, reason: string}} judged @returns {Case} */
const caseOf = ({ text, verdict, reason }) => ({ name: text, verdict, message: reason });

/** @param {string} verdict @param {readonly {text: string, remedy?: string}[]} reasons @param {string} [start] */
function measurementCase(verdict, reasons, start = '') {
  const texts = reasons.map(({ text, remedy = '' }) => `${text} ${remedy}`.trimEnd());
  const isBad = verdict === 'invalid' || verdict === 'not measured';
  const message = [start, ...texts].join(' ').trimStart();
  return { name: 'the measurement is valid', verdict: isBad ? verdict : 'met', message };
}

/** @param {Result} result @param {string[]} run its name, where there are several @returns {Suite} */
function suiteOfRun(result, run) {
  const { requirements, measurement, unfinished, durationSeconds: seconds, startedAt, operations } = result;
  const state = statePhrase(result);
  const cases = requirements.map(caseOf);
  if (!unfinished) cases.push(measurementCase(measurement.verdict, measurement.reasons));
  const verdict = unfinished ? 'unfinished' : 'interrupted';
  if (state !== '') cases.push({ name: 'the run is complete', verdict, message: state });
  return { path: [Object.keys(operations).join('+'), ...run], seconds, startedAt, cases };
}

/** @param {Search} search @returns {Suite} a requirement passes if it is met at a confirmed level */
function suiteOfSearch(search) {
  const { answer, requirements, explanation, startedAt, durationSeconds: seconds, searched, why } = search;
  const names = requirements.length === 0 ? [searchTitle(search)] : requirements.map(({ text }) => text);
  const cases = names.map((name, i) => {
    const found = requirements.length === 0 ? 'met' : requirementVerdict(search, i);
    const verdict = UNKNOWN.includes(why) ? why : answer === null ? 'not met' : found;
    return { name, verdict, message: verdict === 'met' ? finding(search) : explanation };
  });
  return { path: ['search', searched], seconds, startedAt, cases };
}

/** @param {Propagation} found @returns {Suite} */
function suiteOfPropagation({ measurement, requirements, certificates, interrupted, ...found }) {
  const cases = [...requirements.map(caseOf), measurementCase(measurement.verdict, measurement.reasons)];
  const message = `Interrupted after ${certificates.begun} of ${counted(certificates.planned, 'certificate')}.`;
  if (interrupted) cases.push({ name: 'the measurement is complete', verdict: 'interrupted', message });
  return { path: ['propagation'], seconds: found.durationSeconds, startedAt: found.startedAt, cases };
}

/** @param {number} done @param {number} planned @param {ScenarioStep['failure']} [failure] @returns {Case} of runs that did not all complete */
const runsCase = (done, planned, failure = null) => ({
  name: 'all runs completed',
  verdict: failure === null ? 'interrupted' : 'failed to run',
  message: failure === null ? `${done} of ${counted(planned, 'run')} completed.` : failure.text,
});

/** @param {string} scenario its name @param {ScenarioStep} step @returns {Suite} */
function suiteOfStep(scenario, step) {
  const { name, runs, repeat, failure, requirements, measurement } = step;
  const cases = requirements.map(({ verdicts, reason, ...one }) =>
    caseOf({ ...one, reason: runs.length < 2 ? reason : `${verdictCounts(verdicts)}: ${reason}` }),
  );
  const completed = completedRuns(step);
  if (failure !== null || completed < repeat) cases.push(runsCase(completed, repeat, failure));
  const measured = measurement.verdict ?? 'not measured';
  if (measurement.verdict !== null || failure === null)
    cases.push(measurementCase(measured, measurement.reasons, `${measurementText(step)}.`));
  return { path: [scenario, name], startedAt: runs[0]?.startedAt, cases };
}

/** @param {string} verdict @returns {'failure' | 'error' | null} */
function problemOf(verdict) {
  if (PASSES.includes(verdict)) return null;
  return FAILURES.includes(verdict) ? 'failure' : 'error';
}

/** @param {Case[]} cases @returns {Record<string, string>} */
function sumsOf(cases) {
  const [failures, errors] = ['failure', 'error'].map((kind) =>
    String(cases.filter(({ verdict }) => problemOf(verdict) === kind).length),
  );
  return { tests: String(cases.length), failures, errors };
}

/** @param {Suite} suite @param {string} output lines after its cases */
function suiteText({ path, seconds, startedAt, cases }, output) {
  const names = ['vault-pki-load', ...path.map((name) => truncate(name, MAX_NAME))];
  const classname = names.map((name) => name.replaceAll('.', ' ')).join('.');
  const lines = cases.map(({ name, verdict, message }) => {
    const kind = problemOf(verdict);
    const text = escapeHtml(`${name}: ${verdict}. ${message}`);
    const problem = `<${kind} ${attributes({ message, type: verdict })}>${text}</${kind}>`;
    const inner = kind === null ? `<system-out>${escapeHtml(message)}</system-out>` : problem;
    return `    <testcase ${attributes({ name, classname })}>\n      ${inner}\n    </testcase>\n`;
  });
  const head = {
    name: names.join(' '),
    ...sumsOf(cases),
    ...(seconds === undefined ? {} : { time: seconds.toFixed(3) }),
    ...(startedAt ? { timestamp: startedAt.slice(0, 19) } : {}),
  };
  return `  <testsuite ${attributes(head)}>\n${lines.join('')}${output}  </testsuite>`;
}

/** @param {Record<string, string>} values */
function attributes(values) {
  return Object.entries(values)
    .map(([name, value]) => `${name}="${escapeHtml(value)}"`)
    .join(' ');
}
