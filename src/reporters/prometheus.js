/**
 * A result as Prometheus text exposition, for a file and, while the run goes on, for scraping. Base units: seconds, and
 * shares of one. Counters end in `_total`. Names of metrics and of labels never depend on what was measured.
 */
import { MEASUREMENT_STATES, REQUIREMENT_STATES, UNSENT } from './metric-names.js';
import { counter, exact, exposition, gauge, sample } from './prometheus-text.js';
import { histogramFamilies, percentileFamilies } from './prometheus-times.js';

/** @typedef {import('../results/schema.js').Result} Result */
/** @typedef {import('./prometheus-text.js').Family} Family */

/** @type {Record<Result['requirements'][number]['unit'], {name: string, factor: number}>} */
const UNITS = {
  ms: { name: 'seconds', factor: 0.001 },
  '/s': { name: 'per_second', factor: 1 },
  fraction: { name: 'ratio', factor: 1 },
};

/**
 * @param {Result} result
 * @returns {string} ends with a newline
 */
export function render(result) {
  return exposition([
    ...aboutRun(result),
    ...requests(result),
    ...checks(result),
    ...rates(result),
    ...histogramFamilies(result),
    ...percentileFamilies(result),
    ...requirements(result),
    ...measurement(result),
  ]);
}

/**
 * @param {Result} result
 * @returns {Family[]}
 */
function aboutRun({ tool, command, target, load, startedAt, durationSeconds, unfinished, interrupted }) {
  const info = {
    version: tool.version,
    command,
    url: target.url,
    product: target.product ?? '',
    product_version: target.version ?? '',
    model: load.model,
  };
  const start = Date.parse(startedAt) / 1000;
  return [
    gauge('info', 'What was run, by which version, against what.', [sample(1, info)]),
    gauge('start_time_seconds', 'Start of the measured part, since the epoch.', [sample(start)]),
    gauge('duration_seconds', 'Wall time of the measured part, so far.', [sample(durationSeconds)]),
    gauge('running', '1 while the run goes on.', [sample(unfinished ? 1 : 0)]),
    gauge('interrupted', '1 where the run was ended before its time.', [sample(interrupted ? 1 : 0)]),
  ];
}

/**
 * @param {Result} result
 * @returns {Family[]}
 */
function requests({ operations, totals }) {
  const blocks = Object.entries(operations);
  const sent = blocks.flatMap(([operation, { outcomes, outcomeDetails }]) =>
    Object.entries(outcomes)
      .filter(([outcome]) => !UNSENT.has(outcome))
      .map(([outcome, count]) => {
        const result = outcomeDetails[outcome]?.success ? 'success' : 'failure';
        return sample(count, { operation, outcome, result });
      }),
  );
  const dropped = blocks.map(([operation, block]) => sample(block.totals.dropped, { operation }));
  // No counter: while the run goes on, these become fewer.
  const neverSent = blocks.map(([operation, block]) => sample(block.totals.neverSent, { operation }));
  return [
    gauge('requests_planned', 'Requests that the plan asks for.', [sample(totals.planned)]),
    counter('requests_total', 'Requests that were sent, by what came of them.', sent),
    counter(
      'requests_dropped_total',
      'Arrivals dropped because every connection was busy; counted when the run has ended.',
      dropped,
    ),
    gauge(
      'requests_never_sent',
      'Planned requests that were never sent; while the run goes on, all that are not answered yet, dropped ones among them.',
      neverSent,
    ),
  ];
}

/**
 * @param {Result} result
 * @returns {Family[]}
 */
function checks({ operations }) {
  const blocks = Object.entries(operations);
  const each = (/** @type {'checked' | 'passed' | 'unchecked'} */ key) =>
    blocks.map(([operation, { verification }]) => sample(verification[key], { operation }));
  const failures = blocks.flatMap(([operation, { verification }]) =>
    Object.entries(verification.failures).map(([rule, count]) => sample(count, { operation, rule })),
  );
  return [
    counter('answers_checked_total', 'Answers that were checked in full.', each('checked')),
    counter('answers_passed_total', 'Checked answers that passed every check.', each('passed')),
    counter('answers_unchecked_total', 'Answers of success that were not checked.', each('unchecked')),
    counter('answers_failed_total', 'Checked answers by the rule that they broke.', failures),
  ];
}

/**
 * @param {Result} result
 * @returns {Family[]}
 */
function rates({ rates: { perSecond, peakOneSecond }, load: { ratePerSecond } }) {
  const offered = ratePerSecond === null ? [] : [sample(exact(ratePerSecond))];
  return [
    gauge('offered_per_second', 'Rate of an open loop, as planned.', offered),
    gauge('succeeded_per_second', 'Successes a second over the measured part.', [sample(exact(perSecond))]),
    gauge('succeeded_per_second_max', 'Successes in the best second.', [sample(peakOneSecond)]),
  ];
}

/**
 * @param {Result} result
 * @returns {Family[]} each requirement once: a series must not be there twice
 */
function requirements({ requirements: all }) {
  const unique = [...new Map(all.map((requirement) => [requirement.text, requirement])).values()];
  const states = unique.flatMap(({ text, verdict }) =>
    REQUIREMENT_STATES.map((state) => sample(Number(state === verdict), { requirement: text, state })),
  );
  const values = (/** @type {'actual' | 'limit'} */ key) =>
    unique
      .filter((requirement) => requirement[key] !== null)
      .map((requirement) => {
        const { name, factor } = UNITS[requirement.unit];
        const value = exact(Number(requirement[key]) * factor);
        return sample(value, { requirement: requirement.text, unit: name });
      });
  return [
    gauge('requirement_state', '1 for the state that the requirement is in.', states),
    gauge('requirement_actual', 'What was measured, in the unit that the label says.', values('actual')),
    gauge('requirement_limit', 'What was required, in the unit that the label says.', values('limit')),
  ];
}

/**
 * @param {Result} result
 * @returns {Family[]} nothing while the run goes on: it is judged at its end
 */
function measurement({ measurement: { verdict, reasons }, unfinished }) {
  if (unfinished) return [];
  const states = MEASUREMENT_STATES.map((state) => sample(Number(state === verdict), { state }));
  const codes = [...new Set(reasons.map(({ code }) => code))];
  return [
    gauge('measurement_state', '1 for the verdict on the measurement itself.', states),
    gauge(
      'measurement_reason',
      '1 for each reason against the measurement.',
      codes.map((reason) => sample(1, { reason })),
    ),
  ];
}
