/** Files -> documents: results, run sets and comparisons, validated. An error has one sentence on the fault of a file. */
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { usageError } from '../common/errors.js';
import { checkResult } from './check/check.js';
import { checkComparison, checkPropagation } from './check/check-comparison.js';
import { findUnreadable } from './check/check-latency.js';
import { validateComparison } from './comparison/comparison-schema.js';
import { isResult, kindOf } from './document.js';
import { placeOfJsonError } from './json-place.js';
import { validatePropagation } from './propagation/propagation-schema.js';
import { validateRunSet } from './runs/run-set.js';
import { validateScenarioResult } from './scenario/scenario-schema.js';
import { validateResult } from './schema.js';
import { validateSearch } from './search/search-schema.js';

/** @import { Comparison } from './comparison/comparison-schema.js' */
/** @import { Document, DocumentKind } from './document.js' */
/** @import { Propagation } from './propagation/propagation-schema.js' */
/** @import { Result } from './schema.js' */

/** @typedef {{path: string, name: string, document: Document}} ReadDocument */

const REMEDY = 'Give a file that vault-pki-load wrote with --out FILE.json.';

/** What stands for standard input. */
const STDIN = '-';

/**
 * @param {readonly string[]} paths each is read once, so that pipes will do
 * @returns {Promise<ReadDocument[]>} in the same order
 * @throws {PkiLoadError} naming the file
 */
export async function readDocuments(paths) {
  if (paths.filter((path) => path === STDIN).length > 1) {
    throw usageError(
      'stdin_twice',
      'Standard input (-) is given twice.',
      'Give it once; it can be read once.',
    );
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
    throw usageError('not_a_result', `${name} is not the result of one run.`, REMEDY);
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
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    /** @type {Record<string, string>} */
    const why = {
      ENOENT: 'is not there',
      ENOTDIR: 'is not there: what should be its folder is a file',
      EISDIR: 'is a folder',
      EACCES: 'may not be read by this user',
    };
    const what = why[code ?? ''] ?? `cannot be read (${code})`;
    throw usageError('cannot_read', `${nameOf(path)} ${what}.`, 'Check the path.', error);
  }
}

/**
 * @param {Uint8Array} bytes UTF-8, or UTF-16 as some shells redirect; with a byte order mark or without
 * @param {string} name what to call it in an error
 * @returns {Document}
 */
export function parseDocument(bytes, name) {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8';
  const value = parseJson(new TextDecoder(encoding).decode(bytes), name);
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
    case 'propagation':
      return checkedPropagation(validatePropagation(value, name), name);
    case 'search': {
      const search = validateSearch(value, name);
      if (search.confirmation !== null) checked(search.confirmation, `The confirmation of ${name}`);
      return search;
    }
    default:
      return checkedComparison(validateComparison(value, name), name);
  }
}

/** @param {string} text @param {string} name @returns {unknown} */
function parseJson(text, name) {
  if (text.trim() === '') {
    throw usageError('empty_file', `${name} is empty.`, 'The command that was to write it may have failed.');
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw notJson(text, name, error);
  }
}

/** @param {string} text @param {string} name @param {unknown} cause */
function notJson(text, name, cause) {
  const place = placeOfJsonError(text);
  const at = place === null ? '' : `line ${place.line}, column ${place.column}`;
  if (place?.cutOff) {
    return usageError(
      'cut_off_file',
      `${name} ends in the middle, at ${at}: it was cut off.`,
      'Give the whole file.',
      cause,
    );
  }
  const looks = text.trimStart().startsWith('<') ? 'it looks like HTML or XML' : `see ${at}`;
  return usageError('not_json', `${name} is not JSON: ${looks}.`, REMEDY, cause);
}

/** @param {unknown} value @param {string} name @returns {DocumentKind} */
function kindOfFile(value, name) {
  const { schema, tool } = /** @type {{schema?: unknown, tool?: {version?: unknown}}} */ (Object(value));
  const [, number] =
    /^vault-pki-load\/(?:result|run-set|comparison|search|propagation|scenario-result)\/(\d+)$/.exec(
      String(schema),
    ) ?? [];
  if (number !== undefined && Number(number) > 1) {
    const version = typeof tool?.version === 'string' ? ` ${tool.version.slice(0, 40)}` : '';
    throw usageError(
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
 *
 * @param {Result} result
 * @param {string} name
 * @returns {Result}
 */
function checked(result, name) {
  const isSaid = result.measurement.reasons.some(({ code }) => code === 'bookkeeping');
  const problems = isSaid ? unreadable(result) : checkResult(result, { eachSecond: true });
  if (problems.length === 0) return result;
  throw usageError(
    'inconsistent_result',
    `${name} does not add up: ${problems[0]}.`,
    'Give the file as vault-pki-load wrote it.',
  );
}

/** @param {Result} result */
function unreadable(result) {
  const place = findUnreadable(result);
  return place === null ? [] : [`${place} cannot be read`];
}

/** @param {Propagation} found @param {string} name */
function checkedPropagation(found, name) {
  const [problem] = checkPropagation(found);
  if (problem === undefined) return found;
  throw usageError(
    'inconsistent_propagation',
    `${name} does not add up: ${problem}.`,
    'Give the file as vault-pki-load propagation wrote it.',
  );
}

/** @param {Comparison} comparison @param {string} name @returns {Comparison} */
function checkedComparison(comparison, name) {
  const [problem] = checkComparison(comparison);
  if (problem === undefined) return comparison;
  throw usageError(
    'inconsistent_comparison',
    `${name} is not whole: ${problem}.`,
    'Give the file as vault-pki-load compare wrote it, or compare the results again.',
  );
}
