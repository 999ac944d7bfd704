/** Of which kind the value of an option is, in a scenario. Whether it will do is for options.js to say. */
import { z } from 'zod';

/** @typedef {import('../../common/options.js').OptionSpec} OptionSpec */

/** As in units.js; a value may come from a variable. Only editors are told: units.js says better what is wrong. */
const NUMBER = '(\\d[\\d_]*(\\.\\d+)?|\\.\\d+)(e\\d+)?';
const VARIABLE = '.*\\$\\{.*';
const PATTERNS = Object.freeze({
  duration: `^\\s*(${NUMBER}|(${NUMBER}\\s*(us|µs|μs|ms|min|s|m|h|d)\\s*)+|${VARIABLE})\\s*$`,
  rate: `^\\s*(${NUMBER}(\\s*/\\s*(s|sec|min|m|hour|h|day|d))?|${VARIABLE})\\s*$`,
  integer: `^\\s*([\\d_]*\\d[\\d_]*|${VARIABLE})\\s*$`,
  milliseconds: `^\\s*(\\d+(\\.\\d+)?|${VARIABLE})\\s*$`,
});

/**
 * @param {'duration' | 'rate' | 'integer' | 'milliseconds' | 'level'} kind a level is a rate that may be 0
 * @returns {z.ZodType<string | number>}
 */
export function amount(kind) {
  const isWhole = kind === 'integer';
  const bound = kind === 'rate' ? { exclusiveMinimum: 0 } : { minimum: 0 };
  return z.union([
    z.number().meta({ ...(isWhole ? { type: 'integer' } : {}), ...bound }),
    z.string().meta({ pattern: PATTERNS[kind === 'level' ? 'rate' : kind] }),
  ]);
}

/**
 * @param {Record<string, OptionSpec>} specs
 * @returns {Record<string, z.ZodType>} by kebab-case name
 */
export function optionSchemas(specs) {
  return Object.fromEntries(
    Object.entries(specs).map(([name, spec]) => [name, optionSchema(spec).meta(textsOf(spec)).optional()]),
  );
}

/** @param {OptionSpec} spec what editors show of it */
function textsOf({ describe, default: fallback, defaultText }) {
  if (fallback !== undefined && defaultText === undefined)
    return { description: describe, default: fallback };
  return { description: defaultText === undefined ? describe : `${describe} [default: ${defaultText}]` };
}

/**
 * @param {OptionSpec} spec
 * @returns {z.ZodType}
 */
export function optionSchema({ type, choices = [], repeatable = false }) {
  if (type === 'flag') return flag;
  if (type === 'choice') return choice(choices);
  // Statuses, say: a list of numbers is one of texts that need no quotes.
  if (type === 'list') return z.union([z.string(), z.int(), z.array(z.union([z.string(), z.int()]))]);
  const one =
    type === 'integer' || type === 'duration' || type === 'rate' || type === 'milliseconds'
      ? amount(type)
      : z.string();
  return repeatable ? z.union([one, z.array(one)]) : one;
}

/** A variable's value is a text. */
export const flag = z.preprocess(
  (value) => (value === 'true' ? true : value === 'false' ? false : value),
  z.boolean(),
);

/**
 * @param {readonly string[]} choices of which some may look like numbers: `kv-version: 2`
 * @returns {z.ZodType}
 */
function choice(choices) {
  const numbers = choices.filter((text) => /^\d+$/.test(text)).map(Number);
  const texts = z.enum(/** @type {[string, ...string[]]} */ ([...choices]));
  if (numbers.length === 0) return texts;
  return z.preprocess(
    (value) => (typeof value === 'number' ? String(value) : value),
    texts.meta({ type: ['string', 'integer'], enum: [...choices, ...numbers] }),
  );
}
