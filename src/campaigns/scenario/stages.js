/**
 * The shapes that a stage can have -> straight lines of rate (open loop) or of requests in flight (closed loop). A new shape is
 * one more entry in SHAPES: the schema and the validation follow from it.
 */

import { formatDuration, parseDuration, parseRate } from '../../common/units.js';
import { commonOptions } from '../../plan/common-options.js';

/** @import { Line } from '../../plan/load.js' */

/** @typedef {'rate' | 'concurrency'} Level what the levels of a stage are: requests a second, or requests in flight */
/**
 * @typedef {object} Shape
 * @property {string} describe a sentence
 * @property {Record<string, 'level' | 'duration' | 'pause'>} fields all needed; a pause may be 0. `level` itself is called rate, or
 *   concurrency in a closed loop
 * @property {(values: Record<string, number>) => Line[]} lines levels per second or in flight, durations in ms
 * @property {(values: Record<string, number>) => [field: string, problem: string] | null} [check]
 */

/** What parseRate takes for a rate above 0: of it, no requests in any of its units. */
const NO_RATE = /^(?:0[0_]*(?:\.0+)?|\.0+)(?:e\d+)?(?:\s*\/\s*(?:s|sec|min|m|hour|h|day|d))?$/;

/** More lines than this would be drawn by mistake: a step of 1/s up to 100,000/s, say. */
const MOST_LINES = 1000;

/** @type {Readonly<Record<string, Shape>>} */
export const SHAPES = Object.freeze({
  hold: {
    describe: 'a constant level',
    fields: { level: 'level', duration: 'duration' },
    lines: ({ level, duration }) => [hold(level, duration)],
  },
  soak: {
    describe: 'the same as hold, for long runs',
    fields: { level: 'level', duration: 'duration' },
    lines: ({ level, duration }) => [hold(level, duration)],
  },
  ramp: {
    describe: 'from one level to another, linearly',
    fields: { from: 'level', to: 'level', duration: 'duration' },
    lines: ({ from, to, duration }) => [{ durationMs: duration, from, to }],
  },
  steps: {
    describe:
      'from one level to another in increments of `by`, each lasting `every`; the last step is `to` itself',
    fields: { from: 'level', to: 'level', by: 'level', every: 'duration' },
    lines: ({ from, to, by, every }) => {
      const count = Math.ceil(Math.abs(to - from) / by - 1e-9);
      const sign = Math.sign(to - from);
      return Array.from({ length: count + 1 }, (_, i) =>
        hold(i === count ? to : from + sign * i * by, every),
      );
    },
    check: ({ from, to, by }) => {
      if (by === 0) return ['by', 'is 0: no step leads anywhere'];
      const count = Math.abs(to - from) / by;
      return count > MOST_LINES
        ? ['by', `makes ${Math.ceil(count)} steps; ${MOST_LINES} are the most`]
        : null;
    },
  },
  burst: {
    describe: 'a recurring peak over a base; each period begins with the peak',
    fields: { base: 'level', peak: 'level', every: 'duration', for: 'duration', duration: 'duration' },
    lines: ({ base, peak, every, for: high, duration }) => {
      /** @type {Line[]} */
      const lines = [];
      for (let i = 0; i * every < duration; i++) {
        const left = duration - i * every;
        lines.push(hold(peak, Math.min(high, left)));
        if (left > high) lines.push(hold(base, Math.min(every, left) - high));
      }
      return lines;
    },
    check: ({ every, for: high, duration }) => {
      if (high >= every) return ['for', 'is not shorter than every: the peak would never end'];
      const count = duration / every;
      return 2 * count > MOST_LINES
        ? ['every', `makes ${Math.ceil(count)} bursts; ${MOST_LINES / 2} are the most`]
        : null;
    },
  },
  spike: {
    describe: 'a base, one peak, and the base again',
    fields: { base: 'level', peak: 'level', before: 'pause', for: 'duration', after: 'pause' },
    lines: ({ base, peak, before, for: high, after }) => [
      hold(base, before),
      hold(peak, high),
      hold(base, after),
    ],
  },
});

/**
 * @param {string} shape key of SHAPES
 * @param {Record<string, unknown>} given as the scenario has it
 * @param {Level} level what its levels are
 * @returns {Line[]} of which some may be at 0
 * @throws {StageError} naming the field
 */
export function linesOf(shape, given, level) {
  const { fields, lines, check } = SHAPES[shape];
  checkModel(fields, given, level);
  /** @type {Record<string, number>} */
  const values = {};
  for (const [field, type] of Object.entries(fields)) {
    const name = nameOf(field, level);
    const raw = given[name];
    if (raw === undefined) throw new StageError(null, `has no ${name}`);
    values[field] = readField(name, type, raw, level);
  }
  const problem = check?.(values) ?? null;
  if (problem !== null) throw new StageError(problem[0], problem[1]);
  return lines(values).filter(({ durationMs }) => durationMs > 0);
}

/** @param {Shape['fields']} fields @param {Record<string, unknown>} given @param {Level} level */
function checkModel(fields, given, level) {
  const other = level === 'rate' ? 'concurrency' : 'rate';
  if (!('level' in fields) || given[other] === undefined) return;
  throw new StageError(
    other,
    level === 'rate'
      ? 'is about requests in flight, but the load is an open loop'
      : 'is about arrivals, but the load is a closed loop (model: closed)',
    level === 'rate' ? 'Write rate, or load: {model: closed}.' : 'Write concurrency, or load: {model: open}.',
  );
}

/** @param {string} field @param {Level} level @returns {string} in the scenario */
function nameOf(field, level) {
  return field === 'level' ? level : field;
}

/** What is wrong with a stage, and in which field; null: in the whole. */
export class StageError extends Error {
  /**
   * @param {string | null} field
   * @param {string} message goes behind the name of the field
   * @param {string} [remedy]
   */
  constructor(field, message, remedy) {
    super(message);
    this.name = 'StageError';
    this.field = field;
    this.remedy = remedy;
  }
}

/**
 * @param {string} field
 * @param {'level' | 'duration' | 'pause'} type
 * @param {unknown} raw
 * @param {Level} level
 */
function readField(field, type, raw, level) {
  try {
    const text = /** @type {string | number} */ (raw);
    if (type !== 'level') return readDuration(field, type, text);
    return level === 'rate' ? parseLevel(text, field) : parseInFlight(text, field);
  } catch (error) {
    if (error instanceof StageError) throw error;
    const { message } = /** @type {Error} */ (error);
    throw new StageError(
      field,
      message.replace(`${field} is`, 'is').replace('above zero such as', 'such as 0,').replace(/\.$/, ''),
    );
  }
}

/** @param {string} field @param {'duration' | 'pause'} type @param {string | number} text */
function readDuration(field, type, text) {
  const ms = parseDuration(text, field);
  const { min = 1, max = Number.POSITIVE_INFINITY } = commonOptions.duration;
  if (ms > max) {
    throw new StageError(field, `is ${JSON.stringify(text)}; it must be at most ${formatDuration(max)}`);
  }
  if (ms >= min || (ms === 0 && type === 'pause')) return ms;
  throw new StageError(field, `is ${JSON.stringify(text)}; it must be at least ${formatDuration(min)}`);
}

/**
 * A ramp may begin at nothing.
 *
 * @param {string | number} text
 * @param {string} field
 */
function parseLevel(text, field) {
  if (NO_RATE.test(String(text).trim())) return 0;
  const rate = parseRate(text, field);
  const { max = Number.POSITIVE_INFINITY } = commonOptions.rate;
  if (rate <= max) return rate;
  throw new StageError(field, `is ${JSON.stringify(text)}; it must be at most ${max}/s`);
}

/** @param {string | number} text @param {string} field */
function parseInFlight(text, field) {
  const { max = Number.POSITIVE_INFINITY } = commonOptions.concurrency;
  const digits = String(text).replaceAll('_', '').trim();
  if (!/^\d+$/.test(digits)) {
    throw new StageError(
      field,
      `is ${JSON.stringify(text)}, which is not a whole number of requests in flight`,
    );
  }
  if (Number(digits) <= max) return Number(digits);
  throw new StageError(field, `is ${JSON.stringify(text)}; it must be at most ${max} in flight`);
}

/** @param {number} level @param {number} durationMs @returns {Line} */
function hold(level, durationMs) {
  return { durationMs, from: level, to: level };
}
