/**
 * Progress of a run: on a terminal a few lines, redrawn once a second, elsewhere a plain line every few seconds. Warnings are
 * lines of their own.
 */
import { visibleText } from '../common/visible-text.js';
import { createProfile } from '../plan/schedule.js';
import { createInFlight, spansOf } from '../plan/stages.js';
import { WIDTH, wrap } from '../report/layout.js';
import { intervalLine, NARROWEST, panel, preparationLine, startLine } from './panel.js';
import { liveScreen, plainScreen } from './screen.js';

/** @import { IntervalEvent } from '../engine/interval.js' */
/** @import { LoadPlan } from '../plan/load.js' */
/** @import { Requirement } from '../plan/requirements.js' */
/** @import { Result } from '../result/schema.js' */
/** @import { Writer } from './descriptor.js' */
/** @import { Picture } from './panel.js' */

/** @typedef {Pick<LoadPlan, 'ratePerSecond' | 'rampUpMs' | 'shard'> & Partial<Pick<LoadPlan, 'model' | 'warmupMs' | 'stages'>>} OfferedLoad */
/**
 * @typedef {object} StartEvent
 * @property {'start'} type
 * @property {{operation: string, load?: OfferedLoad, requirements?: readonly Pick<Requirement, 'rateUnit'>[]}} plan
 * @property {{url: string, product?: string | null, version?: string | null}} target
 * @property {number | null} planned measured requests; null: unlimited
 */
/** @typedef {{type: 'progress', label: string, done: number, total: number}} PreparationEvent before time zero */
/** @typedef {StartEvent | IntervalEvent | {type: 'notice', text: string} | {type: 'warning', text: string} | PreparationEvent | {type: 'result', result: Result}} LiveEvent */
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
 */
/**
 * @typedef {object} StageNow
 * @property {string} name
 * @property {number} number from 1
 * @property {number} count of all
 * @property {number} leftMs
 * @property {number | null} inFlight the number allowed; null: an open loop
 */
/** @typedef {Omit<Picture, 'interval' | 'offeredPerSecond' | 'achievedPerSecond' | 'stage'> & {interval: IntervalEvent | null, load: OfferedLoad | null, rates: number[], rateUnits: (Requirement['rateUnit'])[]}} Seen of the current run */

const NARROWEST_LINE = 20;

/** More than any terminal shows. */
const MAX_SECONDS = 240;

/** With fewer requests due in a second, the rate is the mean over enough seconds for this many, up to MAX_MEAN_SECONDS. */
const FEW = 20;
const MAX_MEAN_SECONDS = 60;

/**
 * @param {object} options
 * @param {Writer['write']} options.write
 * @param {Writer['isBusy']} [options.isBusy]
 * @param {Writer['onFree']} [options.onFree]
 * @param {Writer['settled']} [options.settled]
 * @param {Terminal} options.terminal
 * @param {boolean} [options.quiet] only warnings
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
  const say = (/** @type {string} */ text) => screen.lines(wrap(visibleText(text), width()));

  function showSeen() {
    if (seen.interval === null) return;
    const picture = pictureOf(seen, seen.interval);
    if (!isLive || columns < NARROWEST) return screen.show(intervalLine(picture, width()));
    // One column less: some terminals break a line that ends in the last one.
    screen.show(panel(picture, { width: columns - 1, color }).join('\n'));
  }

  /** @param {StartEvent} event */
  function start(event) {
    const { load = null, requirements = [] } = event.plan;
    const rateUnits = requirements.map(({ rateUnit }) => rateUnit);
    seen = { ...nothingSeen(), planned: event.planned, load, rateUnits };
    screen.clear();
    say(startLine(event));
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
      if (event.type === 'start' || event.type === 'progress') isOver = false;
      if (event.type === 'start') start(event);
      else if (event.type === 'progress') screen.show(preparationLine(event, width()));
      else if (!isOver) {
        remember(seen, event);
        showSeen();
      }
    },
    soFar({ requirements }) {
      // Requests due but not sent after an interruption do not count against the target.
      if (seen.interval?.phase === 'draining') return;
      seen.requirements = requirements.map((one, i) => ({ ...one, rateUnit: seen.rateUnits[i] }));
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
  };
}

/** @returns {Seen} */
function nothingSeen() {
  return { interval: null, planned: null, load: null, rates: [], p99s: [], rateUnits: [], requirements: [] };
}

/** @param {Seen} seen @param {IntervalEvent} interval */
function remember(seen, interval) {
  seen.interval = interval;
  if (interval.phase === 'warmup') return;
  seen.rates = [...seen.rates, interval.ratePerSecond].slice(-MAX_SECONDS);
  seen.p99s = [...seen.p99s, interval.p99Ms].slice(-MAX_SECONDS);
}

/** @param {Seen} seen @param {IntervalEvent} interval the last one @returns {Picture} */
function pictureOf({ planned, load, rates, p99s, requirements }, interval) {
  const { phase, elapsedMs } = interval;
  const isSending = load !== null && phase !== 'draining';
  const offeredPerSecond = isSending ? offeredAt(load, elapsedMs) : null;
  const stage = isSending ? stageAt(load, elapsedMs) : null;
  const achievedPerSecond = meanRate(rates, offeredPerSecond);
  return { interval, planned, offeredPerSecond, achievedPerSecond, stage, p99s, requirements };
}

/**
 * @param {OfferedLoad} load
 * @param {number} elapsedMs from time zero
 * @returns {number | null} planned arrivals per second in the last whole second; null: a closed loop
 */
function offeredAt({ ratePerSecond, rampUpMs, shard, warmupMs = 0, stages = null }, elapsedMs) {
  if (ratePerSecond === null) return null;
  const shards = shard?.of ?? 1;
  if (stages === null) return (ratePerSecond * Math.min(1, elapsedMs / (rampUpMs || 1))) / shards;
  const lines = stages.flatMap((stage) => stage.lines);
  const second = Math.floor((elapsedMs - warmupMs) / 1000);
  if (second < 1) return lines[0].from / shards;
  const { expected } = createProfile(lines);
  return (expected(second * 1000) - expected((second - 1) * 1000)) / shards;
}

/**
 * @param {OfferedLoad} load
 * @param {number} elapsedMs from time zero
 * @returns {StageNow | null} null: before the first or after the last
 */
function stageAt({ model = 'open', warmupMs = 0, stages = null, shard }, elapsedMs) {
  if (stages === null) return null;
  const ms = elapsedMs - warmupMs;
  const spans = spansOf({ stages }, null);
  const at = spans.findIndex(({ startMs, endMs }) => ms >= startMs && ms < endMs);
  if (at < 0) return null;
  const inFlight =
    model === 'closed'
      ? createInFlight({ stages, warmupMs }, shard?.index ?? 0, shard?.of ?? 1)?.at(elapsedMs)
      : null;
  return {
    name: String(spans[at].name),
    number: at + 1,
    count: spans.length,
    leftMs: spans[at].endMs - ms,
    inFlight: inFlight ?? null,
  };
}

/**
 * One request more than was due belongs to the next second, so the rate is not above the offered one.
 * @param {number[]} rates second by second
 * @param {number | null} offeredPerSecond
 */
function meanRate(rates, offeredPerSecond) {
  const seconds = offeredPerSecond === null ? 1 : Math.ceil(FEW / Math.max(offeredPerSecond, 0.01));
  const shown = rates.slice(-Math.min(MAX_MEAN_SECONDS, seconds));
  const sum = shown.reduce((all, rate) => all + rate, 0);
  const due = (offeredPerSecond ?? 0) * shown.length;
  if (offeredPerSecond !== null && sum > due && sum <= due + 1) return offeredPerSecond;
  return sum / Math.max(1, shown.length);
}

/**
 * @param {object} options
 * @param {NodeJS.WritableStream} options.stream
 * @param {boolean} [options.isTTY]
 * @param {number} [options.columns] of the terminal
 * @param {boolean} [options.quiet] only warnings
 * @param {() => number} [options.now] milliseconds, monotonic
 * @returns {Pick<View, 'event' | 'close'>}
 */
export function createProgress({ stream, isTTY = false, columns, quiet, now }) {
  const write = (/** @type {string} */ text) => void stream.write(text);
  return createView({ write, terminal: { isTTY, columns }, quiet, now });
}

/** Together they have all units and verdicts. @type {Result['requirements']} */
const WARM_UP_REQUIREMENTS = [
  { text: 'p99<200ms', verdict: 'met', actual: 12, limit: 200, unit: 'ms', reason: '' },
  { text: 'rate>=1000/h', verdict: 'not met', actual: 0.2, limit: 0.3, unit: '/s', reason: '' },
  { text: 'errors<0.1%', verdict: 'not proven', actual: 0.001, limit: 0.001, unit: 'fraction', reason: '' },
];

/**
 * Draws to nowhere before the run. The first picture builds regular expressions and character tables, which takes longer than
 * hundreds of later ones, and would delay arrivals on a core that a sender shares.
 * @param {Terminal} terminal
 * @returns {number} characters that would have been written
 */
export function warmUpDrawing(terminal) {
  let [written, nowMs] = [0, 0];
  const write = (/** @type {string} */ text) => {
    written += text.length;
  };
  const view = createView({ write, terminal, now: () => nowMs });
  const load = { ratePerSecond: 1000, rampUpMs: 0, shard: null };
  const plan = { operation: 'warm-up', load, requirements: WARM_UP_REQUIREMENTS.map(() => ({})) };
  view.event({ type: 'start', plan, target: { url: '' }, planned: 10 });
  view.soFar({ requirements: WARM_UP_REQUIREMENTS });
  for (let second = 1; second <= 10; second++) {
    nowMs += 10_000;
    const counts = { sent: 1000, succeeded: 900, failed: 100, inFlight: 3, waiting: 2 };
    view.event({
      ...{ type: 'interval', elapsedMs: second * 1000, totalMs: 10_000, ...counts },
      ...{ ratePerSecond: 900, p99Ms: 1.3 ** second, errors: { timeout: second }, phase: 'measuring' },
    });
  }
  view.event({ type: 'warning', text: 'Warm-up warning.' });
  view.close();
  return written;
}
