/** What the errors of a scenario's runs were, as cells; shared by the reporters for people. Nothing is reckoned here but shares. */
import { formatPercent } from '../results/wording.js';
import { formatCount } from '../units.js';
import { errorKinds } from './phrases.js';
import { ALL, hasTargets, nameOf } from './scenario-tables.js';

/** @typedef {import('../results/scenario/scenario-schema.js').ScenarioResult} ScenarioResult */
/** @typedef {import('../results/scenario/scenario-schema.js').ScenarioRow} ScenarioRow */
/** @typedef {import('./scenario-tables.js').CellTable} CellTable */

/** Shares are of all requests of the target that were due, so that those of its kinds add up to its own. */
const HEADINGS = Object.freeze(['count', 'share of all']);

/**
 * Below each target that had errors its kinds, the most frequent first; of a mix, operation by operation. A file from before kinds
 * were kept has none.
 *
 * @param {ScenarioResult} scenario
 * @param {string} run
 * @returns {CellTable} no rows where there were no errors
 */
export function errorTable(scenario, run) {
  const wholes = wholesOf(scenario, run).filter(({ errors }) => errors > 0);
  const repeated = wholes.some(({ runs, outcomeDetails }) => runs > 1 && outcomeDetails !== undefined);
  const several = hasTargets(scenario);
  return {
    headings: [...HEADINGS, ...(repeated ? ['in runs'] : [])],
    rows: wholes.flatMap((whole) => {
      const cells = (/** @type {number} */ count, /** @type {number | null} */ runs) => [
        formatCount(count),
        formatPercent(count / whole.count),
        ...(repeated ? [runs === null ? '' : `${formatCount(runs)} of ${formatCount(whole.runs)}`] : []),
      ];
      const kinds = kindsOf(scenario, whole).map(({ label, count, runs }) => ({
        ...nameOf({ operation: label, counts: whole.counts }, label),
        cells: cells(count, runs),
      }));
      return [{ ...nameOf(whole, several ? whole.target : ALL), cells: cells(whole.errors, null) }, ...kinds];
    }),
  };
}

/**
 * @param {ScenarioResult} scenario
 * @param {string} run
 * @returns {string[]} `sealed: Vault is sealed.`: of the kinds that have a meaning, each once
 */
export function errorMeanings(scenario, run) {
  const kinds = wholesOf(scenario, run).flatMap((whole) => kindsOf(scenario, whole));
  return [
    ...new Set(kinds.flatMap(({ name, meaning }) => (meaning === undefined ? [] : `${name}: ${meaning}`))),
  ];
}

/**
 * @param {ScenarioResult} scenario
 * @param {string} run
 * @returns {ScenarioRow[]} of each target, all operations and all the time
 */
function wholesOf({ rows }, run) {
  return rows.filter((row) => row.run === run && row.stage === null && row.operation === null);
}

/**
 * @param {ScenarioResult} scenario
 * @param {ScenarioRow} whole
 * @returns {{label: string, name: string, count: number, runs: number, meaning?: string}[]}
 */
function kindsOf({ rows }, whole) {
  const operations = rows.filter(
    ({ run, target, stage, operation }) =>
      run === whole.run && target === whole.target && stage === null && operation !== null,
  );
  return (operations.length === 0 ? [whole] : operations).flatMap(({ operation, outcomeDetails = {} }) =>
    errorKinds(outcomeDetails).map(([name, { count, runs, meaning }]) => ({
      label: operation === null ? name : `${operation}: ${name}`,
      name,
      count,
      runs,
      meaning,
    })),
  );
}
