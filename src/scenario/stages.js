/**
 * The shapes that a stage can have -> straight lines of rate (open loop) or of requests in flight (closed loop). A new shape is
 * one more entry in SHAPES: the schema, the validation and the help follow from it.
 */
import { z } from 'zod';
import { parseDuration, parseRate } from '../units.js';

/** @typedef {{durationMs: number, from: number, to: number}} Line requests a second, or requests in flight */
/**
 * @typedef {object} Shape
 * @property {string} describe a sentence
 * @property {Record<string, 'level' | 'duration'>} fields all needed but those in `optional`
 * @property {Record<string, unknown>} [optional] defaults, as a user would write them
 * @property {(values: Record<string, number>) => Line[]} lines levels per second or in flight, durations in ms
 * @property {(values: Record<string, number>) => [field: string, problem: string] | null} [check]
 */

/** More lines than this would be drawn by mistake: a step of 1/s up to 100,000/s, say. */
const MOST_LINES = 1000;

/** @type {Readonly<Record<string, Shape>>} */
export const SHAPES = Object.freeze({
  hold: {
    describe: 'the same all the time',
    fields: { rate: 'level', duration: 'duration' },
    lines: ({ rate, duration }) => [hold(rate, duration)],
  },
  soak: {
    describe: 'the same for long: like hold, and says what it is for',
    fields: { rate: 'level', duration: 'duration' },
    lines: ({ rate, duration }) => [hold(rate, duration)],
  },
  ramp: {
    describe: 'from one to another, in a straight line',
    fields: { from: 'level', to: 'level', duration: 'duration' },
    lines: ({ from, to, duration }) => [{ durationMs: duration, from, to }],
  },
  steps: {
    describe: 'from one to another, so much at a time, each for so long',
    fields: { from: 'level', to: 'level', by: 'level', every: 'duration' },
    lines: ({ from, to, by, every }) => {
      const count = Math.floor(Math.abs(to - from) / by + 1e-9);
      const sign = Math.sign(to - from);
      return Array.from({ length: count + 1 }, (_, i) => hold(from + sign * i * by, every));
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
    describe: 'a base that is raised to a peak again and again',
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
      return (2 * duration) / every > MOST_LINES ? ['every', 'makes too many bursts'] : null;
    },
  },
  spike: {
    describe: 'a base, a peak once, and the base again',
    fields: { base: 'level', peak: 'level', before: 'duration', for: 'duration', after: 'duration' },
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
 * @param {'rate' | 'concurrency'} level what its levels are
 * @returns {Line[]}
 * @throws {StageError} naming the field
 */
export function linesOf(shape, given, level) {
  const { fields, optional = {}, lines, check } = SHAPES[shape];
  /** @type {Record<string, number>} */
  const values = {};
  for (const [field, type] of Object.entries(fields)) {
    values[field] = readField(
      nameOf(field, level),
      type,
      given[nameOf(field, level)] ?? optional[field],
      level,
    );
  }
  const problem = check?.(values) ?? null;
  if (problem !== null) throw new StageError(problem[0], problem[1]);
  const drawn = lines(values).filter(({ durationMs }) => durationMs > 0);
  if (drawn.every(({ from, to }) => from === 0 && to === 0)) {
    throw new StageError(null, 'sends nothing at all');
  }
  return drawn;
}

/**
 * @param {string} field
 * @param {'rate' | 'concurrency'} level
 * @returns {string} in the scenario: what is held in a closed loop is no rate
 */
function nameOf(field, level) {
  return field === 'rate' ? level : field;
}

/** What is wrong with a stage, and in which field; null: in the whole. */
export class StageError extends Error {
  /**
   * @param {string | null} field
   * @param {string} message goes behind the name of the field
   */
  constructor(field, message) {
    super(message);
    this.name = 'StageError';
    this.field = field;
  }
}

/**
 * @param {string} field
 * @param {'level' | 'duration'} type
 * @param {unknown} raw
 * @param {'rate' | 'concurrency'} level
 * @returns {number}
 */
function readField(field, type, raw, level) {
  if (raw === undefined || raw === null) throw new StageError(null, `has no ${field}`);
  try {
    const text = /** @type {string | number} */ (raw);
    if (type === 'duration') return parseDuration(text, field);
    return level === 'rate' ? parseLevel(text, field) : parseInFlight(text, field);
  } catch (error) {
    if (error instanceof StageError) throw error;
    const { message } = /** @type {Error} */ (error);
    throw new StageError(field, message.replace(`${field} is`, 'is').replace(/\.$/, ''));
  }
}

/**
 * A ramp may begin at nothing.
 *
 * @param {string | number} text
 * @param {string} field
 */
function parseLevel(text, field) {
  return /^0+(?:\.0+)?(?:\s*\/.*)?$/.test(String(text).trim()) ? 0 : parseRate(text, field);
}

/**
 * @param {string | number} text
 * @param {string} field
 */
function parseInFlight(text, field) {
  if (/^\d+$/.test(String(text).trim())) return Number(text);
  throw new StageError(
    field,
    `is ${JSON.stringify(text)}, which is not a whole number of requests in flight`,
  );
}

/**
 * @param {number} level
 * @param {number} durationMs
 * @returns {Line}
 */
function hold(level, durationMs) {
  return { durationMs, from: level, to: level };
}

const amount = z.union([z.number(), z.string()]);

/**
 * @returns {Record<string, z.ZodType>} for the declaration of a stage: each shape by its name, only one of which a stage may have
 */
export function shapeSchemas() {
  return Object.fromEntries(
    Object.entries(SHAPES).map(([name, { describe, fields, optional = {} }]) => {
      const keys = Object.keys(fields).flatMap((field) =>
        field === 'rate'
          ? [
              ['rate', amount.optional()],
              ['concurrency', amount.optional()],
            ]
          : [[field, field in optional ? amount.optional() : amount]],
      );
      return [name, z.strictObject(Object.fromEntries(keys)).describe(describe).optional()];
    }),
  );
}
