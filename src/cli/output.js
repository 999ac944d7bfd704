/** Documents -> standard output and files. */
import fs, { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  assertNotForeign,
  assertNotLinked,
  assertWritable,
  describeWriteError,
  fileTypeAt,
  isPlanted,
  REPLACED,
  resolveLinks,
  writeAtomically,
} from '../common/atomic-write.js';
import { PkiLoadError, usageError } from '../common/errors.js';
import { inGroup, option } from '../common/options.js';
import { checkKind, renderDocument, reporterForFile, reporters } from '../report/index.js';
import { isResult, isRunSet, isScenarioResult, isSearch } from '../result/document.js';
import { printDocument } from './process.js';

/** @import { Document, DocumentKind } from '../result/document.js' */

/** @param {DocumentKind} [kind] only formats that can show it @returns `out`, `format` and `quiet` */
export function outputOptionsFor(kind, group = 'Results') {
  const matching = Object.entries(reporters).filter(([, { kinds }]) => !kind || kinds.includes(kind));
  const extensions = matching.map(([, { extension }]) => extension).join(', ');
  const choices = matching.map(([name]) => name);
  return inGroup(group, {
    out: option('file', `Write the result to a file (${extensions}); repeatable`, { repeatable: true }),
    format: option('choice', 'Format of standard output', { choices, default: 'text' }),
    quiet: { type: 'flag', describe: 'No progress and notices on standard error, only warnings' },
  });
}

/** GitHub Actions shows the Markdown in this file. */
const SUMMARY_VARIABLE = 'GITHUB_STEP_SUMMARY';
const SUMMARY_NAME = `The file in ${SUMMARY_VARIABLE}`;
/** Another user may put a link or a pipe in its place. */
const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_WRONLY } = constants;
const APPEND = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK;

/**
 * Fails before the run if an output could not be written after it.
 * @param {{out: readonly string[], format?: string}} outputs
 * @param {DocumentKind} [kind] of the document; without it, formats are not checked
 * @param {readonly string[]} [inputs] files to read, which must not be overwritten
 */
export function checkOutputs({ out, format }, kind, inputs = []) {
  /** @type {Map<string, string>} */
  const places = new Map();
  for (const path of out) {
    const remedy = 'Leave it out: standard output always gets the result, in the format that --format sets.';
    if (path === '-') throw usageError('out_is_stdout', '--out - names no file.', remedy);
    if (fs.existsSync(path) && fileTypeAt(path) === 'directory') checkFile(path, `--out ${path}`);
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
  if (kind !== undefined && format !== undefined) checkKind(reporters[format], kind, `--format ${format}`);
  refuseOverwrite(out, inputs);
}

/** @param {string} place without links */
function assertAppendable(place) {
  const stats = fs.statSync(place, { throwIfNoEntry: false });
  if (stats === undefined) return assertWritable(place);
  assertNotForeign(stats, place);
  assertNotLinked(stats);
  fs.accessSync(place, constants.W_OK);
}

/** @param {string} path @param {string} name in an error @param {(place: string) => void} assertFile @returns {string} equal for two paths of one file */
function checkFile(path, name, assertFile = assertWritable) {
  try {
    // Throws ENOENT or ENOTDIR.
    fs.statSync(`${dirname(path)}/.`);
    const place = resolveLinks(path);
    const type = fileTypeAt(path);
    if (type === 'directory') throw Object.assign(new Error(), { code: 'EISDIR' });
    if (type === 'file') assertFile(place);
    else {
      assertNotForeign(fs.statSync(path), place);
      fs.accessSync(path, constants.W_OK);
    }
    return type === 'file' ? place : path;
  } catch (error) {
    throw cannotWrite(path, name, error);
  }
}

/**
 * @param {Iterable<string>} outputs paths
 * @param {readonly string[]} inputs paths of other files, which a command reads or keeps; `-` is standard input
 * @param {string} [flag] of the outputs @throws {PkiLoadError} code `out_is_input`, if an output is one of these, perhaps by another path
 */
export function refuseOverwrite(outputs, inputs, flag = '--out') {
  const read = new Map(inputs.map((input) => [realFile(input === '-' ? '/dev/stdin' : input), input]));
  for (const path of outputs) {
    const file = realFile(path);
    const input = file === null ? undefined : read.get(file);
    if (input === undefined) continue;
    const why = input === path ? 'also an input or --keep file of this command' : `the same file as ${input}`;
    const message = `${flag} ${path} is ${why}, and would be overwritten.`;
    throw usageError('out_is_input', message, 'Write to another file.');
  }
}

/** @param {string} path @returns {string | null} absolute, without links; null: not a regular file, nor a new one */
function realFile(path) {
  try {
    return fileTypeAt(path) === 'file' ? resolveLinks(path) : null;
  } catch {
    return null;
  }
}

/** @returns {string} path @throws {PkiLoadError} if it is not set or cannot be written */
export function summaryFile() {
  const path = process.env[SUMMARY_VARIABLE];
  if (!path) {
    const message = `--github-summary is given, but ${SUMMARY_VARIABLE} is not set.`;
    throw usageError('no_github_summary', message, 'Outside GitHub Actions, use --out summary.md.');
  }
  checkFile(path, SUMMARY_NAME, assertAppendable);
  return path;
}

/**
 * Writes a document to all outputs, even if some fail; returns the failures.
 * @param {Document} document @param {{out: string[], format: string, summary?: string | null}} outputs
 */
export async function writeReports(document, { out, format, summary = null }) {
  const failures = await writeFiles(document, out);
  const color = process.stdout.isTTY && !process.env.NO_COLOR;
  printDocument(await renderDocument(format, document, { color }));
  if (summary === null) return failures;
  // Other steps of the same job write to this file, too.
  const add = async (/** @type {string} */ text) => {
    const place = resolveLinks(summary);
    const file = await open(place, APPEND);
    try {
      const before = await file.stat();
      assertNotForeign(before, place);
      assertNotLinked(before);
      // A heading begins a line.
      await file.appendFile(before.size > 0 ? `\n${text}` : text);
    } finally {
      await file.close();
    }
  };
  return [...failures, ...(await write(document, 'md', summary, SUMMARY_NAME, add))];
}

/** @param {Document} document @param {string[]} paths @returns {Promise<unknown[]>} failures */
export async function writeFiles(document, paths) {
  const failures = [];
  for (const path of paths) {
    const replace = async (/** @type {string} */ text) => writeAtomically(path, text);
    failures.push(...(await write(document, reporterForFile(path).name, path, `--out ${path}`, replace)));
  }
  return failures;
}

/**
 * @param {Document} document @param {string} format @param {string} path @param {string} name in an error
 * @param {(text: string) => Promise<void>} writeFile used unless the path is a device @returns failures
 */
async function write(document, format, path, name, writeFile) {
  try {
    const text = await renderDocument(format, document, {});
    await (fileTypeAt(path) === 'device' ? writeDevice(path, text) : writeFile(text));
    return [];
  } catch (error) {
    // An error without a code is a bug in the report.
    const isFileError = !(error instanceof PkiLoadError) && /** @type {NodeJS.ErrnoException} */ (error).code;
    return [isFileError ? cannotWrite(path, name, error) : error];
  }
}

/** @param {string} path @param {string} name in an error @param {unknown} error */
function cannotWrite(path, name, error) {
  const { why, remedy } = describeWriteError(path, error);
  return usageError('cannot_write', `${name} cannot be written: ${why}.`, remedy, error);
}

/** After this time, writing fails: with ENXIO if the pipe has no reader, with EAGAIN if its reader reads nothing. */
const PIPE_TIMEOUT_MS = 10_000;
const RETRY_MS = 50;

/** Never blocks a thread: the process could not exit. @param {string} path of a device or pipe @param {string} text */
export async function writeDevice(path, text, timeoutMs = PIPE_TIMEOUT_MS) {
  const flags = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
  let place = '';
  const descriptor = await retry('ENXIO', timeoutMs, () => {
    // Throws for a link that another user created, now or while this waits. A link of one's own, such as /dev/stdout, is followed.
    place = resolveLinks(path);
    const stats = fs.lstatSync(path);
    // In /proc, a link to a pipe has no path.
    const isMagic = stats.isSymbolicLink() && !isPlanted(stats) && !fs.existsSync(place);
    return isMagic ? fs.openSync(path, flags) : fs.openSync(place, flags | constants.O_NOFOLLOW);
  });
  try {
    assertNotForeign(fs.fstatSync(descriptor), place);
    if (fs.fstatSync(descriptor).isFile()) throw Object.assign(new Error(), { code: REPLACED });
    let left = Buffer.from(text);
    while (left.length > 0) {
      const count = await retry('EAGAIN', timeoutMs, () => fs.writeSync(descriptor, left));
      left = left.subarray(count);
    }
  } finally {
    fs.closeSync(descriptor);
  }
}

/** @param {string} code error on which to retry @param {number} timeoutMs @param {() => number} act */
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

/**
 * @template {Document} D @param {D} document @param {readonly string[]} remarks sentences
 * @returns {D} a copy with the remarks: in the warnings of several runs, the notes of a run or the explanation of a search
 */
export function withRemarks(document, remarks) {
  if (remarks.length === 0) return document;
  return /** @type {D} */ ({ ...document, ...fieldsWithRemarks(document, remarks) });
}

/** @param {Document} document @param {readonly string[]} remarks at least one @returns {object} the changed fields */
function fieldsWithRemarks(document, remarks) {
  if (isResult(document)) {
    const { notes = [] } = document.verification;
    return { verification: { ...document.verification, notes: [...notes, ...remarks] } };
  }
  if (isRunSet(document)) {
    const warnings = [...document.summary.warnings, ...remarks];
    const runs = document.runs.map((run) => withRemarks(run, remarks));
    return { summary: { ...document.summary, warnings }, runs };
  }
  if (isScenarioResult(document)) return { warnings: [...document.warnings, ...remarks] };
  if (!isSearch(document)) return {};
  const { explanation, confirmation } = document;
  const confirmed = confirmation && withRemarks(confirmation, remarks);
  return { explanation: [explanation, ...remarks].join(' '), confirmation: confirmed };
}
