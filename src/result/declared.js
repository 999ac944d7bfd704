/** The declaration of a document gives the check of a value, and the JSON Schema that is published. */
import { z } from 'zod';
import { fileError } from './document.js';

export const count = z.int().min(0);
export const amount = z.number().min(0);
export const number = z.number().nullable();
export const text = z.string().nullable();

/** 0 to 1; null: of nothing. */
export const share = z.number().min(0).max(1).nullable();

/** Milliseconds; null where nothing was recorded. */
export const ms = amount.nullable();

export const Tool = z.object({ version: z.string() });
export const Target = z.object({ url: z.string(), product: text, version: text });
export const Environment = z.object({ node: z.string(), platform: z.string(), cpus: count });
export const Unit = z.enum(['ms', '/s', 'fraction']);
export const RequirementWord = z.enum(['met', 'not met', 'not proven']);
export const MeasurementWord = z.enum(['valid', 'suspect', 'invalid']);

/**
 * @template {readonly string[]} const Keys
 * @template {z.ZodType} Schema
 * @param {Keys} keys
 * @param {Schema} schema
 * @returns {{[Key in Keys[number]]: Schema}} the same for each
 */
export function each(keys, schema) {
  return /** @type {any} */ (Object.fromEntries(keys.map((key) => [key, schema])));
}

const [MOST_ELEMENTS, MOST_NAMES] = [100, 1000];

/** @typedef {z.ZodObject<{schema: z.ZodLiteral<string>} & z.ZodRawShape>} Declaration */

/**
 * @template {Declaration} T
 * @param {T} declaration
 * @param {{code: string, called: string, writtenWith: string}} words `code` of the error; `called`: the value where the caller gives
 *   no name; `writtenWith`: the command line that writes such files
 * @returns {(value: unknown, name?: string) => z.infer<T>} takes a value, e.g. parsed from a file, and what to call it in an error;
 *   returns the same value, unknown keys and all; throws a PkiLoadError that names the first place that is wrong
 */
export function validatorOf(declaration, { code, called, writtenWith }) {
  return (value, name = called) => {
    // Of a long list of wrong elements the first are reported: an issue for each would fill the memory.
    const beginning = declaration.safeParse(beginningOf(value));
    const { success, error } = beginning.success ? declaration.safeParse(value) : beginning;
    if (success) return /** @type {z.infer<T>} */ (value);
    const [{ path, message }] = error.issues;
    throw fileError(
      code,
      `${name} is not a ${idOf(declaration)}: ${placeOf(path)}: ${message}.`,
      `Give a file that vault-pki-load wrote with ${writtenWith}.`,
    );
  };
}

/** @param {unknown} value @returns {unknown} a copy without the ends of long lists and of records with very many names */
function beginningOf(value) {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.slice(0, MOST_ELEMENTS).map(beginningOf);
  const entries = Object.entries(value).slice(0, MOST_NAMES);
  return Object.fromEntries(entries.map(([key, inner]) => [key, beginningOf(inner)]));
}

/**
 * @param {'result' | 'run_set' | 'comparison' | 'propagation' | 'search'} kind
 * @param {string} name of the file
 * @param {string} problem
 * @param {unknown} [cause]
 */
export function inconsistent(kind, name, problem, cause) {
  const remedy = 'Give the file as vault-pki-load wrote it.';
  return fileError(`inconsistent_${kind}`, `${name} does not add up: ${problem}.`, remedy, cause);
}

/** @param {Declaration} declaration @returns {Record<string, unknown>} its JSON Schema (draft 2020-12) */
export function jsonSchemaOf(declaration) {
  const { $schema, ...rest } = z.toJSONSchema(declaration, { target: 'draft-2020-12', io: 'input' });
  return { $schema, $id: idOf(declaration), ...rest };
}

/** @param {Declaration} declaration */
const idOf = (declaration) => declaration.shape.schema.value;

/** @param {PropertyKey[]} path @returns {string} `totals.sent`; of a set `runs[2] (run 3): totals.sent`: its runs are named from 1 */
function placeOf([first, at, ...inner]) {
  if (first === undefined) return 'the whole';
  if (first !== 'runs' || at === undefined) return [first, at ?? [], inner].flat(2).map(String).join('.');
  return [`runs[${String(at)}] (run ${Number(at) + 1})`, inner.map(String).join('.')]
    .filter(Boolean)
    .join(': ');
}
