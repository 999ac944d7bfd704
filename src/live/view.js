/**
 * Progress of a run: on a terminal a few lines, redrawn once a second, elsewhere a plain line every few seconds. Warnings are
 * lines of their own.
 */

import { createInFlight } from '../plan/in-flight.js';
import { createProfile } from '../plan/profile.js';
import { spansOf } from '../plan/stages.js';
import { WIDTH, wrap } from '../report/layout.js';
import { intervalLine, NARROWEST, panel, preparationLine, startLine } from './panel.js';
import { liveScreen, plainScreen } from './screen.js';

/** @import { IntervalEvent } from '../engine/interval.js' */
/** @import { LoadPlan } from '../plan/load.js' */
/** @import { Requirement } from '../plan/requirements.js' */
/** @import { Result } from '../result/schema.js' */
/** @import { JudgedRequirement, LiveEvent, OfferedLoad, Picture } from './panel.js' */

/**
 * @typedef {object} Terminal
 * @property {boolean} isTTY whether lines can be redrawn
 * @property {number} [columns] 0: unknown
 * @property {number} [rows]
 * @property {boolean} [color]
 */
/**
 * @typedef {object} View
 * @property {(event: LiveEvent) => void} event
 * @property {(result: Pick<Result, 'requirements'>) => void} soFar requirements to show with the next second
 * @property {(text: string) => void} say writes a line even when quiet
 * @property {(columns: number, rows: number) => void} resize
 * @property {() => void} close removes the picture
 * @property {() => Promise<void>} settled: see Writer in descriptor.js
 * @property {Promise<void>} isReady: see Screen in screen.js
 */
/**
 * @typedef {object} Seen of the run that goes on
 * @property {number | null} planned
 * @property {OfferedLoad | null} load
 * @property {ReturnType<typeof createStageAt> | null} staged null: the plan has no stages
 * @property {number[]} rates successes, second by second
 * @property {(number | null)[]} p99s
 * @property {readonly Pick<Requirement, 'rateUnit'>[]} required by the plan
 * @property {JudgedRequirement[]} requirements as far as they can be judged
 * @property {IntervalEvent | null} interval the last one
 */

const NARROWEST_LINE = 20;

/** More than any terminal shows. */
const MOST_SECONDS = 240;

/** With fewer requests due in a second, the rate is the mean over enough seconds for this many, up to LONGEST_MEAN. */
const FEW = 20;
const LONGEST_MEAN = 60;

/**
 * @param {object} options
 * @param {(text: string) => void} options.write with isBusy, onFree and settled: see Writer in descriptor.js
 * @param {() => boolean} [options.isBusy]
 * @param {(callback: () => void) => void} [options.onFree]
 * @param {() => Promise<void>} [options.settled]
 * @param {Terminal} options.terminal
 * @param {boolean} [options.quiet] nothing but warnings
 * @param {() => number} [options.now] milliseconds, monotonic
 * @returns {View}
 */
export function createView({
  write,
  isBusy = () => false,
  onFree = () => {},
  settled = async () => {},
  terminal,
  quiet = false,
  now = () => performance.now(),
}) {
  const { isTTY, color = false } = terminal;
  const isLive = isTTY && !quiet;
  const writer = { write, isBusy, onFree };
  const screen = isLive ? liveScreen(writer, terminal) : plainScreen(writer, now);
  let columns = terminal.columns || WIDTH;
  let seen = nothingSeen();
  let isOver = false;

  const width = () => Math.max(NARROWEST_LINE, Math.min(WIDTH, columns));
  const say = (/** @type {string} */ text) => screen.lines(wrap(text, width()));

  function showSeen() {
    const picture = pictureOf(seen);
    if (picture === null) return;
    if (!isLive || columns < NARROWEST) return screen.show(intervalLine(picture, width()));
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
        const { load = null, requirements: required = [] } = event.plan;
        seen = { ...nothingSeen(), planned: event.planned, load, staged: stagedOf(load), required };
        screen.clear();
        return say(startLine(event));
      }
      if (event.type === 'progress') {
        isOver = false;
        screen.show(preparationLine(event, width()));
      } else if (event.type === 'interval' && !isOver) {
        remember(seen, event);
        showSeen();
      }
    },
    soFar({ requirements }) {
      // Requests due but not sent after an interruption do not count against the target.
      if (seen.interval?.phase === 'draining') return;
      seen.requirements = requirements.map((one, i) => ({ ...one, rateUnit: seen.required[i]?.rateUnit }));
    },
    say,
    resize(newColumns, newRows) {
      columns = newColumns || WIDTH;
      screen.resize(newColumns, newRows);
      if (isLive && !isOver) showSeen();
    },
    close() {
      isOver = true;
      screen.clear();
    },
    settled,
    isReady: screen.isReady,
  };
}

/** @param {OfferedLoad | null} load */
function stagedOf(load) {
  const { model = 'open', warmupMs = 0, stages = null, shard = null } = load ?? {};
  return stages === null ? null : createStageAt({ model, warmupMs, stages, shard });
}

/** @returns {Seen} */
function nothingSeen() {
  return {
    planned: null,
    load: null,
    staged: null,
    rates: [],
    p99s: [],
    required: [],
    requirements: [],
    interval: null,
  };
}

/** @param {Seen} seen @param {IntervalEvent} interval */
function remember(seen, interval) {
  const { rates, p99s } = seen;
  seen.interval = interval;
  if (interval.phase === 'warmup') return;
  rates.push(interval.ratePerSecond);
  p99s.push(interval.p99Ms);
  if (rates.length <= MOST_SECONDS) return;
  rates.shift();
  p99s.shift();
}

/** @param {Seen} seen @returns {Picture | null} null: before the first interval */
function pictureOf({ interval, planned, load, staged, rates, p99s, requirements }) {
  if (interval === null) return null;
  const offeredPerSecond = offeredAt(load, staged, interval);
  const stage = interval.phase === 'draining' ? null : (staged?.stage(interval.elapsedMs) ?? null);
  const achievedPerSecond = meanRate(rates, offeredPerSecond);
  return { interval, planned, offeredPerSecond, achievedPerSecond, stage, p99s, requirements };
}

/**
 * @param {OfferedLoad | null} load
 * @param {Seen['staged']} staged
 * @param {IntervalEvent} interval
 * @returns {number | null} arrivals per second by the plan; null: a closed loop, or none any more
 */
function offeredAt(load, staged, { elapsedMs, phase }) {
  if (load === null || load.ratePerSecond === null || phase === 'draining') return null;
  if (staged !== null) return staged.offeredPerSecond(elapsedMs);
  const ramp = load.rampUpMs > 0 ? Math.min(1, elapsedMs / load.rampUpMs) : 1;
  return (load.ratePerSecond * ramp) / (load.shard?.of ?? 1);
}

/**
 * One request more than was due belongs to the next second, so the rate is not above the offered one.
 *
 * @param {number[]} rates second by second
 * @param {number | null} offeredPerSecond
 */
function meanRate(rates, offeredPerSecond) {
  const seconds = offeredPerSecond === null ? 1 : Math.ceil(FEW / Math.max(offeredPerSecond, 0.01));
  const shown = rates.slice(-Math.min(LONGEST_MEAN, seconds));
  const sum = shown.reduce((all, rate) => all + rate, 0);
  const due = (offeredPerSecond ?? 0) * shown.length;
  if (offeredPerSecond !== null && sum > due && sum <= due + 1) return offeredPerSecond;
  return sum / Math.max(1, shown.length);
}

/** @typedef {Pick<LoadPlan, 'model' | 'warmupMs' | 'stages' | 'shard'>} StagedLoad */
/**
 * @typedef {object} StageNow
 * @property {string} name
 * @property {number} number from 1
 * @property {number} count of all
 * @property {number} leftMs
 * @property {number | null} inFlight as many are allowed; null: an open loop
 */

const SECOND_MS = 1000;

/** @param {StagedLoad} load with stages */
function createStageAt(load) {
  const { model, warmupMs, shard } = load;
  const stages = load.stages ?? [];
  const spans = spansOf(load, null);
  const lines = stages.flatMap((stage) => stage.lines);
  const { expected } = createProfile(
    lines.map(({ durationMs, from, to }) => ({ durationMs, fromPerSecond: from, toPerSecond: to })),
  );
  const { index, of } = shard ?? { index: 0, of: 1 };
  const inFlight = model === 'closed' ? createInFlight(load, index, of) : null;
  return {
    /**
     * @param {number} elapsedMs from time zero
     * @returns {StageNow | null} null: before the first or after the last
     */
    stage(elapsedMs) {
      const ms = elapsedMs - warmupMs;
      const at = spans.findIndex(({ startMs, endMs }) => ms >= startMs && ms < endMs);
      if (at < 0) return null;
      return {
        name: String(spans[at].name),
        number: at + 1,
        count: spans.length,
        leftMs: spans[at].endMs - ms,
        inFlight: inFlight?.at(elapsedMs) ?? null,
      };
    },
    /**
     * @param {number} elapsedMs
     * @returns {number} arrivals that the plan had in the last whole second; of a warm-up, as at the beginning of the first stage
     */
    offeredPerSecond(elapsedMs) {
      const second = Math.floor((elapsedMs - warmupMs) / SECOND_MS);
      if (second < 1) return lines[0].from / of;
      return (expected(second * SECOND_MS) - expected((second - 1) * SECOND_MS)) / of;
    },
  };
}

/**
 * @param {object} options
 * @param {NodeJS.WritableStream} options.stream
 * @param {boolean} [options.isTTY]
 * @param {number} [options.columns] of the terminal
 * @param {boolean} [options.quiet] nothing but warnings
 * @param {() => number} [options.now] milliseconds, monotonic
 * @returns {Pick<View, 'event' | 'close'>}
 */
export function createProgress({ stream, isTTY = false, columns, quiet, now }) {
  const write = (/** @type {string} */ text) => void stream.write(text);
  return createView({ write, terminal: { isTTY, columns }, quiet, now });
}
