/**
 * What a scenario may hold: one declaration that gives the validation and the published JSON Schema. Options of the target, of the
 * load and of operations are those of the command line, by the same names.
 */
import { z } from 'zod';
import { commonOptions } from '../../plan/common-options.js';
import { ENGINES, setupOptions } from '../../vault/setup/setup-plan.js';
import { SHAPES } from './stages.js';
import { DECLARATION } from './variables.js';

/** @import { OptionSpec } from '../../common/options.js' */

/** As in units.js; a value may come from a variable. For editors only: units.js has better messages. */
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
function amount(kind) {
  const isWhole = kind === 'integer';
  const bound = kind === 'rate' ? { exclusiveMinimum: 0 } : { minimum: 0 };
  return z.union([
    z.number().meta({ ...(isWhole ? { type: 'integer' } : {}), ...bound }),
    z.string().meta({ pattern: PATTERNS[kind === 'level' ? 'rate' : kind] }),
  ]);
}

/** @param {Record<string, OptionSpec>} specs @returns {Record<string, z.ZodType>} by kebab-case name */
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

/** @param {OptionSpec} spec @returns {z.ZodType} */
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
const flag = z.preprocess(
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

export const SCENARIO_SCHEMA_ID = 'vault-pki-load/scenario/1';

/** Of the load, those that make no sense in a file that others run too. */
const NOT_IN_FILES = Object.freeze(['shard', 'start-at']);

/** What target and load may hold: the flags of these groups. */
export const targetOptions = optionsOf('Target', ['dev']);
export const loadOptions = optionsOf('Load', NOT_IN_FILES);

const MOST = Object.freeze({ entries: 100, stages: 200, runs: 100, requirements: 100, env: 100, out: 20 });

/** @param {string} group @param {readonly string[]} without @returns {Record<string, OptionSpec>} */
function optionsOf(group, without) {
  return Object.fromEntries(
    Object.entries(commonOptions).filter(([name, spec]) => spec.group === group && !without.includes(name)),
  );
}

/**
 * A group of settings; the error of an unknown key lists the known ones, separated by commas.
 *
 * @template {Record<string, z.ZodType>} Shape
 * @param {Shape} shape
 */
function settings(shape) {
  const known = Object.keys(shape)
    .filter((key) => key !== '$schema')
    .join(', ');
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? known : undefined),
  });
}

/** A variable's value is a text: `weight: ${WEIGHT}`. @param {unknown} value */
const asNumber = (value) =>
  typeof value === 'string' && /^\s*\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : value;

const name = z
  .string()
  .trim()
  .min(1)
  .max(200)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  .regex(/^[^\u0000-\u001f\u007f]*$/, 'holds a line break or another control character');

const requirements = z
  .union([z.string(), z.array(z.string()).max(MOST.requirements)])
  .describe("Requirements, e.g. 'p99<200ms', 'rate>=1000/h', 'errors<0.1%'");

/** @param {readonly string[]} operations names */
function entrySchema(operations) {
  return settings({
    operation: z.enum(/** @type {[string, ...string[]]} */ ([...operations])).describe('What is sent'),
    name: name.describe('In results; the name of the operation where it is left out').optional(),
    weight: z
      .preprocess(asNumber, z.number().positive().max(1e9))
      .describe('Its share of the requests is this of the sum; 1')
      .optional(),
    options: z.record(z.string(), z.unknown()).describe("The operation's own, as its flags").optional(),
    require: requirements.optional(),
  });
}

/** Levels to hold: the model decides which. @type {[string, z.ZodType][]} */
const EITHER = [
  ['rate', amount('level').optional()],
  ['concurrency', amount('integer').optional()],
];

/** Each shape by its name, only one of which a stage may have. */
function stageSchema() {
  /** @type {[string, z.ZodType][]} */
  const shapes = Object.entries(SHAPES).map(([shape, { describe, fields }]) => {
    /** @type {[string, z.ZodType][]} */
    const keys = Object.entries(fields).flatMap(([field, type]) =>
      field === 'level' ? EITHER : [[field, amount(type === 'level' ? 'level' : 'duration')]],
    );
    return [shape, settings(Object.fromEntries(keys)).describe(describe).optional()];
  });
  return settings({
    name: name.describe('In results').optional(),
    ...Object.fromEntries(shapes),
    require: requirements.optional(),
  });
}

const setup = z
  .union([
    flag,
    settings({
      ...optionSchemas(setupOptions),
      with: z
        .union([z.enum(ENGINES), z.array(z.enum(ENGINES))])
        .describe(`Beside the PKI: ${ENGINES.join(', ')}; one name or a list`)
        .optional(),
      keep: flag.describe('Leave it there after the last run; else it is removed').optional(),
    }),
  ])
  .describe(
    'Make a PKI on each target before the first run, as the command setup does, and remove it afterwards',
  );

const target = {
  ...optionSchemas(targetOptions),
  'token-env': z
    .string()
    .regex(/^[A-Za-z_]\w*$/, 'is not the name of an environment variable')
    .describe('Environment variable that holds the token; else BAO_TOKEN, VAULT_TOKEN or ~/.vault-token')
    .optional(),
};

/** @param {readonly string[]} operations names */
function partSchemas(operations) {
  return {
    load: settings({
      model: z
        .enum(['open', 'closed'])
        .describe('open: requests are due at a rate; closed: so many in flight')
        .optional(),
      ...optionSchemas(loadOptions),
    }).optional(),
    mix: z
      .array(entrySchema(operations))
      .min(1)
      .max(MOST.entries)
      .describe('Operations, by weight')
      .optional(),
    stages: z
      .array(stageSchema())
      .min(1)
      .max(MOST.stages)
      .describe('How the load goes, one after the other')
      .optional(),
    require: requirements.optional(),
  };
}

/** @param {readonly string[]} operations names */
export function scenarioSchema(operations) {
  const parts = partSchemas(operations);
  return settings({
    $schema: z.string().optional(),
    name: name.describe('In results'),
    description: z.string().max(10_000).optional(),
    env: z
      .array(z.string().regex(DECLARATION, 'is neither NAME nor NAME=DEFAULT of an environment variable'))
      .max(MOST.env)
      .describe(`Environment variables that may stand in this file, as \${NAME}; NAME=DEFAULT has a default`)
      .optional(),
    setup: setup.optional(),
    target: settings(target).optional(),
    targets: z
      .array(settings({ name: name.describe('In results'), ...target }))
      .min(1)
      .max(MOST.runs)
      .describe('Several, which take turns')
      .optional(),
    ...parts,
    runs: z
      .array(settings({ name, ...parts }))
      .min(1)
      .max(MOST.runs)
      .describe('Several, one after the other; what one of them leaves out is that of the scenario')
      .optional(),
    repeat: z.preprocess(asNumber, z.int().min(1).max(1000)).describe('Run it all so often').optional(),
    pause: amount('duration').describe('Between runs').optional(),
    out: z
      .union([z.string(), z.array(z.string()).max(MOST.out)])
      .describe('Files for the results, as --out')
      .optional(),
  }).meta({ title: 'A scenario of vault-pki-load' });
}

/** @typedef {z.infer<ReturnType<typeof scenarioSchema>>} Scenario */
