/** Figures over runs of a scenario as box plots: a row for each target, each run a dot. */
import { figureText } from '../../results/runs/figures.js';
import { known } from '../../results/runs/run-metrics.js';
import { NOT_COUNTED } from '../scenario-tables.js';
import { boxPlot } from './charts/box-plot.js';
import { readOutsOf } from './charts/dots.js';
import { figure, table } from './parts.js';
import { between, titled } from './words.js';

/** @typedef {import('../../results/scenario/scenario-schema.js').ScenarioResult} ScenarioResult */
/** @typedef {NonNullable<import('./page.js').PageData['charts']>} Charts */
/** @typedef {{label: string, names: string[], values: number[], style: number}} Group */

const METRICS = /** @type {const} */ ([
  ['mean', 'mean', 'ms'],
  ['p99', 'p99', 'ms'],
  ['max', 'max', 'ms'],
  ['min', 'min', 'ms'],
  ['perSecond', 'throughput', '/s'],
]);

/** Colours of the style sheet. */
const STYLES = 6;

/**
 * Of a mix, each operation beside the whole.
 *
 * @param {ScenarioResult} scenario
 * @param {string} run
 * @param {string} id
 * @returns {{html: string, charts: Charts}} nothing where no target has two runs
 */
export function plotsOfRun({ steps, rows }, run, id) {
  const own = rows.filter((row) => row.run === run && row.stage === null && row.overRuns !== null);
  const operations = [...new Set(own.map(({ operation }) => operation))];
  const drawn = operations.flatMap((operation, o) =>
    METRICS.map(([key, label, unit], m) => {
      const groups = own
        .filter((row) => row.operation === operation)
        .map((row, i) => {
          const step = steps.find((one) => one.run === run && one.target === row.target);
          const values = row.overRuns?.[key].values ?? [];
          const names = (row.counts ? step?.used : step?.runs.map(({ name }) => name)) ?? [];
          return {
            label: `${row.target}${row.counts ? '' : NOT_COUNTED}`,
            names: names.filter((_, at) => values[at] !== null),
            values: known(values),
            style: (i % STYLES) + 1,
          };
        });
      const title = operation === null ? titled(label) : `${titled(label)}, ${operation}`;
      return draw(groups, { title, unit, id: `${id}-${o}-${m}` });
    }),
  );
  if (drawn.length === 0) return { html: '', charts: {} };
  return {
    html: `<div class="charts">\n${drawn.map(({ html }) => html).join('\n')}\n</div>`,
    charts: Object.assign({}, ...drawn.map(({ charts }) => charts)),
  };
}

/**
 * @param {Group[]} groups
 * @param {{title: string, unit: 'ms' | '/s', id: string}} what
 * @returns {{html: string, charts: Charts}}
 */
function draw(groups, { title, unit, id }) {
  const all = groups.flatMap(({ values }) => values);
  if (all.length === 0) return { html: '', charts: {} };
  const text = (/** @type {number} */ value) => figureText(unit, value);
  const summary = `All runs ${between(all, text)}.`;
  const rows = groups.flatMap(({ label, names, values }) =>
    values.map((value, i) => [names[i], label, text(value)]),
  );
  return {
    html: figure({
      id,
      title,
      summary,
      svg: boxPlot({ groups, unit, id, title, summary }),
      tableHtml: table({
        caption: `${title} of each run`,
        columns: ['Run', 'Target', { label: title, numeric: true }],
        rows,
      }),
    }),
    charts: { [id]: readOutsOf(groups, text) },
  };
}
