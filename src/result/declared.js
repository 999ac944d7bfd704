/** A declaration of a document defines its type, its validation and its published JSON Schema. */
import { z } from 'zod';
import { entriesOf, MAX_NAMES } from '../common/json.js';
import { fileError } from './document.js';

/** Its failure ends the check of the list that the value is in (see FIRST_ISSUE). */
const ENDS = { abort: true };

/** Larger numbers would turn a sum or a place in a chart into infinity. */
const MAX = Number.MAX_SAFE_INTEGER;
export const count = z.int().gte(0, ENDS);
export const amount = z.number().gte(0, ENDS).lte(MAX, ENDS);
export const number = z.number().gte(-MAX, ENDS).lte(MAX, ENDS).nullable();
export const text = z.string().nullable();

/** 0 to 1; null: the whole is empty. */
export const share = z.number().gte(0, ENDS).lte(1, ENDS).nullable();

/** Milliseconds; null: nothing was recorded. */
export const ms = amount.nullable();

export const Tool = z.object({ version: z.string() });
export const Target = z.object({ url: z.string(), product: text, version: text });
export const Environment = z.object({ node: z.string(), platform: z.string(), cpus: count });
export const Unit = z.enum(['ms', '/s', 'fraction']);
export const RequirementVerdictName = z.enum(['met', 'not met', 'not proven']);
export const MeasurementVerdictName = z.enum(['valid', 'suspect', 'invalid']);

/**
 * @template {string} const Key @template {z.ZodType} Schema @param {readonly Key[]} keys @param {Schema} schema
 * @returns {{[K in Key]: Schema}} the same for each
 */
export function each(keys, schema) {
  return /** @type {any} */ (Object.fromEntries(keys.map((key) => [key, schema])));
}

/** An object named in the JSON Schema. @template {z.ZodRawShape} Shape @param {string} id @param {Shape} shape */
export const named = (id, shape) => z.object(shape).meta({ id });

/** Stops at the first wrong element of a list, or value of a `record`: all issues of a long one would exhaust the memory. zod's types omit it. */
export const FIRST_ISSUE = /** @type {z.core.ParseContext<z.core.$ZodIssue>} */ ({ abortEarly: true });

/** @param {unknown} value */
const isObject = (value) => typeof value === 'object' && value !== null;

/**
 * A record, of which FIRST_ISSUE stops at the first wrong value, too: zod itself reports all, and those of records within them.
 * @template {z.ZodType} Value @param {Value} value
 */
export function record(value) {
  const schema = z.record(z.string(), value);
  const inner = schema._zod;
  const { run } = inner;
  inner.run = inner.parse = (payload, context) => {
    const { value, issues } = payload;
    const isRecord = isObject(value) && Object.getPrototypeOf(value) === Object.prototype;
    if (!isRecord || !(/** @type {any} */ (context).abortEarly)) return run(payload, context);
    const before = issues.length;
    /** @type {Map<string, unknown>} */
    const read = new Map();
    for (const [name, one] of Object.entries(value)) {
      if (issues.length > before) return payload;
      const part = /** @type {typeof payload} */ (run({ ...payload, value: { [name]: one } }, context));
      for (const [key, kept] of Object.entries(Object(part.value))) read.set(key, kept);
    }
    payload.value = Object.fromEntries(read);
    return payload;
  };
  return schema;
}

/** @typedef {z.ZodObject<{schema: z.ZodLiteral<string>} & z.ZodRawShape>} Declaration */

/**
 * @template {Declaration} T @param {T} declaration
 * @param {(document: z.infer<T>) => Iterable<string>} [findProblems] that the schema cannot express
 * @returns {(value: unknown, name?: string) => z.infer<T>} returns the value itself, unknown keys
 *   included; throws e.g. `bad_run_set` with the first wrong path, or `inconsistent_run_set`. `name`: for errors
 */
export function validatorOf(declaration, findProblems = () => []) {
  const id = declaration.shape.schema.value;
  const [, kind] = id.replaceAll('-', '_').split('/');
  return (value, name = 'The document') => {
    const wrong = (/** @type {string} */ what) =>
      fileError(`bad_${kind}`, `${name} is not a ${id}: ${what}.`);
    if (hasManyNames(value)) throw wrong(`an object has more than ${MAX_NAMES} names`);
    const [first] = declaration.safeParse(value, FIRST_ISSUE).error?.issues ?? [];
    if (first !== undefined) throw wrong(`${placeOf(first.path)}: ${first.message}`);
    const document = /** @type {z.infer<T>} */ (value);
    const [problem] = findProblems(document);
    assertConsistent(kind, name, problem);
    return document;
  };
}

/** @param {unknown} value @returns {boolean} */
function hasManyNames(value) {
  if (typeof value !== 'object' || value === null) return false;
  let names = 0;
  for (const [, inner] of entriesOf(value)) {
    if (++names > MAX_NAMES && !Array.isArray(value)) return true;
    if (typeof inner === 'object' && hasManyNames(inner)) return true;
  }
  return false;
}

/** @param {PropertyKey[]} path @returns {string} `totals.sent`; in a run set `runs[2] (run 3): totals.sent` */
function placeOf([first, at, ...inner]) {
  if (first === undefined) return 'top level';
  if (first !== 'runs' || at === undefined) return [first, at ?? [], inner].flat(2).map(String).join('.');
  const place = `runs[${String(at)}] (run ${Number(at) + 1})`;
  return inner.length === 0 ? place : `${place}: ${inner.map(String).join('.')}`;
}

/**
 * @param {string} kind `result` @param {string} name of the file
 * @param {string | undefined} problem undefined: the document is consistent @param {unknown} [cause]
 * @throws {PkiLoadError} such as `inconsistent_result`
 */
export function assertConsistent(kind, name, problem, cause) {
  if (problem === undefined) return;
  const remedy = 'Use the unmodified file that vault-pki-load wrote.';
  throw fileError(`inconsistent_${kind}`, `${name} does not add up: ${problem}.`, remedy, cause);
}

/** @param {Declaration} declaration @returns {Record<string, unknown>} its JSON Schema (draft 2020-12) */
export function jsonSchemaOf(declaration) {
  const { $schema, ...rest } = z.toJSONSchema(declaration, { target: 'draft-2020-12', io: 'input' });
  return { $schema, $id: declaration.shape.schema.value, ...rest };
}
