/** What follows from the declaration of a document: the check of a value, and the JSON Schema that is published. */
import { z } from 'zod';
import { usageError } from '../common/errors.js';

/** @typedef {z.ZodObject<{schema: z.ZodLiteral<string>} & z.ZodRawShape>} Declaration */

/**
 * @template {Declaration} T
 * @param {T} declaration
 * @param {{code: string, called: string, writtenWith: string, placeOf?: (path: PropertyKey[]) => string}} words `code` of the error;
 *   `called`: the value where the caller gives no name; `writtenWith`: the command line that writes such files
 * @returns {(value: unknown, name?: string) => z.infer<T>} takes a value, e.g. parsed from a file, and what to call it in an error;
 *   returns the same value, unknown keys and all; throws a PkiLoadError that names the first place that is wrong
 */
export function validatorOf(declaration, { code, called, writtenWith, placeOf = dotted }) {
  return (value, name = called) => {
    const { success, error } = declaration.safeParse(value);
    if (success) return /** @type {z.infer<T>} */ (value);
    const [{ path, message }] = error.issues;
    throw usageError(
      code,
      `${name} is not a ${idOf(declaration)}: ${placeOf(path)}: ${message}.`,
      `Give a file that vault-pki-load wrote with ${writtenWith}.`,
    );
  };
}

/** @param {Declaration} declaration @returns {Record<string, unknown>} its JSON Schema (draft 2020-12) */
export function jsonSchemaOf(declaration) {
  const { $schema, ...rest } = z.toJSONSchema(declaration, { target: 'draft-2020-12', io: 'input' });
  return { $schema, $id: idOf(declaration), ...rest };
}

/** @param {Declaration} declaration */
const idOf = (declaration) => declaration.shape.schema.value;

/** @param {PropertyKey[]} path */
const dotted = (path) => path.map(String).join('.') || 'the whole';
