/**
 * `npm run bench -- [NAME...] [--pairs N] [--seconds N]`: measures, prints a table, writes results/NAME.json with the
 * commit and the machine. The files are not part of the repository: a figure belongs to a machine and an hour. Who
 * cites one says which.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { benches } from './index.js';
import { describeMachine } from './machine.js';
import { renderReport } from './table.js';

const RESULTS = new URL('./results/', import.meta.url);

/** @param {string[]} args */
async function main(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { pairs: { type: 'string', default: '5' }, seconds: { type: 'string', default: '10' } },
  });
  const unknown = positionals.find((name) => !Object.hasOwn(benches, name));
  if (unknown !== undefined) {
    const known = Object.entries(benches).map(([name, { describe }]) => `  ${name}  ${describe}`);
    throw new Error(`There is no bench ${unknown}. There are:\n${known.join('\n')}`);
  }
  for (const name of positionals.length > 0 ? positionals : Object.keys(benches)) {
    await runBench(name, { pairs: Number(values.pairs), seconds: Number(values.seconds) });
  }
}

/**
 * @param {string} name
 * @param {{pairs: number, seconds: number}} settings
 */
async function runBench(name, settings) {
  const { run } = await benches[name].load();
  const say = (/** @type {string} */ text) => void process.stderr.write(`${name}: ${text}\n`);
  const machine = describeMachine();
  const report = { bench: name, ...settings, ...(await run({ ...settings, say })), machine };
  mkdirSync(RESULTS, { recursive: true });
  const file = new URL(`${name}.json`, RESULTS);
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
  process.stdout.write(`${renderReport(report)}\nWritten to ${fileURLToPath(file)}\n\n`);
}

await main(process.argv.slice(2));
