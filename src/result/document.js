/** Documents: results of single runs, and records of several; the source of all reports. */
import { quote, usageError } from '../common/errors.js';
import { visibleText } from '../common/visible-text.js';
/** @import { Comparison } from './comparison/comparison-schema.js' */
/** @import { Propagation } from './propagation/propagation-schema.js' */
/** @import { RunSet } from './runs/run-set-schema.js' */
/** @import { ScenarioResult } from './scenario/scenario-schema.js' */
/** @import { Measurement, Result } from './schema.js' */
/** @import { Search } from './search/search-schema.js' */

/** @typedef {Result | RunSet | Comparison | Propagation | ScenarioResult | Search} Document */
/** @typedef {typeof DOCUMENT_KINDS[number]} DocumentKind */

export const DOCUMENT_KINDS = Object.freeze(
  /** @type {const} */ (['result', 'run-set', 'comparison', 'search', 'propagation', 'scenario-result']),
);

const FILE_REMEDY = 'Use a file that vault-pki-load wrote with --out FILE.json.';

/**
 * An error that quotes a file or its name, with control characters escaped.
 * @param {string} code @param {string} message @param {string} [remedy] @param {unknown} [cause]
 */
export function fileError(code, message, remedy = FILE_REMEDY, cause) {
  return usageError(code, visibleText(message), visibleText(remedy), cause);
}

/** Reads only its `schema`. @param {unknown} document @returns {DocumentKind} @throws {PkiLoadError} code `bad_document` */
export function kindOf(document, name = 'The document') {
  const { schema } = Object(document);
  const kind = DOCUMENT_KINDS.find((one) => schema === idOf(one));
  if (kind !== undefined) return kind;
  const found = typeof schema === 'string' ? `its schema is ${quote(schema)}` : 'it has no schema';
  throw fileError('bad_document', `${name} was not written by vault-pki-load: ${found}.`);
}

/** @param {DocumentKind} kind */
const idOf = (kind) => `vault-pki-load/${kind}/1`;

/**
 * @template {DocumentKind} Kind @param {Kind} kind
 * @returns {(value: unknown) => value is Extract<Document, {schema: `vault-pki-load/${Kind}/1`}>} checks only `schema`
 */
function isOfKind(kind) {
  return /** @type {any} */ ((/** @type {unknown} */ value) => Object(value).schema === idOf(kind));
}

export const isResult = isOfKind('result');
export const isRunSet = isOfKind('run-set');
export const isScenarioResult = isOfKind('scenario-result');
export const isSearch = isOfKind('search');

/** The main reason if invalid; older files have no grades. @param {Pick<Measurement, 'verdict' | 'reasons'>} measurement */
export function invalidReasonOf({ verdict, reasons }) {
  if (verdict !== 'invalid') return undefined;
  return reasons.find(({ grade }) => grade === 'invalid') ?? reasons[0];
}
