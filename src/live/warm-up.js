/**
 * Draws pictures to nowhere before the run. The first picture builds regular expressions and character tables, which takes longer
 * than hundreds of later ones, and would delay arrivals on a core that a sender shares.
 */
import { createView } from './view.js';

/** @import { IntervalEvent } from '../engine/interval.js' */
/** @import { RequirementVerdict } from '../result/schema.js' */
/** @import { Terminal } from './view.js' */

/** Enough for V8 to compile the drawing code. */
const PICTURES = 60;

const SECOND_MS = 1000;

/** Longer than the pause between two lines of a log, so that each is written. */
const STEP_MS = 10 * SECOND_MS;

const VERDICTS = /** @type {const} */ (['not proven', 'met', 'not met']);

const LOAD = Object.freeze({ ratePerSecond: 1000, rampUpMs: 0, shard: null });

/** @param {Terminal} terminal @returns {Promise<number>} characters that would have been written */
export async function warmUp(terminal) {
  let written = 0;
  let nowMs = 0;
  const write = (/** @type {string} */ text) => {
    written += text.length;
  };
  const view = createView({ write, terminal, now: () => nowMs });
  await view.isReady;
  view.event({
    type: 'start',
    plan: { operation: 'warm-up', load: LOAD, requirements: [{}, { rateUnit: 'h' }, {}] },
    target: { url: '' },
    planned: PICTURES,
  });
  for (let i = 1; i <= PICTURES; i++) {
    nowMs += STEP_MS;
    if (i % 2 === 0) view.soFar({ requirements: requirementsAt(i) });
    if (i % 20 === 0) view.event({ type: 'warning', text: `Warm-up warning ${i}.` });
    view.event(intervalAt(i));
  }
  view.close();
  return written;
}

/** @param {number} i @returns {RequirementVerdict[]} */
function requirementsAt(i) {
  const verdict = (/** @type {number} */ n) => VERDICTS[(i + n) % VERDICTS.length];
  return [
    { text: 'p99<200ms', verdict: verdict(0), actual: i, limit: 200, unit: 'ms', reason: '' },
    { text: 'rate>=1000/h', verdict: verdict(1), actual: 990 + i, limit: 0.3, unit: '/s', reason: '' },
    { text: 'errors<0.1%', verdict: verdict(2), actual: i / 1e5, limit: 0.001, unit: 'fraction', reason: '' },
  ];
}

/**
 * Covers everything that can be shown, with no two alike.
 *
 * @param {number} i
 * @returns {IntervalEvent}
 */
function intervalAt(i) {
  return {
    type: 'interval',
    elapsedMs: i * SECOND_MS,
    totalMs: PICTURES * SECOND_MS,
    sent: i * 1000,
    succeeded: i * 990,
    failed: i * 10,
    inFlight: i % 10,
    waiting: i % 3,
    ratePerSecond: 990 + (i % 7),
    p99Ms: i % 9 === 0 ? null : 0.1 * 1.3 ** (i % 30),
    errors: i % 2 === 0 ? {} : { timeout: i, 'http-503': 9 * i },
    phase: i < 5 ? 'warmup' : 'measuring',
  };
}
