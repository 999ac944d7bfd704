/** A declaration of a document defines its type, its validation and its published JSON Schema. */
import { z } from 'zod';
import { entriesOf } from '../common/json.js';
import { fileError } from './document.js';

/** Larger numbers would turn a sum or a place in a chart into infinity. */
const MAX = Number.MAX_SAFE_INTEGER;
export const count = z.int().min(0);
export const amount = z.number().min(0).max(MAX);
export const number = z.number().min(-MAX).max(MAX).nullable();
export const text = z.string().nullable();

/** 0 to 1; null: the whole is empty. */
export const share = z.number().min(0).max(1).nullable();

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

/** Lists are checked in pieces: zod reports every wrong element, and a long list of them would exhaust the memory. */
const PIECE = 1000;

/** Elements of a list that has no further piece: enough for every minimum length. */
const REST = 10;

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
    const check = (/** @type {unknown} */ part, /** @type {number} */ nth) => {
      const issues = declaration.safeParse(part).error?.issues ?? [];
      // What a refinement says of a list holds only for the whole.
      const first = issues.find(({ code }) => part === value || code !== 'custom');
      if (first === undefined) return;
      const place = placeOf(part === value ? first.path : pathInWhole(value, first.path, nth));
      throw fileError(`bad_${kind}`, `${name} is not a ${id}: ${place}: ${first.message}.`);
    };
    const count = Math.max(1, Math.ceil(longestIn(value) / PIECE));
    const pieces = Array.from({ length: count }, (_, nth) => nth);
    for (const nth of count === 1 ? [] : pieces) check(pieceOf(value, nth), nth);
    check(value, 0);
    const document = /** @type {z.infer<T>} */ (value);
    const [problem] = findProblems(document);
    assertConsistent(kind, name, problem);
    return document;
  };
}

/** @param {unknown} value @returns {number} elements of the longest list, or names of the largest record, in it */
function longestIn(value) {
  if (typeof value !== 'object' || value === null) return 0;
  let [longest, count] = [0, 0];
  for (const [, inner] of entriesOf(value)) {
    count++;
    if (typeof inner === 'object') longest = Math.max(longest, longestIn(inner));
  }
  return Math.max(longest, count);
}

/** @param {unknown} value @param {number} nth piece @returns {unknown} a copy with this piece of each long list and large record */
function pieceOf(value, nth) {
  if (typeof value !== 'object' || value === null) return value;
  const cut = (/** @type {any[]} */ all) => {
    if (all.length <= PIECE) return all;
    return nth * PIECE < all.length ? all.slice(nth * PIECE, (nth + 1) * PIECE) : all.slice(0, REST);
  };
  if (Array.isArray(value)) return cut(value).map((inner) => pieceOf(inner, nth));
  return Object.fromEntries(cut(Object.entries(value)).map(([key, inner]) => [key, pieceOf(inner, nth)]));
}

/** @param {unknown} value the whole @param {PropertyKey[]} path in a piece @param {number} nth piece */
function pathInWhole(value, path, nth) {
  let at = /** @type {any} */ (value);
  return path.map((key) => {
    const isCut = Array.isArray(at) && at.length > PIECE && nth * PIECE < at.length;
    const own = isCut ? Number(key) + nth * PIECE : key;
    at = at?.[own];
    return own;
  });
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
