/**
 * `npm run bench -- [NAME...] [--runs N] [--seconds N] [--requests N]`: measures, prints a table, writes
 * results/NAME.json with the figures of every run, the commit and the machine, and results/all.json with all results.
 * `--page` writes docs/benchmarks.md and its charts from saved results, without measuring. The repository contains no other
 * results: figures are valid for one machine at one time. npm passes --no-memory-reducer: otherwise V8 would collect garbage in this idle
 * process, on a core under measurement.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { renderChart } from './chart.js';
import { benches } from './index.js';
import { describeMachine } from './machine.js';
import { renderMarkdown, renderReport } from './table.js';

/** @import { SavedReport } from './table.js' */

const RESULTS = new URL('./results/', import.meta.url);
const PAGE = new URL('../../docs/benchmarks.md', import.meta.url);
const CHARTS = new URL('./benchmarks/', PAGE);

const HEAD = `# Benchmarks

\`npm run bench\` measures this tool (\`ours\`) and the other load generators on the PATH in turn; \`npm run bench -- --page\` writes this page.
[accuracy.md](accuracy.md) explains the figures.
`;

/** Default number of measurements of each figure. */
const RUNS = 5;

/** @param {string[]} args @returns {Promise<number>} exit code */
async function main(args) {
  const { values, positionals } = readArgs(args);
  const wrong = /** @type {const} */ (['runs', 'seconds', 'requests']).find(
    (name) => values[name] !== undefined && !/^[1-9]\d{0,8}$/.test(values[name]),
  );
  if (wrong !== undefined) {
    process.stderr.write(`--${wrong} is ${JSON.stringify(values[wrong])}; use a positive integer.\n`);
    return 1;
  }
  const unknown = positionals.find((name) => !Object.hasOwn(benches, name));
  if (unknown !== undefined) {
    const known = Object.entries(benches).map(([name, { describe }]) => `  ${name}  ${describe}`);
    process.stderr.write(`There is no bench ${unknown}. The benches are:\n${known.join('\n')}\n`);
    return 1;
  }
  const names = positionals.length > 0 ? positionals : Object.keys(benches);
  if (values.page) return writePage(readResults(Object.keys(benches)));
  const number = (/** @type {string | undefined} */ text) => (text === undefined ? null : Number(text));
  const { runs, seconds, requests } = values;
  return runAll(names, { runs: number(runs), seconds: number(seconds), requests: Number(requests) });
}

/** @param {string[]} args */
function readArgs(args) {
  return parseArgs({
    args,
    allowPositionals: true,
    options: {
      runs: { type: 'string' },
      seconds: { type: 'string' },
      requests: { type: 'string', default: '10000000' },
      page: { type: 'boolean', default: false },
    },
  });
}

/**
 * Continues after a bench that fails.
 * @param {string[]} names
 * @param {{runs: number | null, seconds: number | null, requests: number}} given null: the default of the bench
 */
async function runAll(names, { runs, seconds, requests }) {
  let code = 0;
  for (const name of names) {
    try {
      const { seconds: usual, runs: usualRuns = RUNS } = benches[name];
      await runBench(name, { runs: runs ?? usualRuns, seconds: seconds ?? usual, requests });
    } catch (error) {
      process.stderr.write(`${name}: ${error instanceof Error ? error.stack : error}\n`);
      code = 1;
    }
  }
  return code;
}

/** @param {string} name @param {{runs: number, seconds: number, requests: number}} settings */
async function runBench(name, settings) {
  const { run } = await benches[name].load();
  const begun = performance.now();
  const log = (/** @type {string} */ text) =>
    void process.stderr.write(`${name}, ${Math.round((performance.now() - begun) / 1000)} s: ${text}\n`);
  const machine = describeMachine();
  const report = { bench: name, ...settings, ...(await run({ ...settings, log })), machine };
  mkdirSync(RESULTS, { recursive: true });
  const file = resultFile(name);
  write(file, report);
  write(new URL('all.json', RESULTS), { benches: readResults(Object.keys(benches)) });
  process.stdout.write(`${renderReport(report)}\nWritten to ${fileURLToPath(file)}\n\n`);
}

/** @param {SavedReport[]} reports */
function writePage(reports) {
  if (reports.length === 0) {
    process.stderr.write('There are no results to write a page of. Run npm run bench first.\n');
    return 1;
  }
  const missing = Object.keys(benches).filter((name) => !reports.some(({ bench }) => bench === name));
  const left = missing.length === 0 ? [] : [`Not measured here: ${missing.join(', ')}.\n`];
  mkdirSync(CHARTS, { recursive: true });
  for (const report of reports) writeFileSync(new URL(`${report.bench}.svg`, CHARTS), renderChart(report));
  writeFileSync(PAGE, [HEAD, ...left, ...reports.map(renderMarkdown)].join('\n'));
  process.stdout.write(`Written to ${fileURLToPath(PAGE)} and ${fileURLToPath(CHARTS)}\n`);
  return 0;
}

/** @param {string[]} names @returns {SavedReport[]} existing ones */
function readResults(names) {
  return names
    .map(resultFile)
    .filter((file) => existsSync(file))
    .map((file) => JSON.parse(readFileSync(file, 'utf8')));
}

/** @param {string} name */
function resultFile(name) {
  return new URL(`${name}.json`, RESULTS);
}

/** @param {URL} file @param {unknown} content */
function write(file, content) {
  writeFileSync(file, `${JSON.stringify(content, null, 1)}\n`);
}

// Exit handlers kill the child processes; a signal alone would not run them.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
  if (!code?.startsWith('ERR_PARSE_ARGS_')) throw error;
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}
