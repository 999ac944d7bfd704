/** The result of one run as a report. */

import { formatCount, formatDuration } from '../../common/units.js';
import { invalidReasonOf } from '../../result/document.js';
import { formatPercent } from '../../result/wording.js';
import { chart, notes, report, section, sentence, verdicts, worstVerdict } from '../sections.js';
import { latencyBar, rangeText, requirementBar, requirementClause } from './bars.js';
import {
  latency,
  next,
  operations,
  outcomes,
  overTime,
  remarks,
  remarksOf,
  requests,
  run,
  stages,
} from './result-details.js';
import {
  errorsPhrase,
  headline,
  pacePhrase,
  perSecondText,
  statePhrase,
  subjectPhrase,
  unitName,
} from './words.js';

/** @import { Result } from '../../result/schema.js' */
/** @import { Part, Report, Verdicts } from '../sections.js' */
/** @import { RequirementVerdict } from './bars.js' */

/** @typedef {Verdicts['items'][number]} VerdictItem */

/** Of the line of key figures. */
const KEY_FIGURES = /** @type {const} */ (['p50', 'p95', 'p99', 'max']);

/** @param {Result} result @returns {Report} */
export function describeResult(result) {
  return report({
    title: headline(result),
    verdict: verdictOf(result),
    subject: subjectPhrase(result),
    sections: [
      section('answer', null, answer(result)),
      section('latency', 'Latency', latency(result)),
      section('over-time', 'Over time', overTime(result)),
      section('requests', 'Requests', requests(result)),
      section('outcomes', 'Outcomes', outcomes(result)),
      section('operations', 'Operations', operations(result)),
      section('stages', 'Stages', stages(result)),
      section('remarks', 'Remarks', remarks(result)),
      section('run', 'Run', run(result)),
      section('next', 'Next', next(result)),
    ],
  });
}

/** @param {Result} result */
function verdictOf({ requirements, measurement: { verdict }, unfinished }) {
  return verdict === 'invalid' && !unfinished ? verdict : worstVerdict(requirements);
}

/** @param {Result} result @returns {Part[]} */
function answer(result) {
  return [
    ...verdicts([...result.requirements.map(requirementItem), ...invalidItem(result)]),
    ...sentence(statePhrase(result), true),
    ...sentence(summary(result)),
    ...keyFigures(result),
    ...notes(
      result.measurement.verdict === 'invalid'
        ? []
        : remarksOf(result)
            .slice(0, 1)
            .map(({ text }) => ({ text })),
    ),
    ...(result.latencyMs.response.count === 0
      ? []
      : [
          chart(
            'latency-over-time',
            'Response time over time',
            'p50, p90, p99 and max of each second.',
            result,
          ),
        ]),
  ];
}

/** @param {RequirementVerdict} requirement @returns {VerdictItem} */
export function requirementItem(requirement) {
  const { text, verdict, reason, doubt } = requirement;
  const bar = requirementBar(requirement);
  return {
    verdict,
    name: text,
    text: requirementClause(requirement),
    ...(verdict === 'met' || doubt === 'invalid' ? {} : { reason }),
    ...(bar === undefined ? {} : { bar }),
  };
}

/** @param {Pick<Result, 'measurement' | 'unfinished'>} result @returns {VerdictItem[]} why no verdict can be believed */
export function invalidItem({ measurement, unfinished }) {
  const { verdict } = measurement;
  if (verdict !== 'invalid' || unfinished) return [];
  const first = invalidReasonOf(measurement);
  if (first === undefined) return [{ verdict, name: 'measurement', text: 'no reason is given' }];
  const { text, remedy } = first;
  return [{ verdict, name: 'measurement', text, ...(remedy === undefined ? {} : { reason: remedy }) }];
}

/** @param {Result} result @returns {string} `400 of 400 OCSP responses good, all checked, in 20 s at 20/s` */
function summary(result) {
  const { totals, verification, durationSeconds } = result;
  const { succeeded, errors } = totals;
  if (succeeded + errors === 0) return 'Nothing was measured.';
  const { checked, unchecked } = verification;
  const all = checked + unchecked;
  const share = checked === all ? 'all checked' : `${formatPercent(checked / all)} checked`;
  const good = `${formatCount(succeeded)} of ${formatCount(succeeded + errors)} ${unitName(result)} good`;
  const time = `in ${formatDuration(durationSeconds * 1000)} ${pacePhrase(result)}`;
  const failed = errors === 0 ? '' : `. Failed: ${errorsPhrase(result)}`;
  return `${[good, ...(all === 0 ? [] : [share]), time].join(', ')}${failed}`;
}

/** @param {Result} result @returns {Part[]} */
function keyFigures({ latencyMs: { response }, rates, errorShare, errorShareBar }) {
  if (response.count === 0) return [];
  const details = [
    detail('rate', perSecondText, rates.perSecond, rates.bar),
    detail('errors', formatPercent, errorShare ?? 0, errorShareBar),
  ];
  const items = KEY_FIGURES.map((key) => {
    const bar = latencyBar(response, key);
    const range = key === 'max' ? undefined : rangeText(bar, formatDuration);
    return {
      name: key,
      value: response[key] === null ? '–' : formatDuration(response[key]),
      ...(range === undefined ? {} : { range }),
      ...(bar === undefined ? {} : { bar }),
    };
  });
  return [{ kind: 'figures', items: [...items, ...details] }];
}

/**
 * @param {string} name
 * @param {(value: number) => string} format
 * @param {number} value
 * @param {{low: number, high: number | null}} [bar]
 */
function detail(name, format, value, bar) {
  const whole = bar === undefined ? undefined : { value, ...bar };
  const range = rangeText(whole, format);
  return {
    name,
    value: format(value),
    isDetail: true,
    ...(range === undefined ? {} : { range }),
    ...(whole === undefined ? {} : { bar: whole }),
  };
}
