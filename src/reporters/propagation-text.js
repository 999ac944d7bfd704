/** How long revocations took to be seen, as plain text, 80 columns. */
import { formatCount } from '../units.js';
import { labelled, table, wrap } from './layout.js';
import { timeText } from './phrases.js';
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
} from './propagation-phrases.js';
import { requirementLines, verdictLines } from './verdict-lines.js';

/** @typedef {import('../results/propagation/propagation-schema.js').Propagation} Propagation */

/**
 * @param {Propagation} found
 * @param {import('../report/index.js').RenderOptions} [options]
 * @returns {string} ends with a newline
 */
export function render(found, { color = false } = {}) {
  const interrupted = interruptedPhrase(found);
  const sections = [
    interrupted === '' ? [] : wrap(interrupted),
    [...requirementLines(found.requirements, color), ...measurement(found, color)],
    wrap(`${propagationHeadline(found)}.`),
    [
      ...wrap(subjectLine(found)),
      ...labelled('Certificates', `${formatCount(found.certificates.begun)}, ${pollingPhrase(found)}`),
      ...labelled('auto_rebuild', rebuildText(found.crl)),
    ],
    ...placesOf(found).map(({ name, delay }) => [
      ...wrap(`${name}: ${seenPhrase(delay)}`),
      ...table([['Delay since', ...DELAY_COLUMNS], ...delayRows(delay)]),
    ]),
    [...revokeCalls(found), ...outcomes(found)],
    asked(found),
    found.notes.flatMap((note) => labelled('Note', note)),
  ];
  const filled = sections.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/**
 * @param {Propagation} found
 * @param {boolean} color
 */
function measurement({ measurement: { verdict, reasons } }, color) {
  const lines = verdictLines('Measurement', verdict, verdict, color);
  return [
    ...lines,
    ...reasons.flatMap(({ text, remedy }) => labelled('', remedy === undefined ? text : `${text} ${remedy}`)),
  ];
}

/** @param {Propagation} found */
function revokeCalls({ revokeMs: { count, p50, p99, max } }) {
  if (count === 0) return [];
  return labelled(
    'Revoking took',
    `${timeText(p50)} (p50), ${timeText(p99)} (p99), ${timeText(max)} (longest)`,
  );
}

/** @param {Propagation} found */
function outcomes(found) {
  return outcomesOf(found).flatMap(({ outcome, count, meaning }, i) =>
    labelled(i === 0 ? 'Outcomes' : '', `${formatCount(count)} ${outcome}: ${meaning}`),
  );
}

/** @param {Propagation} found */
function asked({ nodes, pollLagMs }) {
  return [
    ...nodes.flatMap((node) =>
      labelled('Asked', nodes.length === 1 ? askedPhrase(node) : `${node.url}: ${askedPhrase(node)}`),
    ),
    ...labelled('Lateness', lagPhrase(pollLagMs)),
  ];
}
