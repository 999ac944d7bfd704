/** Whole searches on a server that is simulated: what they find is what theory says; and what is said of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkSearchable, findMax } from '../../../src/campaigns/search/find-max.js';
import { canGrowPool, isJudgedAt } from '../../../src/campaigns/search/step-plan.js';
import { exitCodeOfSearch } from '../../../src/cli/search.js';
import { PkiLoadError } from '../../../src/common/errors.js';
import { uniform } from '../../../src/common/random.js';
import { USED_UP } from '../../../src/operations/revoke.js';
import { findBracket } from '../../../src/result/search/explain.js';
import { validateSearch } from '../../../src/result/search/search-schema.js';
import { loadOfLimit, planOf, simulateStep, waitAtMost } from './simulated-server.js';
import { simulateWorkers } from './simulated-workers.js';
import { peakFor, searchFor, settings, shareWithin, testTheory } from './theory.js';

/** @import { LoadPlan } from '../../../src/plan/load.js' */
/** @import { Search } from '../../../src/result/search/search-schema.js' */

const SEARCHES = 100;

test('the M/D/1 wait matches the literature: P(no wait) = 1 - rho, mean = rho / (2 (1 - rho))', () => {
  for (const rho of [0.1, 0.5, 0.8, 0.95]) {
    assert.ok(Math.abs(waitAtMost(rho, 0) - (1 - rho)) < 1e-12);
    const step = 0.001;
    let mean = 0;
    for (let t = 0; t < 14; t += step) mean += (1 - waitAtMost(rho, t)) * step;
    if (rho < 0.9) assert.ok(Math.abs(mean / (rho / (2 * (1 - rho))) - 1) < 0.02, `${rho}: ${mean}`);
  }
  assert.ok(Math.abs(waitAtMost(loadOfLimit(0.99, 10), 9) - 0.99) < 1e-9);
});

testTheory(SEARCHES / 4);

test('a rate that random arrivals may narrowly miss does not count against the target', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const plan = planOf(['p99<200ms', 'rate>=100/s'], { arrivals: 'poisson', seed });
    const search = await searchFor(plan, 1, { highest: 400 });
    assert.equal(search.answer?.level, 400, `seed ${seed}: ${search.explanation}`);
    assert.equal(exitCodeOfSearch(search), 0);
  }
});

test('reports a required rate that was not reached, judged or not', async () => {
  const poisson = { arrivals: /** @type {const} */ ('poisson'), seed: 3 };
  for (const load of [{}, poisson]) {
    const search = await searchFor(planOf(['p99<200ms', 'rate>=500/s'], load), 1, { highest: 400 });
    assert.equal(search.answer?.level, 400);
    assert.match(search.explanation, /did not show rate>=500\/s to be met/);
    assert.equal(exitCodeOfSearch(search), 99);
  }
});

test('the document has every step, the bracket and the confirmation, and matches the schema', async () => {
  /** @type {Search[]} */
  const written = [];
  const search = await findMax(planOf(['p99<100ms', 'errors<0.1%']), settings({}), {
    runStep: async (plan) => simulateStep(plan, 10),
    onStep: async (soFar) => void written.push(soFar),
    command: 'vault-pki-load ocsp --find-max-rate',
  });
  assert.equal(written.length, search.steps.length);
  assert.deepEqual([written[0].unfinished, written[0].why, written[0].steps.length], [true, 'going on', 1]);
  assert.equal(search.unfinished, undefined);
  assert.equal(search.bracket.confirmed, search.answer?.level);
  assert.ok(Number(search.bracket.above?.level) > Number(search.answer?.level));
  assert.match(
    search.explanation,
    /^At 1\d\d\/s, .* more, a requirement was not met: the limit lies in between\.$/,
  );
  const units = search.requirements.map(({ unit }) => unit);
  assert.deepEqual(units, ['ms', 'fraction']);
  // The simulation gives less than a whole result.
  assert.notEqual(search.confirmation, null);
  const shown = {
    ...search,
    ...findBracket('rate', search.steps, null),
    ...{ answer: null, confirmation: null, why: 'unconfirmed' },
  };
  assert.equal(validateSearch(shown), shown);
});

test('rejects a document whose answer contradicts its steps', async () => {
  const search = await searchFor(planOf(['p99<100ms']), 10, { highest: 60 });
  const bare = { ...search, confirmation: null };
  /** @type {[object, RegExp][]} */
  const broken = [
    [{ ...bare, bracket: { ...bare.bracket, confirmed: 30 } }, /its bracket or its peak/],
    [bare, /it lacks its answer, or the result that confirms it/],
    [
      { ...bare, bracket: { ...bare.bracket, above: { level: 60, verdict: 'not met' } } },
      /its bracket or its peak/,
    ],
    [{ ...bare, why: 'tired' }, /why: /],
  ];
  for (const [value, message] of broken) assert.throws(() => validateSearch(value), message);
});

test('repeats a step that is too close to call for longer; steps at low rates are long enough to prove a percentile', async () => {
  /** @type {{level: number, ms: number | null}[]} */
  const made = [];
  let close = true;
  await findMax(planOf(['p99<100ms']), settings({ highest: 400, start: 100 }), {
    async runStep({ load, ...plan }) {
      made.push({ level: Number(load.ratePerSecond), ms: load.durationMs });
      const ended = simulateStep({ ...plan, load }, 1);
      if (load.ratePerSecond !== 400 || !close) return ended;
      close = false;
      const requirements = ended.result.requirements.map((one) => ({
        ...one,
        verdict: /** @type {const} */ ('not proven'),
      }));
      return { ...ended, result: { ...ended.result, requirements } };
    },
  });
  const [first, again] = made.filter(({ level }) => level === 400);
  assert.equal(Number(again.ms), 3 * Number(first.ms));
  /** @type {(number | null)[]} */
  const low = [];
  await findMax(planOf(['p99<100ms']), settings({ highest: 5, start: 5, stepMs: 1000, confirmMs: 3000 }), {
    async runStep(plan) {
      low.push(plan.load.durationMs);
      return simulateStep(plan, 1);
    },
  });
  assert.deepEqual(low, [60_000, 119_600]);
});

test('a rate too low to prove a percentile in the longest run: reports it, and tries no lower rate', async () => {
  const { answer, why, explanation, steps } = await searchFor(planOf(['p99.9<5s']), 100, {
    start: 0.5,
    highest: 1,
  });
  assert.deepEqual([answer, why], [null, 'unconfirmed']);
  const confirmations = steps.filter(({ phase }) => phase === 'confirmation');
  const told = confirmations.map(({ seconds, isStarved }) => [seconds, isStarved]);
  assert.deepEqual(told, [[600, true]]);
  assert.match(
    explanation,
    /^At 1\/s a run of 10 min has too few requests for the requirements: p99\.9<5s: .* 2,?995 are needed\. Require /,
  );
});

test('judges a required rate only if offered, with steps long enough for it', async () => {
  const search = await searchFor(planOf(['p99<100ms', 'rate>=60/s']), 10, {
    start: 20,
    stepMs: 2000,
    highest: 40,
  });
  assert.equal(search.answer?.level, 40);
  assert.ok(search.steps.every(({ seconds }) => seconds >= 6));
});

/** @type {[string, string, boolean][]} */
const RATES = [
  ['a rate that the answer offers', 'rate>=55/s', false],
  ['a rate above the highest allowed one', 'rate>=90/s', true],
];

for (const [what, requirement, isBeyond] of RATES) {
  test(`required: ${what}`, async () => {
    const search = await searchFor(planOf(['p99<100ms', requirement]), 10, { start: 20, highest: 60 });
    assert.equal(search.answer?.level, 60);
    assert.equal(search.requirements[1].beyond ?? false, isBeyond);
    assert.equal(exitCodeOfSearch(search), isBeyond ? 99 : 0);
  });
}

/** @type {[string, string, boolean][]} */
const PEAK_RATES = [
  ['a rate that the peak reaches, but not 1 in flight', 'rate>=200/s', false],
  ['a rate that the peak does not reach', 'rate>=2000/s', true],
];

for (const [what, requirement, isBeyond] of PEAK_RATES) {
  test(`required of a closed loop: ${what}`, async () => {
    const search = await peakFor(planOf([requirement]), { workers: 8, serviceMs: 10 });
    assert.deepEqual([search.answer?.level, search.why], [8, 'flat']);
    assert.equal(search.requirements[0].beyond ?? false, isBeyond);
    assert.equal(exitCodeOfSearch(search), isBeyond ? 99 : 0);
    assert.equal(/did not show rate>=2000\/s to be met\.$/.test(search.explanation), isBeyond);
  });
}

test('a closed loop on a slow target: steps prove nothing, but the confirmation is long enough', async () => {
  const { answer, why, steps } = await peakFor(planOf(['errors<0.1%']), { workers: 4, serviceMs: 50 });
  // 4 in flight are 80/s, and 2 x 2995 requests are asked for.
  assert.deepEqual([answer?.level, answer?.seconds, why], [4, 74.875, 'flat']);
  const short = steps.filter(({ phase }) => phase !== 'confirmation');
  assert.ok(short.every(({ seconds, isStarved }) => seconds === 10 && isStarved));
});

/** @type {[string, {workers: number, serviceMs: number}, string][]} */
const RANDOM_TARGETS = [
  ['1 worker, 2/s', { workers: 1, serviceMs: 500 }, 'p99<5s'],
  ['4 workers, 2/s', { workers: 4, serviceMs: 2000 }, 'p99<60s'],
  ['4 workers, 20/s', { workers: 4, serviceMs: 200 }, 'p99<5s'],
  ['8 workers, 20/s', { workers: 8, serviceMs: 400 }, 'p99<5s'],
];

for (const [what, target, requirement] of RANDOM_TARGETS) {
  test(`M/M/c, ${what}: of ${SEARCHES} searches 95 in 100 have an answer, all but 1 in 20 of these within 15 % of the peak`, async () => {
    const errors = [];
    for (let seed = 1; seed <= SEARCHES; seed++) {
      let drawn = 0;
      const draw = () => -Math.log(uniform(seed, drawn++, 78));
      const { answer } = await peakFor(planOf([requirement]), { ...target, draw });
      const peak = (target.workers * 1000) / target.serviceMs;
      if (answer !== null) errors.push(answer.perSecond / peak - 1);
    }
    assert.ok(errors.length >= 0.95 * SEARCHES, `${errors.length} answers`);
    assert.ok(shareWithin(errors, 0.15) >= 0.95, errors.sort((a, b) => a - b).join(' '));
  });
}

test('a closed loop on a target too slow for any proof: one run of ten minutes, and the reason', async () => {
  const { answer, why, steps, explanation } = await peakFor(planOf(['p99<60s']), {
    workers: 1,
    serviceMs: 10_000,
  });
  assert.deepEqual([answer, why], [null, 'unconfirmed']);
  const told = steps.flatMap(({ phase, seconds }) => (phase === 'confirmation' ? [seconds] : []));
  assert.deepEqual(told, [600]);
  assert.match(explanation, /^With 1 in flight a run of 10 min has too few requests for the requirements: /);
});

/**
 * 8 workers, each good for 100/s, unless a confirmation is another matter.
 *
 * @param {(level: number, attempt: number) => {workers?: number, missed?: string}} confirmed `attempt` from 1
 * @param {number} [highest]
 */
const unconfirmedPeak = (confirmed, highest = 64) => {
  /** @type {Map<number, number>} */
  const attempts = new Map();
  return findMax(planOf(['p99<5s']), settings({ of: 'concurrency', start: 1, highest }), {
    async runStep(plan) {
      const { concurrency, durationMs } = plan.load;
      const isShort = durationMs === 10_000;
      const attempt = (attempts.get(concurrency) ?? 0) + 1;
      if (!isShort) attempts.set(concurrency, attempt);
      const { workers = 8, missed } = isShort ? {} : confirmed(concurrency, attempt);
      const ended = simulateWorkers(plan, { workers, serviceMs: 10 });
      if (missed === undefined) return ended;
      const [one] = ended.result.requirements;
      const requirements = [{ ...one, verdict: /** @type {const} */ ('not met'), reason: missed }];
      return { ...ended, result: { ...ended.result, requirements } };
    },
  });
};

/** @type {[string, Parameters<typeof unconfirmedPeak>[0], RegExp, number?][]} */
const UNCONFIRMED = [
  [
    'each met, but slower than the steps: by how much, and the remedy',
    () => ({ workers: 4 }),
    /^With \d+ in flight the target reached 400\/s in a run of 30 s, clearly less than the 800\/s of a shorter run with \d+ in flight\. Find out .*--duration\)\.$/,
  ],
  [
    'one slower than the steps, then one that does not meet a requirement: the reason of the last',
    (level) => (level === 8 ? { workers: 4 } : { missed: 'Too slow.' }),
    /^Longer runs did not confirm the shorter ones: p99<5s: Too slow\.$/,
  ],
  [
    'one that does not meet a requirement, then all slower than the steps below it',
    (level) => (level === 8 ? { missed: 'Too slow.' } : { workers: 3 }),
    /^With 7 in flight the target reached 300\/s in a run of 30 s, clearly less than the 700\/s of a shorter run with 7 in flight\./,
  ],
  [
    'one that at first does not meet a requirement, then is slower than a step at the same level',
    (level, attempt) =>
      level === 8 ? (attempt === 1 ? { missed: 'Disturbed.' } : { workers: 4 }) : { workers: 3 },
    /^With \d+ in flight the target reached 300\/s in a run of 30 s, clearly less than the 800\/s of a shorter run with 8 in flight\./,
  ],
  [
    'the same with one in flight, the minimum',
    (_level, attempt) => (attempt === 1 ? { missed: 'Disturbed.' } : { workers: 0.5 }),
    /^With 1 in flight the target reached 50\/s in a run of 30 s, clearly less than the 100\/s of a shorter run with 1 in flight\./,
    1,
  ],
];

for (const [what, confirmed, explanation, highest] of UNCONFIRMED) {
  test(`an unconfirmed peak: ${what}`, async () => {
    const search = await unconfirmedPeak(confirmed, highest);
    assert.deepEqual([search.answer, search.why], [null, 'unconfirmed']);
    assert.match(search.explanation, explanation);
  });
}

/**
 * Of `revoke`: 8 workers, each good for 250/s; what is about a certificate that was revoked before fails.
 *
 * @param {number | null} pool that the user has asked for
 */
async function searchOfRevoke(pool) {
  /** @type {[number, number | null][]} requests a step sends, certificates that were made ready */
  const made = [];
  const plan = { ...planOf([]), operation: 'revoke', options: { pool } };
  const search = await findMax(plan, settings({ of: 'concurrency', start: 1, highest: 64 }), {
    async runStep(stepPlan) {
      const ended = simulateWorkers(stepPlan, { workers: 8, serviceMs: 4 });
      const { totals, rates, verification } = ended.result;
      const ready = stepPlan.options.pool;
      made.push([totals.sent, ready]);
      const certificates = ready ?? 1000;
      if (totals.sent <= certificates) return ended;
      const share = certificates / totals.sent;
      const result = {
        ...ended.result,
        totals: { ...totals, succeeded: certificates },
        rates: { ...rates, perSecond: rates.perSecond * share },
        verification: { ...verification, notes: [USED_UP] },
      };
      return { ...ended, result };
    },
  });
  return { search, made };
}

test('certificates to revoke: repeats a step that runs out of them with enough, as in later steps', async () => {
  const { search, made } = await searchOfRevoke(null);
  assert.deepEqual([search.answer?.level, search.why, search.peakPerSecond], [8, 'flat', 2000]);
  const short = search.steps.flatMap(({ verdict }, i) => (verdict === 'not offered' ? [i] : []));
  assert.deepEqual(short, [0]);
  for (const [sent, ready] of made.slice(1)) assert.ok(Number(ready) >= sent && Number(ready) <= 3.1 * sent);
});

test('certificates to revoke: too small a --pool ends the search', async () => {
  const { search, made } = await searchOfRevoke(6000);
  assert.ok(made.every(([, ready]) => ready === 6000));
  // No second look has more of them.
  assert.ok(search.steps.every(({ attempt }) => attempt === 1));
  assert.deepEqual([search.answer, search.why], [null, 'unconfirmed']);
  assert.match(search.explanation, /more requests than certificates: .* raise --pool\.$/);
  assert.equal(exitCodeOfSearch(search), 98);
});

/** @type {[string, {pool: number | null, model?: 'open' | 'closed', ready?: number}, boolean][]} */
const POOLS = [
  ['a closed loop: the next step has more', { pool: null, model: 'closed', ready: 1000 }, true],
  ['a closed loop at the maximum', { pool: null, model: 'closed', ready: 100_000 }, false],
  ['an open loop: the number was known', { pool: null, model: 'open' }, false],
  ['the user set --pool', { pool: 500, model: 'closed' }, false],
  ['the user set --pool to the maximum', { pool: 100_000, model: 'closed' }, false],
];

for (const [what, { pool, model = 'open', ready = pool }, canGrow] of POOLS) {
  test(`if certificates to revoke run out: ${what}`, () => {
    const asked = { ...planOf([]), operation: 'revoke', options: { pool } };
    const step = { ...asked, options: { pool: ready }, load: { ...asked.load, model } };
    assert.equal(canGrowPool(asked, step), canGrow);
    const mixed = (/** @type {typeof asked} */ { options, ...plan }) => ({
      ...plan,
      options: {},
      mix: /** @type {any} */ ([{ name: 'r', operation: 'revoke', weight: 1, options, requirements: [] }]),
    });
    assert.equal(canGrowPool(mixed(asked), mixed(step)), canGrow);
  });
}

test('judges the rate of an operation in a mix only if offered', () => {
  /** @type {any} */
  const mix = [
    { name: 'a', operation: 'kv-read', weight: 1 },
    { name: 'b', operation: 'kv-write', weight: 3 },
  ];
  const required = { metric: 'rate', limit: 30, operation: 'a' };
  const step = { mix, load: planOf([], { durationMs: 10_000 }).load };
  // Its share is drawn: of 380 requests in 10 s four standard errors are a fifth.
  const told = [119, 120, 151, 153].map((level) => isJudgedAt(required, step, 'rate', level));
  assert.deepEqual(told, [false, false, false, true]);
});

test("connections grow with the rate (twice Little's law, a power of two), unless the user set --concurrency", async () => {
  const search = await searchFor(planOf(['p99<500ms']), 2, { start: 50, highest: 400 });
  assert.deepEqual(
    [50, 100, 200, 400].map((level) => search.steps.find((step) => step.level === level)?.connections),
    [64, 128, 256, 512],
  );
  const fixed = await searchFor(planOf(['p99<500ms'], { concurrency: 7 }), 2, {
    start: 50,
    highest: 400,
    fitConnections: false,
  });
  assert.ok(fixed.steps.every(({ connections }) => connections === 7));
});

test('stopped after two steps: reports them, without an answer', async () => {
  let count = 0;
  const search = await findMax(planOf(['p99<100ms']), settings({}), {
    isStopped: () => count > 2,
    async runStep(plan) {
      count++;
      return count > 2 ? null : simulateStep(plan, 1);
    },
  });
  assert.deepEqual(
    [search.interrupted, search.answer, search.steps.length, search.why],
    [true, null, 2, 'interrupted'],
  );
  assert.equal(search.bracket.highestMet, 100);
});

/** @type {[string, string[], Partial<LoadPlan>, 'rate' | 'concurrency', RegExp][]} */
const REFUSED = [
  [
    'no requirements',
    [],
    {},
    'rate',
    /--find-max-rate searches for the highest rate .* has no requirement on a whole run/,
  ],
  ['only a rate', ['rate>=1/s'], {}, 'rate', /needs a requirement on errors or times: .* refuses most/],
  ['a number of requests', ['p99<1s'], { requests: 10 }, 'rate', /--requests ends each step/],
  ['a part of a plan', ['p99<1s'], { shard: { index: 0, of: 2 } }, 'rate', /--shard sends only a part/],
  ['a start time', ['p99<1s'], { startAt: '2026-01-01T00:00:00Z' }, 'rate', /--start-at sets the time of/],
  ['a ramp-up', ['p99<1s'], { rampUpMs: 1 }, 'rate', /--ramp-up changes the rate within a step/],
  ['dropping', ['p99<1s'], { overflow: 'drop' }, 'rate', /--overflow drop hides a backlog/],
  ['stages', ['p99<1s'], { stages: [] }, 'concurrency', /--max-concurrency .* the plan has stages/],
];

for (const [what, requirements, load, of, message] of REFUSED) {
  test(`rejects, with a remedy: ${what}`, () => {
    assert.throws(
      () => checkSearchable(planOf(requirements, load), settings({ of })),
      (error) => error instanceof PkiLoadError && message.test(error.message) && Boolean(error.remedy),
    );
  });
}

test('a peak needs no requirement', () => checkSearchable(planOf([]), settings({ of: 'concurrency' })));
