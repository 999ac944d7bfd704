/** Files -> documents, validated. An error has one sentence on the fault of a file. */
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { describeUnreadable } from '../common/errors.js';
import { checkResult } from './check/check.js';
import { findUnreadable } from './check/check-latency.js';
import { validateComparison } from './comparison/comparison-schema.js';
import { assertConsistent } from './declared.js';
import { DOCUMENT_KINDS, fileError, isResult, kindOf } from './document.js';
import { validatePropagation } from './propagation/propagation-schema.js';
import { validateRunSet } from './runs/run-set.js';
import { validateScenarioResult } from './scenario/scenario-schema.js';
import { validateResult } from './schema.js';
import { validateSearch } from './search/search-schema.js';

/** @import { Document, DocumentKind } from './document.js' */
/** @import { Result } from './schema.js' */

/** @typedef {{path: string, name: string, document: Document}} ReadDocument */

/** Levels of objects and lists; bytes: a longer text would not fit into a string of JavaScript. */
const [MAX_LEVELS, MAX_BYTES] = [100, 400_000_000];

/** Stands for standard input. */
const STDIN = '-';

/**
 * @param {readonly string[]} paths each is read once, so that pipes will do
 * @returns {Promise<ReadDocument[]>} in the same order @throws {PkiLoadError} naming the file
 */
export async function readDocuments(paths) {
  if (paths.filter((path) => path === STDIN).length > 1)
    throw fileError('stdin_twice', 'Standard input (-) is given twice.', 'Give it once.');
  /** @type {ReadDocument[]} */
  const read = [];
  for (const path of paths) read.push({ path, name: nameOf(path), document: await readDocument(path) });
  return read;
}

/** @param {string} path `-` is standard input @returns {Promise<Document>} @throws {PkiLoadError} naming the file */
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
    throw fileError('not_a_result', `${name} is not the result of one run.`);
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
    const message = `${nameOf(path)} ${describeUnreadable(error)}.`;
    throw fileError('cannot_read', message, 'Check the path.', error);
  }
}

/**
 * @param {Uint8Array} bytes UTF-8, or UTF-16 as some shells redirect; with or without a byte order mark
 * @param {string} name of the document in an error @returns {Document}
 */
export function parseDocument(bytes, name) {
  if (bytes.length > MAX_BYTES)
    throw fileError('bad_document', `${name} is larger than 400 MB: no document of vault-pki-load is.`);
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8';
  const value = parseJson(new TextDecoder(encoding).decode(bytes), name);
  refuseDeep(value, name);
  refuseNewer(value, name);
  return READERS[kindOf(value, name)](value, name);
}

/** The checks of the schema, and of what the schema cannot express. @type {Record<DocumentKind, (value: unknown, name: string) => Document>} */
const READERS = {
  result: (value, name) => checked(validateResult(value, name), name),
  'run-set': (value, name) => {
    const runSet = validateRunSet(value, name);
    for (const [i, run] of runSet.runs.entries()) checked(run, `Run ${i + 1} of ${name}`);
    return runSet;
  },
  search: (value, name) => {
    const search = validateSearch(value, name);
    if (search.confirmation !== null) checked(search.confirmation, `The confirmation of ${name}`);
    return search;
  },
  'scenario-result': validateScenarioResult,
  propagation: validatePropagation,
  comparison: validateComparison,
};

/** Code that walks through a document may rely on this. @param {unknown} value @param {string} name @param {string[]} [path] */
function refuseDeep(value, name, path = []) {
  if (typeof value !== 'object' || value === null) return;
  if (path.length === MAX_LEVELS) {
    const at = path.slice(0, 5).map((key) => key.slice(0, 40));
    throw fileError(
      'bad_document',
      `${name} is nested more than ${MAX_LEVELS} levels deep, at ${at.join('.')}...`,
    );
  }
  for (const [key, inner] of Object.entries(value)) {
    path.push(key);
    refuseDeep(inner, name, path);
    path.pop();
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
    if (/end of JSON input|^Unterminated/.test(message) || Number(position) === text.length)
      throw fileError(
        'cut_off_file',
        `${name} ends in the middle: it was cut off.`,
        'Give the whole file.',
        error,
      );
    const isMarkup = text.trimStart().startsWith('<');
    const fault = isMarkup ? 'it looks like HTML or XML' : faultOf(message, text, position);
    throw fileError('not_json', `${name} is not JSON: ${fault}.`, undefined, error);
  }
}

/**
 * Unlike the message of `JSON.parse`, quotes nothing of the text: it may be a token or a key.
 * @param {string} message of `JSON.parse` @param {string} text @param {string | undefined} position in the message
 */
function faultOf(message, text, position) {
  if (position === undefined) return message.replace(/,? ?(?:\.\.\.)?".*$/s, '').toLowerCase();
  const lines = text.slice(0, Number(position)).split('\n');
  return `see line ${lines.length}, column ${Number(lines.at(-1)?.length) + 1}`;
}

/** @param {unknown} value @param {string} name */
function refuseNewer(value, name) {
  const { schema, tool } = /** @type {{schema?: unknown, tool?: {version?: unknown}}} */ (Object(value));
  const [, kind, number] = /^vault-pki-load\/([a-z-]+)\/(\d+)$/.exec(String(schema)) ?? [];
  if (!(Number(number) > 1) || !DOCUMENT_KINDS.some((one) => one === kind)) return;
  const version = typeof tool?.version === 'string' ? ` ${tool.version.slice(0, 40)}` : '';
  throw fileError(
    'newer_file',
    `${name} was written by a newer vault-pki-load${version}: its schema is ${schema}.`,
    'Read it with that version, or update this one.',
  );
}

/**
 * A result whose figures contradict each other is refused, unless its own measurement reports that: then it is shown
 * if its histograms can be read.
 * @param {Result} result @param {string} name
 */
function checked(result, name) {
  const isReported = result.measurement.reasons.some(({ code }) => code === 'bookkeeping');
  const problem = isReported ? findUnreadable(result) : checkResult(result, { eachSecond: true })[0];
  assertConsistent('result', name, problem);
  return result;
}
