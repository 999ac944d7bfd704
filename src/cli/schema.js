/** `schema`: the published JSON Schemas of what is written as JSON. */
import { readFile } from 'node:fs/promises';
import { EXIT, usageError } from '../errors.js';

/** By the name of the kind of document; each is published under this name too. @type {Readonly<Record<string, URL>>} */
const SCHEMAS = Object.freeze({
  result: new URL('../results/result.schema.json', import.meta.url),
  'run-set': new URL('../results/run-set.schema.json', import.meta.url),
  comparison: new URL('../results/comparison.schema.json', import.meta.url),
  search: new URL('../results/search.schema.json', import.meta.url),
  propagation: new URL('../results/propagation.schema.json', import.meta.url),
  'scenario-result': new URL('../results/scenario-result.schema.json', import.meta.url),
  scenario: new URL('../scenario/scenario.schema.json', import.meta.url),
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
    if (!Object.hasOwn(SCHEMAS, kind)) {
      throw usageError(
        'unknown_schema',
        `There is no schema ${JSON.stringify(kind.slice(0, 80))}.`,
        `There are ${NAMES}.`,
      );
    }
    process.stdout.write(await readFile(SCHEMAS[kind], 'utf8'));
    return EXIT.ok;
  },
};
