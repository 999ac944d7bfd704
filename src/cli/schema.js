/** `schema`: the published JSON Schemas of what is written as JSON. */
import { readFile } from 'node:fs/promises';
import { EXIT, usageError } from '../errors.js';

/** By the name of the kind of document, each of which is published under this name too: how to get its text. */
const SCHEMAS = Object.freeze({
  result: fromFile('result'),
  'run-set': fromFile('run-set'),
  comparison: fromFile('comparison'),
  search: fromFile('search'),
  propagation: fromFile('propagation'),
  'scenario-result': fromFile('scenario-result'),
  // It names the operations and their options: one that is new is in it at once.
  scenario: async () => {
    const { schemaOfScenarios } = await import('../scenario/published.js');
    return `${JSON.stringify(await schemaOfScenarios(), null, 2)}\n`;
  },
});

const NAMES = Object.keys(SCHEMAS).join(', ');

/** @type {import('./declare.js').Command} */
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
    process.stdout.write(await SCHEMAS[kind]());
    return EXIT.ok;
  },
};

/** @param {string} kind @returns {kind is keyof typeof SCHEMAS} */
function isKnown(kind) {
  return Object.hasOwn(SCHEMAS, kind);
}

/** @param {string} kind @returns {() => Promise<string>} */
function fromFile(kind) {
  return () => readFile(new URL(`../results/${kind}.schema.json`, import.meta.url), 'utf8');
}
