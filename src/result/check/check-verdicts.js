/** Judges a document again from its figures; yields one sentence per verdict that the figures contradict. */
import { quote } from '../../common/errors.js';
import { createHistogram, sumHistograms } from '../../common/histogram.js';
import { METRICS, parseRequirement } from '../../plan/requirements.js';
import { REASONS } from '../../verdict/reasons.js';
import { judgeRequirement } from '../requirements/judge.js';
import { verdictOn } from '../requirements/judge-figures.js';
import { tryOrNull } from './check-latency.js';

/** @import { Requirement } from '../../plan/requirements.js' */
/** @import { RunView } from '../requirements/judge.js' */
/** @import { Measurement, RequirementVerdict, Result } from '../schema.js' */

/** @typedef {Pick<RequirementVerdict, 'text' | 'verdict'> & Partial<Omit<RequirementVerdict, 'operation' | 'stage'>>} Judged older files lack figures */

/** A figure read from a file may be the other end of its bucket, which is this wide. */
const BUCKET = 0.002;

/** @param {Result} result with figures that agree @returns {Generator<string, void>} */
export function* checkVerdicts(result) {
  yield* checkMeasurement(result);
  /** By scope: summing up histograms takes time. @type {Map<string, RunView[]>} */
  const views = new Map();
  for (const judged of result.requirements) {
    const { text, verdict, operation, stage } = judged;
    const judge = (/** @type {Requirement} */ requirement) => {
      const key = JSON.stringify([operation, stage, requirement.series]);
      const own = views.get(key) ?? viewsOf(result, judged, requirement.series);
      views.set(key, own);
      return own.map((view) => judgeRequirement({ ...requirement, operation, stage }, view));
    };
    if (!result.shard && !result.unfinished) yield* checkVerdict(judged, judge);
    else if (verdict !== 'not proven')
      yield `the verdict on ${text} is ${verdict}, but in ${result.shard ? 'a part' : 'an unfinished result'} it is always not proven`;
  }
  yield* checkListed(result);
}

/** A file of another version may lack the plan's list. @param {Pick<Result, 'plan' | 'requirements'>} result @returns {Generator<string, void>} */
function* checkListed({ plan: { requirements: listed }, requirements }) {
  if (!Array.isArray(listed) || listed.some((text) => typeof text !== 'string')) return;
  const judged = requirements.map(({ text }) => text);
  for (let i = 0; i < Math.max(listed.length, judged.length); i++) {
    if (listed[i] === judged[i]) continue;
    const shown = (/** @type {string | undefined} */ text) => (text === undefined ? 'none' : quote(text));
    return yield `requirement ${i + 1} of its plan is ${shown(listed[i])}, but the verdict is on ${shown(judged[i])}`;
  }
}

/** @typedef {Partial<Pick<Result, 'totals' | 'outcomes' | 'latencyMs' | 'load' | 'interrupted' | 'unfinished'>>} Figures */

/** @param {{measurement: Measurement, requirements: readonly Judged[]} & Figures} document @returns {Generator<string, void>} */
export function* checkMeasurement({ measurement: { verdict, reasons, observed }, requirements, ...result }) {
  const met = requirements.find((one) => one.verdict === 'met')?.text;
  if (verdict === 'invalid' && met) yield `${met} is met, but measurement.verdict is ${verdict}`;
  const { totals, latencyMs, load, unfinished } = result;
  if (verdict === 'invalid' || unfinished) return;
  const response = { totalCount: latencyMs?.response.count };
  const none = { forgone: 0, droppedLate: 0, leftWhileFree: false, displaced: { second: 0, tenth: 0 } };
  const facts = { ...none, ...result, ...observed, ...totals, ...{ model: load?.model, response } };
  const codes = /** @type {const} */ (['nothing_measured', 'load_not_offered']);
  const found = totals && codes.find((code) => REASONS[code](/** @type {any} */ (facts)) !== null);
  const code = reasons.find(({ grade }) => grade === 'invalid')?.code ?? found;
  if (code !== undefined) yield `measurement.verdict is ${verdict}, but it should be invalid (${code})`;
}

/** @param {Pick<Judged, 'text' | 'limit' | 'unit'>} judged @returns {Requirement | null} null: `text` is not a requirement, or its limit or unit differs */
export function requirementOf({ text, limit, unit }) {
  // In a mix or in stages, its scope precedes it: `reads: p99<1s`.
  const requirement = tryOrNull(() => parseRequirement(String(text.split(': ').at(-1))));
  if (requirement === null) return null;
  const own = METRICS[requirement.metric].unit;
  return requirement.limit === (limit ?? requirement.limit) && own === (unit ?? own) ? requirement : null;
}

/** @param {Judged} judged @returns {{low: number, high: number}} Infinity: no bound */
export const barOf = ({ low, high }) => {
  return { low: low ?? Number.POSITIVE_INFINITY, high: high ?? Number.POSITIVE_INFINITY };
};

/** The bar alone would decide, but unchecked, unsent or cut-off requests might change that. @param {Judged} judged */
const isDoubted = ({ doubt, actual = null }) =>
  doubt === 'unchecked' || doubt === 'rested' || (doubt === 'tool' && actual === null);

/**
 * A file lacks the lower bound of the target's own times. Without it the bar is narrower, so the verdict may be met or
 * not met where the run's own was not proven. @param {Judged} judged
 * @param {(requirement: Requirement) => RequirementVerdict[]} judge every verdict that the figures allow; none: not measured
 * @returns {Generator<string, void>}
 */
export function* checkVerdict(judged, judge) {
  const { text, verdict, actual = null, low } = judged;
  const requirement = requirementOf(judged);
  if (requirement === null) return yield `${quote(text)} is not a requirement with this limit and unit`;
  const isTime = METRICS[requirement.metric].unit === 'ms';
  const limits = isTime ? [1, 1 - BUCKET, 1 + BUCKET] : [1];
  const all = limits.flatMap((factor) => judge({ ...requirement, limit: requirement.limit * factor }));
  const [found] = all;
  if (found === undefined) return yield `${text} names an operation or a stage that was not measured`;
  const [own, bar] = [barOf(found), barOf(judged)];
  const isUndecided =
    low !== undefined && (verdictOn(requirement, bar) === 'not proven' || isDoubted(judged));
  const possible = isUndecided && isTime ? [] : all.map((one) => one.verdict);
  // Older versions judged the figure without its error bar.
  const isUndecidable = low === undefined && (verdict === 'not proven' || possible.includes('not proven'));
  if (!possible.includes(verdict) && !(isUndecided && verdict === 'not proven') && !isUndecidable)
    yield `${text} is ${verdict}, but its figures make it ${possible[0] ?? 'not proven'}`;
  if (low === undefined) return;
  const isAbove = (/** @type {number} */ a, /** @type {number} */ b) =>
    isTime ? a > b * (1 + 2 * BUCKET) + 2 * BUCKET : a > b * (1 + 1e-6);
  const [a, b] = [actual, found.actual].map((value) => value ?? Number.POSITIVE_INFINITY);
  if (isAbove(a, b) || isAbove(b, a) || isAbove(bar.low, own.low) || isAbove(own.high, bar.high))
    yield `${text} was judged on ${actual} (${low} to ${judged.high}), but its figures give ${found.actual} (${found.low} to ${found.high})`;
}

/**
 * @param {Result} result @param {{operation?: string, stage?: string}} scope @param {Requirement['series']} series
 * @returns {RunView[]} several if all may have been served as offered; none: not measured
 */
function viewsOf({ load, measurement, ...result }, { operation, stage }, series) {
  const part = stage === undefined ? result : result.stages?.find(({ name }) => name === stage);
  const operations = new Map(Object.entries(part?.operations ?? {}));
  const block = operation === undefined ? part : operations.get(operation);
  if (part === undefined || block === undefined) return [];
  const { totals, rates, verification, outcomeDetails, latencyMs } = block;
  const timesOf = (/** @type {Pick<typeof block, 'latencyMs'>[]} */ blocks) => {
    const histograms = blocks.flatMap(({ latencyMs: { [series]: times } }) => times.histogram ?? []);
    const reported = histograms.length === 0 ? createHistogram() : sumHistograms(histograms);
    return /** @type {RunView['all']} */ ({ [series]: { reported, target: reported } });
  };
  const good = Object.entries(outcomeDetails).filter(([, { success }]) => success);
  const checked = good.filter(([name]) => name !== 'unchecked');
  const { perSecond, bar = { low: perSecond, high: perSecond, sampled: perSecond } } = rates;
  const view = {
    ...{ ...totals, ratePerSecond: perSecond, rateBar: bar, unchecked: verification.unchecked },
    ...{ model: load.model, arrivals: load.arrivals, measurementValid: measurement.verdict !== 'invalid' },
    timeoutMs: load.timeoutMs,
    ...{ offeredPerSecond: null, allOnTime: false, all: timesOf([{ latencyMs }]) },
    series: timesOf(good.map(([, details]) => details)),
    checked: timesOf(checked.map(([, details]) => details)),
  };
  const isScheduled = load.model === 'open' && load.arrivals === 'constant';
  if (!isScheduled || totals.errors > 0 || (operation !== undefined && operations.size > 1)) return [view];
  const isConstant = load.stageCount === undefined && load.rampUpMs <= load.warmupMs;
  const level = 'level' in part ? part.level.most : isConstant ? Number(load.ratePerSecond) : 0;
  // One arrival more or less changes the rate; a backlog lowers it.
  const isAtLevel = perSecond * (totals.planned + 2) >= level * totals.planned;
  // Older versions took every rate as proven that was offered and served.
  const servedAt = (/** @type {number} */ low) => ({
    ...view,
    rateBar: { ...bar, low: Math.max(bar.low, low) },
  });
  return [view, servedAt(perSecond), ...(isAtLevel ? [servedAt(level)] : [])];
}
