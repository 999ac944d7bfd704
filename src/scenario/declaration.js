/**
 * What a scenario may hold: one declaration that gives the validation and the published JSON Schema. Options of the target, of the
 * load and of operations are those of the command line, by the same names.
 */
import { z } from 'zod';
import { commonOptions } from '../common-options.js';
import { camelCase } from '../options.js';
import { shapeSchemas } from './stages.js';

/** @typedef {import('../options.js').OptionSpec} OptionSpec */

export const SCENARIO_SCHEMA_ID = 'vault-pki-load/scenario/1';

/** Of the load, those that make no sense in a file that others run too. */
const NOT_IN_FILES = Object.freeze(['shard', 'start-at']);

/** What target and load may hold: the flags of these groups. */
export const targetOptions = optionsOf('Target', ['dev']);
export const loadOptions = optionsOf('Load', NOT_IN_FILES);

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
 * A group of settings; what it does not know is told with what it does.
 *
 * @template {Record<string, z.ZodType>} Shape
 * @param {Shape} shape
 */
function settings(shape) {
  const known = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `${issue.keys.join(', ')}: not known here; known are ${known}`
        : undefined,
  });
}

/**
 * @param {Record<string, OptionSpec>} specs
 * @returns {Record<string, z.ZodType>} by kebab-case name
 */
export function optionSchemas(specs) {
  return Object.fromEntries(
    Object.entries(specs).map(([name, spec]) => [
      name,
      optionSchema(spec).describe(spec.describe).optional(),
    ]),
  );
}

/**
 * Whether a value will do is for options.js to say; this is what kind it is.
 *
 * @param {OptionSpec} spec
 * @returns {z.ZodType}
 */
function optionSchema({ type, choices = [], repeatable = false }) {
  const amount = z.union([z.number(), z.string()]);
  const one =
    type === 'flag'
      ? z.boolean()
      : type === 'choice'
        ? z.enum(/** @type {[string, ...string[]]} */ ([...choices]))
        : type === 'integer' || type === 'duration' || type === 'rate' || type === 'milliseconds'
          ? amount
          : z.string();
  return repeatable || type === 'list' ? z.union([one, z.array(one)]) : one;
}

const name = z.string().min(1).max(200);
const requirements = z
  .array(z.string())
  .describe("Requirements, e.g. 'p99<200ms', 'rate>=1000/h', 'errors<0.1%'");

/**
 * @param {readonly string[]} operations names
 */
export function scenarioSchema(operations) {
  const entry = settings({
    operation: z.enum(/** @type {[string, ...string[]]} */ ([...operations])).describe('What is sent'),
    name: name.describe('In results; the name of the operation where it is left out').optional(),
    weight: z.number().positive().describe('Its share of the requests is this of the sum; 1').optional(),
    options: z.record(z.string(), z.unknown()).describe("The operation's own, as its flags").optional(),
    require: requirements.optional(),
  });
  const stage = settings({
    name: name.describe('In results').optional(),
    ...shapeSchemas(),
    require: requirements.optional(),
  });
  const parts = {
    load: settings({
      model: z
        .enum(['open', 'closed'])
        .describe('open: requests are due at a rate; closed: so many in flight')
        .optional(),
      ...optionSchemas(loadOptions),
    }).optional(),
    mix: z.array(entry).min(1).describe('Operations, by weight').optional(),
    stages: z.array(stage).min(1).describe('How the load goes, one after the other').optional(),
    require: requirements.optional(),
  };
  const target = {
    ...optionSchemas(targetOptions),
    'token-env': z
      .string()
      .regex(/^[A-Za-z_]\w*$/, 'is not the name of an environment variable')
      .describe('Environment variable that holds the token; else BAO_TOKEN, VAULT_TOKEN or ~/.vault-token')
      .optional(),
  };
  return settings({
    $schema: z.string().optional(),
    name,
    description: z.string().optional(),
    env: z
      .array(z.string().regex(/^[A-Za-z_]\w*$/, 'is not the name of an environment variable'))
      .describe('Environment variables that may stand in this file, as ${NAME}')
      .optional(),
    target: settings(target).optional(),
    targets: z
      .array(settings({ name: name.describe('In results'), ...target }))
      .min(1)
      .describe('Several, which take turns')
      .optional(),
    ...parts,
    runs: z
      .array(settings({ name, ...parts }))
      .min(1)
      .describe('Several, one after the other; what one of them leaves out is that of the scenario')
      .optional(),
    repeat: z.int().min(1).max(1000).describe('Run it all so often').optional(),
    pause: z.union([z.number(), z.string()]).describe('Between runs').optional(),
    out: z
      .union([z.string(), z.array(z.string())])
      .describe('Files for the results, as --out')
      .optional(),
  }).meta({ title: 'A scenario of vault-pki-load' });
}

/** @typedef {z.infer<ReturnType<typeof scenarioSchema>>} Scenario */

/**
 * @param {Record<string, Record<string, OptionSpec>>} options of each operation, by its name
 * @returns {Record<string, unknown>} the JSON Schema (draft 2020-12), with the options of each operation
 */
export function scenarioJsonSchema(options) {
  const schema = scenarioSchema(Object.keys(options));
  const { $schema, ...rest } = z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input' });
  const $defs = Object.fromEntries(
    Object.entries(options).map(([operation, specs]) => {
      const { $schema: _, ...own } = z.toJSONSchema(z.strictObject(bothSpellings(specs)), {
        target: 'draft-2020-12',
        io: 'input',
      });
      return [`options-of-${operation}`, own];
    }),
  );
  return { $schema, $id: SCENARIO_SCHEMA_ID, ...withOptions(rest, Object.keys(options)), $defs };
}

/** @param {Record<string, OptionSpec>} specs */
function bothSpellings(specs) {
  const schemas = optionSchemas(specs);
  return {
    ...Object.fromEntries(Object.entries(schemas).map(([key, schema]) => [camelCase(key), schema])),
    ...schemas,
  };
}

/**
 * @param {any} node of a JSON Schema
 * @param {string[]} operations
 * @returns {any} the same; an entry of a mix says by its operation which options it takes
 */
function withOptions(node, operations) {
  if (Array.isArray(node)) return node.map((one) => withOptions(one, operations));
  if (typeof node !== 'object' || node === null) return node;
  const own = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, withOptions(value, operations)]),
  );
  if (own.properties?.operation === undefined || own.properties.options === undefined) return own;
  const allOf = operations.map((operation) => ({
    if: { properties: { operation: { const: operation } }, required: ['operation'] },
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so
    then: { properties: { options: { $ref: `#/$defs/options-of-${operation}` } } },
  }));
  return { ...own, allOf };
}
