/**
 * The runs that a comparison accepts. An invalid or interrupted run is refused: it often is so *because* the target was slow,
 * and a group without its worst runs looks better than it is. The caller's flag includes or leaves out such runs.
 */
import { fileError } from '../document.js';
import { whyLeftOut } from '../runs/run-metrics.js';
/** @import { NamedRun } from '../runs/run-metrics.js' */
/** @import { Result } from '../schema.js' */

/** @typedef {{name: string, runs: readonly NamedRun[]}} RunGroup */
/** @typedef {NamedRun & {used: boolean, why: string | null}} AdmittedRun `why` it is no sample of a whole, valid run; null: it is one */
/** @typedef {{name: string, runs: AdmittedRun[], used: AdmittedRun[]}} AdmittedGroup */

/**
 * @param {readonly RunGroup[]} groups the first is the base
 * @param {{allowInvalid?: boolean, leaveOutInvalid?: boolean}} options
 * @returns {AdmittedGroup[]} each has a run that counts @throws {PkiLoadError} naming the run and what to do
 */
export function admit(groups, { allowInvalid = false, leaveOutInvalid = false }) {
  if (allowInvalid && leaveOutInvalid)
    throw fileError(
      'take_or_leave',
      'Invalid runs cannot be both taken (--allow-invalid) and left out (--leave-out-invalid).',
      'Choose one of the two.',
    );
  if (groups.length < 2)
    throw fileError(
      'nothing_to_compare',
      'There is only one group of runs.',
      'Name another one: compare BASE.json... --with NEW.json...',
    );
  const all = groups.flatMap(({ runs }) => runs);
  refuseParts(all);
  refuseSameRun(groups);
  const admitted = groups.map(({ name, runs: given }) => {
    const runs = given.map((run) => {
      const why = whyLeftOut(run.result);
      return { ...run, why, used: why === null || allowInvalid };
    });
    return { name, runs, used: runs.filter(({ used }) => used) };
  });
  const invalid = admitted.flatMap(({ name, runs }) =>
    runs.flatMap(({ name: run, why }) => (why === null ? [] : [`${run} of ${name}: ${why}`])),
  );
  if (!allowInvalid && !leaveOutInvalid && invalid.length > 0)
    throw fileError(
      'invalid_runs',
      `${invalid.length} of ${all.length} runs cannot be believed: ${invalid.join('; ')}.`,
      'Run them again; or compare the others with --leave-out-invalid, or all of them with --allow-invalid.',
    );
  const empty = admitted.find(({ used }) => used.length === 0);
  if (empty === undefined) return admitted;
  if (empty.runs.length === 0) throw fileError('no_usable_run', `There is no run of ${empty.name}.`);
  throw fileError(
    'no_usable_run',
    `No run of ${empty.name} can be used: ${empty.runs.map(({ name, why }) => `${name}: ${why}`).join('; ')}.`,
    'Run it again, or include such runs with --allow-invalid.',
  );
}

/**
 * A part of the load is no sample of the whole of it, whatever else is allowed.
 * @param {readonly NamedRun[]} runs @throws {PkiLoadError} code `part_of_a_plan`
 */
export function refuseParts(runs) {
  const part = runs.find(({ result: { shard } }) => shard !== undefined && shard.of > 1);
  if (part === undefined) return;
  const { index, of } = Object(part.result.shard);
  throw fileError(
    'part_of_a_plan',
    `${part.name} is part ${index} of ${of} of a plan, not a run of its own.`,
    'Add the parts first: vault-pki-load merge FILE...',
  );
}

/**
 * A run given twice would make differences surer, and spreads smaller, than they are.
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

/** @param {{run: string, group: string}} one @param {{run: string, group: string}} other @param {boolean} isCompared */
function sameRunTwice(one, other, isCompared) {
  const isOneGroup = one.group === other.group;
  const groups = isOneGroup ? ` for ${one.group}` : `, for ${one.group} and for ${other.group}`;
  const [a, b] = [one, other].map(({ run, group }) => (isCompared ? `${run} of ${group}` : run));
  const message =
    one.run === other.run
      ? `${one.run} is given twice${isCompared ? groups : ''}.`
      : `${a} and ${b} are the same run.`;
  const remedy = isOneGroup ? '' : ', in one group: a run that is compared with itself hides what differs';
  return fileError('same_run_twice', message, `Give each run once${remedy}.`);
}

/** @param {Result} result @returns {string} no two runs have the same */
function identityOf({ startedAt, startedAtMonotonicNs, durationSeconds, target, totals, latencyMs }) {
  const { mean, max, histogram } = latencyMs.response;
  const times = [startedAt, startedAtMonotonicNs ?? null, durationSeconds];
  return JSON.stringify([...times, target.url, totals.sent, mean, max, histogram]);
}
