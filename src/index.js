/**
 * The library: the same plans, runs and reports as on the command line.
 *
 *     const plan = await createPlan('ocsp', { url: 'http://127.0.0.1:8200', rate: '20/s', duration: '10s' });
 *     const result = await run(plan, { token, onEvent: console.error });
 */
import { loadOperation } from './operations/index.js';
import { makePlan } from './plan/plan.js';

export { calibrate } from './campaigns/calibrate/calibrate.js';
export { measurePropagation } from './campaigns/propagation/propagate.js';
export { planPropagation } from './campaigns/propagation/propagation-plan.js';
export { findMax } from './campaigns/search/find-max.js';
export { openSteps } from './campaigns/search/steps.js';
export { EXIT, PkiLoadError } from './common/errors.js';
export { operations } from './operations/index.js';
export { renderDocument, reporters } from './report/index.js';
export { checkResult } from './result/check/check.js';
export { compareGroups } from './result/comparison/compare.js';
export { mergeResults } from './result/parts/merge-results.js';
export { readDocument } from './result/read-document.js';
export { createRunSet } from './result/runs/run-set.js';
export { createScenarioSummary } from './result/scenario/scenario-result.js';
export { run } from './run.js';
export { createVaultClient } from './vault/client.js';
export { readEnvironment } from './vault/environment.js';
export { setUp } from './vault/setup/setup.js';
export { planSetup } from './vault/setup/setup-plan.js';
export { tearDown } from './vault/setup/teardown.js';

/**
 * Takes the command-line options by camelCase or kebab-case name, as text or values; a bare duration is in
 * seconds.
 * @param {string} operation e.g. `issue` @param {Record<string, unknown>} options
 * @param {import('./vault/environment.js').VaultEnvironment} [environment] defaults of the target
 * @returns {Promise<Readonly<import('./plan/plan.js').Plan>>}
 * @throws {import('./common/errors.js').PkiLoadError} naming the option and the remedy
 */
export async function createPlan(operation, options, environment) {
  return makePlan(await loadOperation(operation), options, environment);
}
