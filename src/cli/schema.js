/** `schema`: the JSON Schemas of documents and scenarios. */
import { EXIT, quote, usageError } from '../common/errors.js';

/** @import { Command } from './arguments.js' */

/** @typedef {keyof typeof DECLARED | 'scenario'} SchemaKind */

/** Loaded on demand: zod takes longer than `--help`. */
const DECLARED = Object.freeze({
  result: async () => (await import('../result/schema.js')).Result,
  'run-set': async () => (await import('../result/runs/run-set-schema.js')).RunSet,
  comparison: async () => (await import('../result/comparison/comparison-schema.js')).Comparison,
  search: async () => (await import('../result/search/search-schema.js')).Search,
  propagation: async () => (await import('../result/propagation/propagation-schema.js')).Propagation,
  'scenario-result': async () => (await import('../result/scenario/scenario-schema.js')).ScenarioResult,
});
const KINDS = [...Object.keys(DECLARED), 'scenario'];

/** @type {Command} */
export const command = {
  options: {},
  positionals: {
    name: 'kinds',
    placeholder: 'KIND',
    describe: `Kind of document: ${KINDS.join(', ')} [default: result]`,
    min: 0,
    max: 1,
  },
  examples: ['schema > result.schema.json', 'schema run-set > run-set.schema.json'],
  async run(given) {
    const [kind = 'result'] = /** @type {SchemaKind[]} */ (given.kinds);
    if (!KINDS.includes(kind)) {
      const message = `There is no schema ${quote(kind)}.`;
      throw usageError('unknown_schema', message, `Use one of ${KINDS.join(', ')}.`);
    }
    process.stdout.write(`${JSON.stringify(await schemaOf(kind), null, 2)}\n`);
    return EXIT.ok;
  },
};

/** @param {SchemaKind} kind @returns {Promise<Record<string, unknown>>} JSON Schema (draft 2020-12) */
export async function schemaOf(kind) {
  if (kind === 'scenario') return (await import('../campaigns/scenario/declaration.js')).schemaOfScenarios();
  const { jsonSchemaOf } = await import('../result/declared.js');
  return jsonSchemaOf(await DECLARED[kind]());
}
