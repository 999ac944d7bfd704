/** Progress of a run: a few lines redrawn every second on a terminal; elsewhere a plain line every few seconds. */
import { createProfile, linesOf } from '../plan/schedule.js';
import { stagesOf } from '../plan/stages.js';
import { WIDTH, wrap } from '../report/layout.js';
import { intervalLine, MIN_PANEL_WIDTH, panel, preparationLine, startLine } from './panel.js';
import { liveScreen, plainScreen } from './terminal.js';

/** @import { IntervalEvent } from '../engine/interval.js' */
/** @import { LoadPlan } from '../plan/load.js' */
/** @import { RunEvent, StartEvent } from '../run.js' */
/** @import { JudgedRequirement, PanelState } from './panel.js' */
/** @import { Terminal, Writer } from './terminal.js' */

/** @typedef {ReturnType<typeof createView>} View */
/**
 * @typedef {Pick<PanelState, 'p99s' | 'requirements'> & {start: StartEvent | null, interval: IntervalEvent | null,
 *   rates: number[]}} ViewState of the current run
 */

const MIN_LINE_WIDTH = 20;
/** More than any terminal shows. */
const MAX_SECONDS = 240;
/** At low rates, the rate is the mean over enough seconds for this many requests, at most MAX_MEAN_SECONDS. */
const FEW = 20;
const MAX_MEAN_SECONDS = 60;

/**
 * @param {Pick<Writer, 'write'> & Partial<Writer> & {terminal: Terminal, quiet?: boolean, now?: () => number}} options
 *   `quiet`: only warnings; `now`: milliseconds, monotonic
 */
export function createView({ write, terminal, quiet = false, now = () => performance.now(), ...options }) {
  const { isBusy = () => false, onFree = () => {}, settled = async () => {} } = options;
  const { isTTY, color = false } = terminal;
  const isLive = isTTY && !quiet;
  const writer = { write, isBusy, onFree };
  const screen = isLive ? liveScreen(writer, terminal) : plainScreen(writer, now, terminal.columns || WIDTH);
  let state = emptyState(null);
  let isOver = false;

  const width = () => Math.max(MIN_LINE_WIDTH, Math.min(WIDTH, screen.columns()));
  /** Writes a line even when quiet. @param {string} text */
  const print = (text) => screen.lines(wrap(text, width()));

  function showState() {
    if (state.interval === null) return;
    const panelState = panelStateOf(state, state.interval);
    if (!isLive || screen.columns() < MIN_PANEL_WIDTH) return screen.show(intervalLine(panelState, width()));
    // Some terminals wrap a line that ends in the last column.
    screen.show(panel(panelState, { width: screen.columns() - 1, color }).join('\n'));
  }

  /** @param {IntervalEvent} interval */
  function showInterval(interval) {
    if (isOver) return;
    state.interval = interval;
    if (interval.phase !== 'warmup') {
      state.rates = [...state.rates, interval.ratePerSecond].slice(-MAX_SECONDS);
      state.p99s = [...state.p99s, interval.p99Ms].slice(-MAX_SECONDS);
    }
    showState();
  }

  /** Removes the frame. */
  function close() {
    isOver = true;
    screen.clear();
  }

  return {
    /** @param {RunEvent} event */
    event(event) {
      if (event.type === 'warning') return print(`Warning: ${event.text}`);
      if (event.type === 'result') return close();
      if (quiet) return;
      if (event.type === 'notice') return print(event.text);
      if (event.type === 'interval') return showInterval(event);
      isOver = false;
      if (event.type === 'progress') return screen.show(preparationLine(event, width()));
      if (event.type !== 'start') return;
      state = emptyState(event);
      screen.clear();
      print(startLine(event));
    },
    /** Shows its requirements with the next second. @param {{requirements: JudgedRequirement[]}} result */
    soFar({ requirements }) {
      // Requests due but not sent after an interruption do not count against the target.
      if (state.interval?.phase === 'draining') return;
      const planned = state.start?.plan.requirements;
      state.requirements = requirements.map((item, i) => ({ ...item, rateUnit: planned?.[i]?.rateUnit }));
    },
    print,
    /** @param {number} columns @param {number} rows */
    resize(columns, rows) {
      screen.resize(columns, rows);
      if (isLive && !isOver) showState();
    },
    close,
    settled,
  };
}

/** @param {StartEvent | null} start @returns {ViewState} */
const emptyState = (start) => ({ start, interval: null, rates: [], p99s: [], requirements: [] });

/** @param {ViewState} state @param {IntervalEvent} interval the last one @returns {PanelState} */
function panelStateOf({ start, rates, p99s, requirements }, interval) {
  const { phase, elapsedMs } = interval;
  const load = start === null || phase === 'draining' ? null : start.plan.load;
  const offeredPerSecond = load && offeredAt(load, elapsedMs);
  const achievedPerSecond = meanRate(rates, offeredPerSecond);
  const stage = load && stageAt(load, elapsedMs);
  const planned = start?.planned ?? null;
  return { interval, planned, offeredPerSecond, achievedPerSecond, stage, p99s, requirements };
}

/** Planned in the last whole second; null: a closed loop. @param {LoadPlan} load @param {number} elapsedMs from time zero */
function offeredAt(load, elapsedMs) {
  const { ratePerSecond, warmupMs, shard } = load;
  if (ratePerSecond === null) return null;
  const { expected } = createProfile(linesOf(load, ratePerSecond));
  const endMs = warmupMs + 1000 * Math.max(1, Math.floor((elapsedMs - warmupMs) / 1000));
  return (expected(endMs) - expected(endMs - 1000)) / (shard?.of ?? 1);
}

/** @param {LoadPlan} load @param {number} elapsedMs from time zero @returns null: before the first or after the last */
function stageAt(load, elapsedMs) {
  const ms = elapsedMs - load.warmupMs;
  const spans = stagesOf(load);
  const at = spans.findIndex(({ startMs, endMs }) => ms >= startMs && ms < endMs);
  if (at < 0) return null;
  const { name, endMs } = spans[at];
  return { name, number: at + 1, count: spans.length, leftMs: endMs - ms };
}

/** An early success counts for the next second. @param {number[]} rates by second @param {number | null} offeredPerSecond */
function meanRate(rates, offeredPerSecond) {
  const seconds = offeredPerSecond === null ? 1 : Math.ceil(FEW / Math.max(offeredPerSecond, 0.01));
  const shown = rates.slice(-Math.min(MAX_MEAN_SECONDS, seconds));
  const sum = shown.reduce((subtotal, rate) => subtotal + rate, 0);
  const due = (offeredPerSecond ?? 0) * shown.length;
  if (offeredPerSecond !== null && sum > due && sum <= due + 1) return offeredPerSecond;
  return sum / Math.max(1, shown.length);
}

/**
 * Draws a frame before the run without writing it. The first one builds regular expressions and character
 * tables, which takes longer than hundreds of later ones and would delay a sender on the same core.
 * @param {Terminal} terminal
 */
export function warmUpDrawing(terminal) {
  const view = createView({ write() {}, terminal });
  view.event({ type: 'warning', text: 'Warm-up warning.' });
  const times = { elapsedMs: 1000, totalMs: 10_000, ratePerSecond: 900, p99Ms: 1.3 };
  const counts = { sent: 1000, succeeded: 900, failed: 100, inFlight: 3, waiting: 2, errors: { timeout: 1 } };
  view.event({ type: 'interval', ...times, ...counts, phase: 'measuring' });
  view.close();
}
