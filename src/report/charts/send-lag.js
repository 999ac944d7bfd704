/** Send lag over time: how late requests were sent. */

import { formatDuration, formatLatency } from '../../common/units.js';
import { latencySpanLength } from '../../result/latency-spans.js';
import { latencyAxis } from './draw/axes.js';
import { binned } from './draw/thin.js';
import { hasAfter, isDense, timeChart } from './draw/time-chart.js';
import { AFTER_NOTE, between, DENSE_NOTE, sentences } from './draw/words.js';

/** @typedef {import('../../result/schema.js').Result} Result */

/**
 * @param {Pick<Result, 'timeline' | 'windowSeconds' | 'stages'>} result
 * @param {import('./index.js').Setting} setting
 * @returns {import('./index.js').Drawn | null} null where no request was sent, and in older results
 */
export function sendLag({ timeline, windowSeconds, stages }, setting) {
  const values = timeline.map(({ lag99 }) => lag99).filter((ms) => typeof ms === 'number');
  if (values.length === 0) return null;
  const span = latencySpanLength(timeline);
  const rows = lagRows(timeline, span);
  return timeChart({
    setting,
    summary: sentences(
      `Each second, 99 % of requests were sent within this time of when they were due: ${between(values, formatLatency)}.`,
      span > 1 && `The line is the largest of each ${formatDuration(span * 1000)}.`,
      'A lag that grows is a backlog: the target took less than was offered.',
      isDense(rows) && DENSE_NOTE,
      hasAfter(windowSeconds, timeline.length) && AFTER_NOTE,
    ),
    rows,
    series: [{ name: 'p99 of the send lag', style: 5, value: ({ lag }) => lag }],
    yAxis: latencyAxis(
      'send lag',
      rows.map(({ lag }) => lag ?? 0),
    ),
    text: formatLatency,
    weight: ({ lag }) => lag ?? -1,
    heaviest: 'the one with the longest lag',
    measuredSeconds: windowSeconds,
    marks: stages,
  });
}

/**
 * @param {import('../../result/schema.js').TimelineRow[]} timeline
 * @param {number} span seconds
 * @returns {{second: number, span: number, lag: number | null | undefined}[]} undefined: nothing was due
 */
function lagRows(timeline, span) {
  return binned(timeline, span).map(({ rows, ...moment }) => {
    const lags = rows.flatMap(({ lag99 }) => lag99 ?? []);
    if (lags.length > 0) return { ...moment, lag: Math.max(...lags) };
    return { ...moment, lag: rows.every(({ due }) => due === 0) ? undefined : null };
  });
}
