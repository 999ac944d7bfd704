/** Verdicts that were edited by hand are refused, in documents of every kind; those of any run are accepted. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { uniform } from '../../src/common/random.js';
import { parseRequirement } from '../../src/plan/requirements.js';
import { compareGroups } from '../../src/result/comparison/compare.js';
import { parseDocument } from '../../src/result/read-document.js';
import { createRunSet } from '../../src/result/runs/run-set.js';
import { clusterSample } from '../campaigns/propagation/sample.js';
import { sampleSearch } from '../campaigns/search/sample.js';
import { syntheticParts, syntheticRun } from '../synthetic-run.js';
import { runsOf, slower, TEN } from './runs.js';
import { mixedRun, REQUIRED, scenarioOf } from './scenario-sample.js';

const LOAD = { ratePerSecond: 50, durationMs: 6000, seed: 3 };
const good = (/** @type {any} */ one) => ({
  ...one,
  ...{ status: 200, body: Buffer.from('good'), failure: null },
});
const run = syntheticRun({
  change: good,
  load: LOAD,
  requirements: ['p99<10s', 'p50<1us', 'errors<50%', 'rate>=1/s'],
});

/** @param {unknown} document */
const read = (document) => parseDocument(Buffer.from(JSON.stringify(document)), 'r.json');

/** @param {unknown} document @param {(copy: any) => void} edit @returns {any} */
function edited(document, edit) {
  const copy = JSON.parse(JSON.stringify(document));
  edit(copy);
  return copy;
}

/** @param {any} judged @param {string} text a limit that the figures do not keep */
function tighten(judged, text) {
  judged.text = text;
  judged.limit = parseRequirement(text).limit;
}

/** @type {[string, (copy: any) => void, RegExp][]} */
const EDITS = [
  [
    'a verdict "not met"',
    ({ requirements: [, p50] }) => Object.assign(p50, { verdict: 'met' }),
    /p50<1us is met, but its figures make it not met/,
  ],
  [
    'a verdict "met"',
    ({ requirements: [p99] }) => Object.assign(p99, { verdict: 'not met' }),
    /p99<10s is not met, but its figures make it met/,
  ],
  [
    'a text',
    ({ requirements: [p99] }) => Object.assign(p99, { text: 'p99<1us' }),
    /"p99<1us" is not a requirement with this limit and unit/,
  ],
  [
    'a text and its limit',
    ({ requirements: [p99] }) => tighten(p99, 'p99<1us'),
    /p99<1us is met, but its figures/,
  ],
  [
    'a text that is not a requirement',
    ({ requirements: [p99] }) => Object.assign(p99, { text: 'p99' }),
    /"p99" is not a requirement/,
  ],
  [
    'a value',
    ({ requirements: [p99] }) => Object.assign(p99, { actual: 0.5 }),
    /p99<10s was judged on 0.5 .*, but its figures give/,
  ],
  [
    'an error bar',
    ({ requirements: [, p50] }) => Object.assign(p50, { low: 0, high: 0.0001, verdict: 'met' }),
    /p50<1us is met, but/,
  ],
  [
    'an upper end',
    ({ requirements: [p99] }) => Object.assign(p99, { high: 0.5 }),
    /p99<10s was judged on .* to 0.5\), but/,
  ],
  [
    'a share',
    ({ requirements: [, , errors] }) => Object.assign(errors, { actual: 0.4 }),
    /errors<50% was judged on 0.4/,
  ],
  [
    'a rate',
    ({ requirements: [, , , rate] }) => tighten(rate, 'rate>=9000/s'),
    /rate>=9000\/s is met, but its figures make it not met/,
  ],
  [
    'a scope',
    ({ requirements: [p99] }) => Object.assign(p99, { operation: 'constructor' }),
    /names an operation or a stage that was not measured/,
  ],
  [
    'a verdict in an older file',
    ({ requirements: [, p50] }) => {
      Object.assign(p50, { verdict: 'met' });
      delete p50.low;
    },
    /p50<1us is met, but its figures make it not met/,
  ],
  [
    'the list of verdicts, which is empty',
    (copy) => Object.assign(copy, { requirements: [] }),
    /requirement 1 of its plan is "p99<10s", but the verdict is on none/,
  ],
  [
    'a verdict that was removed',
    ({ requirements }) => requirements.splice(1, 1),
    /requirement 2 of its plan is "p50<1us", but the verdict is on "errors<50%"/,
  ],
  [
    'a verdict that was added',
    ({ plan }) => plan.requirements.pop(),
    /requirement 4 of its plan is none, but the verdict is on "rate>=1\/s"/,
  ],
  [
    'a measurement without its reasons',
    ({ measurement }) => {
      measurement.observed.displaced.second = 200;
    },
    /measurement.verdict is valid, but it should be invalid \(load_not_offered\)/,
  ],
  [
    'a measurement with its reasons',
    ({ measurement }) => {
      measurement.reasons.push({ code: 'parts_apart', grade: 'invalid', text: 'x' });
    },
    /measurement.verdict is valid, but it should be invalid \(parts_apart\)/,
  ],
  [
    'a bookkeeping remark that would end the checks',
    ({ measurement, totals }) => {
      measurement.reasons.push({ code: 'bookkeeping', grade: 'remark', text: 'x' });
      totals.sent += 1;
    },
    /does not add up/,
  ],
  [
    'a measurement called invalid',
    ({ measurement }) => {
      measurement.verdict = 'invalid';
      measurement.reasons = [{ code: 'bookkeeping', grade: 'invalid', text: 'x' }];
    },
    / is met, but measurement.verdict is invalid/,
  ],
];
test('accepts the result that is edited below', () => void read(run));

for (const [what, edit, message] of EDITS) {
  test(`rejects a result with an edit of ${what}`, () => {
    assert.throws(
      () => read(edited(run, edit)),
      (error) => {
        assert.match(Object(error).message, /^r\.json/);
        assert.match(Object(error).message, message);
        return Object(error).code === 'inconsistent_result';
      },
    );
  });
}

test('a verdict without a value, as only requests that the user cut off were sent, is read again', () => {
  const requirements = ['min<10ms', 'max(service)>5ms', 'p99<1s'];
  const cut = (/** @type {any} */ one) => ({ ...one, status: 0, body: null, failure: 'cut_off' });
  const stopped = syntheticRun({ change: cut, load: LOAD, requirements, stoppedMs: 2000 });
  assert.deepEqual(
    stopped.requirements.map(({ verdict }) => verdict),
    requirements.map(() => 'not proven'),
  );
  assert.deepEqual(Object(read(stopped)).requirements, stopped.requirements);
});

test('a plan that does not list its requirements, or not as texts, is not compared with the verdicts', () => {
  for (const listed of [undefined, null, [{ text: 'p99<1s' }]])
    read(edited(run, ({ plan }) => Object.assign(plan, { requirements: listed })));
});

test('a verdict may be in doubt although its bar is within the limit', () => {
  for (const doubt of ['unchecked', 'rested']) {
    const doubted = edited(run, ({ requirements: [p99] }) => {
      Object.assign(p99, { verdict: 'not proven', doubt });
    });
    assert.equal(Object(read(doubted)).requirements[0].doubt, doubt);
  }
});

/** @param {{key: string}} metric */
const isP99 = ({ key }) => key === 'p99';

const groups = [
  { name: 'old', runs: runsOf(TEN, 0) },
  { name: 'new', runs: runsOf(slower(1.1), 1) },
];
const comparison = compareGroups(groups, { resamples: 10, failIf: ['p99 slower by 5%'] });
const required = {
  requirements: [
    { ...REQUIRED, verdict: /** @type {const} */ ('not met'), actual: 220, low: 210, high: 230 },
  ],
};
const scenario = scenarioOf({ inmem: [mixedRun(1, 0, required)], raft: [mixedRun(1.5, 1, required)] });
/** @type {[string, unknown, (copy: any) => void, RegExp][]} */
const KINDS = [
  [
    'a run of a set',
    createRunSet('n', [run]),
    ({ runs, summary }) => {
      runs[0].requirements[1].verdict = 'met';
      summary.requirements[1].verdicts = { met: 1 };
    },
    /Run 1 of r.json .*p50<1us/,
  ],
  [
    'the summary of a set',
    createRunSet('n', [run]),
    ({ summary }) => Object.assign(summary.requirements[1], { verdicts: { met: 1 } }),
    /disagree on the verdicts/,
  ],
  [
    'a difference',
    comparison,
    ({ metrics }) => Object.assign(metrics.find(isP99).comparisons[0], { verdict: 'faster' }),
    /verdict of p99 of group 1 is faster, but that by its values is slower/,
  ],
  [
    'a rule of a comparison',
    comparison,
    ({ failIf }) => Object.assign(failIf[0], { verdict: 'passed' }),
    /p99 slower by 5% is passed, but the verdict by its metric is failed/,
  ],
  [
    'the best group',
    comparison,
    ({ metrics }) => Object.assign(metrics[0], { best: 1 }),
    /best of mean is 1, but that by its values is 0/,
  ],
  [
    'a difference in percent',
    comparison,
    ({ metrics }) => Object.assign(metrics.find(isP99).comparisons[0], { differencePercent: 1 }),
    /differencePercent of p99 of group 1 is 1, but that by its values is 10/,
  ],
  [
    'a p-value',
    comparison,
    ({ metrics }) => Object.assign(metrics.find(isP99).comparisons[0], { pValue: 0.01 }),
    /pValue of p99 of group 1 is 0.01, but/,
  ],
  [
    'the best median',
    comparison,
    ({ metrics }) => Object.assign(metrics[0], { bestMedian: 1 }),
    /bestMedian of mean is 1, but that by its values is 0/,
  ],
  [
    'a median of a group',
    comparison,
    ({ groups: [old] }) => Object.assign(old.metrics.p99, { median: 1 }),
    /median of p99 of old is 1, but that by its values/,
  ],
  [
    'the values of a group',
    comparison,
    ({ groups: [old] }) => old.metrics.p99.values.push(1),
    /the number of values of p99 of old is 11, but that of its runs is 10/,
  ],
  [
    'a run of a group, which is no longer used',
    comparison,
    ({ groups: [old] }) => Object.assign(old.runs[0], { used: false }),
    /a run of old is left out for no reason/,
  ],
  [
    'a share of a scenario',
    scenario,
    ({ steps: [{ requirements }] }) => {
      const edit = { text: 'errors<50%', limit: 0.5, unit: 'fraction', actual: 0.9, low: 0.85, high: 0.95 };
      Object.assign(requirements[0], edit, { verdict: 'met', verdicts: { met: 1 } });
    },
    /errors<50% of .* is met, but by its error bar it is not met/,
  ],
  [
    'a rate of a scenario',
    scenario,
    ({ steps: [{ requirements }] }) => {
      const edit = { text: 'rate>=1000/s', limit: 1000, unit: '/s', actual: 10, low: 9, high: 11 };
      Object.assign(requirements[0], edit, { verdict: 'met', verdicts: { met: 1 } });
    },
    /rate>=1000\/s of .* is met, but by its error bar it is not met/,
  ],
  [
    'a figure of a requirement of a scenario',
    scenario,
    ({ steps }) => Object.assign(steps[0].requirements[0], { actual: 12 }),
    /is not met with 12, but its error bar is 210 to 230/,
  ],
  [
    'the runs of a scenario',
    scenario,
    ({ steps: [step] }) => {
      Object.assign(step, { runs: [], used: [] });
      Object.assign(step.measurement, { verdict: null, verdicts: {} });
    },
    /has not one verdict per run/,
  ],
  [
    'the used runs of a scenario',
    scenario,
    ({ steps }) => steps[0].used.pop(),
    /the list of runs used for .* does not match its runs/,
  ],
  [
    'the number of errors of a row',
    scenario,
    ({ rows }) => Object.assign(rows[0], { errors: 9 }),
    /the count of .* is 400, but succeeded \+ errors is 409/,
  ],
  [
    'the error share of a row',
    scenario,
    ({ rows }) => Object.assign(rows[0], { errorShare: 0.5 }),
    /the error share of .* is 0.5, but/,
  ],
  [
    'a percentile of a row',
    scenario,
    ({ rows }) => Object.assign(rows[0], { p50: 1e6 }),
    /min, percentiles and max are not in ascending order/,
  ],
  [
    'a difference between targets',
    scenario,
    ({ differences }) => Object.assign(differences[0].targets[1], { difference: 1 }),
    /the difference of .* of raft is 1, but by its values/,
  ],
  [
    'a requirement of a scenario',
    scenario,
    ({ steps }) => Object.assign(steps[0].requirements[0], { verdict: 'met' }),
    /p99<200ms of .* is met, but its worst verdict is not met/,
  ],
  [
    'a requirement of a scenario and its count',
    scenario,
    ({ steps }) => Object.assign(steps[0].requirements[0], { verdict: 'met', verdicts: { met: 1 } }),
    /p99<200ms of .* is met, but by its error bar it is not met/,
  ],
  [
    'a measurement of a scenario',
    scenario,
    ({ steps }) => Object.assign(steps[0].runs[0], { verdict: 'invalid' }),
    /the measurement of .* is valid, but that of its worst run is invalid/,
  ],
  [
    'a row of a scenario',
    scenario,
    ({ rows }) => Object.assign(rows[0], { requirement: 'met' }),
    /the requirement of a row/,
  ],
  [
    'a delay',
    clusterSample(),
    ({ requirements }) =>
      Object.assign(requirements[0], { verdict: requirements[0].verdict === 'met' ? 'not met' : 'met' }),
    /is (not )?met, but its figures/,
  ],
  [
    'the percentiles of all delays',
    clusterSample(),
    ({ everywhere }) => Object.assign(everywhere.sinceAnswered.upper, { min: 0.001, p50: 0.001 }),
    /everywhere.sinceAnswered.upper.min is 0.001, but its histogram has/,
  ],
  [
    'the delays of a node, consistently',
    clusterSample(),
    ({ nodes: [{ delay }] }) => Object.assign(delay.sinceAnswered, { upper: delay.sinceAnswered.lower }),
    /nodes.0.delay.sinceAnswered.upper is not that of the rows/,
  ],
  [
    'a figure of a delay that is null',
    clusterSample(),
    ({ revokeMs }) => Object.assign(revokeMs, { mean: null }),
    /revokeMs has \d+ values, but some of its figures are null/,
  ],
  [
    'the number of planned certificates',
    clusterSample(),
    ({ certificates }) => Object.assign(certificates, { planned: 900 }),
    /certificates.planned is not that of the plan/,
  ],
  [
    'the poll lag',
    clusterSample(),
    ({ pollLagMs }) => Object.assign(pollLagMs, { p50: 1e6 }),
    /pollLagMs: its figures are not in ascending order/,
  ],
  [
    'the number of missed polls',
    clusterSample(),
    ({ nodes }) => Object.assign(nodes[0].asked, { missed: 1e6 }),
    /measurement.verdict is valid, but its figures make it invalid/,
  ],
  [
    'the confirmation of a search',
    await sampleSearch(),
    ({ answer, steps }) => {
      answer.p99Ms = 1;
      for (const step of steps) step.p99Ms = step.level === answer.level ? 1 : step.p99Ms;
    },
    /the figures of its answer are not those/,
  ],
  [
    'a requirement of a search',
    await sampleSearch(),
    ({ confirmation }) => {
      confirmation.requirements[0].verdict = 'not proven';
    },
    /p99<100ms is not marked as beyond the answer/,
  ],
];
for (const [what, document, edit, message] of KINDS) {
  test(`rejects an edit of ${what}`, () => {
    read(document);
    assert.throws(() => read(edited(document, edit)), { code: /^inconsistent_/, message });
  });
}

test('a bookkeeping fault that the result reports is still shown', () => {
  const broken = edited(run, ({ measurement, totals, requirements }) => {
    totals.sent += 1;
    measurement.verdict = 'invalid';
    measurement.reasons = [{ code: 'bookkeeping', grade: 'invalid', text: 'x' }];
    for (const one of requirements) Object.assign(one, { verdict: 'not proven' });
  });
  assert.equal(/** @type {any} */ (read(broken)).totals.sent, broken.totals.sent);
});

describe('accepts what the tool wrote', () => {
  const METRICS = ['p50', 'p99', 'p99.9', 'mean', 'min', 'max', 'p95(service)', 'max(send-lag)'];
  const LIMITS = ['1us', '900us', '1ms', '3ms', '10ms', '50ms', '1s'];
  const requirements = METRICS.flatMap((metric) =>
    LIMITS.flatMap((limit) => [`${metric}<${limit}`, `${metric}>=${limit}`]),
  ).concat(
    ['errors<=0', 'errors<0.1%', 'errors<1%', 'errors<60%', 'errors<=100%'],
    ['rate>=1/s', 'rate>20/s', 'rate>=19.9/s', 'rate>=20/s', 'rate>30/s'],
  );
  /** @type {[string, {stage?: string, operation?: string}][]} */
  const SCOPED = [
    ['p99<3ms', { stage: 'hold' }],
    ['rate>=40/s', { stage: 'hold' }],
    ['rate>=9/s', { operation: 'write' }],
    ['rate>=20/s', { stage: 'ramp' }],
    ['max<1s', { stage: 'ramp', operation: 'read' }],
  ];
  const STAGES = [
    { name: 'ramp', lines: [{ durationMs: 2000, from: 0, to: 50 }] },
    { name: 'hold', lines: [{ durationMs: 2000, from: 50, to: 50 }] },
  ];
  const late = (/** @type {any} */ one) => ({ ...one, lag: one.index % 3, late: one.index % 2 });
  /** @type {[string, object][]} */
  const RUNS = [
    ['an open loop', { change: good }],
    ['an open loop of a late tool', { change: (/** @type {any} */ one) => late(good(one)) }],
    ['with failures', {}],
    ['unsent requests', { unsent: 3, change: good }],
    ['dropped arrivals', { load: { overflow: 'drop' }, change: late }],
    ['an interrupted run', { stoppedMs: 4000, change: good }],
    [
      'a closed loop',
      { load: { model: 'closed', ratePerSecond: null, requests: 700, durationMs: null }, change: good },
    ],
    ['stages', { load: { durationMs: 4000, stages: STAGES }, weights: { read: 4, write: 1 }, change: good }],
    ['stages with failures', { load: { durationMs: 4000, stages: STAGES }, weights: { read: 4, write: 1 } }],
    ['arrivals by chance', { load: { arrivals: 'poisson' }, change: good }],
  ];
  for (const [what, given] of RUNS) {
    test(what, () => {
      for (const seed of [1, 2]) {
        const { load = {}, weights, ...more } = /** @type {any} */ (given);
        const durationMs = Math.ceil(20_000 * uniform(seed, 0, 1) + 500);
        const scoped = weights === undefined ? [] : SCOPED;
        read(
          syntheticRun({
            ...{ ...more, ...(weights && { weights }) },
            load: { ratePerSecond: 20, durationMs, seed, ...load },
            requirements: [...requirements, ...scoped],
          }),
        );
      }
    });
  }

  test('the parts of a plan', () => {
    for (const part of syntheticParts({ load: LOAD, requirements }, [1, 1])) read(part);
  });
});
