/** The JSON Schemas of all that is written, and of scenarios, which are read. */

import { schemaOfScenarios } from '../campaigns/scenario/published.js';
import { Comparison } from '../result/comparison/comparison-schema.js';
import { jsonSchemaOf } from '../result/declared.js';
import { Propagation } from '../result/propagation/propagation-schema.js';
import { RunSet } from '../result/runs/run-set.js';
import { ScenarioResult } from '../result/scenario/scenario-schema.js';
import { Result } from '../result/schema.js';
import { Search } from '../result/search/search-schema.js';

/** @typedef {import('../result/document.js').DocumentKind | 'scenario'} SchemaKind */

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
