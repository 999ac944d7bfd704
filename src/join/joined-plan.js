/** Which plans of two parts are the same, and what each part sends of them. */
import { z } from 'zod';
import { usageError } from '../common/errors.js';
import { MAX_POOL } from '../operations/revoke.js';
import { checkArrivals } from '../plan/schedule.js';
import { shareOf } from '../plan/shard-part.js';
import { describeDifferences, OWN, optionOf } from '../result/parts/parts.js';

/** @import { Plan } from '../plan/plan.js' */
/** @import { ShardPart } from '../plan/shard-part.js' */
/** @import { Prepared } from '../run.js' */

/** In a search, the most that part 0 may ask of all parts @typedef {Record<'ratePerSecond' | 'concurrency' | 'durationMs', number> & {model: 'open' | 'closed'}} Most */

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

/** Search steps have their own number of certificates to revoke, unless the user gave it. */
const Pool = z.int().min(1).max(MAX_POOL);

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

/** @param {{operation: string, options: Readonly<Record<string, any>>}} own of a search @param {unknown} given options */
function withPool({ operation, options }, given) {
  const pool = Pool.safeParse(Object(given).pool);
  const isOpen = operation === 'revoke' && options.pool === null;
  return isOpen && pool.success ? { ...options, pool: pool.data } : options;
}

/** Only a plan without an end, which prepares all steps, is of another model. @param {z.infer<typeof Figures>} figures @param {Most['model']} needed */
const isOfSearch = ({ model, ratePerSecond, durationMs, requests }, needed) =>
  requests === null &&
  (durationMs === null || (model === needed && (model === 'closed' || ratePerSecond !== null)));

/**
 * What part 0 may ask for: the plan of a step of this part's own command line, with other load figures. Nothing else of the
 * given plan is used.
 * @param {Plan | undefined} own of the step @param {Plan} given by part 0 @param {Most | null} most null: only the seed may be another
 * @returns {Plan} @throws {Error} it is another plan
 */
export function planAsked(own, given, most) {
  if (own === undefined) throw new RangeError('there is no such step');
  const figures = Figures.parse(Object(Object(given).load));
  const { model: needed, ...limits } = most ?? { model: null };
  if (needed !== null && !isOfSearch(figures, needed))
    throw new RangeError('part 0 asks for a load that no step of this search has');
  for (const [key, limit] of Object.entries(limits)) {
    const asked = Number(figures[/** @type {keyof typeof limits} */ (key)]);
    const problem = `part 0 asks for ${optionOf(`load.${key}`)} ${asked}, but this part's own command line allows ${limit}`;
    if (asked > limit) throw new RangeError(problem);
  }
  const plan =
    most === null
      ? { ...own, load: { ...own.load, seed: figures.seed } }
      : {
          ...own,
          options: withPool(own, given.options),
          mix:
            own.mix?.map((entry, i) => ({
              ...entry,
              options: withPool(entry, given.mix?.[i]?.options),
            })) ?? null,
          load: { ...own.load, ...figures },
        };
  const differences = describeDifferences(plan, given, OWN);
  if (differences !== null) throw new RangeError(differences);
  if (plan.load.model === 'open') checkArrivals([plan.load]);
  return plan;
}

/**
 * What a part's preparation has found.
 * @param {Pick<Prepared, 'fixture' | 'route'>} prepared
 */
export const foundBy = ({ fixture: { targetUrl, target }, route: { proxy } }) => ({
  ...{ url: targetUrl, product: target.product, version: target.version },
  proxy: proxy?.name ?? null,
});

/**
 * Before anything is sent: results of different targets cannot be merged.
 * @param {ReturnType<typeof foundBy>} own of part 0 @param {any} theirs of the other part, authentic @param {string} name its name
 * @throws {PkiLoadError} code `different_targets`
 */
export function checkSameFound(own, theirs, name) {
  // A target may not report its product.
  const unknown = /** @type {const} */ (['product', 'version']).filter(
    (key) => (own[key] ?? null) === null || (theirs[key] ?? null) === null,
  );
  const differences = describeDifferences(own, theirs, unknown);
  if (differences === null) return;
  const message = `Part 0 and ${name} found different targets: ${differences}. Nothing was sent.`;
  const remedy = 'Let all parts use servers of the same version, by the same address and proxy.';
  throw usageError('different_targets', message, remedy);
}

/** @param {Plan['load']} load @param {number} threads of the part @param {ShardPart} part @returns {number} each needs a connection */
export const threadsOf = ({ concurrency }, threads, part) =>
  Math.max(1, Math.min(threads, shareOf(concurrency, part)));

/** @param {Plan} plan of all parts, with the part's own settings @param {ShardPart} part @returns {Plan} what it sends of it */
export const planOfPart = (plan, part) => ({
  ...plan,
  load: { ...plan.load, threads: threadsOf(plan.load, plan.load.threads, part), startAt: null, shard: part },
});
