/** A scenario and flags -> its steps: each run on each target, planned, and checked for a search. */
import { usageError } from '../../common/errors.js';
import { readEnvironment } from '../../vault/environment.js';
import { checkSearchable } from '../search/find-max.js';
import { searchSettings } from '../search/search-options.js';
import { placed } from './read.js';
import { mergeLoad, planRun } from './scenario-plan.js';
/** @import { AskedSearch } from '../search/search-options.js' */
/** @import { ReadScenario, ScenarioTarget } from './read.js' */
/** @import { Source } from './source.js' */

/** @typedef {Awaited<ReturnType<typeof stepsOf>>[number]} Step a run on a target */

/**
 * @param {Pick<ReadScenario, 'runs' | 'targets'>} scenario @param {Record<string, unknown>} flags
 * @param {{search?: AskedSearch | null, pauseMs: number, allowEnv?: readonly string[]}} settings `allowEnv`: token-env may read these
 * @returns all targets of the first run, then all of the next
 */
export async function stepsOf({ runs, targets }, flags, settings) {
  if (targets.length > 1 && flags.url !== undefined) {
    const problem = `--url names one target, but the scenario has ${targets.length}.`;
    throw usageError('contradiction', problem, 'Leave --url out, or all targets but one.');
  }
  const { search = null } = settings;
  const ownFlags = { ...flags, 'find-max-rate': true, 'max-concurrency': true };
  const environment = readEnvironment();
  const steps = [];
  for (const run of runs) {
    for (const target of targets) {
      const plan = await planRun(run, target, flags, environment, search);
      if (!plan.dev) checkTokenEnv(target, run.source, settings.allowEnv);
      const asked = search && searchSettings(plan, settings, mergeLoad(run, flags, search));
      if (asked !== null) {
        const place = { source: run.source, groups: run.loadGroups, flags: ownFlags };
        placed(place, () => checkSearchable(plan, asked));
      }
      const ofStages = run.requirements.flatMap(({ stage, text }) => (stage === undefined ? [] : [text]));
      const notJudged = plan.load.stages === null ? ofStages : [];
      const names = [runs.length > 1 ? run.name : null, target.name].filter((name) => name !== null);
      const { tokenEnv } = target;
      steps.push({
        ...{ name: names.join('-') || run.name, run: run.name, plan, tokenEnv },
        target: target.name ?? (plan.dev ? 'embedded server' : plan.target.url),
        /** a secret */
        token: tokenEnv === null || plan.dev ? environment.token : tokenIn(tokenEnv),
        /** null: a run, not a search */
        asked,
        /** requirements on its stages, which flags or a search replace */
        notJudged,
        /** sentences for its reports */
        remarks: remarksOf({ run: run.name, notJudged }),
      });
    }
  }
  return steps;
}

/**
 * A scenario from someone else must not send other secrets than Vault tokens to its targets.
 * @param {ScenarioTarget} target @param {Source} source @param {readonly string[]} [allowed]
 */
function checkTokenEnv({ name, tokenEnv }, source, allowed = []) {
  if (tokenEnv === null || /^(?:VAULT|BAO|OPENBAO)_/.test(tokenEnv) || allowed.includes(tokenEnv)) return;
  const { targets = [] } = /** @type {{targets?: {name: string}[]}} */ (source.value);
  const path = name === null ? ['target'] : ['targets', targets.findIndex((one) => one.name.trim() === name)];
  const problem = `would send ${tokenEnv} to the target as a token, but its name does not begin with VAULT_, BAO_ or OPENBAO_`;
  throw source.error([...path, 'token-env'], problem, `To allow it, add --allow-env ${tokenEnv}.`);
}

/** @param {string} name @returns {string} a secret */
function tokenIn(name) {
  const token = process.env[name];
  if (token) return token;
  throw usageError('no_token', `The environment variable ${name} (token-env) is not set.`, `Set ${name}.`);
}

/** @param {{run: string, notJudged: readonly string[]}} step @returns {string[]} sentences */
export function remarksOf({ run, notJudged }) {
  const why = `${run}: its stages are left out, and the requirements on them are not judged`;
  return notJudged.length === 0 ? [] : [`${why}: ${notJudged.join(', ')}.`];
}
