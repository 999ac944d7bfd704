/** The general chart over the time of a run, with its stages, and the names of its moments. */
import { formatCount } from '../../common/units.js';
import { joined } from '../describe/words.js';
import { timeAxis } from './axes.js';
import { drawChart } from './chart.js';

/** @import { Result } from '../../result/schema.js' */
/** @import { Declaration } from './chart.js' */
/** @import { LineStyle } from './lines.js' */

/** @typedef {{second: number, span: number}} Moment `span` seconds from `second` on */
/** @template Row @typedef {LineStyle & {name: string, value: (row: Row) => number | null | undefined}} RowSeries */

/** Lines with more moments have no dashes: noise would hide them. */
const DENSE_FROM = 130;
const AFTER_NOTE = 'After the last vertical line, the run waited for the last responses.';

/**
 * @template {Moment} Row
 * @param {Pick<Declaration, 'setting' | 'yAxis' | 'text' | 'horizontalLines'> & {run: Result,
 *   summary: (string | false)[], rows: Row[], series: RowSeries<Row>[]}} parts `rows` in order, without a gap
 */
export function timeChart({ run, rows, series, summary, ...parts }) {
  const seconds = endOf(rows);
  const { windowSeconds = 0, stages = [] } = run;
  const hasAfter = windowSeconds > 0 && windowSeconds < seconds - 0.5;
  const verticalLines = stages.map(({ name, startSeconds }) => ({ name, x: startSeconds }));
  return drawChart({
    ...parts,
    summary: joined([...summary, hasAfter && AFTER_NOTE], ' '),
    xAxis: timeAxis(seconds),
    heading: 'Time',
    moments: rows.map((row) => ({ name: momentName(row, seconds), x: row.second + row.span / 2 })),
    series: series.map(({ value, ...lineStyle }) => ({
      mark: rows.length > DENSE_FROM ? 'dense' : undefined,
      ...lineStyle,
      values: rows.map(value),
    })),
    verticalLines: hasAfter ? [...verticalLines, { name: 'waiting', x: windowSeconds }] : verticalLines,
  });
}

/** @param {Moment[]} rows at least one @returns {number} seconds from the start of the run to the end of the last */
export function endOf(rows) {
  const { second, span } = rows[rows.length - 1];
  return second + span;
}

/** Longer runs show `h:mm:ss`. */
const MAX_SHOWN_IN_SECONDS = 180;

/** `seconds 10 to 19`, `0:05:22`, `11:00:00 to 11:14:59`. @param {Moment} moment @param {number} seconds of the run */
export function momentName({ second, span }, seconds) {
  const isLong = seconds > MAX_SHOWN_IN_SECONDS;
  const ends = [...new Set([second, second + span - 1])].map(isLong ? clockText : formatCount).join(' to ');
  return isLong ? ends : `${span === 1 ? 'second' : 'seconds'} ${ends}`;
}

/** @param {number} second @returns {string} `0:03:20` */
function clockText(second) {
  const twoDigits = (/** @type {number} */ value) => String(Math.floor(value)).padStart(2, '0');
  const hours = formatCount(Math.floor(second / 3600));
  return `${hours}:${twoDigits((second % 3600) / 60)}:${twoDigits(second % 60)}`;
}
