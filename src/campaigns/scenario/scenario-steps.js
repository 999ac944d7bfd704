/** A scenario and flags -> its steps: each run on each target, planned, and checked where it is to be searched. */

import { usageError } from '../../common/errors.js';
import { readEnvironment } from '../../vault/environment.js';
import { refuseOpenLoop, searchSettings, startOf } from '../search/search-options.js';
import { checkSearched, notJudged, planRun, saidOfLoad } from './scenario-plan.js';
/** @import { AskedSearch } from '../search/search-options.js' */
/** @import { SearchSettings } from '../search/step-plan.js' */
/** @import { ReadScenario } from './read.js' */

/**
 * @typedef {object} PlannedStep
 * @property {string | null} token a secret
 * @property {string | null} tokenEnv environment variable that holds it
 * @property {SearchSettings | null} asked null: a run, not a search
 * @property {string[]} notJudged requirements on its stages, where it has none
 * @property {string[]} remarks sentences for its reports
 */
/** @typedef {import('./run-scenario.js').Step & PlannedStep} Step */

/**
 * @param {Pick<ReadScenario, 'runs' | 'targets'>} scenario
 * @param {Record<string, unknown>} flags
 * @param {{search?: AskedSearch | null, pauseMs: number}} settings
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

/**
 * @param {{run: string, notJudged: readonly string[]}} step `notJudged`: what is required of its stages, where it does without
 * @returns {string[]} sentences; the same for all targets of a run
 */
export function remarksOf({ run, notJudged }) {
  return notJudged.length === 0
    ? []
    : [
        `${run}: its stages are left out, and what is required of them is not judged: ${notJudged.join(', ')}.`,
      ];
}
