/** The published JSON Schema of scenarios, and what it says of a text. */
import { readFileSync, writeFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parseDocument } from 'yaml';
import { schemaOfScenarios } from '../../src/scenario/published.js';

const FILE = new URL('../../src/scenario/scenario.schema.json', import.meta.url);

/** @returns {Promise<Record<string, unknown>>} what the declarations say */
export async function declaredSchema() {
  return JSON.parse(JSON.stringify(await schemaOfScenarios()));
}

/**
 * `UPDATE_GOLDEN=1 node --test test/scenario/schema.test.js && npx biome format --write src/scenario` writes it anew.
 *
 * @returns {Promise<Record<string, unknown>>}
 */
export async function publishedSchema() {
  if (process.env.UPDATE_GOLDEN === '1') {
    writeFileSync(FILE, `${JSON.stringify(await declaredSchema(), null, 2)}\n`);
  }
  return JSON.parse(readFileSync(FILE, 'utf8'));
}

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false });

/** @param {Record<string, unknown>} schema */
export function compile(schema) {
  const valid = ajv.compile(schema);
  /** @param {string} text @returns {{isValid: boolean, errors: string}} of what is YAML at all */
  return (text) => {
    const document = parseDocument(text, { stringKeys: true, logLevel: 'error' });
    if (document.errors.length + document.warnings.length > 0) return { isValid: false, errors: 'not YAML' };
    const isValid = /** @type {boolean} */ (valid(JSON.parse(JSON.stringify(document.toJS()) ?? 'null')));
    return { isValid, errors: ajv.errorsText(valid.errors) };
  };
}
