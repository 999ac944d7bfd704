/** Several runs in words and figures: operation and load, target, time, files; spreads over them. */
import { deviationText, figureText, varianceText } from '../../result/runs/figures.js';
import { chart, figureColumn } from '../sections.js';
import { counted, joined, loadPhrase, planPhrase, targetPhrase, titled } from './words.js';

/** @import { ComparedGroup, Comparison } from '../../result/comparison/comparison-schema.js' */
/** @import { MetricSummary, RunSetSummary, Unit } from '../../result/runs/run-metrics.js' */
/** @import { RunSet } from '../../result/runs/run-set.js' */
/** @import { Result } from '../../result/schema.js' */
/** @import { TableColumn, Verdicts } from '../sections.js' */

/** @typedef {Pick<MetricSummary, 'mean' | 'variance' | 'min' | 'max'>} Spread */
/** @typedef {{url: string, product: string | null, version: string | null}} Target */

/** Of one product and version, that are named one by one. */
const MOST_ADDRESSES = 2;

/** Verdicts of a requirement, the worst first. */
const VERDICTS = Object.freeze(['not met', 'not proven', 'met']);

/** @param {ComparedGroup} group @returns {string} `10 runs`, `9 of 10 runs` */
export function runsPhrase({ runs }) {
  const used = runs.filter((run) => run.used).length;
  return used === runs.length ? counted(used, 'run') : `${used} of ${counted(runs.length, 'run')}`;
}

/** @param {ComparedGroup} group @returns {{run: string, why: string}[]} runs that do not count */
export function leftOutOf({ runs }) {
  return runs.flatMap(({ name, used, why }) => (used ? [] : [{ run: name, why: why ?? 'it was left out' }]));
}

/**
 * @param {Comparison} comparison
 * @returns {string | null} what all runs were: `ocsp, open loop at 20/s, 20 s`; null where they were not all the same
 */
export function commonSubject({ groups }) {
  const [first, ...others] = new Set(groups.map(subjectsPhrase));
  return others.length === 0 ? first : null;
}

/**
 * @param {ComparedGroup} group
 * @returns {string} `ocsp, open loop at 20/s, 20 s`; where its runs differ, in how many it was what
 */
export function subjectsPhrase({ subjects }) {
  return subjects
    .map(({ operations, load, runs }) => {
      const subject = `${operations.join(', ')}, ${loadPhrase(load)}`;
      return subjects.length === 1 ? subject : `${subject} (${counted(runs, 'run')})`;
    })
    .join('; ');
}

/**
 * Runs that start a server of their own each (`--dev`) have as many addresses; their number is enough.
 *
 * @param {readonly {target: Target}[]} runs
 * @returns {string} `http://127.0.0.1:8200 (Vault 1.21.1)`, each that differs; `Vault 1.21.1 at 10 addresses`
 */
export function targetsPhrase(runs) {
  /** @type {Map<string, Map<string, Target>>} */
  const kinds = new Map();
  for (const { target } of runs) {
    const kind = [target.product, target.version].filter((part) => part).join(' ');
    kinds.set(kind, (kinds.get(kind) ?? new Map()).set(target.url, target));
  }
  return [...kinds]
    .flatMap(([kind, targets]) => {
      if (targets.size <= MOST_ADDRESSES) return [...targets.values()].map(targetPhrase);
      return [kind === '' ? `${targets.size} addresses` : `${kind} at ${targets.size} addresses`];
    })
    .join(', ');
}

/**
 * @param {ComparedGroup} group
 * @returns {string} when its runs were started: `2026-01-02 03:00 to 03:18 UTC`
 */
export function datesPhrase({ runs }) {
  const times = runs.map(({ startedAt }) => startedAt).sort();
  const [first, last] = [times[0], times[times.length - 1]].map(timeText);
  if (first === last) return `${first} UTC`;
  const isOneDay = first.slice(0, 10) === last.slice(0, 10);
  return `${first} to ${isOneDay ? last.slice(11) : last} UTC`;
}

/** @param {string} iso @returns {string} to the minute */
export function timeText(iso) {
  return new Date(iso).toISOString().slice(0, 16).replace('T', ' ');
}

/** @param {ComparedGroup} group @returns {string} `a.json, set.json (10 runs)` */
export function filesPhrase({ runs }) {
  /** @type {Map<string, number>} */
  const files = new Map();
  for (const { name } of runs) {
    const file = name.replace(/, run \d+$/, '');
    files.set(file, (files.get(file) ?? 0) + (file === name ? 0 : 1));
  }
  return [...files].map(([file, of]) => (of === 0 ? file : `${file} (${counted(of, 'run')})`)).join(', ');
}

/**
 * @param {Comparison} comparison
 * @returns {string} time and command of the comparison; empty where unknown
 */
export function madePhrase({ createdAt, command }) {
  const when = createdAt === null ? '' : `${timeText(createdAt)} UTC`;
  return joined([when, command ?? '']);
}

/**
 * @param {RunSet} runSet
 * @returns {string} what the runs were: `ocsp on http://127.0.0.1:8200 (Vault 1.21.1), open loop at 20/s, 20 s`; where they
 *   were not the same, in how many it was what
 */
export function runSetPhrase({ runs }) {
  /** @type {Map<string, Result[]>} */
  const alike = new Map();
  for (const run of runs) {
    const key = JSON.stringify([operationsOf(run), planPhrase(run)]);
    alike.set(key, [...(alike.get(key) ?? []), run]);
  }
  if (alike.size === 0) return 'nothing was run';
  return [...alike.values()]
    .map((some) => {
      const phrase = `${operationsOf(some[0])} on ${targetsPhrase(some)}, ${planPhrase(some[0])}`;
      return alike.size === 1 ? phrase : `${phrase} (${counted(some.length, 'run')})`;
    })
    .join('; ');
}

/** @param {Result} run */
function operationsOf({ operations, command }) {
  return Object.keys(operations).join(', ') || command;
}

/** @param {RunSet} runSet @returns {string} `10 runs`, `10 runs, of which 9 count` */
export function runSetCount({ runs, summary: { used } }) {
  const all = counted(runs.length, 'run');
  return used.length === runs.length
    ? all
    : `${all}, of which ${used.length === 0 ? 'none' : used.length} count`;
}

/**
 * @param {RunSetSummary['requirements'][number]} requirement
 * @returns {Verdicts['items'][number]} the worst verdict, and in how many runs each was given
 */
export function requirementOverRuns({ text, verdicts }) {
  const given = VERDICTS.filter((verdict) => (verdicts[verdict] ?? 0) > 0);
  return { verdict: given[0] ?? 'not proven', name: text, text: verdictCounts(verdicts) };
}

/** @param {Record<string, number>} verdicts @returns {string} `not met in 1 run, met in 9 runs` */
export function verdictCounts(verdicts) {
  return Object.entries(verdicts)
    .filter(([, count]) => count > 0)
    .map(([verdict, count]) => `${verdict} in ${counted(count, 'run')}`)
    .join(', ');
}

/** @type {readonly TableColumn<{unit: Unit, spread: Spread}>[]} */
export const SPREAD_COLUMNS = [
  figureColumn('mean', ({ unit, spread }) => figureText(unit, spread.mean)),
  figureColumn('std dev', ({ unit, spread }) => deviationText(unit, spread)),
  figureColumn('variance', ({ unit, spread }) => varianceText(unit, spread)),
  figureColumn('min', ({ unit, spread }) => figureText(unit, spread.min)),
  figureColumn('max', ({ unit, spread }) => figureText(unit, spread.max)),
];

/**
 * @param {string} label of a metric
 * @param {Unit} unit
 * @param {{name: string, runs: string[], values: (number | null)[]}[]} groups
 */
export function runsChart(label, unit, groups) {
  return chart('runs', titled(label), 'A dot a run.', { unit, groups });
}
