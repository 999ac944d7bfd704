/** The keys of a scenario, for validation and for the published JSON Schema; options are those of the command line. */
import { z } from 'zod';
import { PkiLoadError } from '../../common/errors.js';
import { readOne } from '../../common/options.js';
import { DURATION_PATTERN, RATE_PATTERN, WHOLE_PATTERN } from '../../common/units.js';
import { loadOperation, operations } from '../../operations/index.js';
import { optionsOf } from '../../plan/common-options.js';
import { parseRequirement } from '../../plan/requirements.js';
import { reporterForFile } from '../../report/index.js';
import { MAX_GROUPS } from '../../result/comparison/comparison-schema.js';
import { checkName, ENGINES, setupOptions } from '../../vault/setup/setup-plan.js';
import { SHAPES } from './stages.js';
import { DECLARATION } from './variables.js';

/** @import { OptionSpec } from '../../common/options.js' */
/** @import { Path } from './source.js' */

/** @typedef {Record<string, Record<string, OptionSpec>>} OperationOptions by operation */

/** Amounts as text, for editors. A level is a rate that may be 0. */
const PATTERNS = Object.freeze({
  duration: DURATION_PATTERN,
  rate: RATE_PATTERN,
  level: RATE_PATTERN,
  integer: WHOLE_PATTERN,
  milliseconds: '\\d+(\\.\\d+)?',
});

/** @param {keyof typeof PATTERNS} kind @returns {z.ZodType<string | number>} its bounds are for editors, too */
function amount(kind) {
  const bounds = kind === 'rate' ? { exclusiveMinimum: 0 } : { minimum: 0 };
  const number = z.number().meta(kind === 'integer' ? { ...bounds, type: 'integer' } : bounds);
  return z.union([number, z.string().meta({ pattern: `^\\s*(${PATTERNS[kind]}|.*\\$\\{.*)\\s*$` })]);
}

const reference = z.string().meta({ pattern: '\\$\\{\\w+\\}' });

/** A variable is text, e.g. `weight: ${WEIGHT}`; editors accept the reference. @template {z.ZodType} Schema @param {Schema} schema */
function orVariable(schema) {
  const plain = reference.transform((text) =>
    /^\s*(true|false|(0|[1-9]\d*)(\.\d+)?)\s*$/.test(text) ? JSON.parse(text) : text,
  );
  return z.union([schema, plain.pipe(schema)]);
}

const flag = orVariable(z.boolean());

/** @param {readonly string[]} choices some may look like numbers: `http: 1.1` @returns {z.ZodType} */
function choice(choices) {
  const numbers = choices.filter((text) => /^\d+(\.\d+)?$/.test(text)).map(Number);
  return orVariable(z.literal([...choices, ...numbers]).transform(String));
}

/**
 * @template {z.ZodType} Schema @param {Schema} schema
 * @param {(value: z.output<Schema>) => unknown} read throws a PkiLoadError for an invalid value @returns {Schema}
 */
function readable(schema, read) {
  return schema.check(({ value, issues }) => {
    try {
      read(/** @type {any} */ (value));
    } catch (error) {
      if (!(error instanceof PkiLoadError)) throw error;
      // The path already names the option.
      issues.push(problem([], error.message.replace(/^--[\w-]+ /, ''), error.remedy));
    }
  });
}

/**
 * @param {Path} path @param {string} message @param {string} [remedy]
 * @param {'value' | 'key' | 'missing'} [about] `missing`: reported after an unknown key, which may be a misspelling
 */
function problem(path, message, remedy, about = 'value') {
  const code = /** @type {const} */ ('custom');
  return { code, input: undefined, path, message, params: { remedy, about } };
}

/** @param {string} name kebab-case @param {OptionSpec} spec @returns {z.ZodType} */
function optionSchema(name, spec) {
  const { type, choices = [], repeatable = false } = spec;
  if (type === 'flag') return flag;
  if (type === 'choice') return choice(choices);
  // A list of numbers, e.g. of statuses, needs no quotes.
  const word = z.union([z.string(), z.int()]);
  const plain = type in PATTERNS ? amount(/** @type {keyof typeof PATTERNS} */ (type)) : z.string();
  const kinds = type === 'list' ? z.union([word, z.array(word)]) : plain;
  const single = readable(kinds, (value) => readOne(spec, `--${name}`, value));
  return repeatable ? z.union([single, z.array(single)]) : single;
}

/** @param {Record<string, OptionSpec>} specs @returns {Record<string, z.ZodType>} by kebab-case name */
function optionSchemas(specs) {
  const schemas = Object.entries(specs).map(([name, spec]) => {
    const { default: fallback, defaultText } = spec;
    const description = `${spec.describe}${defaultText === undefined ? '' : ` [default: ${defaultText}]`}`;
    const texts = fallback === undefined ? { description } : { description, default: fallback };
    return [name, optionSchema(name, spec).meta(texts).optional()];
  });
  return Object.fromEntries(schemas);
}

/** The message of an unknown key lists the known keys; `-`: none. @template {Record<string, z.ZodType>} Shape @param {Shape} shape */
function settings(shape) {
  const known = Object.keys(shape).filter((key) => key !== '$schema');
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? known.join(', ') || '-' : undefined),
  });
}

/** For editors. @param {string[]} keys exactly one is required */
const oneOf = (keys) => ({ oneOf: keys.map((key) => ({ required: [key] })) });

/**
 * @template {z.ZodType<any[]>} List
 * @param {List} entries whose names must differ @param {string} [otherKey] used if `name` is missing @returns {List}
 */
function uniquelyNamed(entries, otherKey = 'name') {
  return entries.check(({ value, issues }) => {
    const names = value.map((entry) => entry.name ?? entry[otherKey]);
    for (const [i, name] of names.entries()) {
      if (name === undefined || names.indexOf(name) === i) continue;
      const path = [i, value[i].name === undefined ? otherKey : 'name'];
      const text = `is ${JSON.stringify(name)}, the name of another entry`;
      issues.push(problem(path, text, 'Use a different name for each entry.'));
    }
  });
}

/** Messages of regular expressions follow `must`. */
const NAME = /^(?!__proto__$)[^\p{Cc}\p{Bidi_Control}\u2028\u2029]*$/u;
const name = z.string().trim().min(1).max(200).regex(NAME, 'not contain control characters, or be __proto__');

/** @template {z.ZodType} Schema @param {Schema} schema @param {string} describe */
const optional = (schema, describe) => schema.describe(describe).optional();

/** @template {z.ZodType} Schema @param {Schema} schema @param {number} max */
const oneOrMore = (schema, max) => z.union([schema, z.array(schema).max(max)]);

/** @template {z.ZodType} Schema @param {Schema} schema @param {number} [max] */
const list = (schema, max = 100) => z.array(schema).min(1).max(max);

/** Command-line options, except those for one machine or one run. */
export const targetOptions = optionsOf('Target', ['dev', 'tls', 'connect-to']);
export const loadOptions = optionsOf('Load', ['shard', 'start-at']);

const requirements = optional(
  oneOrMore(readable(z.string(), parseRequirement), 100),
  "Requirements, e.g. 'p99<200ms', 'rate>=1000/h', 'errors<0.1%'",
);

/** @param {string[]} names of operations @param {OperationOptions} options of the checked operations */
function entrySchema(names, options) {
  return settings({
    operation: orVariable(z.enum(names)).describe('Operation to send'),
    name: optional(name, 'Name in results; by default that of the operation'),
    weight: optional(
      orVariable(z.number().positive().max(1e9)),
      'Share of the requests, in proportion to all weights; by default 1',
    ),
    options: optional(z.record(z.string(), z.unknown()), 'Options of the operation, named like its flags'),
    require: requirements,
  })
    .check(({ value: { operation, options: given }, issues }) => {
      const { error } = settings(optionSchemas(options[operation] ?? {})).safeParse(given ?? {});
      for (const issue of error?.issues ?? []) {
        issues.push(/** @type {any} */ ({ ...issue, path: ['options', ...issue.path] }));
      }
    })
    .meta({
      allOf: names.map((operation) => ({
        if: { properties: { operation: { const: operation } }, required: ['operation'] },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { properties: { options: { $ref: `#/$defs/options-of-${operation}` } } },
      })),
    });
}

/** @param {keyof typeof SHAPES} shape */
function shapeSchema(shape) {
  const { describe, fields } = SHAPES[shape];
  const { level, ...others } = fields;
  const kindOf = (/** @type {string} */ type) => (type === 'level' ? 'level' : 'duration');
  const entries = Object.entries(others).map(([field, type]) => [field, amount(kindOf(type))]);
  if (level === undefined) return settings(Object.fromEntries(entries)).describe(describe);
  // The model of the load determines which of the two is required.
  const levels = { rate: amount('level').optional(), concurrency: amount('integer').optional() };
  const schema = settings({ ...levels, ...Object.fromEntries(entries) });
  return schema.meta({ description: describe, ...oneOf(Object.keys(levels)) });
}

function stageSchema() {
  const shapes = Object.keys(SHAPES);
  return settings({
    name: optional(name, 'Name in results'),
    ...Object.fromEntries(shapes.map((shape) => [shape, shapeSchema(shape).optional()])),
    require: requirements,
  })
    .check(({ value, issues }) => {
      const { length } = shapes.filter((shape) => /** @type {any} */ (value)[shape] !== undefined);
      if (length === 1) return;
      issues.push(problem([], `has ${length} shapes`, `Set one of ${shapes.join(', ')}.`, 'missing'));
    })
    .meta(oneOf(shapes));
}

const engine = orVariable(z.enum(ENGINES));
const setup = z.union([
  flag,
  settings({
    ...optionSchemas(setupOptions),
    name: optional(readable(z.string(), checkName), setupOptions.name.describe),
    with: optional(z.union([engine, z.array(engine)]), `Engines besides the PKI: ${ENGINES.join(', ')}`),
    keep: optional(flag, 'Keep the setup after the last run; by default it is removed'),
  }),
]);

/** Not a variable of readEnvironment: its value, such as the address, would be redacted in the dry run. */
const TOKEN_VARIABLE =
  /^(?!(?:BAO|VAULT)_(?:ADDR|CACERT|CAPATH|CLIENT_\w+|NAMESPACE|SKIP_VERIFY|TLS_SERVER_NAME)$)[A-Za-z_]\w*$/;

const target = {
  ...optionSchemas(targetOptions),
  'token-env': optional(
    z.string().regex(TOKEN_VARIABLE, 'be the name of an environment variable with a token'),
    'Environment variable of the token; by default BAO_TOKEN, VAULT_TOKEN or ~/.vault-token',
  ),
};

/** @param {string[]} names of operations @param {OperationOptions} [options] of the checked operations */
export function scenarioSchema(names, options = {}) {
  const parts = {
    load: settings({
      model: optional(orVariable(z.enum(['open', 'closed'])), 'open: at a rate; closed: a number in flight'),
      ...optionSchemas(loadOptions),
    }).optional(),
    mix: optional(uniquelyNamed(list(entrySchema(names, options)), 'operation'), 'Operations, by weight'),
    stages: optional(uniquelyNamed(list(stageSchema(), 200)), 'The load over time'),
    require: requirements,
  };
  const variable = z.string().regex(DECLARATION, 'be NAME or NAME=DEFAULT of an environment variable');
  const named = settings({ name: name.describe('Name in results'), ...target });
  const pause = optionSchema('pause', { type: 'duration', group: '', describe: '', max: 86_400_000 });
  return settings({
    $schema: z.string().optional(),
    name: name.describe('Name in results'),
    description: z.string().max(10_000).optional(),
    env: optional(z.array(variable).max(100), `Environment variables for \${NAME}: NAME or NAME=DEFAULT`),
    setup: optional(setup, 'Create a PKI on each target, as setup does, and remove it at the end'),
    target: settings(target).optional(),
    targets: optional(uniquelyNamed(list(named, MAX_GROUPS)), 'Several targets, in turn'),
    ...parts,
    runs: optional(
      uniquelyNamed(list(settings({ name, ...parts }))),
      'Several runs; each inherits missing fields from the scenario',
    ),
    repeat: optional(orVariable(z.int().min(1).max(1000)), 'Number of times to run everything'),
    pause: optional(pause, 'Pause between runs'),
    out: optional(oneOrMore(readable(z.string(), reporterForFile), 20), 'Files for the results, like --out'),
  })
    .check(({ value, issues }) => {
      if (value.target !== undefined && value.targets !== undefined) {
        issues.push(problem(['targets'], 'conflicts with target', 'Remove one of them.', 'key'));
      }
      for (const [i, run] of (value.runs ?? [value]).entries()) {
        if ((run.mix ?? value.mix) !== undefined) continue;
        const path = value.runs === undefined ? [] : ['runs', i];
        const text = `${JSON.stringify(run.name)} has no mix of operations`;
        issues.push(problem(path, text, 'Add mix: [{operation: issue}].', 'missing'));
      }
    })
    .meta({
      title: 'vault-pki-load scenario',
      allOf: [
        { not: { required: ['target', 'targets'] } },
        { anyOf: [{ required: ['mix'] }, { required: ['runs'] }] },
      ],
    });
}

/** @typedef {z.infer<ReturnType<typeof scenarioSchema>>} Scenario */

/** @returns {Promise<Record<string, unknown>>} the JSON Schema (draft 2020-12) for editors */
export async function schemaOfScenarios() {
  const toJson = (/** @type {z.ZodType} */ schema) =>
    z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input' });
  const names = Object.keys(operations);
  const { $schema, ...rest } = toJson(scenarioSchema(names));
  /** @type {Record<string, unknown>} */
  const $defs = {};
  for (const operation of names) {
    const { options } = await loadOperation(operation);
    const { $schema: _, ...schema } = toJson(settings(optionSchemas(options)));
    $defs[`options-of-${operation}`] = schema;
  }
  return { $schema, $id: 'vault-pki-load/scenario/1', ...rest, $defs };
}
