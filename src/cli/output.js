/** Documents -> standard output and files. */
import { accessSync, constants, existsSync } from 'node:fs';
import { appendFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { usageError } from '../common/errors.js';
import { fileFault, placeOf, tryWhole, whatIsAt, writeWhole } from '../common/whole-file.js';
import { KIND_NAMES, renderDocument, reporterForFile, reporters } from '../report/index.js';
import { isResult, isRunSet, isScenarioResult, isSearch } from '../result/document.js';

/** @import { OptionSpec } from '../common/options.js' */
/** @import { ReporterEntry } from '../report/index.js' */
/** @import { Document, DocumentKind } from '../result/document.js' */

const GROUP = 'Requirements and results';

/** @type {Record<string, OptionSpec>} */
export const outputOptions = {
  out: {
    type: 'file',
    group: GROUP,
    placeholder: 'FILE',
    repeatable: true,
    describe: `Write the result to a file (${Object.values(reporters)
      .map(({ extension }) => extension)
      .join(', ')}); repeatable`,
  },
  format: {
    type: 'choice',
    group: GROUP,
    choices: Object.keys(reporters),
    default: 'text',
    describe: 'Format of standard output',
  },
  quiet: { type: 'flag', group: GROUP, describe: 'No progress on standard error' },
};

/** Where GitHub Actions takes a summary in Markdown. */
const SUMMARY_VARIABLE = 'GITHUB_STEP_SUMMARY';
const SUMMARY_NAME = `The file in ${SUMMARY_VARIABLE}`;

/**
 * Says before the run what could not be written after it.
 *
 * @param {string[]} paths
 * @param {DocumentKind} [kind] of what will be written; without it, the formats are not looked at
 */
export function checkOutputs(paths, kind) {
  /** @type {Map<string, string>} */
  const places = new Map();
  for (const path of paths) {
    const reporter = reporterForFile(path);
    if (kind !== undefined) checkKind(reporter, kind, `--out ${path}`);
    const place = checkFile(path, `--out ${path}`);
    const other = places.get(place);
    if (other !== undefined) throw sameFile(path, other);
    places.set(place, path);
  }
}

/**
 * @param {string} path
 * @param {string} name what to call it in an error
 * @returns {string} the same for two paths of one file
 * @throws {PkiLoadError} code `cannot_write`
 */
function checkFile(path, name) {
  try {
    if (whatIsAt(dirname(path)) !== 'folder') {
      throw Object.assign(new Error(), { code: existsSync(dirname(path)) ? 'ENOTDIR' : 'ENOENT' });
    }
    const what = whatIsAt(path);
    if (what === 'folder') throw Object.assign(new Error(), { code: 'EISDIR' });
    if (what === 'file') tryWhole(path);
    else accessSync(path, constants.W_OK);
    return what === 'file' ? placeOf(path) : path;
  } catch (error) {
    throw cannotWrite(path, name, error);
  }
}

/** @param {string} path @param {string} other */
function sameFile(path, other) {
  const also = path === other ? 'is given twice' : `is the same file as --out ${other}`;
  return usageError('same_file', `--out ${path} ${also}.`, 'Leave one of them out.');
}

/**
 * @param {ReporterEntry} reporter
 * @param {DocumentKind} kind
 * @param {string} name what to call it in an error
 */
export function checkKind({ kinds, extension }, kind, name) {
  if (kinds.includes(kind)) return;
  const able = Object.values(reporters).filter((other) => other.kinds.includes(kind));
  throw usageError(
    'cannot_report',
    `${name}: ${KIND_NAMES[kind]} cannot be written as ${extension}, which shows the result of one run.`,
    `Use one of ${able.map((other) => other.extension).join(', ')}.`,
  );
}

/**
 * @returns {string} the file that GitHub Actions reads
 * @throws {PkiLoadError} where it is not set or cannot be written
 */
export function summaryFile() {
  const path = process.env[SUMMARY_VARIABLE];
  if (path) {
    checkFile(path, SUMMARY_NAME);
    return path;
  }
  throw usageError(
    'no_github_summary',
    `--github-summary is given, but ${SUMMARY_VARIABLE} is not set.`,
    'Use it in a step of GitHub Actions; elsewhere, write a file with --out summary.md.',
  );
}

/**
 * What cannot be written in one place is still written in all others.
 *
 * @param {Document} document
 * @param {Record<string, any>} outputs values of `out` and `format` in outputOptions
 */
export async function writeOutputs(document, { out, format }) {
  const failures = await writeFiles(document, out);
  await print(document, format);
  if (failures.length > 0) throw failures[0];
}

/**
 * A reader sees the old file or the new one, never half of it.
 *
 * @param {Document} document
 * @param {string[]} paths
 * @returns {Promise<unknown[]>} why some could not be written
 */
export async function writeFiles(document, paths) {
  /** @type {unknown[]} */
  const failures = [];
  for (const path of paths) {
    try {
      const text = await renderDocument(reporterForFile(path).name, document, {});
      // A pipe may make us wait, and Ctrl-C is to be heard meanwhile.
      if (whatIsAt(path) === 'device') await writeFile(path, text);
      else writeWhole(path, text);
    } catch (error) {
      const { syscall } = /** @type {NodeJS.ErrnoException} */ (error);
      failures.push(syscall === undefined ? error : cannotWrite(path, `--out ${path}`, error));
    }
  }
  return failures;
}

/** @param {Document} document @param {string} format name of a reporter */
export async function print(document, format) {
  const color = process.stdout.isTTY && !process.env.NO_COLOR;
  process.stdout.write(await renderDocument(format, document, { color }));
}

/**
 * Behind what other steps of the same job have written there.
 *
 * @param {Document} document
 * @param {string} path
 * @returns {Promise<unknown[]>} why it could not be written
 */
export async function appendSummary(document, path) {
  const text = await renderDocument('md', document, {});
  try {
    await appendFile(path, text);
    return [];
  } catch (error) {
    return [cannotWrite(path, SUMMARY_NAME, error)];
  }
}

/** @param {string} path @param {string} name what to call it in an error @param {unknown} error */
function cannotWrite(path, name, error) {
  const { why, remedy } = fileFault(path, error);
  return usageError('cannot_write', `${name} cannot be written: ${why}.`, remedy, error);
}

/**
 * @template {Document} D
 * @param {D} document
 * @param {readonly string[]} remarks sentences
 * @returns {D} with them where its reports show remarks: warnings of several runs, notes of one or of a search
 */
export function withRemarks(document, remarks) {
  return remarks.length === 0 ? document : /** @type {D} */ (remarked(document, remarks));
}

/** @param {Document} document @param {readonly string[]} remarks at least one @returns {Document} */
function remarked(document, remarks) {
  if (isResult(document)) {
    const { verification } = document;
    return {
      ...document,
      verification: { ...verification, notes: [...(verification.notes ?? []), ...remarks] },
    };
  }
  if (isRunSet(document)) {
    const { summary, runs } = document;
    return {
      ...document,
      summary: { ...summary, warnings: [...summary.warnings, ...remarks] },
      runs: runs.map((run) => withRemarks(run, remarks)),
    };
  }
  if (isScenarioResult(document)) return { ...document, warnings: [...document.warnings, ...remarks] };
  if (isSearch(document)) {
    const { explanation, confirmation } = document;
    return {
      ...document,
      explanation: [explanation, ...remarks].join(' '),
      confirmation: confirmation && withRemarks(confirmation, remarks),
    };
  }
  return document;
}
