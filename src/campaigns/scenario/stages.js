/**
 * The shape of a stage -> straight lines of rate (open loop) or of requests in flight (closed loop). A new shape is one more
 * entry in SHAPES: the schema and the validation follow from it.
 */

import { usageError } from '../../common/errors.js';
import { readOne } from '../../common/options.js';
import { commonOptions } from '../../plan/common-options.js';

/** @import { Line } from '../../plan/load.js' */

/** @typedef {'rate' | 'concurrency'} Level unit of a stage's levels: requests a second, or requests in flight */
/** @typedef {Record<string, number>} Values levels per second or in flight, durations in ms */
/**
 * `fields`: all required; a pause may be 0; users write `level` as rate or, in a closed loop, concurrency. `check`: the
 * problem, as a sentence that names `--FIELD`; null: none
 * @typedef {{describe: string, fields: Record<string, 'level' | 'duration' | 'pause'>, lines: (values: Values) => Line[],
 *   check?: (values: Values) => string | null}} Shape
 */

/** More lines than this are a mistake, e.g. steps of 1/s up to 100,000/s. */
const MAX_LINES = 1000;

/** @param {number} level @param {number} durationMs */
const hold = (level, durationMs) => ({ durationMs, from: level, to: level });

/** @type {Omit<Shape, 'describe'>} */
const HOLD = {
  fields: { level: 'level', duration: 'duration' },
  lines: ({ level, duration }) => [hold(level, duration)],
};

/** @type {Readonly<Record<string, Shape>>} */
export const SHAPES = Object.freeze({
  hold: { describe: 'a constant level', ...HOLD },
  soak: { describe: 'the same as hold, for long runs', ...HOLD },
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
      const step = Math.sign(to - from) * by;
      return Array.from({ length: count + 1 }, (_, i) => hold(i === count ? to : from + i * step, every));
    },
    check: ({ from, to, by }) => {
      const count = Math.ceil(Math.abs(to - from) / by);
      if (by === 0) return '--by is 0; it must be above 0.';
      return count > MAX_LINES ? `--by makes ${count} steps; the limit is ${MAX_LINES}.` : null;
    },
  },
  burst: {
    describe: 'a recurring peak over a base; each period begins with the peak',
    fields: { base: 'level', peak: 'level', every: 'duration', for: 'duration', duration: 'duration' },
    lines: ({ base, peak, every, for: high, duration }) =>
      Array.from({ length: Math.ceil(duration / every) }, (_, i) => {
        const left = duration - i * every;
        return [hold(peak, Math.min(high, left)), hold(base, Math.max(0, Math.min(every, left) - high))];
      }).flat(),
    check: ({ every, for: high, duration }) => {
      const count = Math.ceil(duration / every);
      if (high >= every) return 'The peak (--for) must be shorter than the period (--every).';
      return count > MAX_LINES / 2 ? `--every makes ${count} bursts; the limit is ${MAX_LINES / 2}.` : null;
    },
  },
  spike: {
    describe: 'a base, one peak, and the base again',
    fields: { base: 'level', peak: 'level', before: 'pause', for: 'duration', after: 'pause' },
    lines: ({ base, peak, ...ms }) => [hold(base, ms.before), hold(peak, ms.for), hold(base, ms.after)],
  },
});

const { duration, rate, concurrency } = commonOptions;
const SPECS = Object.freeze({
  rate: { ...rate, min: 0 },
  concurrency: { ...concurrency, min: 0 },
  duration: { ...duration, min: 1 },
  pause: { ...duration, min: 0 },
});

/**
 * @param {string} shape key of SHAPES @param {Record<string, any>} given fields of the scenario @param {Level} level
 * @returns {Line[]} some may be at level 0
 * @throws {PkiLoadError} naming the field as `--FIELD`
 */
export function linesOf(shape, given, level) {
  const { fields, lines, check } = SHAPES[shape];
  const [other, model, otherModel] =
    level === 'rate' ? ['concurrency', 'open', 'closed'] : ['rate', 'closed', 'open'];
  if (given[other] !== undefined) {
    const remedy = `Write ${level}, or load: {model: ${otherModel}}.`;
    throw usageError('bad_stage', `--${other} conflicts with the ${model} loop of the load.`, remedy);
  }
  const values = Object.fromEntries(
    Object.entries(fields).map(([field, type]) => {
      const name = field === 'level' ? level : field;
      if (given[name] === undefined) throw usageError('bad_stage', `--${shape} has no ${name}.`);
      return [field, readOne(SPECS[type === 'level' ? level : type], `--${name}`, given[name])];
    }),
  );
  const fault = check?.(values) ?? null;
  if (fault !== null) throw usageError('bad_stage', fault);
  return lines(values).filter(({ durationMs }) => durationMs > 0);
}
