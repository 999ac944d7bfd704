/**
 * How many TLS handshakes per second can one core make, with a new connection for each request and ten in flight? The target, with
 * another core, counts them. All but `hey` verify the certificate; none resumes a session.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pinned, shareCores } from './cores.js';
import { measureInTurn, verdictOn } from './in-turn.js';
import { BIN } from './ours.js';
import { median } from './statistics.js';
import { buildTarget } from './target/build.js';
import { runTimed } from './timed.js';

/** @import { Report, Settings } from './index.js' */

const IN_FLIGHT = 10;
const GOAL_RATIO = 1;

/** @typedef {{port: number, ca: string, folder: string, seconds: number}} Job `ca`: file */
/** @typedef {{name: string, command: (job: Job) => string[], isPeer?: boolean}} Tool `isPeer`: counts for the goal */

const urlOf = (/** @type {Job} */ { port }) => `https://127.0.0.1:${port}/`;

/** @type {Tool} */
const OURS = {
  name: 'ours',
  command: ({ port, ca, seconds }) => {
    const target = ['--url', `https://127.0.0.1:${port}`, '--ca-cert', ca, '--path', '/', '--token', 'none'];
    const load = ['--connections', 'new', '--concurrency', `${IN_FLIGHT}`, '--duration', `${seconds}s`];
    return [process.execPath, BIN, 'http', ...target, ...load, '--quiet', '--format', 'json'];
  },
};

/** @type {Tool[]} */
const OTHERS = [
  {
    name: 'vegeta',
    isPeer: true,
    command(job) {
      const targets = join(job.folder, 'targets.txt');
      writeFileSync(targets, `GET ${urlOf(job)}\n`);
      const load = ['-rate=0', `-max-workers=${IN_FLIGHT}`, `-duration=${job.seconds}s`, '-keepalive=false'];
      const tls = [`-root-certs=${job.ca}`, '-http2=false', '-output=/dev/null'];
      return ['vegeta', 'attack', ...load, ...tls, `-targets=${targets}`];
    },
  },
  {
    name: 'hey',
    isPeer: true,
    command: (job) => [
      'hey',
      '-disable-keepalive',
      '-c',
      `${IN_FLIGHT}`,
      '-z',
      `${job.seconds}s`,
      urlOf(job),
    ],
  },
  {
    name: 'fortio',
    isPeer: true,
    command(job) {
      const load = ['-keepalive=false', '-qps', '0', '-c', `${IN_FLIGHT}`, '-t', `${job.seconds}s`];
      return ['fortio', 'load', ...load, '-cacert', job.ca, '-quiet', urlOf(job)];
    },
  },
  {
    // One in flight each, and no HTTP client.
    name: 'openssl s_time',
    command({ port, ca, seconds }) {
      const one = `openssl s_time -connect 127.0.0.1:${port} -CAfile ${ca} -new -www / -time ${seconds}`;
      return ['sh', '-c', `for i in $(seq ${IN_FLIGHT}); do ${one} >&2 & done; wait`];
    },
  },
];

/** @param {Settings} settings @returns {Promise<Report>} */
export async function run(settings) {
  const found = await Promise.all(OTHERS.map(({ name }) => isInstalled(name.split(' ')[0])));
  const tools = [OURS, ...OTHERS.filter((_, i) => found[i])];
  const rows = await measureInTurn(
    tools.map((tool) => ({
      ...tool,
      measure: () => withTarget((at) => measure(tool, at, settings.seconds)),
    })),
    settings,
  );
  const [ours] = rows;
  return {
    question: `TLS handshakes/s, as counted by the target (Go, P-256 certificate, TLS 1.3): a new connection for each request, closed loop, ${IN_FLIGHT} in flight, all threads on one core, the target on another`,
    chart: { column: 'handshakes/s', named: 1 },
    columns: ['tool', 'handshakes/s', 'CPU us each', 'ours / tool', 'CPU, ours / tool', 'goal', 'met'],
    rows: rows.map(({ name, runs, isPeer }) => {
      const ratio = median(runs.map(({ perSecond }, i) => ours.runs[i].perSecond / perSecond));
      return [
        name,
        median(runs.map(({ perSecond }) => perSecond)),
        median(runs.map(({ cpuUs }) => cpuUs)),
        ...(runs === ours.runs
          ? [null, null]
          : [ratio, median(runs.map(({ cpuUs }, i) => ours.runs[i].cpuUs / cpuUs))]),
        ...(isPeer ? verdictOn(`ratio >= ${GOAL_RATIO}`, ratio >= GOAL_RATIO) : ['', '']),
      ];
    }),
    summary: {},
    raw: rows.map(({ name, runs }) => ({ name, runs })),
  };
}

/** @param {string} command */
const isInstalled = async (command) => (await runTimed(['sh', '-c', `command -v ${command}`])).code === 0;

/** @param {Tool} tool @param {Omit<Job, 'seconds'>} target @param {number} seconds CPU time includes startup */
async function measure({ name, command }, target, seconds) {
  const { code, stderr, cpuSeconds } = await runTimed(command({ ...target, seconds }), {
    cores: shareCores().one,
    limitSeconds: 3 * seconds + 30,
  });
  if (code !== 0 && !(name === 'ours' && code === 98))
    throw new Error(`${name} exited with code ${code}: ${stderr.slice(-500)}`);
  const { handshakes, requests, resumed } = JSON.parse(await read(`${urlOf({ ...target, seconds })}_counts`));
  if (resumed > 0 || requests < 0.98 * handshakes) throw new Error(`${name}: ${handshakes}, ${requests}`);
  return { perSecond: requests / seconds, cpuUs: (cpuSeconds * 1e6) / requests };
}

/** @template T @param {(target: Omit<Job, 'seconds'>) => Promise<T>} use @returns {Promise<T>} */
async function withTarget(use) {
  const { handshakes } = await buildTarget();
  const folder = mkdtempSync(join(tmpdir(), 'vault-pki-load-bench-'));
  const ca = join(folder, 'ca.pem');
  const [command, ...args] = pinned(shareCores().target, [handshakes, `-cert=${ca}`]);
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  try {
    const [line] = await once(createInterface(child.stdout), 'line');
    return await use({ port: JSON.parse(line).port, ca, folder });
  } finally {
    child.stdin.end();
    await ended;
    rmSync(folder, { recursive: true });
  }
}

/** @param {string} url @returns {Promise<string>} */
function read(url) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { rejectUnauthorized: false, agent: false }, async (response) => {
      let text = '';
      for await (const chunk of response.setEncoding('utf8')) text += chunk;
      resolve(text);
    });
    sent.on('error', reject).end();
  });
}
