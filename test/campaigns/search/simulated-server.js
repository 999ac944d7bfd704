/**
 * A target that is simulated: one server with a fixed service time, which takes requests as they come (Lindley, 1952). The schedule,
 * the requirements' judges, the watch on the backlog and the verdict on the measurement are the tool's own. No time passes.
 */

import { createHistogram } from '../../../src/common/histogram.js';
import { watchBacklog } from '../../../src/engine/watch/sender.js';
import { parseRequirement } from '../../../src/plan/requirements.js';
import { createSchedule } from '../../../src/plan/schedule.js';
import { judgeRequirement } from '../../../src/result/requirements/judge.js';
import { rateBar } from '../../../src/verdict/bars.js';
import { judgeMeasurement } from '../../../src/verdict/reasons.js';
import { load as loadOf } from '../../engine/load-plan.js';
import { timesOf } from '../../result/view.js';

/** @import { StepEnd } from '../../../src/campaigns/search/steps.js' */
/** @import { BacklogEnd } from '../../../src/engine/watch/sender.js' */
/** @import { LoadPlan } from '../../../src/plan/load.js' */
/** @import { Plan } from '../../../src/plan/plan.js' */

const LOOK_EVERY_MS = 100;

/** @param {string[]} requirements @param {Partial<LoadPlan>} [load] @returns {Plan} */
export function planOf(requirements, load = {}) {
  return /** @type {any} */ ({
    operation: 'ocsp',
    dev: false,
    target: { url: 'http://192.0.2.1:8200' },
    load: loadOf(load),
    options: {},
    mix: null,
    requirements: requirements.map((text) => parseRequirement(text)),
  });
}

/**
 * @param {Plan} plan an open loop
 * @param {number} serviceMs
 * @param {() => boolean} [fails] asked for each request
 * @returns {StepEnd} as far as a search reads it
 */
export function simulateStep({ load, requirements }, serviceMs, fails = () => false) {
  const schedule = createSchedule(load);
  const { count: planned, endMs } = schedule;
  /** @type {number[]} */
  const due = [];
  /** @type {number[]} */
  const done = [];
  for (let i = 0; i < planned; i++) {
    due.push(schedule.dueMs(i));
    // A request is sent when it is due and one of the connections is free; the server works on one at a time.
    const sent = Math.max(due[i], i < load.concurrency ? 0 : done[i - load.concurrency]);
    if (sent > endMs) break;
    done.push(Math.max(sent, i === 0 ? 0 : done[i - 1]) + serviceMs);
  }
  const sent = done.length;
  for (let i = due.length; i < planned; i++) due.push(schedule.dueMs(i));
  const response = done.map((at, i) => at - due[i]);
  const ages = due.slice(sent).map((at) => Math.max(0, endMs - at));
  const neverSent = planned - sent;
  const isBad = done.map(() => fails());
  const failed = isBad.filter(Boolean).length;
  const succeeded = sent - failed;
  const all = timesOf([...response, ...ages]);
  // Recording them takes most of the time.
  const good = failed === 0 && neverSent === 0 ? all : timesOf(response.filter((_, i) => !isBad[i]));
  const view = /** @type {any} */ ({
    series: { response: good },
    all: { response: all },
    ...{ succeeded, failed, dropped: 0, neverSentDue: neverSent },
    ratePerSecond: (succeeded * 1000) / Math.max(endMs, done[sent - 1]),
    completedPerSecond: perSecondOf(done, endMs),
    model: 'open',
    offeredPerSecond: load.ratePerSecond,
    arrivals: load.arrivals,
    allOnTime: neverSent === 0 && failed === 0,
    measurementValid: true,
  });
  const measurement = judgeRun({ planned, neverSent, sent, backlog: backlogOf(due, done, endMs) });
  view.measurementValid = measurement.verdict !== 'invalid';
  view.rateBar = rateBar({
    perSecond: view.ratePerSecond,
    succeeded,
    errors: failed + neverSent,
    completedPerSecond: view.completedPerSecond,
    offeredPerSecond: load.arrivals === 'constant' ? load.ratePerSecond : null,
    isServed: view.allOnTime && load.arrivals === 'constant',
    slowdown: 1,
  });
  const sorted = quantilesOf([...response, ...ages]);
  return {
    recovery: { waitedMs: 0, recovered: true },
    result: /** @type {any} */ ({
      startedAt: '2026-01-02T03:04:05.000Z',
      durationSeconds: endMs / 1000,
      target: { url: 'http://192.0.2.1:8200', product: null, version: null },
      load,
      totals: { planned, sent, succeeded, failed, neverSent },
      verification: { unchecked: 0, notes: [] },
      rates: { perSecond: view.ratePerSecond },
      errorShare: (failed + neverSent) / planned,
      latencyMs: {
        response: {
          p50: sorted.valueAtRank(Math.ceil(0.5 * planned)),
          p99: sorted.valueAtRank(Math.ceil(0.99 * planned)),
          max: sorted.max,
        },
      },
      requirements: requirements.map((requirement) => judgeRequirement(requirement, view)),
      measurement,
    }),
  };
}

/**
 * The tool itself is never late.
 *
 * @param {{planned: number, neverSent: number, sent: number, backlog: BacklogEnd}} seen
 */
function judgeRun(seen) {
  const rest = { latencyDrift: null, rateDrift: null, dialled: 0, unchecked: 0, leftWhileFree: false };
  const whole = timesOf([1]).reported;
  const observed = /** @type {any} */ ({
    ...seen,
    ...rest,
    succeeded: seen.sent,
    response: whole,
    ownResponse: whole,
    lag: createHistogram(),
    interrupted: false,
    model: 'open',
    displaced: { second: 0, tenth: 0 },
    droppedLate: 0,
    forgone: 0,
    outcomes: {},
    targetIsLocal: false,
  });
  return judgeMeasurement(observed);
}

/** @param {number[]} values */
export function quantilesOf(values) {
  const sorted = Float64Array.from(values).sort();
  return {
    count: sorted.length,
    valueAtRank: (/** @type {number} */ rank) => sorted[rank - 1],
    min: sorted[0] ?? null,
    mean: sorted.length === 0 ? null : sorted.reduce((sum, one) => sum + one, 0) / sorted.length,
    max: sorted.at(-1) ?? null,
  };
}

/** @param {number[]} done @param {number} endMs */
export function perSecondOf(done, endMs) {
  const counts = new Array(Math.floor(endMs / 1000)).fill(0);
  for (const at of done) if (at < counts.length * 1000) counts[Math.floor(at / 1000)]++;
  return counts;
}

/**
 * @param {number[]} due
 * @param {number[]} done of those that were sent, in their order
 * @param {number} endMs
 */
function backlogOf(due, done, endMs) {
  const watch = watchBacklog(0, due[due.length - 1]);
  let [arrived, answered] = [0, 0];
  for (let now = LOOK_EVERY_MS; now < endMs; now += LOOK_EVERY_MS) {
    while (arrived < due.length && due[arrived] <= now) arrived++;
    while (answered < done.length && done[answered] <= now) answered++;
    watch.sample(now, 0, arrived - answered);
  }
  return watch.end();
}

/**
 * P(wait <= t) of M/D/1 (Erlang, 1909; Crommelin, 1932): (1 - rho) sum over k = 0 .. floor(t/s) of
 * (lambda (k s - t))^k / k! e^(-lambda (k s - t)).
 *
 * @param {number} rho load, below 1
 * @param {number} t in service times; the sum alternates, so that beyond about 15 digits are lost
 */
export function waitAtMost(rho, t) {
  let [sum, factorial] = [0, 1];
  for (let k = 0; k <= Math.floor(t); k++) {
    if (k > 0) factorial *= k;
    const x = rho * (k - t);
    sum += (x ** k / factorial) * Math.exp(-x);
  }
  return (1 - rho) * sum;
}

/**
 * @param {number} quantile
 * @param {number} limit of the response time, in service times
 * @returns {number} the load at which that percentile is just that
 */
export function loadOfLimit(quantile, limit) {
  let [low, high] = [0, 1];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (waitAtMost(middle, limit - 1) >= quantile) low = middle;
    else high = middle;
  }
  return low;
}
