/** --find-max-rate and --max-concurrency on a scenario: a search for each run on each target, one after the other. */
import { EXIT, PkiLoadError } from '../common/errors.js';
import { worstOf } from './runs.js';
import { searchPlan } from './search.js';

/** @typedef {import('../campaigns/search/step-plan.js').SearchSettings} SearchSettings */

/**
 * @param {object} given
 * @param {readonly import('./scenario-run.js').Step[]} given.steps whose `asked` is not null
 * @param {readonly string[][]} given.outs paths of the files of each
 * @param {import('./run-options.js').RunSettings} given.settings
 * @param {string} given.line the command line
 * @param {ReadonlyMap<number, PkiLoadError>} given.refused steps that cannot be run, and why
 * @param {AbortController} given.heard see onInterrupt; after a signal no other search begins
 * @param {typeof searchPlan} [search] what tests replace
 * @returns {Promise<number>} exit code: of the worst of them
 */
export async function searchSteps({ steps, outs, settings, line, refused, heard }, search = searchPlan) {
  const tell = (/** @type {string} */ text) => void process.stderr.write(`${text}\n`);
  /** @type {number[]} */
  const codes = [];
  for (const [i, { name, plan, token, asked, remarks }] of steps.entries()) {
    if (heard.signal.aborted) {
      tell('Warning: Interrupted: not all searches were made.');
      codes.push(EXIT.interrupted);
      break;
    }
    const error = refused.get(i);
    if (error !== undefined && steps.length === 1) throw error;
    if (steps.length > 1 && !settings.quiet) tell(`Search ${i + 1} of ${steps.length}: ${name}:`);
    try {
      if (error !== undefined) throw error;
      const { code } = await search(plan, {
        ...{ token, line, heard, remarks, settings: { ...settings, out: outs[i] } },
        asked: /** @type {SearchSettings} */ (asked),
      });
      codes.push(code);
    } catch (thrown) {
      if (steps.length === 1 || !(thrown instanceof PkiLoadError)) throw thrown;
      codes.push(thrown.exitCode);
      tell(`Warning: ${name}: ${thrown.full}`);
    }
  }
  return worstOf(codes);
}
