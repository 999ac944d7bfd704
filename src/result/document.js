/** A document is the source of reports: the result of one run, a set of runs, a comparison of groups of runs, a campaign. */
import { usageError } from '../common/errors.js';
import { visibleText } from '../common/visible-text.js';
/** @import { Measurement } from '../verdict/measurement-schema.js' */
/** @import { Comparison } from './comparison/comparison-schema.js' */
/** @import { Propagation } from './propagation/propagation-schema.js' */
/** @import { RunSet } from './runs/run-set.js' */
/** @import { ScenarioResult } from './scenario/scenario-schema.js' */
/** @import { Result } from './schema.js' */
/** @import { Search } from './search/search-schema.js' */

/** Values of `schema`; apart from the schemas so that a reader need not load their library. */
export const SCHEMA_ID = 'vault-pki-load/result/1';
export const RUN_SET_SCHEMA_ID = 'vault-pki-load/run-set/1';
export const COMPARISON_SCHEMA_ID = 'vault-pki-load/comparison/1';
export const SEARCH_SCHEMA_ID = 'vault-pki-load/search/1';
export const PROPAGATION_SCHEMA_ID = 'vault-pki-load/propagation/1';
export const SCENARIO_RESULT_SCHEMA_ID = 'vault-pki-load/scenario-result/1';

/** @typedef {Result | RunSet | Comparison | Propagation | ScenarioResult | Search} Document */
/** @typedef {'result' | 'run-set' | 'comparison' | 'propagation' | 'scenario-result' | 'search'} DocumentKind */

/** @type {Readonly<Record<string, DocumentKind>>} */
const KINDS = {
  [SCHEMA_ID]: 'result',
  [RUN_SET_SCHEMA_ID]: 'run-set',
  [COMPARISON_SCHEMA_ID]: 'comparison',
  [SEARCH_SCHEMA_ID]: 'search',
  [PROPAGATION_SCHEMA_ID]: 'propagation',
  [SCENARIO_RESULT_SCHEMA_ID]: 'scenario-result',
};

export const DOCUMENT_KINDS = Object.freeze(Object.values(KINDS));

/**
 * An error with text from a file, or of its name: controls that a terminal would obey are shown as escapes.
 *
 * @param {string} code
 * @param {string} message
 * @param {string} remedy
 * @param {unknown} [cause]
 */
export function fileError(code, message, remedy, cause) {
  return usageError(code, visibleText(message), visibleText(remedy), cause);
}

/**
 * @param {unknown} document e.g. parsed from a file; only its `schema` is read
 * @param {string} [name] what to call it in an error
 * @returns {DocumentKind}
 * @throws {PkiLoadError} code `bad_document`
 */
export function kindOf(document, name = 'The document') {
  const schema = schemaOf(document);
  if (typeof schema === 'string' && Object.hasOwn(KINDS, schema)) return KINDS[schema];
  const known = Object.keys(KINDS).join(', ');
  const found =
    typeof schema === 'string' ? `its schema is ${JSON.stringify(schema.slice(0, 80))}` : 'it has no schema';
  throw fileError(
    'bad_document',
    `${name} is not a file of vault-pki-load: ${found}, not one of ${known}.`,
    'Give a file that vault-pki-load wrote with --out FILE.json.',
  );
}

/** @param {unknown} value @returns {unknown} */
function schemaOf(value) {
  return Object(value).schema;
}

/** By their `schema` alone. @param {unknown} value @returns {value is Result} */
export const isResult = (value) => schemaOf(value) === SCHEMA_ID;
/** @param {unknown} value @returns {value is RunSet} */
export const isRunSet = (value) => schemaOf(value) === RUN_SET_SCHEMA_ID;
/** @param {unknown} value @returns {value is Comparison} */
export const isComparison = (value) => schemaOf(value) === COMPARISON_SCHEMA_ID;
/** @param {unknown} value @returns {value is ScenarioResult} */
export const isScenarioResult = (value) => schemaOf(value) === SCENARIO_RESULT_SCHEMA_ID;
/** @param {unknown} value @returns {value is Search} */
export const isSearch = (value) => schemaOf(value) === SEARCH_SCHEMA_ID;
/** @param {unknown} value @returns {value is Propagation} */
export const isPropagation = (value) => schemaOf(value) === PROPAGATION_SCHEMA_ID;

/**
 * @param {Pick<Measurement, 'verdict' | 'reasons'>} measurement
 * @returns {Measurement['reasons'][number] | undefined} the main reason; of an older file, whose reasons have no grade, the first.
 *   undefined: it is not invalid
 */
export function invalidReasonOf({ verdict, reasons }) {
  if (verdict !== 'invalid') return undefined;
  return reasons.find(({ grade }) => grade === 'invalid') ?? reasons[0];
}
