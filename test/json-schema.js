/** What a validator that is not ours says of a document, by the JSON Schema that is published. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { schemaOf } from '../src/cli/schema.js';
/** @import { SchemaKind } from '../src/cli/schema.js' */
/** @import { FormatsPlugin } from 'ajv-formats' */

/**
 * @param {Record<string, unknown>} schema
 * @returns {(value: unknown) => string | null} what is wrong with a value that is written as JSON, null where nothing is
 */
export function compile(schema) {
  const ajv = new Ajv2020({
    ...{ strict: true, allowUnionTypes: true, strictRequired: false },
    // Compiling takes longer than checking a few documents.
    code: { optimize: false },
  });
  // ajv-formats is CommonJS whose types and value differ in where `default` is.
  /** @type {FormatsPlugin} */ (/** @type {unknown} */ (formats))(ajv);
  /** Compiled when first needed: for a result it takes a third of a second. @type {import('ajv').ValidateFunction | undefined} */
  let isValid;
  return (value) => {
    isValid ??= ajv.compile(schema);
    const written = JSON.parse(JSON.stringify(value) ?? 'null');
    return isValid(written) ? null : ajv.errorsText(isValid.errors);
  };
}

/** @param {SchemaKind} kind */
export const validatorOf = async (kind) => compile(await schemaOf(kind));
