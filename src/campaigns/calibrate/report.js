/** Summarises a calibration in sentences, and renders it as plain text. */
import { formatCount, formatDuration, formatRate } from '../../common/units.js';
import { counted, timeText } from '../../report/describe/words.js';
import { labelled, table, wrap } from '../../report/layout.js';
import { invalidReasonOf } from '../../result/document.js';
import { formatPercent } from '../../result/wording.js';
import { isWrong } from './accurate-rate.js';

/** @import { Calibration, Figures } from './calibrate.js' */

const WAKE_UP =
  'Latencies and lateness include the wake-up of the target, tens of µs or more: the tool itself adds less.';

/** A load average above this per core means that the machine is busy. */
const BUSY_LOAD = 0.5;

/** Max lateness of the target's responses if it gets a core at once. */
const MAX_WAKE_UP_MS = 0.5;

/** The maximum of `--threads`. */
const MAX_THREADS = 64;

/** @param {Figures & Pick<Calibration, 'summary'>} calibration @returns {string} ends with a newline */
export function render({ environment, settings, delays, lateness, peak, accurateRate, summary }) {
  const { concurrency, threads, pacing, stepMs } = settings;
  const { ratePerSecond, limits, tries } = accurateRate;
  const byRate = tries.toSorted((a, b) => a.ratePerSecond - b.ratePerSecond);
  const sends = `sends at most ${formatDuration(limits.latenessP99Ms)} late (p99)`;
  const within = `p50 and p99 accurate to within ${formatPercent(limits.errorP99)}, ${sends}`;
  const highest = ratePerSecond === null ? 'none' : `${formatRate(ratePerSecond)}: ${within}`;
  const checked = `${formatPercent(peak.checkedShare)} of the responses checked`;
  const target = busy(peak, ', target CPU ');
  const options = `--concurrency ${concurrency} --threads ${threads} --pacing ${pacing}`;
  const sections = [
    [
      ...wrap(`Calibration with ${options}, ${formatDuration(stepMs)} per measurement`),
      ...wrap(`${counted(environment.cpus, 'core')} (${environment.model}), Node ${environment.node}`),
    ],
    rows(
      ['Delay', 'count', 'target p50', 'p99', 'reported p50', 'p99', 'added p50', 'p99'],
      delays.map(({ delayMs, samples, targetMs, reportedMs, addedMs }) => [
        ...[formatDuration(delayMs), formatCount(samples)],
        ...[targetMs, reportedMs, addedMs].flatMap(({ p50, p99 }) => [timeText(p50), timeText(p99)]),
      ]),
    ),
    [
      ...rows(
        ['Sends at', 'count', 'late p50', 'p99', 'max', 'reported p50', 'p99', 'max'],
        lateness.map((row) => [
          ...[formatRate(row.ratePerSecond), formatCount(row.samples)],
          ...[row.seenMs, row.ownMs].flatMap(({ p50, p99, max }) => [p50, p99, max].map(timeText)),
        ]),
      ),
      ...wrap(WAKE_UP),
    ],
    [
      ...rows(
        ['Rate', 'accurate', 'verdict', 'late p99', 'target p50', 'p99', 'reported p50', 'p99'],
        byRate.map(({ p50Ms, p99Ms, ...tried }) => [
          ...[formatRate(tried.ratePerSecond), tried.isAccurate ? 'yes' : 'no', tried.measurement.verdict],
          ...[tried.latenessMs.p99, p50Ms.target, p99Ms.target, p50Ms.reported, p99Ms.reported].map(timeText),
        ]),
      ),
      ...labelled('Highest', highest),
      ...labelled('Peak', `${formatRate(peak.perSecond)} in a closed loop, ${checked}${target}`),
    ],
    [
      ...[...wrap(summary.text), ''],
      ...summary.limits.flatMap((text, i) => labelled(i === 0 ? 'Limited by' : '', text)),
      ...summary.remedies.flatMap((text, i) => labelled(i === 0 ? 'Remedies' : '', text)),
    ],
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** @param {string[]} heads @param {string[][]} cells */
const rows = (heads, cells) => table([heads, ...cells]).flat();

/** @param {Figures['peak']} peak @param {string} before */
const busy = ({ targetBusy }, before) => (targetBusy === null ? '' : before + formatPercent(targetBusy));

/** @param {(string | false)[]} texts false: it does not apply */
const applying = (texts) => texts.filter((text) => text !== false);

/** @param {number | null} ms */
const duration = (ms) => (ms === null ? 'an unknown time' : formatDuration(Math.max(0, ms)));

/** @param {Figures} figures @returns sentences */
export const summarize = (figures) => ({
  ...{ text: textOf(figures), limits: limitsOf(figures), remedies: remediesOf(figures) },
});

/** @param {Figures} figures */
function textOf({ settings: { concurrency, threads, pacing }, delays, lateness, accurateRate }) {
  const added = (/** @type {'p50' | 'p99'} */ key) =>
    duration(largest(delays.map(({ addedMs }) => addedMs[key])));
  const late = (/** @type {'p50' | 'p99'} */ key) => largest(lateness.map(({ seenMs }) => seenMs[key]));
  const latest = lateness.find(({ seenMs }) => seenMs.p99 === late('p99'));
  const { ratePerSecond, delayMs } = accurateRate;
  return [
    `On this machine, with --concurrency ${concurrency} --threads ${threads} --pacing ${pacing},`,
    `latencies are at most ${added('p50')} too high (p50; p99 ${added('p99')}), including the wake-up of the target.`,
    latest === undefined
      ? 'Lateness was not measured.'
      : `Sends are at most ${duration(late('p50'))} late (p50; p99 ${duration(late('p99'))}, at ${formatRate(latest.ratePerSecond)}).`,
    ratePerSecond === null
      ? 'None of the tested rates is accurate.'
      : `Measurements are accurate up to about ${formatRate(ratePerSecond)}, with a target that takes ${duration(delayMs)}.`,
  ].join(' ');
}

/** @param {Figures} figures @returns {string[]} */
function limitsOf({ environment: { cpus, loadAverage }, peak, accurateRate }) {
  const { failedAtPerSecond, limits, tries } = accurateRate;
  const machine = applying([
    cpus === 1 && 'The tool and its target share one core, so every figure includes the target.',
    loadAverage > BUSY_LOAD * cpus &&
      `The machine was busy before the calibration: a load average of ${loadAverage.toFixed(1)} on ${counted(cpus, 'core')}.`,
  ]);
  const failedTry = tries.findLast(({ ratePerSecond }) => ratePerSecond === failedAtPerSecond);
  if (failedTry !== undefined) return [...machine, ...faultsOf(failedTry, limits)];
  const failed = tries.filter(({ isAccurate }) => !isAccurate).length;
  const failures = `although ${failed} of ${tries.length} tries failed`;
  const highest = `The highest rate tried was accurate, ${failures}`;
  const tried = failed === 0 ? 'Every rate tried was accurate' : highest;
  const peakText = `the peak of the closed loop is ${formatRate(peak.perSecond)}`;
  return [...machine, `${tried}; ${peakText}${busy(peak, ', with the target CPU at ')}.`];
}

/** @param {Figures['accurateRate']['tries'][number]} failedTry @param {Figures['accurateRate']['limits']} limits */
function faultsOf(failedTry, limits) {
  const { latenessMs, p50Ms, p99Ms, measurement, planned, samples, delayMs, ratePerSecond } = failedTry;
  const at = `At ${formatRate(ratePerSecond)}`;
  const wrong = (/** @type {string} */ name, /** @type {typeof p50Ms} */ { reported, target }) =>
    `${at} the tool reported a ${name} of ${duration(reported)}, but the target took ${duration(target)}.`;
  const invalid = invalidReasonOf(measurement);
  return applying([
    (latenessMs.p99 === null || latenessMs.p99 > limits.latenessP99Ms) &&
      `${at} the sends were ${duration(latenessMs.p99)} late (p99), more than --max-lateness ${formatDuration(limits.latenessP99Ms)}.`,
    isWrong(p50Ms, limits.errorP50) && wrong('p50', p50Ms),
    isWrong(p99Ms, limits.errorP99) && wrong('p99', p99Ms),
    samples !== planned &&
      `${at} ${formatCount(samples)} of ${formatCount(planned)} requests arrived at the target.`,
    invalid !== undefined && `${at}: ${invalid.text}`,
    Number(p99Ms.target) > delayMs * (1 + limits.errorP99) + MAX_WAKE_UP_MS &&
      `${at} the calibration target took ${duration(p99Ms.target)} (p99) instead of ${duration(delayMs)}: the machine is too busy for both.`,
  ]);
}

/** @param {Figures} figures @returns {string[]} */
function remediesOf({ environment: { cpus }, settings, lateness }) {
  const { threads, pacing, concurrency, maxLatenessMs } = settings;
  const more = Math.min(cpus - 1, concurrency, MAX_THREADS);
  const isLate = lateness.some(({ ownMs }) => Number(ownMs.p99) > maxLatenessMs / 4);
  // Each spinning thread occupies a core; the rest needs two more.
  const canSpin = cpus > threads + 1;
  return applying([
    cpus <= threads && 'Use a machine with more cores than --threads.',
    more > threads && `Try --threads ${more}.`,
    isLate &&
      pacing !== 'spin' &&
      canSpin &&
      'Try --pacing spin: it sends more precisely, but occupies a core for each thread.',
    pacing === 'spin' && !canSpin && 'Try --pacing auto: threads that spin leave too few cores.',
    'Run nothing else on this machine, and run the target on another one.',
  ]);
}

/** @param {(number | null)[]} values */
function largest(values) {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}
