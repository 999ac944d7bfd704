/** The JSON Schemas of all that is written, and of scenarios, which are read. */
import { Comparison } from './results/comparison/comparison-schema.js';
import { jsonSchemaOf } from './results/declared.js';
import { Propagation } from './results/propagation/propagation-schema.js';
import { RunSet } from './results/runs/run-set.js';
import { ScenarioResult } from './results/scenario/scenario-schema.js';
import { Result } from './results/schema.js';
import { Search } from './results/search/search-schema.js';
import { schemaOfScenarios } from './scenario/published.js';

/** @typedef {import('./results/document.js').DocumentKind | 'scenario'} SchemaKind */

const DECLARED = Object.freeze({
  result: Result,
  'run-set': RunSet,
  comparison: Comparison,
  search: Search,
  propagation: Propagation,
  'scenario-result': ScenarioResult,
});

/**
 * @param {SchemaKind} kind
 * @returns {Promise<Record<string, unknown>>} JSON Schema (draft 2020-12); that of scenarios names the operations and their options
 */
export async function schemaOf(kind) {
  return kind === 'scenario' ? schemaOfScenarios() : jsonSchemaOf(DECLARED[kind]);
}
