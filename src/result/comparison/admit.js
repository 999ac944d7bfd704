/**
 * Which runs a comparison takes. A run that is invalid or was interrupted is refused: it often is so *because* the target was
 * slow, and a group without its worst runs looks better than it is. A flag of the caller's includes the others.
 */
import { fileError } from '../document.js';
import { whyLeftOut } from '../runs/run-metrics.js';
import { refuseSameRun } from '../runs/same-run.js';
/** @import { NamedRun } from '../runs/run-metrics.js' */
/** @import { RunGroup } from '../runs/same-run.js' */

/** @typedef {NamedRun & {used: boolean, why: string | null}} AdmittedRun `why` it is no sample of what a whole, valid run gives; null where it is one */
/** @typedef {{name: string, runs: AdmittedRun[], used: AdmittedRun[]}} AdmittedGroup */

/**
 * @param {readonly RunGroup[]} groups the first is the base
 * @param {{allowInvalid?: boolean, leaveOutInvalid?: boolean}} options
 * @returns {AdmittedGroup[]} with a run that counts in each
 * @throws {PkiLoadError} naming the run and what to do
 */
export function admit(groups, { allowInvalid = false, leaveOutInvalid = false }) {
  if (allowInvalid && leaveOutInvalid) {
    throw fileError(
      'take_or_leave',
      'Invalid runs cannot be both taken (--allow-invalid) and left out (--leave-out-invalid).',
      'Choose one of the two.',
    );
  }
  checkGroups(groups);
  const admitted = groups.map(({ name, runs }) => {
    const all = runs.map((run) => {
      const why = whyLeftOut(run.result);
      return { ...run, why, used: why === null || allowInvalid };
    });
    return { name, runs: all, used: all.filter(({ used }) => used) };
  });
  const invalid = admitted.flatMap(({ name, runs }) =>
    runs.flatMap(({ name: run, why }) => (why === null ? [] : [`${run} of ${name}: ${why}`])),
  );
  if (!allowInvalid && !leaveOutInvalid && invalid.length > 0) {
    const all = groups.flatMap(({ runs }) => runs).length;
    throw fileError(
      'invalid_runs',
      `${invalid.length} of ${all} runs cannot be believed: ${invalid.join('; ')}.`,
      'Run them again; or compare the others with --leave-out-invalid, or all of them with --allow-invalid.',
    );
  }
  const empty = admitted.find(({ used }) => used.length === 0);
  if (empty === undefined) return admitted;
  throw fileError(
    'no_usable_run',
    `No run of ${empty.name} can be used: ${empty.runs.map(({ name, why }) => `${name}: ${why}`).join('; ')}.`,
    'Run it again, or take such runs all the same with --allow-invalid.',
  );
}

/** @param {readonly RunGroup[]} groups */
function checkGroups(groups) {
  if (groups.length < 2) {
    throw fileError(
      'nothing_to_compare',
      'There is only one group of runs.',
      'Name another one: compare BASE.json... --with NEW.json...',
    );
  }
  const empty = groups.find(({ runs }) => runs.length === 0);
  if (empty !== undefined) {
    throw fileError(
      'no_usable_run',
      `There is no run of ${empty.name}.`,
      'Give result files that vault-pki-load wrote with --out FILE.json.',
    );
  }
  refuseParts(groups.flatMap(({ runs }) => runs));
  refuseSameRun(groups);
}

/**
 * A share of the load is no sample of the whole of it, whatever else is allowed.
 * @param {readonly NamedRun[]} runs
 * @throws {PkiLoadError} code `part_of_a_plan`
 */
export function refuseParts(runs) {
  for (const { name, result } of runs) {
    const { shard } = result;
    if (shard === undefined || shard.of <= 1) continue;
    throw fileError(
      'part_of_a_plan',
      `${name} is part ${shard.index} of ${shard.of} of a plan, not a run of its own.`,
      'Add the parts first: vault-pki-load merge FILE...',
    );
  }
}
