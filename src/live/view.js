/**
 * What is seen while a run goes on: on a terminal a few lines that are drawn over again once a second, elsewhere a plain
 * line every few seconds. Warnings are always lines of their own. The summary at the end is not its business.
 */
import { WIDTH, wrap } from '../reporters/layout.js';
import { intervalLine, preparationLine, startLine } from './lines.js';
import { NARROWEST, panel } from './panel.js';
import { liveScreen, plainScreen } from './screen.js';

/** @typedef {import('./lines.js').LiveEvent} LiveEvent */
/** @typedef {import('../load/interval.js').IntervalEvent} IntervalEvent */
/**
 * @typedef {object} Terminal
 * @property {boolean} isTTY that lines can be drawn over
 * @property {number} [columns] of a terminal
 * @property {number} [rows]
 * @property {boolean} [color]
 */
/**
 * @typedef {object} View
 * @property {(event: LiveEvent) => void} event
 * @property {(result: Pick<import('../results/schema.js').Result, 'requirements'>) => void} soFar shown with the next second
 * @property {(text: string) => void} say a line, whatever is quiet
 * @property {(columns: number, rows: number) => void} resize
 * @property {() => void} close leaves the terminal as it was found
 * @property {Promise<void>} isReady from then on what is drawn over can be drawn
 */
/**
 * @typedef {object} Seen of the run that goes on
 * @property {number | null} planned
 * @property {import('./lines.js').OfferedLoad | null} load
 * @property {number[]} rates successes, second by second
 * @property {(number | null)[]} p99s
 * @property {import('./panel.js').RequirementVerdict[]} requirements
 */

const NARROWEST_LINE = 20;

/** No terminal shows as many at once. */
const MOST_SECONDS = 240;

/** Where so few are due in a second, the rate is a mean over as many seconds as bring about so many, but no more than a minute. */
const FEW = 20;
const LONGEST_MEAN = 60;

/**
 * @param {object} options
 * @param {(text: string) => void} options.write
 * @param {Terminal} options.terminal
 * @param {boolean} [options.quiet] nothing but warnings
 * @param {() => number} [options.now] milliseconds, monotonic
 * @returns {View}
 */
export function createView({ write, terminal, quiet = false, now = () => performance.now() }) {
  const { isTTY, color = false } = terminal;
  const isLive = isTTY && !quiet;
  const screen = isLive ? liveScreen(write, terminal) : plainScreen(write, now);
  let columns = terminal.columns ?? WIDTH;
  let seen = nothingSeen();
  let isOver = false;

  const width = () => Math.max(NARROWEST_LINE, Math.min(WIDTH, columns));
  const say = (/** @type {string} */ text) => screen.lines(wrap(text, width()));

  /** @param {IntervalEvent} interval */
  function showInterval(interval) {
    if (!isLive || columns < NARROWEST) return screen.show(intervalLine(interval, width()));
    remember(seen, interval);
    const offeredPerSecond = offeredAt(seen.load, interval);
    const { planned, p99s, requirements } = seen;
    const achievedPerSecond = meanRate(seen.rates, offeredPerSecond);
    const picture = { interval, planned, offeredPerSecond, achievedPerSecond, p99s, requirements };
    // One column less: what ends in the last one is broken by some terminals.
    screen.show(panel(picture, { width: columns - 1, color }).join('\n'));
  }

  return {
    event(event) {
      if (event.type === 'warning') return say(`Warning: ${event.text}`);
      if (event.type === 'result') {
        isOver = true;
        return screen.clear();
      }
      if (quiet) return;
      if (event.type === 'notice') return say(event.text);
      if (event.type === 'start') {
        isOver = false;
        seen = { ...nothingSeen(), planned: event.planned, load: event.plan.load ?? null };
        // What was prepared is ready.
        screen.clear();
        return say(startLine(event));
      }
      if (event.type === 'progress') {
        isOver = false;
        screen.show(preparationLine(event, width()));
      } else if (event.type === 'interval' && !isOver) showInterval(event);
    },
    soFar({ requirements }) {
      seen.requirements = requirements;
    },
    say,
    resize(newColumns, newRows) {
      columns = newColumns;
      screen.resize(newColumns, newRows);
    },
    close() {
      isOver = true;
      screen.clear();
    },
    isReady: screen.isReady,
  };
}

/** @returns {Seen} */
function nothingSeen() {
  return { planned: null, load: null, rates: [], p99s: [], requirements: [] };
}

/**
 * @param {Seen} seen
 * @param {IntervalEvent} interval
 */
function remember({ rates, p99s }, { phase, ratePerSecond, p99Ms }) {
  if (phase === 'warmup') return;
  rates.push(ratePerSecond);
  p99s.push(p99Ms);
  if (rates.length <= MOST_SECONDS) return;
  rates.shift();
  p99s.shift();
}

/**
 * @param {import('./lines.js').OfferedLoad | null} load
 * @param {IntervalEvent} interval
 * @returns {number | null} arrivals per second by the plan; null: a closed loop, or none any more
 */
function offeredAt(load, { elapsedMs, phase }) {
  if (load === null || load.ratePerSecond === null || phase === 'draining') return null;
  const ramp = load.rampUpMs > 0 ? Math.min(1, elapsedMs / load.rampUpMs) : 1;
  return (load.ratePerSecond * ramp) / (load.shard?.of ?? 1);
}

/**
 * @param {number[]} rates second by second
 * @param {number | null} offeredPerSecond
 */
function meanRate(rates, offeredPerSecond) {
  const seconds = offeredPerSecond === null ? 1 : Math.ceil(FEW / Math.max(offeredPerSecond, 0.01));
  const shown = rates.slice(-Math.min(LONGEST_MEAN, seconds));
  return shown.reduce((sum, rate) => sum + rate, 0) / Math.max(1, shown.length);
}
