/** Shared by the tests of scenarios. */

import { readScenario } from '../../../src/campaigns/scenario/read.js';
import { planRun } from '../../../src/campaigns/scenario/scenario-steps.js';
/** @import { Plan } from '../../../src/plan/plan.js' */
/** @import { VaultEnvironment } from '../../../src/vault/environment.js' */

/** Of a machine where nothing is set. @type {VaultEnvironment} */
export const NOTHING_SET = {
  address: null,
  addresses: [],
  addressSource: null,
  proxySource: null,
  token: null,
  tokenSource: null,
  namespace: null,
  tls: { caCert: null, caPath: null, clientCert: null, clientKey: null, serverName: null, skipVerify: false },
  timeoutMs: null,
};

/** The least that is a scenario, but for its load. */
export const HEAD = 'name: n\nmix: [{operation: issue}]\n';

/**
 * What `run` does before anything is sent.
 *
 * @param {string} text
 * @param {{env?: Record<string, string>, allowEnv?: string[], flags?: Record<string, unknown>, file?: string}} [given]
 */
export async function readAndPlan(text, { env = {}, allowEnv = [], flags = {}, file = 's.yaml' } = {}) {
  const scenario = await readScenario(text, file, env, { allowEnv });
  /** @type {Readonly<Plan>[]} */
  const plans = [];
  for (const run of scenario.runs) {
    for (const target of scenario.targets) plans.push(await planRun(run, target, flags, NOTHING_SET));
  }
  return { scenario, plans, plan: plans[0] };
}
