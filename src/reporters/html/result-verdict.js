/** The answer first: which requirements are met, whether the measurement can be believed, and what to look at next. */
import { formatPercent } from '../../results/wording.js';
import { formatCount, formatDuration } from '../../units.js';
import { nextSteps } from '../next-steps.js';
import { timeText } from '../phrases.js';
import { escapeHtml } from './escape.js';
import { details, facts, list, paragraph, section, table, verdictBadge } from './parts.js';

/** @typedef {import('../../results/schema.js').Result} Result */
/** @typedef {NonNullable<import('../../results/schema.js').Measurement['observed']>} Observed */

/**
 * @param {Result['requirements']} requirements
 * @returns {{verdict: 'met' | 'not met' | 'not proven' | null, text: string}} of all of them; null where there are none
 */
export function answerOf(requirements) {
  const total = requirements.length;
  if (total === 0) return { verdict: null, text: 'No requirement was set.' };
  for (const verdict of /** @type {const} */ (['not met', 'not proven'])) {
    const count = requirements.filter((one) => one.verdict === verdict).length;
    if (count > 0) return { verdict, text: countedAnswer(count, total, verdict) };
  }
  return {
    verdict: 'met',
    text: total === 1 ? 'The requirement is met.' : `All ${total} requirements are met.`,
  };
}

/**
 * @param {number} count
 * @param {number} total
 * @param {string} verdict
 */
function countedAnswer(count, total, verdict) {
  if (total === 1) return `The requirement is ${verdict}.`;
  return `${count} of ${total} requirements ${count === 1 ? 'is' : 'are'} ${verdict}.`;
}

/** @param {Result} result */
export function requirementsSection({ requirements, unfinished }) {
  const title = unfinished ? 'Requirements, so far' : 'Requirements';
  const { verdict, text } = answerOf(requirements);
  if (verdict === null) return section(title, paragraph(text));
  const items = requirements.map(
    (one) => `${verdictBadge(one.verdict)} <code>${escapeHtml(one.text)}</code>\n${paragraph(one.reason)}`,
  );
  return section(title, `${paragraph(text, 'answer')}\n${list(items)}`);
}

/** @param {Result} result */
export function measurementSection({ measurement: { verdict, reasons, observed }, unfinished }) {
  const title = 'Measurement';
  if (unfinished) return section(title, paragraph('It is judged when the run has ended.'));
  const said = {
    valid: 'Nothing suggests that the tool or its machine got in the way.',
    suspect: 'Take the figures with care.',
    invalid: 'The figures do not tell what the target can do.',
  }[verdict];
  const items = reasons.map(({ text, remedy }) =>
    [paragraph(text), remedy === undefined ? '' : paragraph(remedy, 'muted')].join('\n'),
  );
  return section(
    title,
    [
      `<p class="answer">${verdictBadge(verdict)} ${escapeHtml(said)}</p>`,
      items.length === 0 ? '' : list(items),
      observed === undefined ? '' : details('What the tool observed of itself', observedHtml(observed)),
    ].join('\n'),
  );
}

/** @param {Result} result @returns {string} empty where there is nothing to say, or only that there are reports like this */
export function nextSection(result) {
  const steps = nextSteps(result).filter(({ point }) => !point.startsWith('--out'));
  if (steps.length === 0) return '';
  const items = steps.map(({ point, text }) =>
    point === '' ? escapeHtml(text) : `<code>${escapeHtml(point)}</code>: ${escapeHtml(text)}`,
  );
  return section('What to look at next', list(items));
}

/** @param {Observed} observed */
function observedHtml({ lagMs, reactionMs, unlaggedMs, gc, cpu, connectionSetups, backlogShare }) {
  const headings = ['samples', 'least', 'p50', 'p99', 'longest'].map((label) => ({ label, numeric: true }));
  const spreads = table({
    caption: 'Times that the tool took',
    columns: ['Of what', ...headings],
    rows: [
      ['Lateness in sending', ...spreadCells(lagMs)],
      ['Lateness in noticing', ...spreadCells(reactionMs)],
      ['Response time, had it sent nothing late', ...spreadCells(unlaggedMs)],
    ],
  });
  const collected = `${formatCount(gc.count)}, ${formatDuration(gc.totalMs)} in all, the longest ${formatDuration(gc.longestMs)}`;
  const cores = cpu.processCores === null ? 'not known' : `${cpu.processCores.toFixed(2)} cores`;
  const rest = facts([
    ['Garbage collections', collected],
    ['CPU time of the process', cores],
    ['Busiest sending thread', shareText(cpu.senderBusyShare)],
    ['Sending thread that spun', shareText(cpu.senderSpinShare)],
    ['Sending thread without a core', shareText(cpu.senderRunQueueShare)],
    ['Machine idle', shareText(cpu.machineIdleShare)],
    ['Anybody on the machine without a core', shareText(cpu.machinePressureShare)],
    ['Requests that had to open a connection', formatCount(connectionSetups)],
    ['Looks that found requests waiting', shareText(backlogShare)],
  ]);
  return `${spreads}\n${rest}`;
}

/** @param {Observed['lagMs']} spread */
function spreadCells({ count, min, p50, p99, max }) {
  return [formatCount(count), ...[min, p50, p99, max].map((ms) => timeText(ms))];
}

/** @param {number | null} share */
function shareText(share) {
  return share === null ? 'not known' : formatPercent(share);
}
