/** Finds runs given twice: they would make differences surer, and spreads smaller, than they are. */
import { fileError } from '../document.js';
/** @import { Result } from '../schema.js' */
/** @import { NamedRun } from './run-metrics.js' */

/** @typedef {{name: string, runs: readonly NamedRun[]}} RunGroup */

/**
 * @param {readonly RunGroup[]} groups of a comparison, or the one that makes a set of runs
 * @throws {PkiLoadError} code `same_run_twice`, naming the files and, of several groups, the groups
 */
export function refuseSameRun(groups) {
  /** @type {Map<string, {run: string, group: string}>} */
  const seen = new Map();
  for (const { name: group, runs } of groups) {
    for (const { name: run, result } of runs) {
      const key = identityOf(result);
      const before = seen.get(key);
      if (before !== undefined) throw sameRunTwice(before, { run, group }, groups.length > 1);
      seen.set(key, { run, group });
    }
  }
}

/**
 * @param {{run: string, group: string}} one
 * @param {{run: string, group: string}} other
 * @param {boolean} namesGroups
 */
function sameRunTwice(one, other, namesGroups) {
  const isOneGroup = one.group === other.group;
  const isOneName = one.run === other.run;
  const groups = isOneGroup ? one.group : `${one.group} and for ${other.group}`;
  const twice = isOneGroup ? 'twice ' : '';
  const message = isOneName
    ? `${one.run} is given ${twice}${namesGroups ? `for ${groups}` : ''}`.trimEnd()
    : isOneGroup
      ? `${one.run} and ${other.run}${namesGroups ? `, both of ${one.group},` : ''} are the same run`
      : `${one.run} of ${one.group} and ${other.run} of ${other.group} are the same run`;
  const remedy = isOneGroup
    ? 'Give each run once.'
    : 'Give each run once, in one group: a run that is compared with itself hides what differs.';
  return fileError('same_run_twice', `${message}.`, remedy);
}

/** @param {Result} result @returns {string} no two runs have the same */
function identityOf({ startedAt, startedAtMonotonicNs, durationSeconds, target, totals, latencyMs }) {
  const { mean, max, histogram } = latencyMs.response;
  return JSON.stringify([
    startedAt,
    startedAtMonotonicNs ?? null,
    durationSeconds,
    target.url,
    totals.sent,
    mean,
    max,
    histogram,
  ]);
}
