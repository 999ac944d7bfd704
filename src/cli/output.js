/** Documents -> standard output and files. */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  realpathSync,
  statSync,
  writeSync,
} from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { usageError } from '../common/errors.js';
import { fileFault, placeOf, tryWhole, whatIsAt, writeWhole } from '../common/whole-file.js';
import { KIND_NAMES, renderDocument, reporterForFile, reporters } from '../report/index.js';
import { isResult, isRunSet, isScenarioResult, isSearch } from '../result/document.js';
import { grouped } from './arguments.js';
import { printDocument } from './process.js';

/** @import { OptionSpec } from '../common/options.js' */
/** @import { ReporterEntry } from '../report/index.js' */
/** @import { Document, DocumentKind } from '../result/document.js' */

/**
 * @param {DocumentKind} [kind] only formats that can show it
 * @returns {Record<string, OptionSpec>} `out`, `format` and `quiet`
 */
export function outputOptionsFor(kind, group = 'Results') {
  const able = Object.entries(reporters).filter(
    ([, { kinds }]) => kind === undefined || kinds.includes(kind),
  );
  const extensions = able.map(([, { extension }]) => extension).join(', ');
  return grouped(group, {
    out: {
      ...{ type: 'file', placeholder: 'FILE', repeatable: true },
      describe: `Write the result to a file (${extensions}); repeatable`,
    },
    format: {
      ...{ type: 'choice', choices: able.map(([name]) => name), default: 'text' },
      describe: 'Format of standard output',
    },
    quiet: { type: 'flag', describe: 'No progress on standard error' },
  });
}

/** The file in which GitHub Actions takes a summary in Markdown. */
const SUMMARY_VARIABLE = 'GITHUB_STEP_SUMMARY';
const SUMMARY_NAME = `The file in ${SUMMARY_VARIABLE}`;

/** The name of standard input among files, and a path of its file, if it is one. */
const [STDIN, STDIN_PATH] = ['-', '/dev/stdin'];

/**
 * Reports before the run what could not be written after it.
 * @param {readonly string[]} paths
 * @param {DocumentKind} [kind] of the document; without it, formats are not checked
 */
export function checkOutputs(paths, kind) {
  /** @type {Map<string, string>} */
  const places = new Map();
  for (const path of paths) {
    const reporter = reporterForFile(path);
    if (kind !== undefined) checkKind(reporter, kind, `--out ${path}`);
    const place = checkFile(path, `--out ${path}`);
    const other = places.get(place);
    if (other !== undefined) {
      const also = path === other ? 'is given twice' : `is the same file as --out ${other}`;
      throw usageError('same_file', `--out ${path} ${also}.`, 'Leave one of them out.');
    }
    places.set(place, path);
  }
}

/**
 * @param {string} path
 * @param {string} name in an error
 * @returns {string} the same for two paths of one file
 * @throws {PkiLoadError} code `cannot_write`
 */
function checkFile(path, name) {
  const fault = (/** @type {string} */ code) => Object.assign(new Error(), { code });
  try {
    if (whatIsAt(dirname(path)) !== 'folder') throw fault(existsSync(dirname(path)) ? 'ENOTDIR' : 'ENOENT');
    const what = whatIsAt(path);
    if (what === 'folder') throw fault('EISDIR');
    if (what === 'file') tryWhole(path);
    else accessSync(path, constants.W_OK);
    return what === 'file' ? placeOf(path) : path;
  } catch (error) {
    throw cannotWrite(path, name, error);
  }
}

/**
 * @param {readonly string[]} outputs paths of `--out`
 * @param {readonly string[]} inputs paths of files to read; `-` is standard input
 * @throws {PkiLoadError} code `out_is_input`, if a path of both leads to one file
 */
export function refuseOverwrite(outputs, inputs) {
  const read = new Map(inputs.map((input) => [realFile(input === STDIN ? STDIN_PATH : input), input]));
  for (const path of outputs) {
    const file = realFile(path);
    const input = file === null ? undefined : read.get(file);
    if (input === undefined) continue;
    const other = input === STDIN ? 'standard input' : input;
    throw usageError(
      'out_is_input',
      input === path
        ? `--out ${path} is one of the files to read, and would be overwritten.`
        : `--out ${path} is the same file as ${other}, which is to be read, and would be overwritten.`,
      'Write to another file.',
    );
  }
}

/** @param {string} path @returns {string | null} absolute, without links; null: not found, or not a regular file */
function realFile(path) {
  try {
    return statSync(path).isFile() ? realpathSync.native(path) : null;
  } catch {
    return null;
  }
}

/** @param {ReporterEntry} reporter @param {DocumentKind} kind @param {string} name in an error */
export function checkKind({ kinds, extension }, kind, name) {
  if (kinds.includes(kind)) return;
  const able = Object.values(reporters).filter((other) => other.kinds.includes(kind));
  throw usageError(
    'cannot_report',
    `${name}: ${KIND_NAMES[kind]} cannot be written as ${extension}, which shows the result of one run.`,
    `Use one of ${able.map((other) => other.extension).join(', ')}.`,
  );
}

/** @returns {string} the file that GitHub Actions reads @throws {PkiLoadError} if it is not set or cannot be written */
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
 * Writes a document to all places, whatever fails in one.
 * @param {Document} document
 * @param {{out: string[], format: string, summary?: string | null}} outputs
 * @returns {Promise<unknown[]>} failures
 */
export async function report(document, { out, format, summary = null }) {
  const failures = await writeFiles(document, out);
  const color = process.stdout.isTTY && !process.env.NO_COLOR;
  printDocument(await renderDocument(format, document, { color }));
  if (summary === null) return failures;
  // Other steps of the same job write to this file, too.
  const text = await renderDocument('md', document, {});
  const append = () => (whatIsAt(summary) === 'device' ? writeDevice : appendFile)(summary, text);
  return [...failures, ...(await attempt(summary, SUMMARY_NAME, append))];
}

/**
 * A reader sees the old file or the new one, never half of it.
 * @param {Document} document
 * @param {string[]} paths
 * @returns {Promise<unknown[]>} failures
 */
export async function writeFiles(document, paths) {
  /** @type {unknown[]} */
  const failures = [];
  for (const path of paths) {
    const write = async () => {
      const text = await renderDocument(reporterForFile(path).name, document, {});
      if (whatIsAt(path) === 'device') await writeDevice(path, text);
      else writeWhole(path, text);
    };
    failures.push(...(await attempt(path, `--out ${path}`, write)));
  }
  return failures;
}

const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;

/** A pipe without a reader (ENXIO), or with one that reads nothing (EAGAIN), is given up after this. */
const PIPE_TIMEOUT_MS = 10_000;
const RETRY_MS = 50;

/**
 * Never blocks: neither this thread nor one of the pool, for which the end of the process would wait.
 * @param {string} path of a device or pipe
 * @param {string} text
 * @param {number} [timeoutMs]
 */
export async function writeDevice(path, text, timeoutMs = PIPE_TIMEOUT_MS) {
  const flags = O_WRONLY | O_NONBLOCK | O_NOCTTY;
  const descriptor = await retry('ENXIO', timeoutMs, () => openSync(path, flags));
  try {
    let left = Buffer.from(text);
    while (left.length > 0) {
      const count = await retry('EAGAIN', timeoutMs, () => writeSync(descriptor, left));
      left = left.subarray(count);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** @param {string} code of the error that may pass @param {number} timeoutMs @param {() => number} act */
async function retry(code, timeoutMs, act) {
  for (let waitedMs = 0; ; waitedMs += RETRY_MS) {
    try {
      return act();
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== code || waitedMs >= timeoutMs) throw error;
      await sleep(RETRY_MS);
    }
  }
}

/** @param {string} path @param {string} name in an error @param {() => Promise<void>} write @returns {Promise<unknown[]>} failures */
async function attempt(path, name, write) {
  try {
    await write();
    return [];
  } catch (error) {
    const { syscall } = /** @type {NodeJS.ErrnoException} */ (error);
    return [syscall === undefined ? error : cannotWrite(path, name, error)];
  }
}

/** @param {string} path @param {string} name in an error @param {unknown} error */
function cannotWrite(path, name, error) {
  const { why, remedy } = fileFault(path, error);
  return usageError('cannot_write', `${name} cannot be written: ${why}.`, remedy, error);
}

/**
 * @template {Document} D
 * @param {D} document
 * @param {readonly string[]} remarks sentences
 * @returns {D} with them among the remarks of its reports: warnings of several runs, notes of one or of a search
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
