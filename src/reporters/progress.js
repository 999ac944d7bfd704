/**
 * What is seen while a run goes on: one live line on a terminal, a plain line every few seconds elsewhere. Warnings are
 * always lines of their own. The summary at the end is not its business.
 */
import { formatCount, formatDuration, formatLatency } from '../units.js';
import { clean, WIDTH, wrap } from './layout.js';
import { perSecondText, targetPhrase } from './phrases.js';

/** @typedef {import('../load/interval.js').IntervalEvent} IntervalEvent */
/** @typedef {{type: 'start', plan: {operation: string}, target: {url: string, product?: string | null, version?: string | null}, planned: number | null}} StartEvent */
/** @typedef {{type: 'notice' | 'warning', text: string}} TextEvent */
/** @typedef {{type: 'progress', label: string, done: number, total: number}} PreparationEvent before time zero */
/** @typedef {{type: 'result', result: import('../results/schema.js').Result}} ResultEvent */
/** @typedef {StartEvent | IntervalEvent | TextEvent | PreparationEvent | ResultEvent} RunEvent */

/** Without a terminal: a line at the first second and then this often. */
const PLAIN_EVERY_MS = 5000;

/** Intervals come about once a second; one this much early still counts as due. */
const JITTER_MS = 500;

const PHASES = { warmup: 'warm-up ', measuring: '', draining: 'last answers ' };

/**
 * @param {object} options
 * @param {NodeJS.WritableStream} options.stream
 * @param {boolean} [options.isTTY]
 * @param {number} [options.columns] of the terminal
 * @param {boolean} [options.quiet] nothing but warnings
 * @param {() => number} [options.now] milliseconds, monotonic
 * @returns {{event: (event: RunEvent) => void, close: () => void}} close leaves the terminal as it was found
 */
export function createProgress({
  stream,
  isTTY = false,
  columns = WIDTH,
  quiet = false,
  now = () => performance.now(),
}) {
  const width = Math.max(20, Math.min(WIDTH, columns));
  const view = isTTY && !quiet ? liveView(stream, width) : plainView(stream, now);
  return {
    event(event) {
      if (event.type === 'warning') view.lines(wrap(`Warning: ${event.text}`, width));
      else if (quiet) return;
      else if (event.type === 'notice') view.lines(wrap(event.text, width));
      else if (event.type === 'start') view.lines(wrap(startLine(event), width));
      else if (event.type === 'progress') view.interval(preparationLine(event, width));
      else if (event.type === 'interval') view.interval(intervalLine(event, width));
      else view.close();
    },
    close: () => view.close(),
  };
}

/** @typedef {{lines: (lines: string[]) => void, interval: (line: string) => void, close: () => void}} View */

/**
 * @param {NodeJS.WritableStream} stream
 * @param {() => number} now
 * @returns {View}
 */
function plainView(stream, now) {
  let nextAt = Number.NEGATIVE_INFINITY;
  return {
    lines: (lines) => stream.write(`${lines.join('\n')}\n`),
    interval(line) {
      const time = now();
      if (time < nextAt - JITTER_MS) return;
      nextAt = time + PLAIN_EVERY_MS;
      stream.write(`${line}\n`);
    },
    close() {},
  };
}

/**
 * log-update is loaded only here; until it is there, nothing is drawn.
 *
 * @param {NodeJS.WritableStream} stream
 * @param {number} width
 * @returns {View}
 */
function liveView(stream, width) {
  /** @type {ReturnType<typeof import('log-update').createLogUpdate> | null} */
  let log = null;
  let current = '';
  let closed = false;
  const load = async () => {
    const { createLogUpdate } = await import('log-update');
    if (closed) return;
    // A hidden cursor would bring signal handlers with it (signal-exit), which can end the process on the first Ctrl-C.
    log = createLogUpdate(stream, { defaultWidth: width, showCursor: true });
    if (current !== '') log(current);
  };
  // Without log-update there is a run without a live line, which is better than no run.
  load().catch(() => {});
  return {
    lines(lines) {
      log?.clear();
      stream.write(`${lines.join('\n')}\n`);
      if (current !== '') log?.(current);
    },
    interval(line) {
      if (closed) return;
      current = line;
      log?.(line);
    },
    close() {
      if (closed) return;
      closed = true;
      current = '';
      log?.clear();
      log?.done();
    },
  };
}

/**
 * @param {PreparationEvent} event
 * @param {number} width
 */
function preparationLine({ label, done, total }, width) {
  return fit([clean(label), `${formatCount(done)} of ${formatCount(total)}`], width);
}

/** @param {StartEvent} event */
function startLine({ plan, target, planned }) {
  const size = planned === null ? '' : `: ${formatCount(planned)} request${planned === 1 ? '' : 's'} planned`;
  return `${plan.operation} on ${targetPhrase(target)}${size}`;
}

/**
 * The parts that matter most come first; what does not fit is left out, whole.
 *
 * @param {IntervalEvent} event
 * @param {number} width
 */
function intervalLine(event, width) {
  const { elapsedMs, totalMs, phase, ratePerSecond, inFlight, waiting, p99Ms, errors } = event;
  const total = totalMs === null ? '' : `/${formatDuration(totalMs)}`;
  const elapsed = formatDuration(Math.round(elapsedMs / 1000) * 1000);
  const parts = [
    `${PHASES[phase]}${elapsed === '0 ms' ? '0 s' : elapsed}${total}`,
    perSecondText(ratePerSecond),
    `p99 ${p99Ms === null ? '–' : formatLatency(p99Ms)}`,
    `${formatCount(inFlight)} in flight`,
    ...(waiting > 0 ? [`${formatCount(waiting)} waiting`] : []),
    ...errorParts(errors),
  ];
  return fit(parts, width);
}

/** @param {Record<string, number>} errors */
function errorParts(errors) {
  const found = Object.entries(errors).filter(([, count]) => count > 0);
  if (found.length === 0) return ['no errors'];
  const total = found.reduce((sum, [, count]) => sum + count, 0);
  const worst = found
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${clean(name)} ${formatCount(count)}`);
  return [`${formatCount(total)} error${total === 1 ? '' : 's'}`, ...worst];
}

/**
 * @param {string[]} parts
 * @param {number} width
 */
function fit(parts, width) {
  let line = parts[0].slice(0, width);
  for (const part of parts.slice(1)) {
    if (line.length + 2 + part.length > width) break;
    line += `  ${part}`;
  }
  return line;
}
