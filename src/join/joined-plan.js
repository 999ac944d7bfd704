/** Which plans of two parts are the same, and what each part sends of them. */
import { z } from 'zod';
import { shareOf } from '../plan/shard-part.js';
import { describeDifferences, OWN } from '../result/parts/parts.js';

/** @import { Plan } from '../plan/plan.js' */
/** @import { ShardPart } from '../plan/shard-part.js' */

/** Load figures that a search, `--repeat` or part 0's random seed determines. */
const Figures = z.object({
  model: z.enum(['open', 'closed']),
  ratePerSecond: z.number().gt(0).max(1e6).nullable(),
  concurrency: z.int().min(1).max(10_000),
  durationMs: z
    .number()
    .gt(0)
    .max(31 * 86_400_000)
    .nullable(),
  requests: z.int().min(1).max(1e9).nullable(),
  seed: z.int().min(0).max(0xffff_ffff),
});
const FIGURES = Object.keys(Figures.shape).map((key) => `load.${key}`);

/**
 * @param {readonly Plan[]} own of part 0, one for each step @param {readonly Plan[]} theirs from the other part
 * @returns {string | null} how they differ, other than in what each part decides; null: they do not
 */
export function differencesOf(own, theirs) {
  if (own.length !== theirs.length) return `the number of steps (${own.length} and ${theirs.length})`;
  for (const [i, plan] of own.entries()) {
    const found = describeDifferences(plan, Object(theirs[i]), [...OWN, 'load.seed']);
    if (found !== null) return found;
  }
  return null;
}

/** Search steps have their own number of certificates to revoke. @param {Readonly<Record<string, any>>} options */
const withoutPool = (options) => ({ ...options, ...('pool' in options && { pool: null }) });

/** @param {Plan} plan */
const comparable = (plan) => {
  const mix = plan.mix?.map((entry) => ({ ...entry, options: withoutPool(entry.options) })) ?? null;
  return { ...plan, options: withoutPool(plan.options), mix };
};

/**
 * @param {readonly Plan[]} own of this part @param {Plan} given by the leader
 * @returns {number} which of them the given one is, with other load figures @throws {Error} it is none of them
 */
export function findPlan(own, given) {
  Figures.parse(Object(given).load);
  const differences = own.map((plan) =>
    describeDifferences(comparable(plan), comparable(given), [...OWN, ...FIGURES]),
  );
  const found = differences.indexOf(null);
  if (found < 0) throw new RangeError(String(differences[0]));
  return found;
}

/** @param {Plan['load']} load @param {number} threads of the part @param {ShardPart} part @returns {number} each needs a connection */
export const threadsOf = ({ concurrency }, threads, part) =>
  Math.max(1, Math.min(threads, shareOf(concurrency, part)));

/**
 * @param {Plan} plan of all parts @param {ShardPart} part @param {Plan} [own] the part's, with its threads and paths
 * @returns {Plan} what this part sends of it
 */
export function planOfPart(plan, part, own = plan) {
  const { threads, pacing, coldStart } = own.load;
  const settings = { threads: threadsOf(plan.load, threads, part), pacing, coldStart, startAt: null };
  const keep = 'keep' in own.options ? { keep: own.options.keep } : {};
  return {
    ...plan,
    target: own.target,
    options: { ...plan.options, ...keep },
    load: { ...plan.load, ...settings, shard: part },
  };
}
