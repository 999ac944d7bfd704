/** `schema`: the published JSON Schemas of what is written as JSON. */
import { EXIT, usageError } from '../common/errors.js';
import { DOCUMENT_KINDS } from '../result/document.js';

/** @typedef {import('./schemas.js').SchemaKind} SchemaKind */

const KINDS = Object.freeze([...DOCUMENT_KINDS, 'scenario']);
const NAMES = KINDS.join(', ');

/** @type {import('./arguments.js').Command} */
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
    // Loads the library of the declarations, which --help need not wait for.
    const { schemaOf } = await import('./schemas.js');
    process.stdout.write(`${JSON.stringify(await schemaOf(kind), null, 2)}\n`);
    return EXIT.ok;
  },
};

/** @param {string} kind @returns {kind is SchemaKind} */
function isKnown(kind) {
  return KINDS.includes(kind);
}
