/** How long revocations took to be seen, as a page: the answer, the distribution between its bounds, every node. */
import { formatCount, formatLatency } from '../../units.js';
import { timeText } from '../phrases.js';
import {
  askedPhrase,
  DELAY_COLUMNS,
  delayRows,
  interruptedPhrase,
  lagPhrase,
  outcomesOf,
  placesOf,
  pollingPhrase,
  propagationHeadline,
  rebuildText,
  seenPhrase,
  subjectLine,
} from '../propagation-phrases.js';
import { distribution } from './charts/distribution.js';
import { escapeHtml } from './escape.js';
import { page } from './page.js';
import { facts, list, paragraph, section, table, verdictBadge } from './parts.js';

/** @typedef {import('../../results/propagation/propagation-schema.js').Propagation} Propagation */
/** @typedef {import('../propagation-phrases.js').Place} Place */

/**
 * @param {Propagation} found
 * @returns {string} the file
 */
export function render(found) {
  const heading = propagationHeadline(found);
  const drawn = placesOf(found).map(placeParts);
  const body = [
    requirements(found),
    measurement(found),
    ...drawn.map(({ html }) => html),
    outcomes(found),
    asked(found),
    section('How to read this', list(found.notes.map(escapeHtml))),
  ];
  return page({
    title: heading,
    heading,
    lead: lead(found),
    body: body.filter((part) => part !== '').join('\n'),
    data: { charts: Object.assign({}, ...drawn.map(({ charts }) => charts)) },
    footer: `Written by vault-pki-load ${found.tool.version}: ${found.startedAt}, ${found.command}`,
  });
}

/** @param {Propagation} found */
function lead(found) {
  const interrupted = interruptedPhrase(found);
  return [
    ...(interrupted === '' ? [] : [paragraph(interrupted)]),
    paragraph(`${subjectLine(found)}.`),
    facts([
      ['auto_rebuild', rebuildText(found.crl)],
      ['Certificates', `${formatCount(found.certificates.begun)}, ${pollingPhrase(found)}`],
      ['Revoking took', revoking(found)],
    ]),
  ].join('\n');
}

/** @param {Propagation} found */
function revoking({ revokeMs: { p50, p99, max } }) {
  return `${timeText(p50)} (p50), ${timeText(p99)} (p99), ${timeText(max)} (longest)`;
}

/** @param {Propagation} found */
function requirements({ requirements: all }) {
  if (all.length === 0) return section('Requirements', paragraph('No requirement was set.'));
  const items = all.map(
    ({ text, verdict, reason }) =>
      `${verdictBadge(verdict)} <code>${escapeHtml(text)}</code>\n${paragraph(reason)}`,
  );
  return section('Requirements', list(items));
}

/** @param {Propagation} found */
function measurement({ measurement: { verdict, reasons } }) {
  const said = {
    valid: 'Polls went out as they should and were answered.',
    suspect: 'The bounds hold, but lie further apart than they should.',
    invalid: 'The bounds say little of the delay.',
  }[verdict];
  const items = reasons.map(({ text, remedy }) =>
    [paragraph(text), remedy === undefined ? '' : paragraph(remedy, 'muted')].join('\n'),
  );
  return section(
    'Measurement',
    [
      `<p class="answer">${verdictBadge(verdict)} ${escapeHtml(said)}</p>`,
      items.length === 0 ? '' : list(items),
    ].join('\n'),
  );
}

/**
 * @param {Place} place
 * @param {number} number
 * @returns {{html: string, charts: Record<string, import('./page.js').ReadOuts>}}
 */
function placeParts({ name, delay }, number) {
  const { lower, upper } = delay.sinceAnswered;
  const drawn = distribution({
    id: `delay-${number}`,
    title: 'Delay since the revocation was answered, by percentile',
    summary: summarise(delay),
    empty: 'No revocation was seen here: there is nothing to draw.',
    yTitle: 'delay',
    series: [
      { name: 'upper bound (first answer revoked)', style: 2, mark: 'headline', latency: upper },
      { name: 'lower bound (last answer good)', style: 1, mark: 'behind', latency: lower },
    ],
    shaded: true,
  });
  const figures = table({
    caption: 'Delay, both bounds; left open: upper less lower bound',
    columns: ['Since the revocation was', ...DELAY_COLUMNS.map((label) => ({ label, numeric: true }))],
    rows: delayRows(delay),
  });
  return {
    html: section(name, [paragraph(`${seenPhrase(delay)}.`), drawn.html, figures].join('\n')),
    charts: /** @type {Record<string, import('./page.js').ReadOuts>} */ (drawn.charts),
  };
}

/** @param {Place['delay']} delay */
function summarise({ sinceAnswered: { lower, upper }, beforeAnswered, revoked }) {
  if (upper.p50 === null || upper.max === null || lower.p50 === null) return '';
  const half = `Half of the revocations were seen within ${formatLatency(upper.p50)} of their answer, the last within ${formatLatency(upper.max)}.`;
  const early =
    beforeAnswered === revoked
      ? 'All were seen before they were answered, which counts as 0.'
      : 'The truth lies between the lines, in the shaded space.';
  return `${half} ${early}`;
}

/** @param {Propagation} found */
function outcomes(found) {
  const rows = outcomesOf(found).map(({ outcome, count, meaning }) => [outcome, formatCount(count), meaning]);
  if (rows.length === 0) return '';
  return section(
    'Outcomes',
    table({
      caption: 'Certificates by what came of them',
      columns: ['Outcome', { label: 'certificates', numeric: true }, 'Meaning'],
      rows,
    }),
  );
}

/** @param {Propagation} found */
function asked({ nodes, pollLagMs }) {
  return section(
    'OCSP requests',
    facts([
      ...nodes.map((node) => /** @type {[string, string]} */ ([node.url, askedPhrase(node)])),
      ['Lateness', lagPhrase(pollLagMs)],
    ]),
  );
}
