/** Files -> documents, validated. An error has one sentence on the fault of a file. */
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { checkResult } from './check/check.js';
import { checkComparison, checkPropagation } from './check/check-comparison.js';
import { findUnreadable } from './check/check-latency.js';
import { validateComparison } from './comparison/comparison-schema.js';
import { inconsistent } from './declared.js';
import { DOCUMENT_KINDS, fileError, isResult, kindOf } from './document.js';
import { validatePropagation } from './propagation/propagation-schema.js';
import { validateRunSet } from './runs/run-set.js';
import { validateScenarioResult } from './scenario/scenario-schema.js';
import { validateResult } from './schema.js';
import { validateSearch } from './search/search-schema.js';

/** @import { Comparison } from './comparison/comparison-schema.js' */
/** @import { Document, DocumentKind } from './document.js' */
/** @import { Result } from './schema.js' */

/** @typedef {{path: string, name: string, document: Document}} ReadDocument */

const REMEDY = 'Give a file that vault-pki-load wrote with --out FILE.json.';

/** Levels of objects and lists, and the size that a string of JavaScript can have. */
const [MOST_LEVELS, MOST_BYTES] = [100, 400_000_000];

/** Stands for standard input. */
const STDIN = '-';

/** Why a file cannot be read, by error code. @type {Readonly<Record<string, string>>} */
const FAULTS = Object.freeze({
  ENOENT: 'is not there',
  ENOTDIR: 'is not there: what should be its folder is a file',
  EISDIR: 'is a folder',
  EACCES: 'may not be read by this user',
});

/**
 * @param {readonly string[]} paths each is read once, so that pipes will do
 * @returns {Promise<ReadDocument[]>} in the same order
 * @throws {PkiLoadError} naming the file
 */
export async function readDocuments(paths) {
  if (paths.filter((path) => path === STDIN).length > 1) {
    const remedy = 'Give it once; it can be read once.';
    throw fileError('stdin_twice', 'Standard input (-) is given twice.', remedy);
  }
  /** @type {ReadDocument[]} */
  const read = [];
  for (const path of paths) read.push({ path, name: nameOf(path), document: await readDocument(path) });
  return read;
}

/**
 * @param {string} path `-` is standard input
 * @returns {Promise<Document>}
 * @throws {PkiLoadError} naming the file
 */
export async function readDocument(path) {
  return parseDocument(await readBytes(path), nameOf(path));
}

/**
 * @param {readonly string[]} paths of results of single runs
 * @returns {Promise<{name: string, result: Result}[]>} in the same order
 * @throws {PkiLoadError} naming the file
 */
export async function readResults(paths) {
  return (await readDocuments(paths)).map(({ name, document }) => {
    if (isResult(document)) return { name, result: document };
    throw fileError('not_a_result', `${name} is not the result of one run.`, REMEDY);
  });
}

/** @param {string} path */
function nameOf(path) {
  if (path === STDIN) return 'Standard input';
  return path === '' ? 'The file ""' : path;
}

/** @param {string} path @returns {Promise<Uint8Array>} */
async function readBytes(path) {
  try {
    return await (path === STDIN ? buffer(process.stdin) : readFile(path));
  } catch (error) {
    const { code = '' } = /** @type {NodeJS.ErrnoException} */ (error);
    const why = FAULTS[code] ?? `cannot be read (${code})`;
    throw fileError('cannot_read', `${nameOf(path)} ${why}.`, 'Check the path.', error);
  }
}

/**
 * @param {Uint8Array} bytes UTF-8, or UTF-16 as some shells redirect; with a byte order mark or without
 * @param {string} name what to call it in an error
 * @returns {Document}
 */
export function parseDocument(bytes, name) {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8';
  const value = parseJson(decodeText(bytes, encoding, name), name);
  refuseDeep(value, name);
  switch (kindOfFile(value, name)) {
    case 'result':
      return checked(validateResult(value, name), name);
    case 'run-set': {
      const runSet = validateRunSet(value, name);
      for (const [i, run] of runSet.runs.entries()) checked(run, `Run ${i + 1} of ${name}`);
      return runSet;
    }
    case 'scenario-result': {
      const scenario = validateScenarioResult(value, name);
      for (const { comparison } of scenario.comparisons) checkedComparison(comparison, name);
      return scenario;
    }
    case 'propagation': {
      const found = validatePropagation(value, name);
      const [problem] = checkPropagation(found);
      if (problem !== undefined) throw inconsistent('propagation', name, problem);
      return found;
    }
    case 'search': {
      const search = validateSearch(value, name);
      if (search.confirmation !== null) checked(search.confirmation, `The confirmation of ${name}`);
      return search;
    }
    default:
      return checkedComparison(validateComparison(value, name), name);
  }
}

/** @param {Uint8Array} bytes @param {string} encoding @param {string} name */
function decodeText(bytes, encoding, name) {
  if (bytes.length > MOST_BYTES)
    throw fileError(
      'bad_document',
      `${name} is larger than 400 MB: no document of vault-pki-load is.`,
      REMEDY,
    );
  return new TextDecoder(encoding).decode(bytes);
}

/** No document is nested so deep, and what walks through it would not come back. @param {unknown} root @param {string} name */
function refuseDeep(root, name) {
  /** @typedef {{value: unknown, key: string, depth: number, outer: Place | null}} Place */
  /** @type {Place[]} */
  const left = [{ value: root, key: '', depth: 0, outer: null }];
  for (let place = left.pop(); place !== undefined; place = left.pop()) {
    if (typeof place.value !== 'object' || place.value === null) continue;
    if (place.depth === MOST_LEVELS) {
      const keys = [];
      for (let one = place; one.outer !== null; one = one.outer) keys.unshift(one.key.slice(0, 40));
      const at = `${keys.slice(0, 5).join('.')}...`;
      throw fileError(
        'bad_document',
        `${name} is nested more than ${MOST_LEVELS} levels deep, at ${at}`,
        REMEDY,
      );
    }
    for (const key of Object.keys(place.value)) {
      const value = /** @type {Record<string, unknown>} */ (place.value)[key];
      if (typeof value === 'object') left.push({ value, key, depth: place.depth + 1, outer: place });
    }
  }
}

/** @param {string} text @param {string} name @returns {unknown} */
function parseJson(text, name) {
  if (text.trim() === '')
    throw fileError('empty_file', `${name} is empty.`, 'The command that was to write it may have failed.');
  try {
    return JSON.parse(text);
  } catch (error) {
    const { message } = /** @type {SyntaxError} */ (error);
    const position = /at position (\d+)/.exec(message)?.[1];
    if (/end of JSON input|^Unterminated/.test(message) || Number(position) === text.length) {
      const remedy = 'Give the whole file.';
      throw fileError('cut_off_file', `${name} ends in the middle: it was cut off.`, remedy, error);
    }
    const fault = text.trimStart().startsWith('<')
      ? 'it looks like HTML or XML'
      : faultOf(message, text, position);
    throw fileError('not_json', `${name} is not JSON: ${fault}.`, REMEDY, error);
  }
}

/**
 * Quotes nothing of the text, as `JSON.parse` does: it may be a token or a key.
 * @param {string} message of `JSON.parse`
 * @param {string} text
 * @param {string | undefined} position that the message has
 */
function faultOf(message, text, position) {
  if (position === undefined) return message.replace(/,? ?(?:\.\.\.)?".*$/s, '').toLowerCase();
  const lines = text.slice(0, Number(position)).split('\n');
  return `see line ${lines.length}, column ${Number(lines.at(-1)?.length) + 1}`;
}

/** @param {unknown} value @param {string} name @returns {DocumentKind} */
function kindOfFile(value, name) {
  const { schema, tool } = /** @type {{schema?: unknown, tool?: {version?: unknown}}} */ (Object(value));
  const [, kind, number] = /^vault-pki-load\/([a-z-]+)\/(\d+)$/.exec(String(schema)) ?? [];
  if (Number(number) > 1 && DOCUMENT_KINDS.some((one) => one === kind)) {
    const version = typeof tool?.version === 'string' ? ` ${tool.version.slice(0, 40)}` : '';
    throw fileError(
      'newer_file',
      `${name} was written by a newer vault-pki-load${version}: its schema is ${schema}.`,
      'Read it with that version, or update this one.',
    );
  }
  return kindOf(value, name);
}

/**
 * A result whose figures contradict each other is no result, unless its own measurement reports that; even then it can be shown only where its
 * histograms can be read. One that was written while its run went on adds up as well.
 * @param {Result} result
 * @param {string} name
 * @returns {Result}
 */
function checked(result, name) {
  const isReported = result.measurement.reasons.some(({ code }) => code === 'bookkeeping');
  const place = isReported ? findUnreadable(result) : undefined;
  const [problem] = isReported
    ? [place && `${place} cannot be read`]
    : checkResult(result, { eachSecond: true });
  if (problem === undefined) return result;
  throw inconsistent('result', name, problem);
}

/** @param {Comparison} comparison @param {string} name @returns {Comparison} */
function checkedComparison(comparison, name) {
  const [problem] = checkComparison(comparison);
  if (problem !== undefined) throw inconsistent('comparison', name, problem);
  return comparison;
}
