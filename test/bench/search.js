/**
 * Does --find-max-rate find the capacity that is there? The target is a single server with a fixed service time S, and arrivals are
 * constant: D/D/1, which keeps up to 1 / S and above that falls behind by what is too much, second by second. So the answer is 1 / S,
 * whatever limit stands on p99. With `--seconds N` steps take N at least, the confirmation three times as long; `--runs N` searches.
 * Each search begins elsewhere, so that no two make the same steps.
 *
 * And do two searches agree on what nobody can work out: a real Vault's OCSP responder and its issuing (P-256, no_store)? As many as
 * AGREE of each.
 */
import { shareCores } from './cores.js';
import { BIN } from './ours.js';
import { median } from './statistics.js';
import { withSubject } from './subject.js';
import { withTarget } from './target/start.js';
import { runTimed } from './timed.js';
import { withVault } from './vault.js';

const SERVICE_MS = 10;
const CAPACITY = 1000 / SERVICE_MS;
const LIMIT = 'p99<500ms';
const WITHIN = 0.05;
const GOAL = 0.9;

const AGREE = 2;
const AGREE_WITHIN = 0.15;
const VAULT_LIMIT = 'p99<200ms';

/** Rates where searches begin: on either side of the answer. No two are a power of two apart: both would bisect between the same. */
const STARTS = [60, 45, 130, 75, 85, 220, 50, 66, 160, 118];

/** A search ends with 99 where it finds none: also a result. 98: the tool was the limit. */
const CODES = [0, 98, 99];

/** @typedef {import('../../src/results/search/search-schema.js').Search} Search */

/**
 * @param {import('./index.js').Settings} settings
 * @returns {Promise<import('./index.js').Report>}
 */
export async function run({ runs, seconds, say }) {
  const known = await searchKnown({ runs, seconds, say });
  const vault = await searchVault({ seconds, say });
  const errors = known.map(({ answer }) => (answer === null ? null : answer.level / CAPACITY - 1));
  const good = errors.filter((error) => error !== null && Math.abs(error) <= WITHIN).length;
  const percent = (/** @type {number | null} */ error) =>
    error === null ? 'none' : `${(error * 100).toFixed(1)} %`;
  const met = (/** @type {boolean} */ is) => (is ? 'yes' : 'no');
  return {
    question: `Highest rate that --find-max-rate finds: single server of ${SERVICE_MS} ms, constant arrivals, ${LIMIT}; and on a real Vault, twice`,
    basis: `searches with steps of ${seconds} s at least`,
    columns: ['target', 'searches', 'analytic', 'answers', 'worst', 'steps', 'minutes', 'goal', 'met'],
    rows: [
      [
        `single server, ${SERVICE_MS} ms`,
        known.length,
        CAPACITY,
        known.map(({ answer }) => answer?.level ?? 'none').join(' '),
        percent(errors.includes(null) ? null : worstOf(errors.map(Number))),
        median(known.map(({ steps }) => steps.length)),
        median(known.map(({ durationSeconds }) => durationSeconds / 60)),
        `within ${WITHIN * 100} % in ${GOAL * 100} %`,
        met(good / known.length >= GOAL),
      ],
      ...vault.map(({ name, searches }) => {
        const levels = searches.map(({ answer }) => answer?.level ?? null);
        const apart = levels.includes(null)
          ? null
          : Math.max(...levels.map(Number)) / Math.min(...levels.map(Number)) - 1;
        return [
          name,
          searches.length,
          null,
          levels.map((level) => level ?? 'none').join(' '),
          percent(apart),
          median(searches.map(({ steps }) => steps.length)),
          median(searches.map(({ durationSeconds }) => durationSeconds / 60)),
          `${AGREE_WITHIN * 100} % apart`,
          met(apart !== null && apart <= AGREE_WITHIN),
        ];
      }),
    ],
    summary: { [`within ${WITHIN * 100} %`]: `${good} of ${known.length}` },
    raw: { known, vault },
  };
}

/** @param {number[]} errors */
function worstOf(errors) {
  return errors.reduce((worst, error) => (Math.abs(error) > Math.abs(worst) ? error : worst));
}

/** @param {Pick<import('./index.js').Settings, 'runs' | 'seconds' | 'say'>} settings @returns {Promise<Search[]>} */
function searchKnown({ runs, seconds, say }) {
  return withSubject(async ({ cert, issuer, response }) => {
    /** @type {Search[]} */
    const found = [];
    for (let i = 0; i < runs; i++) {
      const search = await withTarget({ bodyFile: response, serviceMs: SERVICE_MS }, ({ url }) =>
        searchWith(
          ['ocsp', '--cert', cert, '--issuer', issuer, '--ocsp-url', url],
          { rate: STARTS[i % STARTS.length], duration: seconds, require: LIMIT },
          {},
        ),
      );
      say(`single server, search ${i + 1} of ${runs}: ${describe(search)}`);
      found.push(search);
    }
    return found;
  });
}

/** @param {Pick<import('./index.js').Settings, 'seconds' | 'say'>} settings @returns {Promise<{name: string, searches: Search[]}[]>} */
function searchVault({ seconds, say }) {
  return withVault(async ({ url, token, cert, issuer }) => {
    const subjects = [
      { name: 'Vault, ocsp', args: ['ocsp', '--url', url, '--cert', cert, '--issuer', issuer] },
      { name: 'Vault, issue P-256', args: ['issue', '--url', url, '--role', 'ec-no-store'] },
    ];
    const found = [];
    for (const { name, args } of subjects) {
      /** @type {Search[]} */
      const searches = [];
      for (let i = 0; i < AGREE; i++) {
        const search = await searchWith(
          args,
          { duration: seconds, require: VAULT_LIMIT },
          { VAULT_TOKEN: token },
        );
        say(`${name}, search ${i + 1} of ${AGREE}: ${describe(search)}`);
        searches.push(search);
      }
      found.push({ name, searches });
    }
    return found;
  });
}

/**
 * @param {string[]} args
 * @param {Record<string, string | number>} options
 * @param {Record<string, string>} env
 * @returns {Promise<Search>} without what the confirmation looked like in every second
 */
async function searchWith(args, options, env) {
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  const { stdout, stderr, code } = await runTimed(
    [process.execPath, BIN, ...args, '--find-max-rate', ...flags, '--format', 'json', '--quiet'],
    { env, cores: shareCores().generator, limitSeconds: 1800 },
  );
  if (!CODES.includes(code)) throw new Error(`the search ended with ${code}: ${stderr}`);
  return { ...JSON.parse(stdout), confirmation: null };
}

/** @param {Search} search */
function describe({ answer, explanation, steps }) {
  return `${answer?.level ?? 'none'}/s after ${steps.length} steps. ${explanation}`;
}
