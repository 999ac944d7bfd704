/**
 * What a scenario may hold: one declaration that gives the validation and the published JSON Schema. Options of the target, of the
 * load and of operations are those of the command line, by the same names.
 */
import { z } from 'zod';
import { commonOptions } from '../../plan/common-options.js';
import { ENGINES, setupOptions } from '../../vault/setup/setup-plan.js';
import { amount, flag, optionSchemas } from './option-schema.js';
import { SHAPES } from './stages.js';
import { DECLARATION } from './variables.js';

/** @typedef {import('../../common/options.js').OptionSpec} OptionSpec */

export const SCENARIO_SCHEMA_ID = 'vault-pki-load/scenario/1';

/** Of the load, those that make no sense in a file that others run too. */
const NOT_IN_FILES = Object.freeze(['shard', 'start-at']);

/** What target and load may hold: the flags of these groups. */
export const targetOptions = optionsOf('Target', ['dev']);
export const loadOptions = optionsOf('Load', NOT_IN_FILES);

/** Lists longer than these are not written by people. */
const MOST = Object.freeze({ entries: 100, stages: 200, runs: 100, requirements: 100, env: 100, out: 20 });

/**
 * @param {string} group
 * @param {readonly string[]} without
 * @returns {Record<string, OptionSpec>}
 */
function optionsOf(group, without) {
  return Object.fromEntries(
    Object.entries(commonOptions).filter(([name, spec]) => spec.group === group && !without.includes(name)),
  );
}

/**
 * A group of settings; what it does not know is told with what it does, as names separated by commas.
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

/** What is held: which of them, is for the model to say. @type {[string, z.ZodType][]} */
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
  .describe('Make a PKI on each target before the first run, as the command setup does, and take it away');

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

/**
 * @param {readonly string[]} operations names
 */
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
