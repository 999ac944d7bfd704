/** A calibration -> its summary in sentences; and plain text: the measurements in columns, then the summary. */
import { formatCount, formatDuration, formatLatency, formatRate } from '../../common/units.js';
import { labelled, table as tableRows, wrap } from '../../report/layout.js';
import { invalidReasonOf } from '../../result/document.js';
import { formatPercent } from '../../result/wording.js';
import { isWrong } from './honest-rate.js';
/** @import { Calibration } from './calibrate.js' */
/** @import { Peak } from './measure.js' */

/** @param {Calibration} calibration @returns {string} ends with a newline */
export function render(calibration) {
  const sections = [
    head(calibration),
    delays(calibration),
    lateness(calibration),
    rates(calibration),
    summary(calibration),
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** @param {Calibration} calibration */
function head({ environment: { cpus, model, node }, settings }) {
  const { concurrency, threads, pacing, stepMs } = settings;
  const cores = `${cpus} core${cpus === 1 ? '' : 's'}`;
  return [
    ...wrap(
      `Calibration with --concurrency ${concurrency} --threads ${threads} --pacing ${pacing}, ${formatDuration(stepMs)} each time`,
    ),
    ...wrap(`${cores} (${model}), Node ${node}`),
  ];
}

/** @param {Calibration} calibration */
function delays({ delays: rows }) {
  return table([
    ['Delay', 'count', 'took p50', 'p99', 'reports p50', 'p99', 'added p50', 'p99'],
    ...rows.map(({ delayMs, samples, targetMs, reportedMs, addedMs }) => [
      formatDuration(delayMs),
      formatCount(samples),
      ...[targetMs, reportedMs, addedMs].flatMap(({ p50, p99 }) => [time(p50), time(p99)]),
    ]),
  ]);
}

/** @param {Calibration} calibration */
function lateness({ lateness: rows }) {
  const columns = table([
    ['Sends at', 'count', 'late p50', 'p99', 'max', 'tool says p50', 'p99', 'max'],
    ...rows.map(({ ratePerSecond, samples, seenMs, ownMs }) => [
      formatRate(ratePerSecond),
      formatCount(samples),
      ...[seenMs, ownMs].flatMap(({ p50, p99, max }) => [time(p50), time(p99), time(max)]),
    ]),
  ]);
  return [
    ...columns,
    ...wrap(
      'What is added, and how late sends are, is as the target saw it: its own waking up, tens of µs or more, is in both.',
    ),
  ];
}

/** @param {Calibration} calibration */
function rates({ peak, honestRate: { ratePerSecond, limits, tries } }) {
  const rows = [...tries]
    .sort((a, b) => a.ratePerSecond - b.ratePerSecond)
    .map(({ ratePerSecond: rate, honest, latenessMs, p50Ms, p99Ms, measurement }) => [
      formatRate(rate),
      honest ? 'yes' : 'no',
      measurement.verdict,
      time(latenessMs.p99),
      ...[p50Ms.target, p99Ms.target, p50Ms.reported, p99Ms.reported].map(time),
    ]);
  const busy = peak.targetBusy === null ? '' : `, target busy ${formatPercent(peak.targetBusy)}`;
  return [
    ...table([['Rate', 'honest', 'verdict', 'late p99', 'took p50', 'p99', 'reports p50', 'p99'], ...rows]),
    ...labelled(
      'Highest',
      ratePerSecond === null
        ? 'none'
        : `${formatRate(ratePerSecond)}: p50 and p99 right within ${formatPercent(limits.errorP99)}, sends at most ${formatDuration(limits.latenessP99Ms)} late (p99)`,
    ),
    ...labelled(
      'Peak',
      `${formatRate(peak.perSecond)} in a closed loop, ${formatPercent(peak.checkedShare)} of the answers checked${busy}`,
    ),
  ];
}

/** @param {Calibration} calibration */
function summary({ summary: { text, limits, remedies } }) {
  return [
    ...wrap(text),
    '',
    ...limits.flatMap((limit, i) => labelled(i === 0 ? 'Limited by' : '', limit)),
    ...remedies.flatMap((remedy, i) => labelled(i === 0 ? 'To do better' : '', remedy)),
  ];
}

/** @param {number | null} ms */
function time(ms) {
  return ms === null ? '–' : formatLatency(ms);
}

/** @param {string[][]} rows the first is the heading */
function table(rows) {
  return tableRows(rows).flat();
}

/** @typedef {Pick<Calibration, 'environment' | 'settings' | 'delays' | 'lateness' | 'peak' | 'honestRate'>} Found */

/** A load average of so many for each core means that others have work for the machine. */
const BUSY_LOAD = 0.5;

/** The target's answers are so late at most where it gets a core when it wants one. */
const WAKING_MS = 0.5;

/** `--threads` takes no more. */
const MAX_THREADS = 64;

/** @param {Found} found @returns {Calibration['summary']} */
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
    `On this machine, with ${setting}: latencies are inflated by at most ${duration(added('p50'))} (p50; p99 ${duration(added('p99'))}),`,
    latest === undefined
      ? "the target's own waking up included; no rate was measured for lateness;"
      : `and sends are late by at most ${duration(largest(lateness.map(({ seenMs }) => seenMs.p50)))} (p50; p99 ${duration(latest.seenMs.p99)}, at ${formatRate(latest.ratePerSecond)}), the target's own waking up included in both;`,
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
    return [...alone, `${unbrokenText(tries)}; the closed loop's peak is ${peakText(peak)}.`];
  }
  const broken = tries.filter(({ ratePerSecond }) => ratePerSecond === brokenAtPerSecond);
  const { latenessMs, p50Ms, p99Ms, measurement, planned, samples, delayMs } = broken[broken.length - 1];
  const at = `At ${formatRate(brokenAtPerSecond)}`;
  const invalid = invalidReasonOf(measurement);
  const late = latenessMs.p99 === null || latenessMs.p99 > limits.latenessP99Ms;
  const wrong = /** @type {const} */ ([
    ['p50', p50Ms, limits.errorP50],
    ['p99', p99Ms, limits.errorP99],
  ]).filter(([, compared, maxError]) => isWrong(compared, maxError));
  return [
    ...alone,
    ...(late
      ? [
          `${at} the sends were ${duration(latenessMs.p99)} late (p99), more than --max-lateness ${formatDuration(limits.latenessP99Ms)}.`,
        ]
      : []),
    ...wrong.map(
      ([name, { reported, target }]) =>
        `${at} a ${name} of ${duration(reported)} was reported, where the target took ${duration(target)}.`,
    ),
    ...(samples === planned
      ? []
      : [`${at} the target saw ${formatCount(samples)} of ${formatCount(planned)} requests.`]),
    ...(invalid === undefined ? [] : [`${at}: ${invalid.text}`]),
    ...(Number(p99Ms.target) > delayMs * (1 + limits.errorP99) + WAKING_MS
      ? [
          `${at} the calibration's own target took ${duration(p99Ms.target)} (p99) instead of ${duration(delayMs)}: the machine is too busy for both.`,
        ]
      : []),
  ];
}

/** @param {Found['honestRate']['tries']} tries of which none failed at a rate above the highest honest one */
function unbrokenText(tries) {
  const failed = tries.filter(({ honest }) => !honest).length;
  if (failed === 0) return 'Every rate that was tried was honest';
  return `The highest rate that was tried was honest, though ${failed} of ${tries.length} tries, at it or below, ${failed === 1 ? 'was' : 'were'} not`;
}

/** @param {Peak} peak */
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
    // Each thread that spins takes a core; two more must be left for all else.
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
