/** The formats of reports and the kinds of documents each can show. A new one is a file and a line here. */
import { extname } from 'node:path';
import { usageError } from '../common/errors.js';
import { kindOf } from '../result/document.js';

/** @import { Document, DocumentKind } from '../result/document.js' */
/** @import { Report } from './sections.js' */

/**
 * @typedef {object} RenderOptions
 * @property {boolean} [color] escape sequences for a terminal
 */
/**
 * @typedef {object} Reporter
 * @property {(document: any, options?: RenderOptions) => string | Promise<string>} render ends with a newline
 */
/**
 * @typedef {object} ReporterEntry
 * @property {string} extension of the file given to `--out`
 * @property {readonly DocumentKind[]} kinds of documents it can show
 * @property {string} describe for the help
 * @property {() => Promise<Reporter>} load
 */

/** @type {readonly DocumentKind[]} */
const ALL = ['result', 'run-set', 'comparison', 'propagation', 'scenario-result', 'search'];

/** @type {readonly DocumentKind[]} */
const RESULT = ['result'];

/** By the name that `--format` takes. @type {Readonly<Record<string, ReporterEntry>>} */
export const reporters = Object.freeze({
  text: {
    extension: '.txt',
    kinds: ALL,
    describe: 'a summary in 80 columns',
    load: () => described(() => import('./text.js')),
  },
  json: {
    extension: '.json',
    kinds: ALL,
    describe: 'all of it; published schema',
    load: () => import('./data/json.js'),
  },
  html: {
    extension: '.html',
    kinds: ALL,
    describe: 'a page with charts, in one file',
    load: () => described(() => import('./html.js')),
  },
  md: {
    extension: '.md',
    kinds: ALL,
    describe: 'tables for a pull request or a wiki',
    load: () => described(() => import('./markdown.js')),
  },
  junit: {
    extension: '.xml',
    kinds: ALL,
    describe: 'JUnit: each requirement a test case',
    load: () => import('./data/junit.js'),
  },
  csv: {
    extension: '.csv',
    kinds: ['result', 'run-set', 'propagation'],
    describe: 'the timeline, a row a second',
    load: () => import('./data/csv.js'),
  },
  hlog: {
    extension: '.hlog',
    kinds: RESULT,
    describe: 'HdrHistogram log, an interval a second',
    load: () => import('./data/hlog.js'),
  },
  hgrm: {
    extension: '.hgrm',
    kinds: RESULT,
    describe: 'response times by percentile, as HdrHistogram prints them',
    load: () => import('./data/hgrm.js'),
  },
  prom: {
    extension: '.prom',
    kinds: RESULT,
    describe: 'Prometheus text exposition',
    load: () => import('./data/prometheus.js'),
  },
});

/**
 * @param {() => Promise<{render: (report: Report, options?: RenderOptions) => string}>} load a renderer of sections
 * @returns {Promise<Reporter>}
 */
async function described(load) {
  const [{ describe }, { render }] = await Promise.all([import('./describe/index.js'), load()]);
  return { render: async (document, options) => render(await describe(document), options) };
}

/** @type {Record<DocumentKind, string>} */
export const KIND_NAMES = {
  result: 'a result',
  'run-set': 'a set of runs',
  comparison: 'a comparison',
  search: 'a search',
  propagation: 'a measurement of propagation',
  'scenario-result': 'the result of a scenario',
};

/**
 * @param {string} path of a report, e.g. given to `--out`
 * @returns {ReporterEntry & {name: string}}
 * @throws {PkiLoadError} code `unknown_report_format`, listing the extensions there are
 */
export function reporterForFile(path) {
  const extension = extname(path).toLowerCase();
  const found = Object.entries(reporters).find(([, reporter]) => reporter.extension === extension);
  if (found !== undefined) return { name: found[0], ...found[1] };
  const known = Object.values(reporters).map((reporter) => reporter.extension);
  throw usageError(
    'unknown_report_format',
    `${JSON.stringify(path.slice(0, 200))} has ${extension === '' ? 'no extension' : `the extension ${JSON.stringify(extension)}`}, so what to write is not known.`,
    `Use one of ${known.join(', ')}.`,
  );
}

/**
 * @param {string} name of a reporter
 * @param {Document} document
 * @param {RenderOptions} [options]
 * @returns {Promise<string>} ends with a newline
 * @throws {PkiLoadError} code `cannot_report`, where the reporter cannot show such a document
 */
export async function renderDocument(name, document, options) {
  const kind = kindOf(document);
  const { kinds, load } = reporters[name];
  if (!kinds.includes(kind)) throw cannotReport(name, kind);
  const { render } = await load();
  return render(document, options);
}

/** @param {string} name @param {DocumentKind} kind */
function cannotReport(name, kind) {
  const able = Object.values(reporters).filter(({ kinds }) => kinds.includes(kind));
  return usageError(
    'cannot_report',
    `${KIND_NAMES[kind][0].toUpperCase()}${KIND_NAMES[kind].slice(1)} cannot be written as ${reporters[name].extension}, which shows the result of one run.`,
    `Use one of ${able.map(({ extension }) => extension).join(', ')}.`,
  );
}
