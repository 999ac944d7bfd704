/** Startup time, from process start to exit, compared with an empty Node.js script, in turn. */
import { spawnSync } from 'node:child_process';
import { BIN } from './ours.js';
import { median } from './statistics.js';

/** @import { Report, Settings } from './index.js' */

/** Starts are short, so a run has several. */
const STARTS_PER_RUN = 4;
const GOAL_MS = 200;

/** @type {{name: string, args: string[]}[]} */
const COMMANDS = [
  { name: 'node -e 0', args: ['-e', '0'] },
  ...[['--help'], ['ocsp', '--help'], ['issue', '--help'], ['--version']].map((args) => ({
    name: args.join(' '),
    args: [BIN, ...args],
  })),
];

/** @param {Settings} settings @returns {Promise<Report>} */
export async function run({ runs, log }) {
  const rows = COMMANDS.map(({ name }) => ({ name, runs: /** @type {number[]} */ ([]) }));
  for (let i = 0; i < runs * STARTS_PER_RUN; i++) {
    for (const [k, { args }] of COMMANDS.entries()) rows[k].runs.push(startMs(args));
  }
  log(`${runs * STARTS_PER_RUN} starts of each`);
  const [bare] = rows;
  return {
    question: 'Time from process start to exit, in ms',
    basis: `medians of ${runs * STARTS_PER_RUN} starts`,
    chart: { column: 'median', unit: 'ms', named: 1 },
    columns: ['command', 'median', 'highest', 'ratio to bare node', 'goal', 'met'],
    rows: rows.map(({ name, runs: all }, i) => {
      const verdict = i === 0 ? ['', ''] : [`< ${GOAL_MS}`, median(all) < GOAL_MS ? 'yes' : 'no'];
      return [name, median(all), Math.max(...all), median(all) / median(bare.runs), ...verdict];
    }),
    summary: {},
    raw: rows,
  };
}

/** @param {string[]} args of node */
function startMs(args) {
  const begun = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const ms = performance.now() - begun;
  if (status !== 0) throw new Error(`${args.join(' ')} exited with code ${status}: ${stderr}`);
  return ms;
}
