/** One run of the bench `verdict`: compares the tool's bars and verdicts with a packet capture. */
import { figuresOf, judgeVerdict, limitsAround, placeTruth } from './grid.js';
import { measureOnWire } from './measure.js';
import { quantile } from './statistics.js';
import { truthOf } from './truth.js';
/** @import { Result } from '../../src/result/schema.js' */
/** @import { Bar, Figure, Figures, Judgement, Limit } from './grid.js' */
/** @import { Subject } from './subject.js' */
/** @import { Scenario } from './verdict-scenarios.js' */

/**
 * @typedef {object} JudgedBar
 * @property {Bar | null} bar null: the result has none
 * @property {number | null} reported
 * @property {ReturnType<typeof placeTruth> | null} truthIs null: no bar, or the rate of a closed loop, whose true value is unknown
 */
/**
 * @typedef {object} JudgedRequirement
 * @property {Figure} figure
 * @property {string} text
 * @property {string} verdict
 * @property {string} [doubt]
 * @property {Judgement} judgement
 */
/**
 * @typedef {object} Run
 * @property {string} scenario
 * @property {number} seed
 * @property {string} verdict on the measurement
 * @property {string[]} codes
 * @property {number} sent
 * @property {number} onWire
 * @property {Figures} truth
 * @property {Record<Figure, JudgedBar>} bars
 * @property {JudgedRequirement[]} requirements
 */

/**
 * @param {Subject} subject
 * @param {Scenario} scenario
 * @param {object} settings
 * @param {number} settings.seconds
 * @param {number} settings.seed
 * @param {boolean} settings.isPinned target, which then polls without sleeping, and tool to different processors
 * @param {Figures | null} settings.expected null: no requirements
 * @returns {Promise<{run: Run, responses: Float64Array}>} `responses`: the truth, ms, ascending
 */
export async function measureAgainstTruth(subject, scenario, { seconds, seed, isPinned, expected }) {
  const { behaviour, rate, connections, arrivals } = scenario;
  const limits = expected === null ? [] : limitsAround(expected);
  const placed = isPinned ? {} : { cores: null, spin: false };
  const { result, exchanges } = await measureOnWire(
    subject,
    { ...behaviour, ...placed, seed },
    { ratePerSecond: rate, connections, seconds },
    { seed, require: limits.map(({ text }) => text), ...(arrivals === undefined ? {} : { arrivals }) },
  );
  if (exchanges.length === 0) throw new Error(`${scenario.name}: no request was captured.`);
  const truth = truthOf(exchanges, result, behaviour.serviceMs);
  const figures = figuresOf(truth);
  const run = {
    scenario: scenario.name,
    seed,
    verdict: result.measurement.verdict,
    codes: result.measurement.reasons.map(({ code }) => code),
    sent: result.totals.sent,
    onWire: exchanges.length,
    truth: figures,
    bars: judgeBars(result, figures),
    requirements: judgeRequirements(result, limits, figures),
  };
  return { run, responses: truth.responses };
}

/** @param {Result} result @param {Figures} truth */
function judgeBars(result, truth) {
  const { rates, load } = result;
  const { response } = result.latencyMs;
  const judge = (/** @type {Figure} */ figure) => {
    const isRate = figure === 'rate';
    const bar = (isRate ? rates.bar : response.bars?.[figure]) ?? null;
    const isKnown = bar !== null && !(isRate && load.model === 'closed');
    const truthIs = isKnown ? placeTruth(bar, truth[figure]) : null;
    return { bar, reported: isRate ? rates.perSecond : response[figure], truthIs };
  };
  const [p50, p95, p99, max] = /** @type {const} */ (['p50', 'p95', 'p99', 'max']).map(judge);
  return { p50, p95, p99, max, rate: judge('rate') };
}

/** @param {Result} result @param {Limit[]} limits @param {Figures} truth @returns {JudgedRequirement[]} */
function judgeRequirements({ requirements, load }, limits, truth) {
  if (requirements.length !== limits.length)
    throw new Error(`The run had ${limits.length} requirements, but the result has ${requirements.length}.`);
  return limits.map((limit, i) => {
    const { text, verdict, doubt } = requirements[i];
    if (text !== limit.text) throw new Error(`The result has ${text} instead of ${limit.text}.`);
    const { figure } = limit;
    const isLowerBound = figure === 'rate' && load.model === 'closed';
    const judgement = judgeVerdict(limit, verdict, truth[figure], isLowerBound);
    return { figure, text, verdict, ...(doubt === undefined ? {} : { doubt }), judgement };
  });
}

/** @param {Float64Array[]} runs ms @returns {Pick<Figures, 'p50' | 'p95' | 'p99'>} of all their requests together */
export function poolFigures(runs) {
  const all = new Float64Array(runs.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const run of runs) {
    all.set(run, at);
    at += run.length;
  }
  all.sort();
  return { p50: quantile(all, 0.5), p95: quantile(all, 0.95), p99: quantile(all, 0.99) };
}
