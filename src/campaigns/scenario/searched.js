/** What a search takes of a scenario's run, and what of the run cannot be searched. */

import { usageError } from '../../common/errors.js';
import { readOptions } from '../../common/options.js';
import { commonOptions } from '../../plan/common-options.js';
import { checkSearchable } from '../search/find-max.js';
import { camelKeys, inFile, pathOfLoad } from './places.js';

/** @typedef {import('../../plan/plan.js').Plan} Plan */
/** @typedef {import('./read-run.js').ScenarioRun} ScenarioRun */
/** @typedef {{of: 'rate' | 'concurrency', start: number}} SearchStart `start`: where neither file nor flag says where it begins */

/** A search in a closed loop has no use for them; and as it does not look below where it begins, it begins at the bottom. */
const NOT_IN_CLOSED = Object.freeze(['rate', 'arrivals', 'rampUp', 'overflow', 'pacing', 'concurrency']);

const { threads, concurrency } = commonOptions;

/** What is said of connections, and what counts where nothing is. */
const CONNECTIONS = Object.freeze({ threads, concurrency });

/**
 * A search says itself in which loop requests are sent, and how many are in flight in a closed one: what a run with `model: closed`
 * says of that is no number of connections.
 *
 * @param {ScenarioRun} run
 * @param {Record<string, unknown>} flags by kebab- or camelCase name: they win
 * @param {SearchStart | null} search null: none
 * @returns {Record<string, unknown>} what file and flags say of the load, and flags of other things, by camelCase name
 */
export function saidOfLoad({ load, model }, flags, search) {
  const said = camelKeys(load);
  if (search?.of === 'concurrency') for (const key of NOT_IN_CLOSED) delete said[key];
  if (search?.of === 'rate' && model === 'closed') delete said.concurrency;
  return { ...said, ...camelKeys(flags) };
}

/**
 * Every thread has a connection at least: what is chosen here is never refused for want of one.
 *
 * @param {Record<string, unknown>} said
 * @param {SearchStart} search
 * @returns {Record<string, unknown>} the level at which it begins, and how many connections that takes
 * @throws {import('../../common/errors.js').PkiLoadError} where the number of threads is none
 */
export function startLevel(said, { of, start }) {
  const { threads, concurrency } = readOptions(CONNECTIONS, { threads: said.threads });
  return of === 'rate'
    ? { rate: said.rate ?? start, concurrency: said.concurrency ?? Math.max(concurrency, threads) }
    : { concurrency: said.concurrency ?? Math.max(start, threads) };
}

/**
 * @param {ScenarioRun} run
 * @param {Pick<Plan, 'load'>} plan of it
 * @returns {string[]} what is required of stages that it does not have, because flags or a search take their place
 */
export function notJudged({ requirements }, { load }) {
  const isLeft = (/** @type {{stage?: string}} */ { stage }) => stage !== undefined && load.stages === null;
  return requirements.filter(isLeft).map(({ text }) => text);
}

/**
 * @param {ScenarioRun} run
 * @param {Plan} plan of it
 * @param {import('../search/step-plan.js').SearchSettings} settings
 * @param {Record<string, unknown>} flags
 * @throws {import('../../common/errors.js').PkiLoadError} naming the run, or the place in the file
 */
export function checkSearched(run, plan, settings, flags) {
  if (settings.of === 'rate' && plan.requirements.length === 0) {
    const name = JSON.stringify(run.name);
    throw usageError(
      'nothing_required',
      notJudged(run, plan).length === 0
        ? `--find-max-rate looks for the highest rate at which every requirement is met, but ${name} has none.`
        : `--find-max-rate takes the place of stages, but all that ${name} requires is of its stages.`,
      "Say what must be met, e.g. --require 'p99<200ms' --require 'errors<0.1%'.",
    );
  }
  const own = { ...camelKeys(flags), findMaxRate: true, maxConcurrency: true };
  const pathOf = pathOfLoad(run, own, saidOfLoad(run, {}, settings));
  inFile(run, own, { pathOf, group: null }, () => checkSearchable(plan, settings));
}
