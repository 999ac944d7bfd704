/** --find-max-rate and --max-concurrency on a scenario: a search for each run on each target, one after the other. */
import { EXIT, PkiLoadError, usageError } from '../errors.js';
import { checkOutputs } from './output.js';
import { worstOf } from './runs.js';
import { named, plainNames } from './scenario-files.js';
import { searchPlan } from './search.js';

/**
 * @param {object} given
 * @param {readonly import('./scenario-run.js').Step[]} given.steps
 * @param {import('./run-options.js').RunSettings} given.settings whose `search` is not null
 * @param {string} given.line the command line
 * @param {ReadonlyMap<number, PkiLoadError>} given.refused steps that cannot be run, and why
 * @param {Record<string, unknown>} given.given flags of the load
 * @returns {Promise<number>} exit code: of the worst of them
 */
export async function searchSteps({ steps, settings, line, refused, given }) {
  const staged = steps.find(({ plan }) => plan.load.stages !== null);
  if (staged !== undefined) {
    throw usageError(
      'contradiction',
      `A search looks for one level of load, but ${staged.run} has stages.`,
      'Give --duration, which takes their place.',
    );
  }
  const names = plainNames(steps.map(({ name }) => name));
  const outs = names.map((name) =>
    steps.length === 1 ? settings.out : settings.out.map((path) => named(path, name)),
  );
  checkOutputs(outs.flat(), 'search');
  /** @type {number[]} */
  const codes = [];
  for (const [i, { name, plan, token }] of steps.entries()) {
    const error = refused.get(i);
    if (error !== undefined && steps.length === 1) throw error;
    if (steps.length > 1 && !settings.quiet)
      process.stderr.write(`Search ${i + 1} of ${steps.length}: ${name}:\n`);
    try {
      if (error !== undefined) throw error;
      const { code } = await searchPlan(plan, {
        token,
        settings: { ...settings, out: outs[i] },
        line,
        given,
      });
      codes.push(code);
    } catch (thrown) {
      if (steps.length === 1 || !(thrown instanceof PkiLoadError)) throw thrown;
      codes.push(thrown.exitCode);
      process.stderr.write(`Warning: ${name}: ${thrown.full}\n`);
    }
    if (codes.includes(EXIT.interrupted)) break;
  }
  return worstOf(codes);
}
