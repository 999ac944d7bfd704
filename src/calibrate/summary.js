/** What a calibration comes down to, in sentences: what the tool adds, up to which rate, what limits it, what to do. */
import { formatCount, formatDuration, formatRate } from '../units.js';
import { heldAgainst } from './honest-rate.js';

/** @typedef {Pick<import('./calibrate.js').Calibration, 'environment' | 'settings' | 'delays' | 'lateness' | 'peak' | 'honestRate'>} Found */

/** A load average of so many for each core means that others have work for the machine. */
const BUSY_LOAD = 0.5;

/** The target's answers are so late at most where it gets a core when it wants one. */
const WAKING_MS = 0.5;

/** `--threads` takes no more. */
const MAX_THREADS = 64;

/**
 * @param {Found} found
 * @returns {import('./calibrate.js').Calibration['summary']}
 */
export function summarise(found) {
  return { text: textOf(found), limits: limitsOf(found), remedies: remediesOf(found) };
}

/** @param {Found} found */
function textOf({ settings: { concurrency, threads, pacing }, delays, lateness, honestRate }) {
  const setting = `--concurrency ${concurrency} --threads ${threads} --pacing ${pacing}`;
  const added = (/** @type {'p50' | 'p99'} */ key) => largest(delays.map(({ addedMs }) => addedMs[key]));
  const latest = lateness.reduce(
    (worst, row) => (Number(row.seenMs.p99) > Number(worst.seenMs.p99) ? row : worst),
    lateness[0],
  );
  const { ratePerSecond } = honestRate;
  return [
    `On this machine, with ${setting}: latencies are inflated by up to ${duration(added('p50'))} (p50; p99 ${duration(added('p99'))});`,
    latest === undefined
      ? 'no rate was measured for lateness;'
      : `sends are late by at most ${duration(largest(lateness.map(({ seenMs }) => seenMs.p50)))} (p50; p99 ${duration(latest.seenMs.p99)}, at ${formatRate(latest.ratePerSecond)});`,
    ratePerSecond === null
      ? 'no rate that was tried is honest.'
      : `measurements are honest up to about ${formatRate(ratePerSecond)}, where the target takes ${duration(honestRate.delayMs)}.`,
  ].join(' ');
}

/** @param {Found} found */
function limitsOf({ environment: { cpus, loadAverage }, peak, honestRate }) {
  const { brokenAtPerSecond, limits, tries } = honestRate;
  const alone = [
    ...(cpus === 1
      ? ['There is one core, which the tool and its target share: the target is part of every figure.']
      : []),
    ...(loadAverage > BUSY_LOAD * cpus
      ? [
          `The machine was busy before the calibration began: a load average of ${loadAverage.toFixed(1)} on ${cpus} core${cpus === 1 ? '' : 's'}.`,
        ]
      : []),
  ];
  if (brokenAtPerSecond === null) {
    return [...alone, `Every rate that was tried was honest; the closed loop's peak is ${peakText(peak)}.`];
  }
  const broken = tries.filter(({ ratePerSecond }) => ratePerSecond === brokenAtPerSecond);
  const { latenessMs, p99Ms, measurement, planned, samples, delayMs } = broken[broken.length - 1];
  const at = `At ${formatRate(brokenAtPerSecond)}`;
  const late = latenessMs.p99 === null || latenessMs.p99 > limits.latenessP99Ms;
  const wrong = p99Ms.error === null || Math.abs(p99Ms.error) > limits.errorP99;
  return [
    ...alone,
    ...(late
      ? [
          `${at} the sends were ${duration(latenessMs.p99)} late (p99), more than --max-lateness ${formatDuration(limits.latenessP99Ms)}.`,
        ]
      : []),
    ...(wrong
      ? [
          `${at} a p99 of ${duration(p99Ms.reported)} was reported, where the target took ${duration(p99Ms.target)}.`,
        ]
      : []),
    ...(samples === planned
      ? []
      : [`${at} the target saw ${formatCount(samples)} of ${formatCount(planned)} requests.`]),
    ...heldAgainst(measurement).map(({ text }) => `${at}: ${text}`),
    ...(Number(p99Ms.target) > delayMs * (1 + limits.errorP99) + WAKING_MS
      ? [
          `${at} the calibration's own target took ${duration(p99Ms.target)} (p99) instead of ${duration(delayMs)}: the machine is too busy for both.`,
        ]
      : []),
  ];
}

/** @param {import('./rows.js').Peak} peak */
function peakText({ perSecond, targetBusy }) {
  const busy = targetBusy === null ? '' : `, with the target busy for ${Math.round(targetBusy * 100)} %`;
  return `${formatRate(perSecond)}${busy}`;
}

/** @param {Found} found */
function remediesOf({ environment: { cpus }, settings, lateness }) {
  const { threads, pacing, concurrency, maxLatenessMs } = settings;
  const more = Math.min(cpus - 1, concurrency, MAX_THREADS);
  const late = lateness.some(({ ownMs }) => Number(ownMs.p99) > maxLatenessMs / 4);
  return [
    ...(cpus <= threads ? ['Use a machine with more cores than --threads.'] : []),
    ...(more > threads ? [`Try --threads ${more}.`] : []),
    // Spinning threads need their cores for themselves, and all else one more to be sure of another.
    ...(late && pacing !== 'spin' && cpus > threads + 1
      ? ['Try --pacing spin: it sends more exactly and takes a core for each thread.']
      : []),
    ...(pacing === 'spin' && cpus <= threads + 1
      ? ['Try --pacing auto: threads that spin leave too few cores for all else.']
      : []),
    'Leave the machine to the tool while it measures, and run the target on another one.',
  ];
}

/** @param {(number | null)[]} values */
function largest(values) {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}

/** @param {number | null} ms */
function duration(ms) {
  return ms === null ? 'an unknown time' : formatDuration(Math.max(0, ms));
}
