/**
 * The library: the same plan, run and reports as the command line's.
 *
 *     const plan = await createPlan('ocsp', { url: 'http://127.0.0.1:8200', rate: '20/s', duration: '10s' });
 *     const result = await run(plan, { token, onEvent: console.error });
 */
import { loadOperation } from './operations/index.js';
import { makePlan } from './plan.js';

export { calibrate } from './calibrate/calibrate.js';
export { EXIT, PkiLoadError } from './errors.js';
export { mergeResults } from './merge-results.js';
export { operations } from './operations/index.js';
export { planPropagation } from './propagation/plan.js';
export { measurePropagation } from './propagation/propagate.js';
export { renderDocument, reporters } from './report/index.js';
export { checkResult } from './results/check/check.js';
export { compareGroups } from './results/comparison/compare.js';
export { readDocument } from './results/read-document.js';
export { makeRunSet } from './results/runs/run-set.js';
export { createScenarioSummary } from './results/scenario/scenario-result.js';
export { run } from './run.js';
export { findMax } from './search/find-max.js';
export { openSteps } from './search/steps.js';
export { planSetup } from './setup/plan.js';
export { setUp } from './setup/setup.js';
export { tearDown } from './setup/teardown.js';
export { createVaultClient } from './vault/client.js';
export { readEnvironment } from './vault/environment.js';

/**
 * Options as the command line takes them, by camelCase or kebab-case name, as text or as values (a bare number of a
 * duration is seconds).
 *
 * @param {string} operation e.g. `issue`
 * @param {Record<string, unknown>} options
 * @param {import('./vault/environment.js').VaultEnvironment} [environment] defaults of the target
 * @returns {Promise<Readonly<import('./plan.js').Plan>>}
 * @throws {import('./errors.js').PkiLoadError} naming the option and the remedy
 */
export async function createPlan(operation, options, environment) {
  return makePlan(await loadOperation(operation), options, environment);
}
