/** Progress of a run as a panel of lines, or as one line for logs and narrow terminals. */
import { styleText } from 'node:util';
import { sanitizeText } from '../common/sanitize.js';
import { total } from '../common/sums.js';
import { formatCount, formatDuration, formatLatency } from '../common/units.js';
import { counted, perHourText, perSecondText, targetPhrase, timeText } from '../report/describe/words.js';
import { cut, stringWidth } from '../report/layout.js';
import { formatPercent, rateFormatter } from '../result/wording.js';
/** @import { IntervalEvent } from '../engine/interval.js' */
/** @import { Requirement } from '../plan/requirements.js' */
/** @import { RequirementVerdict } from '../result/schema.js' */
/** @import { StartEvent } from '../run.js' */

/** @typedef {Pick<RequirementVerdict, 'text' | 'verdict' | 'actual' | 'unit'> & Pick<Requirement, 'rateUnit'>} JudgedRequirement */
/**
 * @typedef {object} PanelState
 * @property {IntervalEvent} interval the last one
 * @property {number | null} planned measured requests; null: unlimited
 * @property {number | null} offeredPerSecond as planned; null: a closed loop, or after the last arrival
 * @property {number} achievedPerSecond recent successes
 * @property {{name: string, number: number, count: number, leftMs: number} | null} stage `number` from 1
 * @property {(number | null)[]} p99s of the seconds so far
 * @property {JudgedRequirement[]} requirements judged so far
 */

export const MAX_PANEL_WIDTH = 100;
/** Narrower terminals get one line. */
export const MIN_PANEL_WIDTH = 48;
/** Column of the text next to a label. */
const INDENT = 11;
const LONGEST_BAR = 30;
const SHORTEST_BAR = 8;
const LONGEST_SPARKLINE = 60;
const LEVELS = '▁▂▃▄▅▆▇█';
/** Widths of `12.3 ms  ` before the sparkline and ` up to 12.3 ms` after it. */
const NOW_LENGTH = 9;
const SCALE_LENGTH = 14;
const MAX_REQUIREMENTS = 4;
const SO_FAR = { met: 'met so far', 'not met': 'not met so far', 'not proven': 'not proven yet' };
const COLOURS = /** @type {const} */ ({ met: 'green', 'not met': 'red', 'not proven': 'yellow' });
const PHASES = { warmup: 'warm-up ', measuring: '', draining: 'last responses ' };

/** No line is longer than `width`, not counting colours. @param {PanelState} state @param {{width: number, color: boolean}} options */
export function panel(state, { width, color }) {
  const { interval, stage } = state;
  const { inFlight, waiting } = interval;
  const { achieved, offered } = rateTexts(state);
  const [errors, ...kinds] = errorParts(interval.errors);
  const lineWidth = Math.min(MAX_PANEL_WIDTH, width);
  const room = lineWidth - INDENT;
  const isMeasured = interval.phase !== 'warmup';
  const stageLeft = stage && `${stage.number} of ${stage.count}, ${wholeSeconds(stage.leftMs)} left`;
  const rate = `${achieved} succeeded${offered === null ? '' : `, ${offered} offered`}`;
  const waits = waiting === 0 ? 'none' : formatCount(waiting);
  const lines = [
    ['Progress', progressText(state, room)],
    ...(stage === null ? [] : [['Stage', `${stageLeft}: ${sanitizeText(stage.name)}`]]),
    ['Rate', isMeasured ? rate : 'warming up: not measured yet'],
    ['In flight', `${formatCount(inFlight)}, ${waits} waiting`],
    ['p99 now', isMeasured ? p99Text(state, room) : '–'],
    ['Errors', kinds.length === 0 ? 'none' : `${errors}: ${kinds.join(', ')}`],
  ];
  return [
    ...lines.map(([label, text]) => cut(`${label.padEnd(INDENT)}${text}`, lineWidth)),
    ...requirementLines(state.requirements, lineWidth, color),
  ];
}

/** By time if it is planned, else by number of requests. @param {PanelState} state @param {number} room */
function progressText({ interval, planned }, room) {
  const { elapsedMs, totalMs, phase, succeeded, failed } = interval;
  const elapsed = wholeSeconds(elapsedMs);
  if (phase === 'draining') return `${elapsed}, waiting for the last responses`;
  if (totalMs === null && !planned) return `${elapsed} so far`;
  const done = succeeded + failed;
  const share = Math.min(1, totalMs === null ? done / Number(planned) : elapsedMs / totalMs);
  const left = share === 0 ? '' : `, about ${wholeSeconds((elapsedMs * (1 - share)) / share)} left`;
  const text =
    totalMs === null
      ? `${formatCount(done)} of ${formatCount(Number(planned))}${left}`
      : `${elapsed} of ${wholeSeconds(totalMs)}, ${wholeSeconds(totalMs - elapsedMs)} left`;
  const line = `${String(Math.floor(share * 100)).padStart(3)} %  ${text}`;
  const length = Math.min(LONGEST_BAR, room - line.length - 1);
  if (length < SHORTEST_BAR) return line.trimStart();
  const full = Math.floor(share * length);
  return `${'█'.repeat(full)}${'░'.repeat(length - full)} ${line}`;
}

/** @param {PanelState} state @param {number} room */
function p99Text({ interval, p99s }, room) {
  const now = timeText(interval.p99Ms);
  const length = Math.min(LONGEST_SPARKLINE, room - NOW_LENGTH - SCALE_LENGTH);
  if (p99s.length < 2 || length < 2) return now;
  const shown = p99s.slice(-length);
  return `${now.padEnd(NOW_LENGTH)}${sparkline(shown)} up to ${formatLatency(highestOf(shown))}`;
}

/** @param {(number | null)[]} values null: a gap @returns {string} one character each, scaled to the maximum */
export function sparkline(values) {
  const step = highestOf(values) / LEVELS.length || 1;
  const level = (/** @type {number} */ value) => Math.min(LEVELS.length - 1, Math.floor(value / step));
  return values.map((value) => (value === null ? ' ' : LEVELS[level(value)])).join('');
}

/** @param {(number | null)[]} values */
const highestOf = (values) => Math.max(0, ...values.map((value) => value ?? 0));

/** @param {JudgedRequirement[]} requirements @param {number} width @param {boolean} color */
function requirementLines(requirements, width, color) {
  const lines = requirements.slice(0, MAX_REQUIREMENTS).map((requirement, i) => {
    const { text, verdict, actual } = requirement;
    const state = `${SO_FAR[verdict]}${actual === null ? '' : `: ${formatSoFar(actual, requirement)}`}`;
    const label = (i === 0 ? 'Required' : '').padEnd(INDENT);
    const line = `${label}${cut(sanitizeText(text), Math.max(8, width - INDENT - state.length - 2))}  `;
    const shown = cut(state, width - stringWidth(line));
    return line + (color ? styleText(COLOURS[verdict], shown, { validateStream: false }) : shown);
  });
  const more = requirements.length - lines.length;
  return more === 0 ? lines : [...lines, `${' '.repeat(INDENT)}and ${more} more`];
}

/** @param {number} actual @param {JudgedRequirement} requirement @returns {string} in the user's unit */
function formatSoFar(actual, requirement) {
  if (requirement.unit === 'ms') return formatLatency(actual);
  return requirement.unit === '/s' ? rateFormatter(requirement)(actual) : formatPercent(actual);
}

/** @param {StartEvent} event */
export function startLine({ plan, target, planned }) {
  const size = planned === null ? '' : `: ${counted(planned, 'request')} planned`;
  return `${plan.operation} on ${targetPhrase(target)}${size}`;
}

/** @param {{label: string, done: number, total: number}} event @param {number} width */
export function preparationLine({ label, done, total }, width) {
  return fit([sanitizeText(label), `${formatCount(done)} of ${formatCount(total)}`], width);
}

/** Most important parts first; omits parts that do not fit. @param {PanelState} state @param {number} width */
export function intervalLine(state, width) {
  const { elapsedMs, totalMs, phase, inFlight, waiting, p99Ms, errors } = state.interval;
  const total = totalMs === null || phase === 'draining' ? '' : `/${formatDuration(totalMs)}`;
  const { achieved, offered } = rateTexts(state);
  const measured = [
    offered === null ? achieved : `${achieved} of ${offered}`,
    `p99 ${timeText(p99Ms)}`,
    ...requirementSummary(state.requirements),
  ];
  const parts = [
    `${PHASES[phase]}${wholeSeconds(elapsedMs)}${total}`,
    ...(phase === 'warmup' ? ['not measured yet'] : measured),
    ...(state.stage === null ? [] : [`stage ${sanitizeText(state.stage.name)}`]),
    ...errorParts(errors),
    `${formatCount(inFlight)} in flight`,
    ...(waiting > 0 ? [`${formatCount(waiting)} waiting`] : []),
  ];
  return fit(parts, width);
}

/** Both per second or, below 1/s, per hour. @param {Pick<PanelState, 'achievedPerSecond' | 'offeredPerSecond'>} state */
function rateTexts({ achievedPerSecond, offeredPerSecond }) {
  const isSlow = offeredPerSecond !== null && offeredPerSecond > 0 && offeredPerSecond < 1;
  const text = (/** @type {number} */ rate) =>
    isSlow ? `${perHourText(rate * 3600)}/h` : perSecondText(rate);
  const offered = offeredPerSecond === null ? null : text(offeredPerSecond);
  return { achieved: text(achievedPerSecond), offered };
}

/** @param {JudgedRequirement[]} requirements @returns {string[]} at most one: the first not met, else the verdict */
function requirementSummary(requirements) {
  if (requirements.length === 0) return [];
  const [first, ...more] = requirements.filter(({ verdict }) => verdict === 'not met');
  if (first === undefined) {
    return [SO_FAR[requirements.every(({ verdict }) => verdict === 'met') ? 'met' : 'not proven']];
  }
  const others = more.length === 0 ? '' : ` and ${more.length} more`;
  return [`${sanitizeText(first.text)}${others} ${SO_FAR['not met']}`];
}

/** @param {number} ms @returns {string} `0 s`, `7 s`, `1 min 5 s` */
function wholeSeconds(ms) {
  const text = formatDuration(Math.round(ms / 1000) * 1000);
  return text === '0 ms' ? '0 s' : text;
}

/** @param {Record<string, number>} errors by outcome @returns {string[]} total, then most frequent first */
function errorParts(errors) {
  const kinds = Object.entries(errors).filter(([, count]) => count > 0);
  if (kinds.length === 0) return ['no errors'];
  kinds.sort(([, a], [, b]) => b - a);
  const sum = counted(total(Object.values(errors)), 'error');
  return [sum, ...kinds.map(([name, count]) => `${sanitizeText(name)} ${formatCount(count)}`)];
}

/** @param {string[]} parts @param {number} width */
function fit(parts, width) {
  let line = cut(parts[0], width);
  for (const part of parts.slice(1)) {
    if (stringWidth(line) + 2 + stringWidth(part) > width) break;
    line += `  ${part}`;
  }
  return line;
}
