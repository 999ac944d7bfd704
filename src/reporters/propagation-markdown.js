/** How long revocations took to be seen, as Markdown. */
import { formatCount } from '../units.js';
import { bullets, markdownTable, paragraphs, plain } from './markdown-tables.js';
import { codeCell, markdownTable as tableLines } from './markdown-text.js';
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

/** @typedef {import('../results/propagation/propagation-schema.js').Propagation} Propagation */

/**
 * @param {Propagation} found
 * @returns {string} ends with a newline
 */
export function render(found) {
  const interrupted = interruptedPhrase(found);
  return paragraphs([
    `## ${plain(propagationHeadline(found))}`,
    interrupted === '' ? '' : `**${plain(interrupted)}**`,
    requirements(found),
    measurement(found),
    plain(`${subjectLine(found)}; auto_rebuild: ${rebuildText(found.crl)}.`),
    plain(`${formatCount(found.certificates.begun)} certificates, ${pollingPhrase(found)}.`),
    ...placesOf(found).flatMap(({ name, delay }) => [
      `### ${plain(name)}`,
      plain(`${seenPhrase(delay)}.`),
      markdownTable(
        ['Delay since the revocation was', ...DELAY_COLUMNS],
        delayRows(delay).map((cells) => cells.map(plain)),
      ),
    ]),
    ...(found.rows.length === 0 ? [] : ['### Outcomes', outcomes(found)]),
    bullets([
      ...revoking(found),
      ...found.nodes.map((node) => plain(`${node.url}: ${askedPhrase(node)}`)),
      plain(lagPhrase(found.pollLagMs)),
    ]),
    '### Notes',
    bullets(found.notes.map(plain)),
    plain(`vault-pki-load ${found.tool.version}, ${found.startedAt}, ${found.command}`),
  ]);
}

/** @param {Propagation} found */
function requirements({ requirements: all }) {
  if (all.length === 0) return '';
  const rows = all.map(({ text, verdict, reason }) => [codeCell(text), `**${verdict}**`, plain(reason)]);
  return tableLines(['Requirement', 'Verdict', 'Why'], rows, 3).join('\n');
}

/** @param {Propagation} found */
function measurement({ measurement: { verdict, reasons } }) {
  const because = bullets(
    reasons.map(({ text, remedy }) => plain(remedy === undefined ? text : `${text} ${remedy}`)),
  );
  return [`The measurement is **${verdict}**.`, because].filter((part) => part !== '').join('\n\n');
}

/** @param {Propagation} found */
function revoking({ revokeMs: { count, p50, p99, max } }) {
  if (count === 0) return [];
  return [plain(`revoking took ${timeText(p50)} (p50), ${timeText(p99)} (p99), ${timeText(max)} (longest)`)];
}

/** @param {Propagation} found */
function outcomes(found) {
  const rows = outcomesOf(found).map(({ outcome, count, meaning }) =>
    [outcome, meaning, formatCount(count)].map(plain),
  );
  return tableLines(['Outcome', 'meaning', 'certificates'], rows, 2).join('\n');
}
