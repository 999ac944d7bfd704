/** Files -> validated documents. An error names the file and its fault in one sentence. */
import { countBuckets, MAX_BUCKETS } from '../common/histogram.js';
import { DOCUMENT_DEPTH, entriesOf, isTooCostly, MAX_NAMES } from '../common/json.js';
import { readBytes, readError } from '../common/read-file.js';
import { sanitizeText } from '../common/sanitize.js';
import { checkResult } from './check/check.js';
import { findUnreadable, histogramsIn } from './check/check-latency.js';
import { checkMeasurement, checkVerdicts } from './check/check-verdicts.js';
import { checkFindings } from './comparison/compare.js';
import { validateComparison } from './comparison/comparison-schema.js';
import { assertConsistent } from './declared.js';
import { DOCUMENT_KINDS, fileError, isResult, kindOf } from './document.js';
import { addMissingFigures } from './latency.js';
import { validatePropagation } from './propagation/propagation-schema.js';
import { validateRunSet } from './runs/run-set-schema.js';
import { validateScenarioResult } from './scenario/scenario-schema.js';
import { validateResult } from './schema.js';
import { validateSearch } from './search/search-schema.js';

/** @import { Document, DocumentKind } from './document.js' */
/** @import { Result } from './schema.js' */

/** @typedef {{path: string, name: string, document: Document}} ReadDocument */

/** MiB of a file, so that its text fits into a JavaScript string. */
const MAX_MIB = 400;

/** Characters of keys and of texts, at most: reports repeat them. */
const [MAX_KEY, MAX_TEXT] = [1000, 10_000];
/** The same of texts under these keys: no histogram is longer, nor a command line by Linux' default. */
const MAX_LONG = 2 ** 21;
const LONG = ['histogram', 'lag', 'readLate', 'own', 'plan', 'command', 'description'];

/** A histogram has about one non-empty bucket for each character, but a made-up one of 120 characters can have 28,672. */
const [MAX_BUCKETS_PER_CHARACTER, MIN_BUCKETS] = [2, 500_000];
/** @param {number} characters of a text @returns {number} buckets that its histograms may have */
export const bucketsAllowed = (characters) => MIN_BUCKETS + MAX_BUCKETS_PER_CHARACTER * characters;

/** Path that means standard input. */
const STDIN = '-';

/** @param {readonly string[]} paths each is read only once, so pipes work @throws {PkiLoadError} naming the file */
export async function readDocuments(paths) {
  if (paths.filter((path) => path === STDIN).length > 1)
    throw fileError('stdin_twice', 'Standard input (-) is given twice.', 'Use - only once.');
  /** @type {ReadDocument[]} */
  const read = [];
  for (const path of paths) read.push({ path, name: nameOf(path), document: await readDocument(path) });
  return read;
}

/** @param {string} path `-` is standard input @returns {Promise<Document>} @throws {PkiLoadError} naming the file */
export async function readDocument(path) {
  const name = nameOf(path);
  if (path !== STDIN) return parseDocument(readBytes(path, sanitizeText(name), { maxMiB: MAX_MIB }), name);
  const chunks = [];
  let left = MAX_MIB * 2 ** 20;
  try {
    for await (const chunk of process.stdin) {
      chunks.push(chunk);
      left -= chunk.length;
      // At once: joining the chunks would take as much memory again.
      if (left < 0) throw fileError('bad_document', `${name} is larger than ${MAX_MIB} MiB.`);
    }
  } catch (error) {
    throw readError(name, error);
  }
  return parseDocument(Buffer.concat(chunks), name);
}

/** @param {readonly string[]} paths of results of single runs @throws {PkiLoadError} naming the file */
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

/** @param {Uint8Array} bytes UTF-8 or, from some shells, UTF-16; with or without a BOM @param {string} name for errors */
export function parseDocument(bytes, name) {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8';
  const text = new TextDecoder(encoding).decode(bytes);
  const complex = `${name} is nested more than ${DOCUMENT_DEPTH} levels deep, or has more than ${MAX_NAMES} names in an object, or too many values for its size.`;
  if (isTooCostly(encoding === 'utf-8' ? bytes : Buffer.from(text))) throw fileError('bad_document', complex);
  return checkDocument(parseJson(text, name), name, text.length);
}

/**
 * @param {unknown} value JSON @param {string} name for errors @param {number} characters of its text
 * @returns {Document} the value itself
 */
export function checkDocument(value, name, characters) {
  const fault = faultIn(value);
  if (fault !== undefined) throw fileError('bad_document', `${name} has ${fault}.`);
  refuseNewer(value, name);
  refuseCostly(value, bucketsAllowed(characters), name);
  try {
    addMissingFigures(value);
  } catch (error) {
    throw fileError('bad_document', `${name} is corrupt: ${/** @type {Error} */ (error).message}.`);
  }
  return READERS[kindOf(value, name)](value, name);
}

/** Check schema and consistency. @type {Record<DocumentKind, (value: unknown, name: string) => Document>} */
const READERS = {
  result: (value, name) => assertResultConsistent(validateResult(value, name), name),
  'run-set': (value, name) => {
    const runSet = validateRunSet(value, name);
    for (const [i, run] of runSet.runs.entries()) assertResultConsistent(run, `Run ${i + 1} of ${name}`);
    return runSet;
  },
  search: (value, name) => {
    const search = validateSearch(value, name);
    if (search.confirmation) assertResultConsistent(search.confirmation, `The confirmation of ${name}`);
    return search;
  },
  'scenario-result': validateScenarioResult,
  propagation: validatePropagation,
  comparison: (value, name) => {
    const comparison = validateComparison(value, name);
    assertConsistent('comparison', name, checkFindings(comparison).next().value ?? undefined);
    return comparison;
  },
};

/** zod checks none of these. @param {unknown} value @param {number} [max] characters of texts @returns {string | undefined} */
function faultIn(value, max = MAX_TEXT) {
  if (typeof value === 'string' && value.length > max) return `a text of more than ${max} characters`;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of entriesOf(value)) {
    if (key === '__proto__') return 'a key __proto__';
    if (key.length > MAX_KEY) return `a key of more than ${MAX_KEY} characters`;
    const fault = faultIn(inner, LONG.includes(key) ? MAX_LONG : max);
    if (fault !== undefined) return fault;
  }
}

/** Each bucket takes time wherever its histogram is read. @param {unknown} value @param {number} maxBuckets @param {string} name */
function refuseCostly(value, maxBuckets, name) {
  let left = maxBuckets;
  for (const [place, text] of histogramsIn(value)) {
    // One that cannot be read may have taken as long.
    left -= countBuckets(text) ?? MAX_BUCKETS;
    if (left < 0) throw fileError('bad_document', `${name} has too many histogram buckets: see ${place}.`);
  }
}

/** @param {string} text @param {string} name @returns {unknown} */
function parseJson(text, name) {
  if (text.trim() === '')
    throw fileError('empty_file', `${name} is empty.`, 'The command that wrote it may have failed.');
  try {
    return JSON.parse(text);
  } catch (error) {
    const { message } = /** @type {SyntaxError} */ (error);
    const position = /at position (\d+)/.exec(message)?.[1];
    if (/end of JSON input|^Unterminated/.test(message) || Number(position) === text.length)
      throw fileError('cut_off_file', `${name} is truncated.`, 'Use the complete file.', error);
    const isMarkup = text.trimStart().startsWith('<');
    const fault = isMarkup ? 'it looks like HTML or XML' : faultOf(message, text, position);
    throw fileError('not_json', `${name} is not JSON: ${fault}.`, undefined, error);
  }
}

/** Does not quote the text, which may be a token or a key. @param {string} message @param {string} text @param {string} [position] */
function faultOf(message, text, position) {
  if (position === undefined) return message.replace(/,? ?(?:\.\.\.)?".*$/s, '').toLowerCase();
  const lines = text.slice(0, Number(position)).split('\n');
  return `see line ${lines.length}, column ${Number(lines.at(-1)?.length) + 1}`;
}

/** @param {unknown} value @param {string} name */
function refuseNewer(value, name) {
  const { schema, tool } = /** @type {{schema?: unknown, tool?: {version?: unknown}}} */ (Object(value));
  const [, kind, number] =
    /^vault-pki-load\/([a-z-]+)\/(\d+)$/.exec(typeof schema === 'string' ? schema : '') ?? [];
  if (!(Number(number) > 1) || !DOCUMENT_KINDS.some((one) => one === kind)) return;
  const version = typeof tool?.version === 'string' ? ` ${tool.version.slice(0, 40)}` : '';
  const message = `${name} was written by a newer vault-pki-load${version}: its schema is ${schema}.`;
  throw fileError('newer_file', message, 'Read it with that version, or update this one.');
}

/** Refuses contradictions, unless the measurement reports them. @param {Result} result @param {string} name */
function assertResultConsistent(result, name) {
  const { verdict, reasons } = result.measurement;
  const isReported = verdict === 'invalid' && reasons.some(({ code }) => code === 'bookkeeping');
  const problem = isReported ? findUnreadable(result) : checkResult(result, { isFile: true })[0];
  assertConsistent('result', name, problem);
  const [contradiction] = isReported ? checkMeasurement(result) : checkVerdicts(result);
  assertConsistent('result', name, contradiction);
  return result;
}
