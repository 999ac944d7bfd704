/** Every metric of a comparison as a chart: each run a dot, a row for each group. */
import { figureText } from '../../results/runs/figures.js';
import { known } from '../../results/runs/run-metrics.js';
import { saidOf } from '../../results/wording.js';
import { medianText } from '../over-runs.js';
import { boxPlot } from './charts/box-plot.js';
import { readOutsOf } from './charts/dots.js';
import { emptyFigure, figure, section, table } from './parts.js';
import { between, titled } from './words.js';

/** @typedef {import('../../results/comparison/comparison-schema.js').Comparison} Comparison */
/** @typedef {import('../../results/comparison/comparison-schema.js').ComparedMetric} ComparedMetric */
/** @typedef {import('./page.js').PageData} PageData */

/** Colours of the style sheet. */
const STYLES = 6;

/**
 * @param {Comparison} comparison
 * @returns {{html: string, charts: NonNullable<PageData['charts']>}} a section, and what can be read out of it
 */
export function metricsCompared(comparison) {
  const drawn = comparison.metrics.map((metric, i) => draw(comparison, metric, `metric-${i}`));
  return {
    html: section('Run by run', `<div class="charts">\n${drawn.map(({ html }) => html).join('\n')}\n</div>`),
    charts: Object.assign({}, ...drawn.map(({ charts }) => charts)),
  };
}

/**
 * @param {Comparison} comparison
 * @param {ComparedMetric} metric
 * @param {string} id
 * @returns {{html: string, charts: NonNullable<PageData['charts']>}}
 */
function draw(comparison, metric, id) {
  const { unit, label } = metric;
  const title = titled(label);
  const groups = samplesOf(comparison, metric);
  if (groups.every(({ values }) => values.length === 0)) {
    return { html: emptyFigure({ id, title, summary: 'No run that counts has it.' }), charts: {} };
  }
  const text = (/** @type {number} */ value) => figureText(unit, value);
  const range = between(
    groups.flatMap(({ values }) => values),
    text,
  );
  const summary = `${bestOf(comparison, metric)}all runs ${range}.`;
  const described = `${titled(summary)} ${differencesOf(comparison, metric)}`;
  const columns = ['Run', 'Group', { label: title, numeric: true }];
  const rows = groups.flatMap(({ label: group, names, values }) =>
    values.map((value, i) => [names[i], group, text(value)]),
  );
  return {
    html: figure({
      id,
      title,
      summary: titled(summary),
      svg: boxPlot({ groups, unit, id, title, summary: described }),
      tableHtml: table({ caption: `${title} of each run that counts`, columns, rows }),
    }),
    charts: { [id]: readOutsOf(groups, text) },
  };
}

/**
 * @param {Comparison} comparison
 * @param {ComparedMetric} metric
 */
function samplesOf({ groups }, { key }) {
  return groups.map(({ name, runs, metrics }, i) => {
    const all = metrics[key].values;
    const used = runs.filter((run) => run.used).map((run) => run.name);
    return {
      label: name,
      names: used.filter((_, run) => all[run] !== null),
      values: known(all),
      style: (i % STYLES) + 1,
    };
  });
}

/**
 * @param {Comparison} comparison
 * @param {ComparedMetric} metric
 * @returns {string} `best is raft, median 6.96 ms; `
 */
function bestOf(comparison, metric) {
  const { best, bestMedian } = metric;
  const nameAndMedian = (/** @type {number} */ i) =>
    `${comparison.groups[i].name}, median ${medianText(comparison, metric, i)}; `;
  if (best !== null) return `best is ${nameAndMedian(best)}`;
  return bestMedian === null
    ? 'none is best; '
    : `best median, maybe by chance: ${nameAndMedian(bestMedian)}`;
}

/**
 * @param {Comparison} comparison
 * @param {ComparedMetric} metric
 * @returns {string} the sentence of each pair, which begins with the metric
 */
function differencesOf({ groups }, { label, comparisons }) {
  if (groups.length === 2) return comparisons[0].text;
  return comparisons.map(({ other, text }) => saidOf(groups[other].name, label, text)).join(' ');
}
