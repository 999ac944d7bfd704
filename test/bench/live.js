/**
 * Effect of progress output and rewritten files on sending: send lag and lateness of the same plan with several kinds of
 * output, in turn. `script` (util-linux) provides the terminal, 100 columns wide.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { shareCores } from './cores.js';
import { measureInTurn, verdictOn } from './in-turn.js';
import { lateness } from './lateness.js';
import { BIN } from './ours.js';
import { median } from './statistics.js';
import { withSubject } from './subject.js';
import { withTarget } from './target/start.js';
import { runTimed } from './timed.js';

/** @import { Report, Settings } from './index.js' */
/** @import { Subject } from './subject.js' */

const RATE = 5000;
const CONNECTIONS = 10;
/** `ocsp --ocsp-url` sends one request before the load. */
const SETUP_REQUESTS = 1;
const GOAL_RATIO = 1.1;

/** @typedef {{lag99: number, late99: number, cpuSeconds: number}} Run ms: as the tool reports it, and as measured at the target */
/** @typedef {{name: string, flags: (folder: string) => string[], onTerminal: boolean, judged?: boolean}} OutputMode */

/** The first is the baseline. @type {OutputMode[]} */
const OUTPUT_MODES = [
  { name: 'no output (--quiet)', flags: () => ['--quiet'], onTerminal: false },
  { name: 'a line every 5 s', flags: () => [], onTerminal: false },
  { name: 'live view on a terminal', flags: () => [], onTerminal: true, judged: true },
  {
    name: 'live view, a requirement, .json and .html rewritten',
    flags: (folder) => [
      ...['--require', 'p99<100ms'],
      ...['json', 'html'].flatMap((extension) => ['--out', join(folder, `live.${extension}`)]),
    ],
    onTerminal: true,
  },
];

/** @param {Settings} settings @returns {Promise<Report>} */
export async function run(settings) {
  return withSubject(async (subject) => {
    const modes = OUTPUT_MODES.map((mode) => ({
      ...mode,
      measure: () => measure(subject, settings.seconds, mode),
    }));
    const measured = await measureInTurn(modes, settings);
    return {
      question: `Send lag and lateness in ms at ${RATE}/s while progress is shown: ${CONNECTIONS} connections, tool and target on one core each`,
      chart: { column: 'lag p99', unit: 'ms', named: 1 },
      columns: ['output', 'lag p99', 'ratio', 'late p99', 'ratio', 'CPU s', 'goal', 'met'],
      rows: measured.map((one) => figuresOf(one, measured[0].runs)),
      summary: {},
      raw: measured.map(({ name, runs: all }) => ({ name, runs: all })),
    };
  });
}

/** @param {Subject} subject @param {number} seconds @param {OutputMode} mode @returns {Promise<Run>} */
function measure(subject, seconds, { flags, onTerminal }) {
  const { folder, response, cert, issuer } = subject;
  return withTarget({ bodyFile: response, record: true, skip: SETUP_REQUESTS }, async (target) => {
    const file = join(folder, 'live-result.json');
    rmSync(file, { force: true });
    const about = ['--cert', cert, '--issuer', issuer, '--ocsp-url', target.url];
    const load = ['--rate', `${RATE}`, '--concurrency', `${CONNECTIONS}`, '--duration', `${seconds}`];
    const ours = [process.execPath, BIN, 'ocsp', ...about, ...load, ...flags(folder), '--format', 'json'];
    const shell = `stty cols 100 rows 30 2>&-; exec ${ours.map(quoted).join(' ')} > ${quoted(file)}`;
    const command = onTerminal ? ['script', '-qefc', shell, '/dev/null'] : ['sh', '-c', shell];
    const env = { TERM: 'xterm-256color', SHELL: '/bin/sh' };
    const { stdout, stderr, cpuSeconds } = await runTimed(command, { env, cores: shareCores().generator });
    if (!existsSync(file)) throw new Error(`The run wrote no result: ${stdout}${stderr}`);
    const result = JSON.parse(readFileSync(file, 'utf8'));
    const origin = BigInt(result.startedAtMonotonicNs);
    const { p99 } = lateness(await target.arrivals(), { rate: RATE, seconds }, origin);
    return { lag99: result.latencyMs.sendLag.p99, late99: Number(p99), cpuSeconds };
  });
}

/** @param {string} text */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** @param {OutputMode & {runs: Run[]}} mode @param {Run[]} base */
function figuresOf({ name, runs, judged = false }, base) {
  const of = (/** @type {keyof Run} */ key) => median(runs.map((one) => one[key]));
  const ratio = (/** @type {keyof Run} */ key) => median(runs.map((one, i) => one[key] / base[i][key]));
  const goal = judged ? verdictOn(`lag <= ${GOAL_RATIO}`, ratio('lag99') <= GOAL_RATIO) : ['', ''];
  return [name, of('lag99'), ratio('lag99'), of('late99'), ratio('late99'), of('cpuSeconds'), ...goal];
}
