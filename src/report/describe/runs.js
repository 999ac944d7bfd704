/** Shared by reports of several runs: targets, verdicts and spreads. */
import { deviationText, figureText, varianceText } from '../../result/runs/figures.js';
import { chart } from '../sections.js';
import { counted, joined, targetPhrase, titled } from './words.js';

/** @import { MetricSummary, Unit } from '../../result/runs/run-set-schema.js' */
/** @import { Group } from '../charts/runs.js' */
/** @import { Column, Part } from '../sections.js' */

/** @typedef {Pick<MetricSummary, 'mean' | 'variance' | 'min' | 'max'>} Spread */
/** @typedef {{url: string, product: string | null, version: string | null}} Target */

/** Beyond this many targets, only products and the number of addresses are named. */
const MAX_TARGETS = 2;

/**
 * With `--dev`, each run has its own server and address.
 * @param {readonly {target: Target}[]} runs
 * @returns {string} `http://127.0.0.1:8200 (Vault 1.21.1)`, all distinct targets; `Vault 1.21.1 at 10 addresses`
 */
export function targetsPhrase(runs) {
  const targets = new Map(runs.map(({ target }) => [targetPhrase(target), target]));
  if (targets.size <= MAX_TARGETS) return [...targets.keys()].join(', ');
  const kinds = [...targets.values()].map(({ product, version }) =>
    joined([product ?? '', version ?? ''], ' '),
  );
  return joined([joined([...new Set(kinds)]), `${targets.size} addresses`], ' at ');
}

/** @param {string} iso @returns {string} `2026-01-02 03:18` */
export const minuteText = (iso) => new Date(iso).toISOString().slice(0, 16).replace('T', ' ');

/** @param {Record<string, number>} verdicts @returns {string} `not met in 1 run, met in 9 runs` */
export function verdictCounts(verdicts) {
  return Object.entries(verdicts)
    .filter(([, count]) => count > 0)
    .map(([verdict, count]) => `${verdict} in ${counted(count, 'run')}`)
    .join(', ');
}

/** @type {Column<{unit: Unit, spread: Spread}>[]} */
export const SPREAD_COLUMNS = [
  ['mean', ({ unit, spread }) => figureText(unit, spread.mean)],
  ['std dev', ({ unit, spread }) => deviationText(unit, spread)],
  ['variance', ({ unit, spread }) => varianceText(unit, spread)],
  ['min', ({ unit, spread }) => figureText(unit, spread.min)],
  ['max', ({ unit, spread }) => figureText(unit, spread.max)],
];

/** @param {string} label of a metric @param {Unit} unit @param {Group[]} groups @returns {Part[]} none if no run has a value */
export function runsChart(label, unit, groups) {
  const hasValue = groups.some(({ values }) => values.some((value) => value !== null));
  return hasValue ? [chart('runs', titled(label), 'One dot per run.', { unit, groups })] : [];
}
