/**
 * Are Poisson arrivals Poisson when they come? The gaps between arrivals, as the target saw them, are held against the
 * exponential distribution of the mean that was asked for, by Kolmogorov-Smirnov and by Anderson-Darling, which looks
 * closer at the smallest and the largest gaps. Of a true one, 5 % of the seeds have p < 0.05. Kolmogorov-Smirnov is the judge:
 * one thread cannot send two requests in less than the 10 to 20 us that one takes, which is nothing to a user, but a gap near zero
 * is all to Anderson-Darling. `schedule` are the due times
 * of the same seeds: what the generator of random numbers can do, before anything is sent.
 */
import { dueTimes } from './due-times.js';
import { measureOurs } from './measure.js';
import { adPValue, adStatistic, ksDistance, ksPValue } from './statistics.js';
import { withSubject } from './subject.js';

const RATES = [200, 1000];
const CONNECTIONS = 50;
const SEEDS_PER_RUN = 2;
const LEVEL = 0.05;

/** By default, and as exactly as it can be sent: the target has a core of its own, so nothing is taken from it. */
const MODES = ['auto', 'spin'];

/** @typedef {{gaps: number, meanMs: number, ksD: number, ksP: number, a2: number, adP: number}} Fit */

/**
 * @param {import('./index.js').Settings} settings
 * @returns {Promise<import('./index.js').Report>}
 */
export async function run({ runs, seconds, say }) {
  const seeds = Array.from({ length: SEEDS_PER_RUN * runs }, (_, i) => i + 1);
  return withSubject(async (subject) => {
    /** @type {{rate: number, who: string, fits: Fit[]}[]} */
    const rows = [];
    for (const rate of RATES) {
      const schedule = seeds.map((seed) => fitGaps(gapsOf(dueTimes(rate, seconds, seed)), 1000 / rate));
      rows.push({ rate, who: 'schedule', fits: schedule });
      const seen = MODES.map((pacing) => ({
        rate,
        pacing,
        who: `as seen, ${pacing}`,
        fits: /** @type {Fit[]} */ ([]),
      }));
      for (const seed of seeds) {
        for (const { pacing, fits } of seen)
          fits.push(await seenGaps(subject, { rate, seconds, seed, pacing }));
        say(`${rate}/s, seed ${seed} of ${seeds.length}`);
      }
      rows.push(...seen);
    }
    return {
      question: `Gaps of Poisson arrivals against the exponential distribution, ${seeds.length} seeds: share with p < ${LEVEL}, which should be 5 %`,
      basis: `runs of ${seconds} s`,
      columns: [
        'rate/s',
        'gaps of',
        'mean gap ms',
        'KS p < 0.05',
        'AD p < 0.05',
        'median AD p',
        'goal',
        'met',
      ],
      rows: rows.map(({ rate, who, fits }) => [rate, ...figuresOf(who, fits)]),
      summary: {},
      raw: rows,
    };
  });
}

/**
 * @param {import('./subject.js').Subject} subject
 * @param {{rate: number, seconds: number, seed: number, pacing: string}} options
 * @returns {Promise<Fit>}
 */
async function seenGaps(subject, { rate, seconds, seed, pacing }) {
  const load = { ratePerSecond: rate, connections: CONNECTIONS, seconds };
  const { arrivals } = await measureOurs(subject, {}, load, { arrivals: 'poisson', seed, pacing });
  const planned = dueTimes(rate, seconds, seed).length;
  if (arrivals.atNs.length !== planned)
    throw new Error(`${arrivals.atNs.length} requests came of ${planned}`);
  const first = arrivals.atNs[0];
  const times = Float64Array.from(arrivals.atNs, (at) => Number(at - first) / 1e6);
  return fitGaps(gapsOf(times), 1000 / rate);
}

/**
 * @param {string} who
 * @param {Fit[]} fits
 */
function figuresOf(who, fits) {
  const n = fits.length;
  const below = (/** @type {'ksP' | 'adP'} */ key) => fits.filter((fit) => fit[key] < LEVEL).length;
  const most = mostByChance(n);
  const meanMs = fits.reduce((sum, fit) => sum + fit.meanMs, 0) / n;
  const sortedP = fits.map(({ adP }) => adP).sort((a, b) => a - b);
  const [ks, ad] = [below('ksP'), below('adP')];
  return [
    who,
    meanMs,
    `${ks} of ${n}`,
    `${ad} of ${n}`,
    sortedP[n >> 1],
    `KS <= ${most} of ${n}`,
    ks <= most ? 'yes' : 'no',
  ];
}

/**
 * @param {number} n seeds
 * @returns {number} the smallest count that 99 of 100 honest trials do not exceed: binomial with p = LEVEL
 */
export function mostByChance(n) {
  let term = (1 - LEVEL) ** n;
  let sum = term;
  let count = 0;
  while (sum < 0.99) {
    term *= ((n - count) / (count + 1)) * (LEVEL / (1 - LEVEL));
    sum += term;
    count++;
  }
  return count;
}

/** @param {Float64Array} times ascending */
function gapsOf(times) {
  return Float64Array.from({ length: times.length - 1 }, (_, i) => times[i + 1] - times[i]);
}

/**
 * Arrivals that one poll of the target found have the same time: such gaps count as 1 ns.
 *
 * @param {Float64Array} gaps ms
 * @param {number} meanMs
 * @returns {Fit}
 */
function fitGaps(gaps, meanMs) {
  const sorted = gaps.map((gap) => Math.max(gap, 1e-6)).sort();
  const ksD = ksDistance(sorted, meanMs);
  const a2 = adStatistic(sorted, meanMs);
  const sum = sorted.reduce((a, b) => a + b, 0);
  return {
    gaps: sorted.length,
    meanMs: sum / sorted.length,
    ksD,
    ksP: ksPValue(ksD, sorted.length),
    a2,
    adP: adPValue(a2),
  };
}
