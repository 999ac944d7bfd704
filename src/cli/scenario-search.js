/** --find-max-rate and --max-concurrency on a scenario: a search for each run on each target, one after the other. */
import { searchEach } from '../campaigns/scenario/run-scenario.js';
import { worstOf } from './process.js';
import { searchPlan } from './search.js';

/** @typedef {import('../campaigns/search/step-plan.js').SearchSettings} SearchSettings */

/**
 * @param {object} given
 * @param {readonly import('../campaigns/scenario/scenario-steps.js').Step[]} given.steps whose `asked` is not null
 * @param {readonly string[][]} given.outs paths of the files of each
 * @param {import('./run-options.js').RunSettings} given.settings
 * @param {string} given.line the command line
 * @param {ReadonlyMap<number, import('../common/errors.js').PkiLoadError>} given.refused steps that cannot be run, and why
 * @param {AbortController} given.heard see onInterrupt; after a signal no other search begins
 * @param {typeof searchPlan} [search] what tests replace
 * @returns {Promise<number>} exit code: of the worst of them
 */
export async function searchSteps({ steps, outs, settings, line, refused, heard }, search = searchPlan) {
  const codes = await searchEach({
    ...{ steps, quiet: settings.quiet, refused, stop: heard.signal },
    say: (text) => void process.stderr.write(`${text}\n`),
    search: ({ plan, token, asked, remarks }, i) =>
      search(plan, {
        ...{ token, line, heard, remarks, settings: { ...settings, out: outs[i] } },
        asked: /** @type {SearchSettings} */ (asked),
      }),
  });
  return worstOf(codes);
}
