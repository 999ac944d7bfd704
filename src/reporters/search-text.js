/** A search as plain text, 80 columns: the answer first, then the knee as a chart, then every step. */
import { styleText } from 'node:util';
import { formatCount, formatDuration, formatLatency } from '../units.js';
import { labelled, table, WIDTH, wrap } from './layout.js';
import { perSecondText, timeText } from './phrases.js';
import {
  answerPhrase,
  byLevel,
  certaintyPhrase,
  kneePhrase,
  levelCell,
  levelHeading,
  searchSubject,
  shareText,
} from './search-phrases.js';

/** @typedef {import('../results/search/search-schema.js').Search} Search */
/** @typedef {import('../results/search/search-schema.js').SearchStep} SearchStep */

/** What of a bar is full up to p50, and what goes on to p99. Both are in code page 437. */
const UP_TO_P50 = '█';
const UP_TO_P99 = '░';

/** Bars narrower than this tell nothing. */
const LEAST_ROOM = 12;

/**
 * @param {Search} search
 * @param {{color?: boolean}} [options]
 * @returns {string} ends with a newline
 */
export function render(search, { color = false } = {}) {
  const sections = [answer(search, color), knee(search), steps(search)];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

/**
 * @param {Search} search
 * @param {boolean} color
 */
function answer(search, color) {
  const { answer: found, explanation, requirements, durationSeconds, steps: made, interrupted } = search;
  const title = search.searched === 'rate' ? 'Highest rate' : 'Peak';
  const lines = labelled(title, answerPhrase(search));
  if (color) {
    const isOpen = interrupted || search.why === 'generator' || search.why === 'broken off';
    const hue = isOpen ? 'yellow' : found === null ? 'red' : 'green';
    lines[0] = lines[0].replace(title, styleText(hue, title, { validateStream: false }));
  }
  const certainty = certaintyPhrase(search);
  const required = requirements.map(({ text }) => text);
  return [
    ...wrap(searchSubject(search)),
    ...lines,
    ...(certainty === '' ? [] : labelled('Known by', certainty)),
    ...(required.length === 0 ? [] : labelled('Required', required.join(', '))),
    ...labelled('Ended', explanation),
    ...labelled('Search', `${formatCount(made.length)} steps in ${formatDuration(durationSeconds * 1000)}`),
  ];
}

/** @param {Search} search */
function knee(search) {
  const rows = byLevel(search);
  if (rows.length < 2) return [];
  const isClosed = search.searched === 'concurrency';
  const cells = [
    [levelHeading(search), ...(isClosed ? ['answered'] : []), 'p50', 'p99', 'errors', 'verdict'],
    ...rows.map((step) => [
      levelCell(search, step.level),
      ...(isClosed ? [perSecondText(step.perSecond)] : []),
      timeText(step.p50Ms),
      timeText(step.p99Ms),
      shareText(step.errorShare),
      step.verdict,
    ]),
  ];
  const widths = cells[0].map((_, i) => Math.max(...cells.map((row) => row[i].length)));
  const room = WIDTH - widths.reduce((sum, width) => sum + width + 2, 0);
  const bars = barsOf(rows, room);
  const lines = cells.map((row, i) => {
    const text = row.map((cell, k) =>
      k === row.length - 1 ? cell.padEnd(widths[k]) : cell.padStart(widths[k]),
    );
    return `${text.join('  ')}  ${i === 0 ? '' : bars.texts[i - 1]}`.trimEnd();
  });
  return [...lines, ...(bars.key === '' ? [] : wrap(bars.key)), ...wrap(kneePhrase(rows))];
}

/**
 * On a scale by factors: the knee spans milliseconds and seconds.
 *
 * @param {SearchStep[]} rows
 * @param {number} room columns
 * @returns {{texts: string[], key: string}}
 */
function barsOf(rows, room) {
  const times = rows.flatMap(({ p50Ms, p99Ms }) => [p50Ms, p99Ms]).filter((ms) => ms !== null && ms > 0);
  const [low, high] = [Math.min(...times.map(Number)) / 1.5, Math.max(...times.map(Number))];
  if (times.length === 0 || room < LEAST_ROOM) return { texts: rows.map(() => ''), key: '' };
  const columns = (/** @type {number | null} */ ms) =>
    ms === null || ms <= low
      ? 0
      : Math.max(1, Math.round((Math.log(ms / low) / Math.log(high / low)) * room));
  const texts = rows.map(({ p50Ms, p99Ms }) => {
    const [middle, end] = [columns(p50Ms), columns(p99Ms)];
    return UP_TO_P50.repeat(middle) + UP_TO_P99.repeat(Math.max(0, end - middle));
  });
  const ends = `from ${formatLatency(low)} to ${formatLatency(high)}`;
  return { texts, key: `${UP_TO_P50} up to p50, ${UP_TO_P99} on to p99; log scale ${ends}` };
}

/** @param {Search} search */
function steps(search) {
  if (search.steps.length === 0) return [];
  const rows = search.steps.map((step, i) => [
    `${i + 1} ${step.phase}${step.attempt > 1 ? ', again' : ''}`,
    levelCell(search, step.level),
    formatDuration(step.seconds * 1000),
    formatCount(step.requests),
    perSecondText(step.perSecond),
    timeText(step.p99Ms),
    step.verdict,
  ]);
  const heads = [
    'Steps',
    levelHeading(search).toLowerCase(),
    'time',
    'requests',
    'answered',
    'p99',
    'verdict',
  ];
  const failed = search.steps.flatMap(({ verdict, reason }, i) =>
    verdict === 'met' ? [] : labelled(`Step ${i + 1}`, reason),
  );
  return [...table([heads, ...rows]), ...(failed.length === 0 ? [] : ['', ...failed])];
}
