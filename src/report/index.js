/** Report formats, and the kinds of documents that each can show. To add one, add a file and a line here. */
import { extname } from 'node:path';
import { quote, usageError } from '../common/errors.js';
import { visibleData, visibleJson } from '../common/visible-text.js';
import { piecesOf } from '../common/whole-file.js';
import { DOCUMENT_KINDS as ALL, kindOf } from '../result/document.js';

/** @import { Content } from '../common/whole-file.js' */
/** @import { Document, DocumentKind } from '../result/document.js' */
/** @import { Report } from './sections.js' */

/** @typedef {{color?: boolean}} RenderOptions `color`: escape sequences for a terminal */
/** @typedef {{render: (document: any, options?: RenderOptions) => Content | Promise<Content>}} Reporter */
/** @type {readonly DocumentKind[]} */
const CSV_KINDS = ['result', 'run-set', 'propagation'];

/** @typedef {ReturnType<typeof reporter>} ReporterEntry */
/**
 * @param {string} extension of the file given to `--out` @param {string} describe for the help
 * @param {() => Promise<Reporter>} load @param {readonly DocumentKind[]} [kinds] of documents it can show
 */
const reporter = (extension, describe, load, kinds = ['result']) => ({ extension, describe, load, kinds });

/** By `--format` name. @type {Readonly<Record<string, ReporterEntry>>} */
export const reporters = Object.freeze({
  text: reporter('.txt', 'a summary in 80 columns', () => described(import('./text.js')), ALL),
  json: reporter('.json', 'everything; published schema', async () => ({ render: visibleJson }), ALL),
  html: reporter('.html', 'a page with charts, in one file', () => described(import('./html.js')), ALL),
  md: reporter('.md', 'tables for a pull request or a wiki', () => described(import('./markdown.js')), ALL),
  junit: reporter('.xml', 'JUnit: each requirement a test case', () => import('./data/junit.js'), ALL),
  csv: reporter('.csv', 'the timeline, a row per second', () => import('./data/csv.js'), CSV_KINDS),
  hlog: reporter('.hlog', 'HdrHistogram log, an interval per second', () => import('./data/hlog.js')),
  hgrm: reporter(
    '.hgrm',
    'response times by percentile, for HdrHistogram plotters',
    () => import('./data/hgrm.js'),
  ),
  prom: reporter('.prom', 'Prometheus text exposition', () => import('./data/prometheus.js')),
});

/** @param {Promise<{render: (report: Report, options?: RenderOptions) => string}>} renderer @returns {Promise<Reporter>} */
async function described(renderer) {
  const [{ describe }, { render }] = await Promise.all([import('./describe/index.js'), renderer]);
  return { render: async (document, options) => render(await describe(document), options) };
}

/** @type {Record<DocumentKind, string>} */
export const KIND_NAMES = {
  result: 'a result',
  'run-set': 'a set of runs',
  comparison: 'a comparison',
  search: 'a search',
  propagation: 'a propagation measurement',
  'scenario-result': 'the result of a scenario',
};

/** @param {string} path of a report @returns {ReporterEntry & {name: string}} @throws {PkiLoadError} `unknown_report_format` */
export function reporterForFile(path) {
  const extension = extname(path).toLowerCase();
  const entry = Object.entries(reporters).find(([, format]) => format.extension === extension);
  if (entry !== undefined) return { name: entry[0], ...entry[1] };
  const known = Object.values(reporters).map((format) => format.extension);
  const unknown = `the unknown extension ${quote(extension)}`;
  const message = `${quote(path)} has ${extension === '' ? 'no extension to select a format' : unknown}.`;
  throw usageError('unknown_report_format', message, `Use one of ${known.join(', ')}.`);
}

/**
 * @param {ReporterEntry} reporter @param {DocumentKind} kind of a document @param {string} origin of the format, for the error
 * @throws {PkiLoadError} code `cannot_report` if the format cannot show this kind
 */
export function checkKind({ kinds, extension }, kind, origin) {
  if (kinds.includes(kind)) return;
  const able = Object.values(reporters).filter((format) => format.kinds.includes(kind));
  const problem = `${KIND_NAMES[kind]} cannot be written as ${extension}, a format for results of runs.`;
  const remedy = `Use one of ${able.map((format) => format.extension).join(', ')}.`;
  throw usageError('cannot_report', `${origin}: ${problem}`, remedy);
}

/**
 * Redacts tokens in use and escapes control characters in the strings of a document, which come from servers, files and
 * scenarios.
 * @param {string} name of a reporter @param {Document} document @param {RenderOptions} [options] @returns {Promise<string>} ends with a newline
 * @throws {PkiLoadError} code `cannot_report` if the format has no such kind of document
 */
export async function renderDocument(name, document, options) {
  return [...piecesOf(await renderContent(name, document, options))].join('');
}

/** Like renderDocument, but in pieces, for writing to a file. @type {(...given: Parameters<typeof renderDocument>) => Promise<Content>} */
export async function renderContent(name, document, options) {
  checkKind(reporters[name], kindOf(document), `Format ${name}`);
  const { render } = await reporters[name].load();
  return render(name === 'json' ? document : visibleData(document), options);
}
