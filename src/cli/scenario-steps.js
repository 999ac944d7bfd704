/** A scenario and flags -> its steps: each run on each target, planned, and checked where it is to be searched. */

import { checkSearched, notJudged, planRun, saidOfLoad } from '../campaigns/scenario/scenario-plan.js';
import { usageError } from '../common/errors.js';
import { readEnvironment } from '../vault/environment.js';
import { remarksOf } from './output.js';
import { refuseOpenLoop, searchSettings, startOf } from './search-options.js';

/** @typedef {import('./scenario-run.js').Step} Step */
/** @typedef {import('./run-options.js').RunSettings} RunSettings */

/**
 * @param {Pick<import('../campaigns/scenario/read.js').ReadScenario, 'runs' | 'targets'>} scenario
 * @param {Record<string, unknown>} flags
 * @param {Pick<RunSettings, 'search' | 'pauseMs'>} settings
 * @returns {Promise<Step[]>} all targets of the first run, then all of the next
 */
export async function stepsOf({ runs, targets }, flags, settings) {
  if (targets.length > 1 && flags.url !== undefined) {
    throw usageError(
      'contradiction',
      `--url names one target, but the scenario has ${targets.length}.`,
      'Leave --url out, or the targets of the scenario but one.',
    );
  }
  const { search = null } = settings;
  if (search !== null) refuseOpenLoop(search, flags);
  const start = search && { of: search.of, start: startOf(search) };
  const environment = readEnvironment();
  /** @type {Step[]} */
  const steps = [];
  for (const run of runs) {
    for (const target of targets) {
      const plan = await planRun(run, target, flags, environment, start);
      const asked = start && searchSettings(plan, settings, saidOfLoad(run, flags, start));
      if (asked !== null) checkSearched(run, plan, asked, flags);
      const unjudged = notJudged(run, plan);
      const names = [runs.length > 1 ? run.name : null, target.name].filter((name) => name !== null);
      steps.push({
        name: names.join('-') || run.name,
        run: run.name,
        target: target.name ?? (plan.dev ? 'embedded server' : plan.target.url),
        plan,
        token: target.tokenEnv === null || plan.dev ? environment.token : tokenIn(target.tokenEnv),
        tokenEnv: target.tokenEnv,
        asked,
        notJudged: unjudged,
        remarks: remarksOf({ run: run.name, notJudged: unjudged }),
      });
    }
  }
  return steps;
}

/** @param {string} variable @returns {string} a secret */
function tokenIn(variable) {
  const token = process.env[variable];
  if (token) return token;
  throw usageError(
    'no_token',
    `The environment variable ${variable} (token-env) is not set.`,
    `Set ${variable}.`,
  );
}
