/** Where the time went: a row for each operation, the mean time of each phase of its requests as a segment. */
import { maxOf, total } from '../../common/sums.js';
import { formatLatency } from '../../common/units.js';
import { escapeHtml } from '../html/escape.js';
import { valueAxis } from './axes.js';
import { frames } from './frame.js';

/** @import { Row } from '../describe/phases.js' */
/** @import { Drawn } from './chart.js' */
/** @import { Plot, Setting } from './frame.js' */

const ROW_HEIGHT = 34;

/** @param {Row[]} rows @param {Setting} setting @returns {Drawn} */
export function phases(rows, setting) {
  const names = [...new Set(rows.flatMap((row) => row.phases.map(({ name }) => name)))];
  const msOf = (/** @type {Row} */ row, /** @type {string} */ name) =>
    row.phases.find((phase) => phase.name === name)?.ms ?? 0;
  const sumOf = (/** @type {Row} */ row) => total(row.phases.map(({ ms }) => ms));
  const rowAt = (/** @type {number} */ i) => 1 - (i + 0.5) / rows.length;
  const styleOf = (/** @type {string} */ name) => `s${names.indexOf(name) + 1}`;
  const draw = (/** @type {Plot} */ { x, y }, /** @type {Row} */ row, /** @type {number} */ i) => {
    let from = 0;
    return row.phases.map(({ name, ms }) => {
      const [left, right] = [x(from), x(from + ms)];
      from += ms;
      const title = escapeHtml(`${row.name} ${name}: ${formatLatency(ms)}`.trimStart());
      return `<path class="stacked ${styleOf(name)}" stroke-width="22" d="M${left} ${y(i)}H${right}"><title>${title}</title></path>`;
    });
  };
  const summary = rows
    .map((row) =>
      `${row.name} ${row.phases.map(({ name, ms }) => `${name} ${formatLatency(ms)}`).join(', ')}.`.trimStart(),
    )
    .join(' ');
  return {
    svg: frames({
      ...setting,
      sizes: setting.sizes.map((size) => ({ ...size, height: ROW_HEIGHT * rows.length })),
      summary,
      xAxis: valueAxis('ms', 'mean', [maxOf(rows.map(sumOf))]),
      yAxis: {
        title: '',
        at: rowAt,
        ticks: () => rows.map(({ name }, i) => ({ at: rowAt(i), label: name })),
      },
      draw: (plot) => rows.flatMap((row, i) => draw(plot, row, i)).join('\n'),
      hasXGrid: true,
    }),
    summary,
    legend: names.map((name) => ({ name, className: `stacked ${styleOf(name)}` })),
    table: {
      kind: 'table',
      caption: setting.title,
      columns: [{ name: 'Operation', isText: true }, ...[...names, 'sum'].map((name) => ({ name }))],
      rows: rows.map((row) => [
        row.name,
        ...names.map((name) => formatLatency(msOf(row, name))),
        formatLatency(sumOf(row)),
      ]),
    },
  };
}
