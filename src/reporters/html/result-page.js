/** The page of one result: the answer, whether to believe it, the figures, the charts, and how to run it again. */
import { formatCount, formatDuration } from '../../units.js';
import { loadPhrase, statePhrase, targetPhrase } from '../phrases.js';
import { errorsOverTime } from './charts/errors.js';
import { latencyDistribution } from './charts/latency-distribution.js';
import { latencyOverTime } from './charts/latency-over-time.js';
import { rates } from './charts/rates.js';
import { sendLag } from './charts/send-lag.js';
import { page } from './page.js';
import { paragraph, section } from './parts.js';
import { figuresSection, outcomesSection } from './result-figures.js';
import { instantText, planSection } from './result-plan.js';
import { answerOf, measurementSection, nextSection, requirementsSection } from './result-verdict.js';

/** @typedef {import('../../results/schema.js').Result} Result */

/**
 * @param {Result} result
 * @returns {string} an HTML file
 */
export function render(result) {
  const { target, measurement, tool, unfinished } = result;
  const operations = Object.keys(result.operations).join(', ') || result.command;
  const heading = `${operations} on ${targetPhrase(target)}`;
  const believed = unfinished ? 'unfinished' : `measurement ${measurement.verdict}`;
  const verdict = answerOf(result.requirements).verdict ?? believed;
  const { html, charts } = drawCharts(result);
  const body = [
    requirementsSection(result),
    measurementSection(result),
    figuresSection(result),
    nextSection(result),
    html,
    outcomesSection(result),
    planSection(result),
  ];
  return page({
    title: `${verdict}: ${heading}`,
    heading,
    lead: lead(result),
    body: body.filter((part) => part !== '').join('\n'),
    data: { charts },
    footer: `Written by vault-pki-load ${tool.version}. This file needs no network.`,
  });
}

/** @param {Result} result */
function lead(result) {
  const { load, startedAt, durationSeconds, shard, unfinished } = result;
  const state = statePhrase(result);
  const phrase = loadPhrase(load);
  const asked = `${phrase[0].toUpperCase()}${phrase.slice(1)}.`;
  const took = formatDuration(durationSeconds * 1000);
  const ran = `Started ${instantText(startedAt)}, ${unfinished ? `so far ${took}` : `${took} until the last answer`}.`;
  const parts = [
    paragraph(`${asked} ${ran}`, 'muted'),
    state === '' ? '' : paragraph(state),
    shard === undefined
      ? ''
      : paragraph(
          `Part ${formatCount(shard.index)} of ${formatCount(shard.of)} of a run, counted from 0: vault-pki-load merge puts the parts together.`,
        ),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

/**
 * @param {Result} result
 * @returns {{html: string, charts: Record<string, import('./page.js').ReadOuts>}}
 */
function drawCharts(result) {
  const drawn = [
    latencyOverTime(result),
    latencyDistribution(result),
    rates(result),
    errorsOverTime(result),
    ...sendLag(result),
  ];
  // Those without anything to draw are a line or two of text, which fill what room is left.
  const inOrder = [
    ...drawn.filter(({ charts }) => Object.keys(charts).length > 0),
    ...drawn.filter(({ charts }) => Object.keys(charts).length === 0),
  ];
  const figures = inOrder.map(({ html }) => html).join('\n');
  return {
    html: section('Charts', `<div class="charts">\n${figures}\n</div>`),
    charts: Object.assign({}, ...drawn.map(({ charts }) => charts)),
  };
}
