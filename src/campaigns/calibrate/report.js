/** A calibration as plain text: what was measured in columns, then what it comes down to. */

import { formatCount, formatDuration, formatLatency, formatRate } from '../../common/units.js';
import { labelled, table as tableRows, wrap } from '../../report/layout.js';
import { formatPercent } from '../../result/wording.js';

/** @typedef {import('./calibrate.js').Calibration} Calibration */

/**
 * @param {Calibration} calibration
 * @returns {string} ends with a newline
 */
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
