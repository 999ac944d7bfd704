/**
 * Do arrivals in stages come when the closed form says? A ramp from 0 to R over T has R t² / 2T arrivals by t; steps have their
 * rates. The times at which the target saw requests are held against it by the Kolmogorov distance: the most by which the share that
 * had come by any time is off that which was due. It cannot be smaller than half an arrival. The result says when the schedule
 * began, on the clock that the target uses too.
 *
 * A step is reached at the first time from which on, for WINDOW_MS, as many came as its rate asks for, within TOLERANCE of it.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createProfile } from '../../src/load/pacing/profile.js';
import { shareCores } from './cores.js';
import { BIN } from './ours.js';
import { median } from './statistics.js';
import { withSubject } from './subject.js';
import { withTarget } from './target/start.js';
import { runTimed } from './timed.js';

const CONNECTIONS = 50;

/** Of the rates of steps: the highest is as high as what the ramp ends with. */
const STEPS = [0.1, 0.5, 0.2, 1];
const RATES = [200, 1000];

const WINDOW_MS = 250;
const TOLERANCE = 0.1;
const LOOK_MS = 10;

const BEST_DISTANCE = 0.01;
const BEST_REACHED_MS = 1000;

/** There is a result all the same: see exit codes. */
const CODES_WITH_RESULT = [0, 98, 99];

/** `ocsp-url` is asked once before the load, to tell a responder from what is none. */
const SETUP_REQUESTS = 1;

/** @typedef {import('../../src/load/pacing/profile.js').Segment} Segment */
/** @typedef {{distance: number, reachedMs: number | null, came: number, planned: number}} Fit `reachedMs`: the slowest step; null: one
 *   was not, or there are none */

/**
 * @param {import('./index.js').Settings} settings
 * @returns {Promise<import('./index.js').Report>}
 */
export async function run({ runs, seconds, say }) {
  return withSubject(async (subject) => {
    const rows = RATES.flatMap((rate) => shapesOf(rate, seconds)).map((shape) => ({
      ...shape,
      fits: /** @type {Fit[]} */ ([]),
    }));
    for (let i = 0; i < runs; i++) {
      for (const { what, segments, fits } of rows) {
        fits.push(await measure(subject, segments));
        say(`${what}, run ${i + 1} of ${runs}`);
      }
    }
    return {
      question:
        'Arrivals in stages, as the target saw them, against the closed form: Kolmogorov distance, and ms until the rate of the slowest step is reached',
      basis: `medians of ${runs} runs, each stage of ${seconds} s`,
      columns: ['stages', 'arrivals', 'came', 'distance', 'worst', 'reached ms', 'worst ms', 'goal', 'met'],
      rows: rows.map(({ what, segments, fits }) => [what, ...figuresOf(fits, segments.length > 1)]),
      summary: {},
      raw: rows,
    };
  });
}

/**
 * @param {number} rate the highest
 * @param {number} seconds of each step, and of the ramp as all steps together
 * @returns {{what: string, segments: Segment[]}[]}
 */
function shapesOf(rate, seconds) {
  const durationMs = seconds * 1000;
  const levels = STEPS.map((share) => share * rate);
  return [
    {
      what: `ramp, 0 to ${rate}/s`,
      segments: [{ durationMs: STEPS.length * durationMs, fromPerSecond: 0, toPerSecond: rate }],
    },
    {
      what: `steps, ${levels.join(', ')}/s`,
      segments: levels.map((level) => ({ durationMs, fromPerSecond: level, toPerSecond: level })),
    },
  ];
}

/**
 * @param {import('./subject.js').Subject} subject
 * @param {Segment[]} segments
 * @returns {Promise<Fit>}
 */
async function measure(subject, segments) {
  const [scenario, out] = ['stages.json', 'stages-result.json'].map((name) => join(subject.folder, name));
  return withTarget(
    { bodyFile: subject.response, record: true, skip: SETUP_REQUESTS },
    async ({ url, arrivals }) => {
      const options = { cert: subject.cert, issuer: subject.issuer, 'ocsp-url': url };
      const stages = segments.map(({ durationMs, fromPerSecond: from, toPerSecond: to }) => ({
        ramp: { from, to, duration: durationMs / 1000 },
      }));
      const mix = [{ operation: 'ocsp', options }];
      rmSync(out, { force: true });
      writeFileSync(
        scenario,
        JSON.stringify({ name: 'stages', load: { concurrency: CONNECTIONS }, mix, stages }),
      );
      const { code, stderr } = await runTimed(
        [process.execPath, BIN, 'run', scenario, '--out', out, '--quiet'],
        { cores: shareCores().generator },
      );
      if (!CODES_WITH_RESULT.includes(code)) throw new Error(`run ended with ${code}: ${stderr}`);
      const { startedAtMonotonicNs, totals } = JSON.parse(readFileSync(out, 'utf8'));
      const { atNs } = await arrivals();
      const start = BigInt(startedAtMonotonicNs);
      const times = Float64Array.from(atNs, (at) => Number(at - start) / 1e6).sort();
      const { expected, endMs } = createProfile(segments);
      return {
        distance: distanceOf(times, (ms) => expected(ms) / expected(endMs)),
        reachedMs: slowestStep(times, segments),
        came: times.length,
        planned: totals.planned,
      };
    },
  );
}

/**
 * @param {Float64Array} times ascending
 * @param {(ms: number) => number} share that is due by then
 * @returns {number} Kolmogorov's
 */
export function distanceOf(times, share) {
  const { length } = times;
  if (length === 0) return 1;
  return times.reduce(
    (most, ms, i) => Math.max(most, share(ms) - i / length, (i + 1) / length - share(ms)),
    0,
  );
}

/**
 * @param {Float64Array} times ascending, ms
 * @param {Segment[]} segments
 * @returns {number | null} ms after its beginning at which the last to be reached was; null: one was not, or there is only one
 */
export function slowestStep(times, segments) {
  let startMs = segments[0].durationMs;
  let slowest = null;
  for (const { durationMs, toPerSecond } of segments.slice(1)) {
    const reached = reachedAfter(times, startMs, durationMs, toPerSecond);
    if (reached === null) return null;
    slowest = Math.max(slowest ?? 0, reached);
    startMs += durationMs;
  }
  return slowest;
}

/**
 * @param {Float64Array} times
 * @param {number} startMs
 * @param {number} durationMs
 * @param {number} perSecond
 */
function reachedAfter(times, startMs, durationMs, perSecond) {
  const due = (perSecond * WINDOW_MS) / 1000;
  // One more or less falls into a window as it happens to begin.
  const off = Math.max(1, TOLERANCE * due);
  for (let ms = 0; ms + WINDOW_MS <= durationMs; ms += LOOK_MS) {
    const from = startMs + ms;
    const came = times.filter((at) => at >= from && at < from + WINDOW_MS).length;
    if (Math.abs(came - due) <= off) return ms;
  }
  return null;
}

/**
 * @param {Fit[]} fits
 * @param {boolean} hasSteps
 */
function figuresOf(fits, hasSteps) {
  const distances = fits.map(({ distance }) => distance);
  const reached = fits.map(({ reachedMs }) => reachedMs);
  const isReached = !hasSteps || reached.every((ms) => ms !== null && ms <= BEST_REACHED_MS);
  const known = reached.filter((ms) => ms !== null);
  const isWhole = fits.every(({ came, planned }) => came === planned);
  const isMet = isWhole && isReached && median(distances) <= BEST_DISTANCE;
  return [
    fits[0].planned,
    median(fits.map(({ came }) => came)),
    median(distances),
    Math.max(...distances),
    known.length === 0 ? null : median(known),
    known.length < fits.length ? null : Math.max(...known),
    `distance <= ${BEST_DISTANCE}${hasSteps ? `, reached <= ${BEST_REACHED_MS} ms` : ''}`,
    isMet ? 'yes' : 'no',
  ];
}
