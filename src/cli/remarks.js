/** What a reader of any report of a step should know that its figures do not show: requirements that nothing judged. */
import { isResult, isRunSet, isScenarioResult, isSearch } from '../result/document.js';

/** @typedef {import('../result/document.js').Document} Document */

/**
 * @param {{run: string, notJudged: readonly string[]}} step `notJudged`: what is required of its stages, where it does without
 * @returns {string[]} sentences; the same for all targets of a run
 */
export function remarksOf({ run, notJudged }) {
  return notJudged.length === 0
    ? []
    : [
        `${run}: its stages are left out, and what is required of them is not judged: ${notJudged.join(', ')}.`,
      ];
}

/**
 * @template {Document} D
 * @param {D} document
 * @param {readonly string[]} remarks sentences
 * @returns {D} with them where its reports show such: warnings of several runs, notes of one, what is said of a search
 */
export function withRemarks(document, remarks) {
  return remarks.length === 0 ? document : /** @type {D} */ (remarked(document, remarks));
}

/**
 * @param {Document} document
 * @param {readonly string[]} remarks at least one
 * @returns {Document}
 */
function remarked(document, remarks) {
  if (isResult(document)) {
    const { verification } = document;
    return {
      ...document,
      verification: { ...verification, notes: [...(verification.notes ?? []), ...remarks] },
    };
  }
  if (isRunSet(document)) {
    const { summary, runs } = document;
    return {
      ...document,
      summary: { ...summary, warnings: [...summary.warnings, ...remarks] },
      runs: runs.map((run) => withRemarks(run, remarks)),
    };
  }
  if (isScenarioResult(document)) return { ...document, warnings: [...document.warnings, ...remarks] };
  if (isSearch(document)) {
    const { explanation, confirmation } = document;
    return {
      ...document,
      explanation: [explanation, ...remarks].join(' '),
      confirmation: confirmation && withRemarks(confirmation, remarks),
    };
  }
  return document;
}
