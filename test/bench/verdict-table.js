/** The runs of the bench `verdict` as rows of its table. */
import { placeTruth } from './grid.js';
import { verdictOn } from './in-turn.js';
import { quantile } from './statistics.js';
import { poolFigures } from './verdict-run.js';
/** @import { Bar, Figure, Judgement } from './grid.js' */
/** @import { MeasuredRun } from './verdict.js' */

export const COLUMNS = [
  'machine',
  'figure',
  'bars',
  'without bar',
  'contain truth',
  'truth below',
  'truth above',
  'pooled',
  'width p50',
  'width p90',
  'requirements',
  'false pass',
  'false fail',
  'inconclusive',
  'borderline',
  'correct',
  'goal',
  'met',
];

const FIGURES = /** @type {const} */ (['p50', 'p95', 'p99', 'max', 'rate']);
/** The figures whose bars must contain the true value; a maximum is one request. */
const WITH_BAR_GOAL = new Set(['p50', 'p95', 'p99']);
const GOAL_CONTAINED = 0.95;

/** @param {string} machine @param {MeasuredRun[]} runs */
export function rowsOf(machine, runs) {
  return FIGURES.map((figure) => {
    const bars = barCells(figure, runs);
    const requirements = requirementCells(figure, runs);
    const isTrue = requirements.falsePasses + requirements.falseFails === 0;
    const isContained = !WITH_BAR_GOAL.has(figure) || (bars.contained ?? 0) >= GOAL_CONTAINED;
    const goal = WITH_BAR_GOAL.has(figure) ? `${GOAL_CONTAINED * 100} % contain, none false` : 'none false';
    return [machine, figure, ...bars.cells, ...requirements.cells, ...verdictOn(goal, isTrue && isContained)];
  });
}

/** @param {Figure} figure @param {MeasuredRun[]} runs */
function barCells(figure, runs) {
  const known = runs.filter((run) => run.bars[figure].truthIs !== null);
  const missing = runs.filter((run) => run.bars[figure].bar === null).length;
  if (known.length === 0) return { contained: null, cells: [0, missing, null, null, null, null, null, null] };
  const count = (/** @type {string} */ place) =>
    known.filter((run) => run.bars[figure].truthIs === place).length;
  const contained = count('inside') / known.length;
  const widths = Float64Array.from(known, (run) => {
    const { low, high } = /** @type {Bar} */ (run.bars[figure].bar);
    return high === null ? Number.POSITIVE_INFINITY : (high - low) / run.truth[figure];
  }).sort();
  const cells = [
    known.length,
    missing,
    percent(contained),
    count('below'),
    count('above'),
    containedPooled(figure, known),
    percent(quantile(widths, 0.5)),
    percent(quantile(widths, 0.9)),
  ];
  return { contained, cells };
}

/** @param {Figure} figure @param {MeasuredRun[]} runs */
function containedPooled(figure, runs) {
  if (figure === 'max' || figure === 'rate') return null;
  const scenarios = [...new Set(runs.map(({ scenario }) => scenario))];
  const contained = scenarios.flatMap((name) => {
    const own = runs.filter(({ scenario }) => scenario === name);
    const pooled = poolFigures(own.map(({ responses }) => responses))[figure];
    return own.filter(({ bars }) => {
      const { bar } = bars[figure];
      return bar !== null && placeTruth(bar, pooled) === 'inside';
    });
  });
  return percent(contained.length / runs.length);
}

/** @param {Figure} figure @param {MeasuredRun[]} runs */
function requirementCells(figure, runs) {
  const all = runs.flatMap(({ requirements }) => requirements.filter((one) => one.figure === figure));
  const count = (/** @type {Judgement} */ judgement) =>
    all.filter((one) => one.judgement === judgement).length;
  const [falsePasses, falseFails] = [count('false pass'), count('false fail')];
  const decided = all.length - count('unknown');
  const cells = [
    decided,
    falsePasses,
    falseFails,
    count('inconclusive'),
    count('borderline'),
    percent(count('correct') / decided),
  ];
  return { falsePasses, falseFails, cells };
}

/** @param {string} machine @param {MeasuredRun[]} runs @returns {Record<string, string>} */
export function summaryOf(machine, runs) {
  const invalid = runs.filter(({ verdict }) => verdict === 'invalid');
  const codes = invalid.flatMap((run) => run.codes);
  const why = [...new Set(codes)]
    .map((code) => `${code} ${codes.filter((one) => one === code).length}`)
    .join(', ');
  const unseen = runs.reduce((sum, { sent, onWire }) => sum + Math.abs(sent - onWire), 0);
  const sent = runs.reduce((sum, run) => sum + run.sent, 0);
  return {
    [`${machine}, called invalid`]: `${invalid.length} of ${runs.length} runs${why && ` (${why})`}`,
    [`${machine}, difference between sent and captured requests`]: `${unseen} of ${sent}`,
  };
}

/** @param {number} share */
function percent(share) {
  return Number.isFinite(share) ? `${(share * 100).toFixed(1)} %` : 'unbounded';
}
