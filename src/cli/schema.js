/** `schema`: the published JSON Schema of the result file. */
import { readFile } from 'node:fs/promises';
import { EXIT } from '../errors.js';

/** @type {import('./main.js').Command} */
export const command = {
  options: {},
  examples: ['schema > result.schema.json'],
  async run() {
    process.stdout.write(await readFile(new URL('../results/result.schema.json', import.meta.url), 'utf8'));
    return EXIT.ok;
  },
};
