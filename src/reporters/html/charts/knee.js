/** The knee: what a target does as more is asked of it. Response times and errors by level, each level's last step as a dot. */
import { formatLatency } from '../../../units.js';
import { perSecondText } from '../../phrases.js';
import { kneePhrase, levelCell, levelHeading, shareText } from '../../search-phrases.js';
import { compactLabel, latencyAxis, linearAxis, logAxis } from '../axes.js';
import { frame, inBothSizes } from '../chart.js';
import { drawLevels, drawPoints } from '../lines.js';
import { emptyFigure, figure, table } from '../parts.js';

/** @typedef {import('../../../results/search/search-schema.js').Search} Search */
/** @typedef {import('../../../results/search/search-schema.js').SearchStep} SearchStep */
/** @typedef {{html: string, charts: NonNullable<import('../page.js').PageData['charts']>}} Drawn */
/**
 * @typedef {object} Series
 * @property {string} name
 * @property {number} style
 * @property {(step: SearchStep) => number | null} value
 */

/** A level axis is logarithmic when the highest is more than so many times the lowest. */
const LOG_FROM = 4;

/** A limit so many times above or below all that was measured would only press the lines together. */
const LIMIT_REACH = 10;

/** @type {Series[]} */
const TIMES = [
  { name: 'p50', style: 1, value: ({ p50Ms }) => p50Ms },
  { name: 'p99', style: 2, value: ({ p99Ms }) => p99Ms },
];

/**
 * @param {Search} search
 * @param {SearchStep[]} rows by level, ascending
 * @returns {Drawn}
 */
export function kneeOfTimes(search, rows) {
  const values = rows.flatMap((step) => TIMES.map(({ value }) => value(step))).filter((ms) => ms !== null);
  const [low, high] = [Math.min(...values.map(Number)), Math.max(...values.map(Number))];
  const limits = search.requirements
    .filter(({ unit, limit }) => unit === 'ms' && limit < high * LIMIT_REACH && limit > low / LIMIT_REACH)
    .map(({ text, limit }) => ({
      name: `limit: ${text}`,
      label: text,
      style: 6,
      mark: 'limit',
      value: limit,
    }));
  return draw(search, rows, {
    id: 'knee',
    title: 'Response times by level',
    series: TIMES,
    limits,
    yAxis: latencyAxis('response time', [...values.map(Number), ...limits.map(({ value }) => value)]),
    text: formatLatency,
    summary: kneePhrase(rows),
  });
}

/**
 * @param {Search} search
 * @param {SearchStep[]} rows
 * @returns {Drawn}
 */
export function kneeOfErrors(search, rows) {
  const shares = rows.map(({ errorShare }) => (errorShare ?? 0) * 100);
  const most = Math.max(...shares);
  const title = 'Errors by level';
  if (most === 0) {
    const summary = 'No request failed, was dropped or was left waiting at any level.';
    return { html: emptyFigure({ id: 'knee-errors', title, summary }), charts: {} };
  }
  const first = rows.find(({ errorShare }) => (errorShare ?? 0) > 0);
  return draw(search, rows, {
    id: 'knee-errors',
    title,
    series: [
      {
        name: 'errors',
        style: 5,
        value: ({ errorShare }) => (errorShare === null ? null : errorShare * 100),
      },
    ],
    limits: [],
    yAxis: linearAxis({ title: 'errors (%)', high: most, label: compactLabel }),
    text: (percent) => shareText(percent / 100),
    summary: `The lowest level with an error was ${levelCell(search, first?.level ?? 0)}; what was still waiting when a step ended counts as one.`,
  });
}

/**
 * Of a search in a closed loop: what more in flight brings.
 *
 * @param {Search} search
 * @param {SearchStep[]} rows
 * @returns {Drawn}
 */
export function kneeOfThroughput(search, rows) {
  const most = Math.max(...rows.map(({ perSecond }) => perSecond));
  const first = rows.find(({ perSecond }) => perSecond >= most * 0.95);
  return draw(search, rows, {
    id: 'knee-throughput',
    title: 'Throughput by level',
    series: [{ name: 'answered', style: 3, value: ({ perSecond }) => perSecond }],
    limits: [],
    yAxis: linearAxis({ title: 'successes a second', high: most, label: compactLabel }),
    text: perSecondText,
    summary: `${perSecondText(most)} at most; ${levelCell(search, first?.level ?? 0)} in flight came within 5 % of it.`,
  });
}

/**
 * @param {Search} search
 * @param {SearchStep[]} rows
 * @param {object} parts
 * @param {string} parts.id
 * @param {string} parts.title
 * @param {Series[]} parts.series
 * @param {import('../lines.js').Level[]} parts.limits
 * @param {import('../axes.js').Axis} parts.yAxis
 * @param {(value: number) => string} parts.text
 * @param {string} parts.summary
 * @returns {Drawn}
 */
function draw(search, rows, { id, title, series, limits, yAxis, text, summary }) {
  const xAxis = levelAxis(search, rows);
  const found = search.answer === null ? null : xAxis.at(search.answer.level);
  const svg = inBothSizes((size) =>
    frame({
      ...{ id, title, summary, size, xAxis, yAxis },
      draw: (place) =>
        [
          found === null
            ? ''
            : `<line class="line s3 limit" x1="${place.x(found)}" x2="${place.x(found)}" y1="${place.top}" y2="${place.bottom}"/>`,
          ...series.map(({ style, value }) =>
            drawPoints(
              rows.map((step) => ({ at: xAxis.at(step.level), value: value(step) })),
              { style },
              yAxis,
              place,
            ),
          ),
          drawLevels(limits, yAxis, place),
        ].join('\n'),
    }),
  );
  const cellOf = (/** @type {number | null} */ value) => (value === null ? '–' : text(value));
  const tableHtml = table({
    caption: title,
    columns: [levelHeading(search), ...series.map(({ name }) => ({ label: name, numeric: true })), 'Verdict'],
    rows: rows.map((step) => [
      levelCell(search, step.level),
      ...series.map(({ value }) => cellOf(value(step))),
      step.verdict,
    ]),
  });
  const legend = [
    ...series.map(({ name, style }) => ({ name, style })),
    ...limits.map(({ name, style, mark }) => ({ name, style, mark })),
    ...(found === null ? [] : [{ name: 'answer', style: 3, mark: 'limit' }]),
  ];
  const readOuts = {
    x: rows.map(({ level }) => Number(xAxis.at(level).toFixed(4))),
    at: rows.map((step) => `${levelCell(search, step.level)}: ${step.verdict}`),
    values: rows.map((step) => [
      ...series.map(({ value }) => cellOf(value(step))),
      ...limits.map(({ value }) => text(value)),
      ...(search.answer === null ? [] : [levelCell(search, search.answer.level)]),
    ]),
  };
  return { html: figure({ id, title, svg, summary, tableHtml, legend }), charts: { [id]: readOuts } };
}

/**
 * @param {Search} search
 * @param {SearchStep[]} rows
 * @returns {import('../axes.js').Axis}
 */
function levelAxis({ searched }, rows) {
  const [low, high] = [rows[0].level, rows[rows.length - 1].level];
  const title = searched === 'rate' ? 'requests a second' : 'requests in flight';
  if (high > LOG_FROM * low) return logAxis(`${title} (log scale)`, low, high, compactLabel);
  return linearAxis({ title, low: low === high ? 0 : low, high, label: compactLabel });
}
