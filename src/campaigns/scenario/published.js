/** The published JSON Schema of scenarios, by which editors complete and check them. */
import { z } from 'zod';
import { camelCase } from '../../common/options.js';
import { loadOperation, operations } from '../../operations/index.js';
import { optionSchemas, SCENARIO_SCHEMA_ID, scenarioSchema } from './declaration.js';
import { SHAPES } from './stages.js';

/** @import { OptionSpec } from '../../common/options.js' */

const DRAFT = /** @type {const} */ ({ target: 'draft-2020-12', io: 'input' });

/** What may stand in place of a number, a choice or true and false. */
const VARIABLE = Object.freeze({ $ref: '#/$defs/variable' });

/** @returns {Promise<Record<string, unknown>>} the JSON Schema of scenarios of all operations that there are */
export async function schemaOfScenarios() {
  /** @type {Record<string, Record<string, OptionSpec>>} */
  const options = {};
  for (const name of Object.keys(operations)) options[name] = (await loadOperation(name)).options;
  return scenarioJsonSchema(options);
}

/**
 * @param {Record<string, Record<string, OptionSpec>>} options of each operation, by its name
 * @returns {Record<string, unknown>} the JSON Schema (draft 2020-12), with the options of each operation
 */
function scenarioJsonSchema(options) {
  const names = Object.keys(options);
  const { $schema, ...rest } = z.toJSONSchema(scenarioSchema(names), DRAFT);
  const $defs = Object.fromEntries(
    Object.entries(options).map(([operation, specs]) => {
      const { $schema: _, ...own } = z.toJSONSchema(z.strictObject(bothSpellings(specs)), DRAFT);
      return [`options-of-${operation}`, published(own, names)];
    }),
  );
  return {
    $schema,
    $id: SCENARIO_SCHEMA_ID,
    ...published(rest, names),
    allOf: [
      { not: { required: ['target', 'targets'] } },
      { anyOf: [{ required: ['mix'] }, { required: ['runs'] }] },
    ],
    $defs: {
      variable: { type: 'string', pattern: '\\$\\{\\w+\\}', description: 'An environment variable, see env' },
      ...$defs,
    },
  };
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
 * @returns {any} the same, with what zod's declaration does not say
 */
function published(node, operations) {
  const own = withInner(node, operations);
  if (Array.isArray(own) || typeof own !== 'object' || own === null) return own;
  const { properties, anyOf } = own;
  if (properties?.operation !== undefined) return withOptions(own, operations);
  if (properties?.hold !== undefined) return withOneOf(own, Object.keys(SHAPES));
  if (
    properties?.rate !== undefined &&
    properties.concurrency !== undefined &&
    properties.model === undefined
  ) {
    return withOneOf(own, ['rate', 'concurrency']);
  }
  if (anyOf?.some(isNoText) && !anyOf.some(isText)) return { ...own, anyOf: [...anyOf, VARIABLE] };
  return isNoText(own) ? orVariable(own) : own;
}

/** @param {any} node @param {string[]} operations @returns {any} */
function withInner(node, operations) {
  if (Array.isArray(node)) return node.map((one) => published(one, operations));
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      // What may stand in place of one of several kinds may stand in place of all.
      key === 'anyOf'
        ? value.map((/** @type {any} */ one) => withInner(one, operations))
        : published(value, operations),
    ]),
  );
}

/** @param {any} node */
function isText({ type, enum: choices }) {
  return type === 'string' && choices === undefined;
}

/** A variable, which is a text, would not do there. @param {any} node */
function isNoText({ type, enum: choices }) {
  return choices !== undefined || type === 'number' || type === 'integer' || type === 'boolean';
}

/** @param {any} node */
function orVariable({ description, default: fallback, ...node }) {
  return {
    ...(description === undefined ? {} : { description }),
    ...(fallback === undefined ? {} : { default: fallback }),
    anyOf: [node, VARIABLE],
  };
}

/** @param {any} node @param {string[]} keys of which there must be exactly one */
function withOneOf(node, keys) {
  return { ...node, oneOf: keys.map((key) => ({ required: [key] })) };
}

/**
 * @param {any} entry of a mix
 * @param {string[]} operations
 * @returns {any} the same; its operation determines its options
 */
function withOptions(entry, operations) {
  const allOf = operations.map((operation) => ({
    if: { properties: { operation: { const: operation } }, required: ['operation'] },
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so
    then: { properties: { options: { $ref: `#/$defs/options-of-${operation}` } } },
  }));
  return { ...entry, allOf };
}
