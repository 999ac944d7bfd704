/** What a reader of a comparison is warned of, and must know to take its numbers for what they are. */
import { formatCount } from '../../common/units.js';
import { differenceWarnings, orderNotes, seedWarnings, targetWarnings } from '../runs/run-differences.js';
import { ALPHA, chooseMethod, runsNeeded, smallestPValue } from './rank-test.js';

/** @typedef {import('./admit.js').AdmittedGroup} AdmittedGroup */

/**
 * What may have made a difference beside what is compared.
 *
 * @param {readonly AdmittedGroup[]} groups
 * @param {import('./error-bias.js').ErrorBias} bias
 * @returns {string[]} sentences
 */
export function warningsOf(groups, bias) {
  const resultsOf = (/** @type {AdmittedGroup} */ { used }) => used.map(({ result }) => result);
  return [
    ...differenceWarnings(groups.flatMap(resultsOf)),
    ...groups.flatMap((group) => targetWarnings(group.name, resultsOf(group))),
    ...groups.flatMap((group) => seedWarnings(group.name, resultsOf(group))),
    ...tooFewRuns(groups),
    ...groups.flatMap(leftOut),
    ...groups.flatMap(doubtful),
    ...bias.warnings(),
  ];
}

/** @param {readonly AdmittedGroup[]} groups @returns {string[]} */
function tooFewRuns([base, ...others]) {
  return others
    .filter(({ used }) => smallestPValue(base.used.length, used.length) >= ALPHA)
    .map(
      ({ name, used }) =>
        `${base.name} and ${name} have too few runs (${base.used.length} and ${used.length}) for any difference to be shown: ${runsNeeded()} of each are enough.`,
    );
}

/** @param {AdmittedGroup} group @returns {string[]} */
function leftOut({ name, runs, used }) {
  const out = runs.length - used.length;
  if (out === 0) return [];
  return [`${out} of ${runs.length} runs of ${name} are left out: what is left may be the better ones.`];
}

/** @param {AdmittedGroup} group @returns {string[]} */
function doubtful({ name, used }) {
  return used.flatMap(({ name: run, why }) =>
    why === null ? [] : [`${run} of ${name} is taken all the same: ${why}.`],
  );
}

/**
 * @param {readonly AdmittedGroup[]} groups
 * @param {{seed: number, resamples: number, hasErrors: boolean}} facts
 * @returns {string[]} sentences
 */
export function notesOf(groups, { seed, resamples, hasErrors }) {
  const [base, ...others] = groups;
  const isExact = others.every(({ used }) => chooseMethod(base.used.length, used.length) === 'exact');
  const test = isExact ? 'exact' : 'exact but for very many runs, of which it is the normal approximation';
  return [
    `One run is one sample. A difference is shown where the Mann-Whitney test gives p < ${ALPHA} (two-sided, ${test}); the interval of the difference of medians is a percentile bootstrap over runs (95 %, ${formatCount(resamples)} resamples, seed ${seed}), which with few runs is somewhat too narrow.`,
    'The tool is assumed to be equally late in all groups; where the bound of its lateness is higher in one of them, that much does not count as a difference.',
    'Each metric is judged by itself: where nothing differs, one in twenty is still called different.',
    ...(hasErrors
      ? ['Times are those of all requests, failed ones too: a target that fails fast is not a fast one.']
      : []),
    ...orderNotes(groups),
  ];
}
