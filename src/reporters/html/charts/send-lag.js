/** How late requests were sent: over time where the result has it, and by percentile. */
import { latencySpanLength } from '../../../results/latency-spans.js';
import { formatDuration, formatLatency } from '../../../units.js';
import { latencyAxis } from '../axes.js';
import { binned } from '../thin.js';
import { hasAfter, isDense, timeFigure } from '../time-figure.js';
import { AFTER_NOTE, between, DENSE_NOTE, sentences } from '../words.js';
import { distribution } from './distribution.js';

/** @typedef {import('../../../results/schema.js').Result} Result */
/** @typedef {import('../time-figure.js').Drawn} Drawn */

/**
 * @param {Result} result
 * @returns {Drawn[]} the one over time only where there is something in it
 */
export function sendLag(result) {
  return [...lagOverTime(result), lagDistribution(result)];
}

/** @param {Result} result @returns {Drawn[]} */
function lagOverTime({ timeline, windowSeconds, stages }) {
  const values = timeline.map(({ lag99 }) => lag99).filter((ms) => typeof ms === 'number');
  if (values.length === 0) return [];
  const span = latencySpanLength(timeline);
  const each = formatDuration(span * 1000);
  const rows = lagRows(timeline, span);
  return [
    timeFigure({
      id: 'send-lag-over-time',
      title: span === 1 ? 'Send lag over time' : `Send lag, the greatest of each ${each}`,
      summary: sentences(
        `Of the requests of a second, 99 % were sent no later than this after they were due: ${between(values, formatLatency)}.`,
        span > 1 && `Of each ${each} the greatest is drawn.`,
        'A lag that grows is a backlog: the target took less than was offered.',
        isDense(rows) && DENSE_NOTE,
        hasAfter(windowSeconds, timeline.length) && AFTER_NOTE,
      ),
      rows,
      series: [{ name: 'p99 of the send lag', style: 5, value: ({ lag }) => lag }],
      yAxis: latencyAxis('send lag', values),
      text: formatLatency,
      weight: ({ lag }) => lag ?? -1,
      heaviest: 'the one with the longest lag',
      measuredSeconds: windowSeconds,
      marks: stages,
    }),
  ];
}

/**
 * @param {import('../../../results/schema.js').TimelineRow[]} timeline
 * @param {number} span seconds
 * @returns {{second: number, span: number, lag: number | null | undefined}[]} undefined: nothing was to be sent
 */
function lagRows(timeline, span) {
  return binned(timeline, span).map(({ rows, ...moment }) => {
    const lags = rows.flatMap(({ lag99 }) => lag99 ?? []);
    if (lags.length > 0) return { ...moment, lag: Math.max(...lags) };
    return { ...moment, lag: rows.every(({ due }) => due === 0) ? undefined : null };
  });
}

/** @param {Result} result @returns {Drawn} */
function lagDistribution({ latencyMs: { sendLag: latency } }) {
  const { p50, p99, max } = latency;
  const figures =
    p50 === null || p99 === null || max === null
      ? ''
      : `Half of the requests were sent within ${formatLatency(p50)} of when they were due, 99 % within ${formatLatency(p99)}, the latest ${formatLatency(max)} after.`;
  return distribution({
    id: 'send-lag',
    title: 'Send lag by percentile',
    summary: sentences(figures, 'It holds the wait for a free connection and any lateness of the tool.'),
    empty: 'No request was sent: there is nothing to draw.',
    yTitle: 'send lag',
    series: [{ name: 'send lag', style: 5, latency }],
  });
}
