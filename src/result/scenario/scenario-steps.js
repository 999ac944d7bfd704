/** Results of one step -> which of its runs count, its requirements, and whether its measurements are valid. */
/** @import { LoadPlan } from '../../plan/load.js' */
/** @import { Result } from '../schema.js' */
/** @import { ScenarioStep } from './scenario-schema.js' */

/** The worst first. */
const REQUIREMENT = /** @type {const} */ (['not met', 'not proven', 'met']);
const MEASUREMENT = /** @type {const} */ (['invalid', 'suspect', 'valid']);

/** @param {LoadPlan} load @returns {Pick<ScenarioStep, 'load' | 'stages'>} */
export function loadOfStep(load) {
  const { model, ratePerSecond, concurrency, threads, arrivals, durationMs, requests, rampUpMs } = load;
  return {
    load: { model, ratePerSecond, concurrency, threads, arrivals, durationMs, requests, rampUpMs },
    stages: (load.stages ?? []).map(({ name, lines }) => ({
      name,
      seconds: lines.reduce((sum, { durationMs: ms }) => sum + ms, 0) / 1000,
      from: lines[0].from,
      to: lines[lines.length - 1].to,
    })),
  };
}

/** @param {readonly Result[]} results @returns {ScenarioStep['requirements']} in the order of the plan */
export function requirementsOf(results) {
  /** @type {Map<string, Result['requirements']>} */
  const alike = new Map();
  for (const one of results.flatMap(({ requirements }) => requirements)) {
    const key = JSON.stringify([one.text, one.operation, one.stage]);
    alike.set(key, [...(alike.get(key) ?? []), one]);
  }
  return [...alike.values()].map((given) => {
    const verdict = worstRequirement(given.map((one) => one.verdict));
    const worst = given.find((one) => one.verdict === verdict) ?? given[0];
    const { operation = null, stage = null } = worst;
    return { ...worst, operation, stage, verdicts: countBy(given.map((one) => one.verdict)) };
  });
}

/** @param {readonly Result[]} results @returns {ScenarioStep['measurement']} */
export function measurementOf(results) {
  const all = results.map(({ measurement }) => measurement);
  /** @type {Map<string, ScenarioStep['measurement']['reasons'][number]>} */
  const reasons = new Map();
  for (const reason of all.flatMap((one) => one.reasons)) {
    const known = reasons.get(reason.code);
    if (known === undefined) reasons.set(reason.code, { ...reason, runs: 1 });
    else known.runs++;
  }
  return {
    verdict: MEASUREMENT.find((worst) => all.some(({ verdict }) => verdict === worst)) ?? null,
    verdicts: countBy(all.map(({ verdict }) => verdict)),
    reasons: [...reasons.values()],
  };
}

/**
 * @param {readonly typeof REQUIREMENT[number][]} verdicts
 * @returns {typeof REQUIREMENT[number] | null} null: there is none
 */
export function worstRequirement(verdicts) {
  return REQUIREMENT.find((worst) => verdicts.includes(worst)) ?? null;
}

/** @param {readonly string[]} words @returns {Record<string, number>} */
function countBy(words) {
  /** @type {Record<string, number>} */
  const counts = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
