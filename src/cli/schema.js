/** `schema`: the JSON Schemas of documents and scenarios. */
import { EXIT, usageError } from '../common/errors.js';
import { DOCUMENT_KINDS } from '../result/document.js';

/** @import { DocumentKind } from '../result/document.js' */
/** @import { Command } from './arguments.js' */

/** @typedef {DocumentKind | 'scenario'} SchemaKind */

const KINDS = Object.freeze([...DOCUMENT_KINDS, 'scenario']);
const NAMES = KINDS.join(', ');

const DECLARED = Object.freeze({
  result: async () => (await import('../result/schema.js')).Result,
  'run-set': async () => (await import('../result/runs/run-set.js')).RunSet,
  comparison: async () => (await import('../result/comparison/comparison-schema.js')).Comparison,
  search: async () => (await import('../result/search/search-schema.js')).Search,
  propagation: async () => (await import('../result/propagation/propagation-schema.js')).Propagation,
  'scenario-result': async () => (await import('../result/scenario/scenario-schema.js')).ScenarioResult,
});

/** @type {Command} */
export const command = {
  options: {},
  positionals: {
    name: 'kinds',
    placeholder: 'KIND',
    describe: `What the JSON is of: ${NAMES} [default: result]`,
    min: 0,
  },
  examples: ['schema > result.schema.json', 'schema run-set > run-set.schema.json'],
  async run(given) {
    const [kind = 'result', ...more] = /** @type {string[]} */ (given.kinds);
    if (more.length > 0) {
      throw usageError('bad_usage', 'More than one kind is given.', 'Ask for one schema at a time.');
    }
    if (!isKnown(kind)) {
      throw usageError(
        'unknown_schema',
        `There is no schema ${JSON.stringify(kind.slice(0, 80))}.`,
        `There are ${NAMES}.`,
      );
    }
    process.stdout.write(`${JSON.stringify(await schemaOf(kind), null, 2)}\n`);
    return EXIT.ok;
  },
};

/** @param {string} kind @returns {kind is SchemaKind} */
function isKnown(kind) {
  return KINDS.includes(kind);
}

/**
 * Loads zod, for which --help need not wait.
 * @param {SchemaKind} kind
 * @returns {Promise<Record<string, unknown>>} JSON Schema (draft 2020-12); that of scenarios names the operations and their options
 */
export async function schemaOf(kind) {
  if (kind === 'scenario') return (await import('../campaigns/scenario/declaration.js')).schemaOfScenarios();
  const { jsonSchemaOf } = await import('../result/declared.js');
  return jsonSchemaOf(await DECLARED[kind]());
}
