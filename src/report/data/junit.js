/**
 * A document as JUnit XML: each requirement, or rule of `--fail-if`, is a test case, and so is the measurement.
 *
 * - not met, or failed: a failure.
 * - not proven: an error. Both break a build, as both end the program with 99.
 * - the measurement is invalid: a failure of a case of its own.
 * - interrupted, unfinished, or with runs missing: an error of a case of its own.
 */
import { kindOf } from '../../result/document.js';
import { describe } from '../describe/index.js';
import { verdictCounts } from '../describe/runs.js';
import { measurementText, stepPhrase, targetOfStep } from '../describe/scenario.js';
import { answerPhrase, requirementVerdict, searchSubject, searchTitle } from '../describe/search.js';
import {
  counted,
  errorsPhrase,
  planPhrase,
  ratePhrase,
  statePhrase,
  targetPhrase,
  timeText,
} from '../describe/words.js';
import { render as renderText } from '../text.js';
import { junitXml } from './junit-xml.js';

/** @import { Comparison } from '../../result/comparison/comparison-schema.js' */
/** @import { Document } from '../../result/document.js' */
/** @import { Propagation } from '../../result/propagation/propagation-schema.js' */
/** @import { RunSet } from '../../result/runs/run-set.js' */
/** @import { ScenarioResult, ScenarioStep } from '../../result/scenario/scenario-schema.js' */
/** @import { Result } from '../../result/schema.js' */
/** @import { Search } from '../../result/search/search-schema.js' */
/** @import { Case, Suite } from './junit-xml.js' */

/** @typedef {{code?: string, text: string, remedy?: string}} Reason */

const BELIEVED = 'the measurement can be believed';

/** Verdicts that JUnit calls passed and failed; every other one is an error. */
const PASSES = new Set(['met', 'passed']);
const FAILURES = new Set(['not met', 'failed', 'invalid']);

/** Reasons why a search has no answer about the target. @type {Search['why'][]} */
const UNKNOWN = ['generator', 'interrupted', 'broken off', 'going on'];

/** By kind. @type {Record<string, (document: any) => Suite[]>} */
const SUITES = {
  result: (result) => suitesOfRun(result, []),
  'run-set': (/** @type {RunSet} */ { runs }) =>
    runs.flatMap((result, i) => suitesOfRun(result, [`run ${i + 1}`])),
  comparison: suitesOfComparison,
  search: suitesOfSearch,
  propagation: suitesOfPropagation,
  'scenario-result': (/** @type {ScenarioResult} */ scenario) =>
    scenario.steps.map((step) => suiteOfStep(scenario, step)),
};

/**
 * @param {Document} document
 * @returns {Promise<string>} the report as text is the output of the first suite; ends with a newline
 */
export async function render(document) {
  const output = renderText(await describe(document));
  const suites = SUITES[kindOf(document)](document);
  return junitXml(suites.map((suite, i) => (i === 0 ? { ...suite, output } : suite)));
}

/**
 * @param {string} name
 * @param {string} verdict
 * @param {string} message why
 * @returns {Case}
 */
function caseOf(name, verdict, message) {
  if (PASSES.has(verdict)) return { name, problem: null, output: message };
  const kind = FAILURES.has(verdict) ? 'failure' : 'error';
  return { name, problem: { kind, type: verdict, message }, output: '' };
}

/**
 * @param {string} verdict
 * @param {readonly Reason[]} reasons
 * @param {string} [how] before them
 * @returns {Case}
 */
function measurementCase(verdict, reasons, how = '') {
  const texts = reasons.map(({ text, remedy }) => (remedy === undefined ? text : `${text} ${remedy}`));
  const message = [how, ...texts].filter((text) => text !== '').join(' ');
  return caseOf(BELIEVED, verdict === 'invalid' || verdict === 'not measured' ? verdict : 'met', message);
}

/**
 * @param {Result} result
 * @param {string[]} run its name, where there are several
 * @returns {Suite[]} of the whole, then of each operation and stage that has a requirement
 */
function suitesOfRun(result, run) {
  const { requirements, measurement, unfinished, durationSeconds, startedAt } = result;
  const names = ['vault-pki-load', Object.keys(result.operations).join('+'), ...run];
  const state = statePhrase(result);
  /** @type {Map<string, string[]>} */
  const scopes = new Map([['[]', []]]);
  for (const requirement of requirements)
    scopes.set(JSON.stringify(scopeOf(requirement)), scopeOf(requirement));
  return [...scopes].map(([key, scope]) => {
    const isWhole = scope.length === 0;
    const own = requirements.filter((one) => JSON.stringify(scopeOf(one)) === key);
    return {
      name: [...names, ...scope].join(' '),
      classname: [...names, ...scope].join('.'),
      // The time is that of the whole.
      seconds: isWhole ? durationSeconds : 0,
      startedAt,
      properties: isWhole ? runProperties(result) : [],
      cases: [
        ...own.map(({ text, verdict, reason }) => caseOf(text, verdict, reason)),
        ...(isWhole && !unfinished ? [measurementCase(measurement.verdict, measurement.reasons)] : []),
        ...(isWhole && state !== ''
          ? [caseOf('the run is whole', unfinished ? 'unfinished' : 'interrupted', state)]
          : []),
      ],
      output: '',
    };
  });
}

/** @param {Result['requirements'][number]} requirement */
function scopeOf({ operation, stage }) {
  return [
    ...(operation === undefined ? [] : ['operation', operation]),
    ...(stage === undefined ? [] : ['stage', stage]),
  ];
}

/** @param {Result} result @returns {[string, string][]} */
function runProperties(result) {
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

/** @param {Comparison} comparison @returns {Suite[]} */
function suitesOfComparison({ tool, command, createdAt, groups, failIf }) {
  return [
    {
      name: 'vault-pki-load compare',
      classname: 'vault-pki-load.compare',
      ...(createdAt === null ? {} : { startedAt: createdAt }),
      properties: [
        ['tool.version', tool.version],
        ...(command === null ? [] : [/** @type {[string, string]} */ (['command', command])]),
        ...groups.map(({ name }, i) => /** @type {[string, string]} */ ([i === 0 ? 'base' : 'with', name])),
      ],
      cases: failIf.map(({ text, verdict, reason }) => caseOf(text, verdict, reason)),
      output: '',
    },
  ];
}

/** @param {Search} search @returns {Suite[]} a requirement passes where a level was confirmed at which it is met */
function suitesOfSearch(search) {
  const { answer, requirements, explanation, startedAt, durationSeconds, command, searched, why } = search;
  const isUnknown = UNKNOWN.includes(why);
  const found = answerPhrase(search);
  const verdictOf = (/** @type {number} */ i) => {
    if (isUnknown) return why;
    if (answer === null) return 'not met';
    return requirements.length === 0 ? 'met' : requirementVerdict(search, i);
  };
  const names = requirements.length === 0 ? [searchTitle(search)] : requirements.map(({ text }) => text);
  return [
    {
      name: searchSubject(search),
      classname: `vault-pki-load.search.${searched}`,
      seconds: durationSeconds,
      startedAt,
      properties: [
        ['command', command],
        ['answer', found],
      ],
      cases: names.map((name, i) =>
        caseOf(name, verdictOf(i), verdictOf(i) === 'met' ? `${searchTitle(search)}: ${found}` : explanation),
      ),
      output: '',
    },
  ];
}

/** @param {Propagation} found @returns {Suite[]} */
function suitesOfPropagation(found) {
  const { tool, command, target, everywhere, measurement, requirements, certificates } = found;
  const { p50, p99, max } = everywhere.sinceAnswered.upper;
  const begun = `${certificates.begun} of ${counted(certificates.planned, 'certificate')} begun.`;
  return [
    {
      name: 'vault-pki-load propagation',
      classname: 'vault-pki-load.propagation',
      seconds: found.durationSeconds,
      startedAt: found.startedAt,
      properties: [
        ['tool.version', tool.version],
        ['command', command],
        ['target', targetPhrase(target)],
        ['upper.p50', timeText(p50)],
        ['upper.p99', timeText(p99)],
        ['upper.max', timeText(max)],
        ['measurement', measurement.verdict],
      ],
      cases: [
        ...requirements.map(({ text, verdict, reason }) => caseOf(text, verdict, reason)),
        measurementCase(measurement.verdict, measurement.reasons),
        ...(found.interrupted ? [caseOf('the measurement is whole', 'interrupted', begun)] : []),
      ],
      output: '',
    },
  ];
}

/** @param {ScenarioResult} scenario @param {ScenarioStep} step @returns {Suite} */
function suiteOfStep({ tool, command, name }, step) {
  const { runs, repeat, failure, requirements, measurement } = step;
  const isMissing = failure !== null || runs.length < repeat;
  const made = failure === null ? `${runs.length} of ${counted(repeat, 'run')} made.` : failure.text;
  const hasMeasurement = measurement.verdict !== null || failure === null;
  return {
    name: step.name,
    classname: `vault-pki-load.${name.replaceAll('.', ' ')}.${step.name.replaceAll('.', ' ')}`,
    ...(runs.length === 0 ? {} : { startedAt: runs[0].startedAt }),
    properties: [
      ['tool.version', tool.version],
      ['command', command],
      ['target', targetOfStep(step)],
      ['load', stepPhrase(step)],
    ],
    cases: [
      ...requirements.map(({ text, verdict, verdicts, reason }) =>
        caseOf(text, verdict, runs.length < 2 ? reason : `${verdictCounts(verdicts)}: ${reason}`),
      ),
      ...(isMissing
        ? [caseOf('all runs were made', failure === null ? 'interrupted' : 'failed to run', made)]
        : []),
      ...(hasMeasurement
        ? [
            measurementCase(
              measurement.verdict ?? 'not measured',
              measurement.reasons,
              `${measurementText(step)}.`,
            ),
          ]
        : []),
    ],
    output: '',
  };
}
