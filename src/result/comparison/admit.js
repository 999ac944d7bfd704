/**
 * Admits runs to a comparison. Refuses invalid and interrupted runs: a slow target is often the *reason*, and a
 * group without its worst runs looks better than it is. The caller's flags include or exclude them.
 */
import { fileError } from '../document.js';
import { exclusionReason } from '../runs/run-set.js';
import { MAX_GROUPS } from './comparison-schema.js';
/** @import { NamedRun } from '../runs/run-set.js' */

/** @typedef {{name: string, runs: readonly NamedRun[], missing?: number}} RunGroup `missing`: further runs were planned, and did not take place */
/** @typedef {NamedRun & {used: boolean, why: string | null}} AdmittedRun `why`: reason to exclude it; null: none */
/** @typedef {{name: string, runs: AdmittedRun[], used: AdmittedRun[], missing: number}} AdmittedGroup */

/**
 * @param {readonly RunGroup[]} groups the first is the base
 * @param {{allowInvalid?: boolean, leaveOutInvalid?: boolean}} options
 * @returns {AdmittedGroup[]} each with at least one used run @throws {PkiLoadError} naming the run and what to do
 */
export function admit(groups, { allowInvalid = false, leaveOutInvalid = false }) {
  if (allowInvalid && leaveOutInvalid) {
    const message = '--allow-invalid and --leave-out-invalid contradict each other.';
    throw fileError('contradictory_options', message, 'Choose one of the two.');
  }
  if (groups.length < 2) {
    const remedy = 'Add another group: compare BASE.json... --with NEW.json...';
    throw fileError('nothing_to_compare', 'There is only one group of runs.', remedy);
  }
  if (groups.length > MAX_GROUPS) {
    const message = `There are ${groups.length} groups of runs; at most ${MAX_GROUPS} can be compared.`;
    throw fileError('too_many_groups', message, 'Compare them in parts, each with the same base.');
  }
  refuseParts(groups.flatMap(({ runs }) => runs));
  refuseSameRun(groups);
  const admitted = groups.map(({ name, runs: groupRuns, missing = 0 }) => {
    const runs = groupRuns.map((run) => {
      const why = exclusionReason(run.result);
      return { ...run, why, used: why === null || allowInvalid };
    });
    return { name, runs, used: runs.filter(({ used }) => used), missing };
  });
  const excluded = admitted.flatMap(({ name, runs }) =>
    runs.flatMap(({ name: run, used, why }) => (used ? [] : `${run} of ${name}: ${why}`)),
  );
  if (!leaveOutInvalid && excluded.length > 0)
    throw fileError(
      'invalid_runs',
      `Invalid or incomplete runs (${excluded.length}): ${excluded.join('; ')}.`,
      'Repeat them; or compare the others with --leave-out-invalid, or all of them with --allow-invalid.',
    );
  const empty = admitted.find(({ used }) => used.length === 0);
  if (empty === undefined) return admitted;
  const whys = empty.runs.map(({ name, why }) => `; ${name}: ${why}`).join('');
  const remedy = 'Repeat its runs, or include them with --allow-invalid.';
  throw fileError('no_usable_run', `${empty.name} has no usable run${whys}.`, remedy);
}

/** @param {readonly NamedRun[]} runs @throws {PkiLoadError} code `part_of_a_plan`, with any options */
export function refuseParts(runs) {
  for (const { name, result } of runs) {
    const { index = 0, of = 1 } = result.shard ?? {};
    if (of === 1) continue;
    const message = `${name} is part ${index} of ${of} of a plan, not a whole run.`;
    throw fileError('part_of_a_plan', message, 'Merge the parts first: vault-pki-load merge FILE...');
  }
}

/**
 * A duplicate run would make differences look more certain, and spreads smaller, than they are.
 * @param {readonly RunGroup[]} groups of a comparison, or the single group of a run set
 * @throws {PkiLoadError} code `same_run_twice`, naming the files and, of several groups, the groups
 */
export function refuseSameRun(groups) {
  /** @type {Map<string, string>} */
  const seen = new Map();
  for (const { name: group, runs } of groups) {
    for (const { name: run, result } of runs) {
      const { mean, max, histogram } = result.latencyMs.response;
      const times = [result.startedAt, result.startedAtMonotonicNs ?? null, result.durationSeconds];
      const identity = JSON.stringify([times, result.target.url, result.totals.sent, mean, max, histogram]);
      const name = groups.length > 1 ? `${run} of ${group}` : run;
      const before = seen.get(identity);
      seen.set(identity, name);
      if (before === undefined) continue;
      const twice = before === name ? `${name} is given twice.` : `${before} and ${name} are the same run.`;
      throw fileError('same_run_twice', twice, 'Pass each run only once.');
    }
  }
}
