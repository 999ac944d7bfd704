/** A search as Markdown: the answer first, then the knee, then every step. */
import { formatCount, formatDuration } from '../units.js';
import { bullets, markdownTable, paragraphs, plain } from './markdown-tables.js';
import { perSecondText, timeText } from './phrases.js';
import {
  answerPhrase,
  byLevel,
  certaintyPhrase,
  kneePhrase,
  levelCell,
  levelHeading,
  searchSubject,
  searchTitle,
  shareText,
} from './search-phrases.js';

/** @typedef {import('../results/search/search-schema.js').Search} Search */

/**
 * @param {Search} search
 * @returns {string} ends with a newline
 */
export function render(search) {
  const { requirements, explanation, durationSeconds, steps } = search;
  const certainty = certaintyPhrase(search);
  const rows = byLevel(search);
  return paragraphs([
    `## ${plain(searchSubject(search))}`,
    `**${searchTitle(search)}:** ${plain(answerPhrase(search))}${certainty === '' ? '' : `, ${plain(certainty)}`}`,
    bullets(requirements.map(({ text }) => `required: ${plain(text)}`)),
    plain(explanation),
    rows.length === 0 ? '' : knee(search),
    rows.length === 0 ? '' : plain(kneePhrase(rows)),
    steps.length === 0
      ? ''
      : `${formatCount(steps.length)} steps in ${plain(formatDuration(durationSeconds * 1000))}:`,
    steps.length === 0 ? '' : stepTable(search),
  ]);
}

/** @param {Search} search */
function knee(search) {
  const rows = byLevel(search).map((step) =>
    [
      levelCell(search, step.level),
      perSecondText(step.perSecond),
      timeText(step.p50Ms),
      timeText(step.p99Ms),
      shareText(step.errorShare),
      step.verdict,
    ].map(plain),
  );
  return markdownTable([levelHeading(search), 'answered', 'p50', 'p99', 'errors', 'verdict'], rows);
}

/** @param {Search} search */
function stepTable(search) {
  const rows = search.steps.map((step, i) =>
    [
      `${i + 1} ${step.phase}${step.attempt > 1 ? ', again' : ''}`,
      levelCell(search, step.level),
      formatDuration(step.seconds * 1000),
      formatCount(step.requests),
      step.verdict,
      step.reason,
    ].map(plain),
  );
  return markdownTable(['Step', levelHeading(search), 'time', 'requests', 'verdict', 'why'], rows);
}
