/**
 * Peak resident memory of the command, for long runs and failing targets: the sum over its processes, or the kernel's
 * high-water mark for a single process. Includes the code of Node.js itself, about 40 MB that all its processes share.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { measureInTurn, verdictOn } from './in-turn.js';
import { withAuthority } from './pool.js';
import { median } from './statistics.js';
import { withTarget } from './target/start.js';
import { startWatched, startWatchedOcsp } from './watched.js';

/** @import { Result } from '../../src/result/schema.js' */
/** @import { Report, Settings } from './index.js' */
/** @import { Subject } from './subject.js' */
/** @import { RunningTarget, TargetOptions } from './target/start.js' */
/** @import { Running, Watched } from './watched.js' */

const GOAL_MB = 150;
const CONNECTIONS = 10;
const LONG_RESPONSE_BYTES = 1_000_000;

/** A million requests become due while almost none gets a response. */
const BACKLOG = { rate: 200_000, duration: 5, timeout: 2 };
const POLL_MS = 20;

/** Long enough to be sampled. */
const REST = 'setTimeout(() => {}, 300)';

/** @typedef {{subject: Subject, longResponse: (bytes: number) => string}} Authority */
/** @typedef {{name: string, hasGoal: boolean, measure: () => Promise<Watched>}} Case */
/** @typedef {{peakMb: number, sent: number | null, waiting: number | null}} Run */

/** @param {Settings} settings @returns {Promise<Report>} */
export async function run(settings) {
  return withAuthority(async (authority) => {
    const cases = casesOf(authority, settings).map((one) => ({
      ...one,
      measure: async () => runOf(one.name, await one.measure()),
    }));
    const rows = await measureInTurn(cases, settings);
    return {
      question: `Peak resident memory of the process tree in MB, one sender thread unless noted, ${CONNECTIONS} connections`,
      chart: { column: 'median', unit: 'MB', named: 1 },
      columns: ['case', 'median', 'highest', 'sent', 'still waiting', 'goal', 'met'],
      rows: rows.map(figuresOf),
      summary: {},
      raw: rows,
    };
  });
}

/** @param {Authority} authority @param {{seconds: number, requests: number}} size @returns {Case[]} */
function casesOf({ subject, longResponse }, { seconds, requests }) {
  const load = { concurrency: CONNECTIONS };
  const responding = { bodyFile: subject.response };
  /**
   * @param {TargetOptions} behaviour
   * @param {Record<string, string | number>} options
   * @param {(target: RunningTarget, running: Running) => Promise<void>} [meanwhile]
   */
  const ours = (behaviour, options, meanwhile) => () =>
    withTarget(behaviour, async (target) => {
      const running = startWatchedOcsp(subject, target.url, { ...load, ...options });
      const [ended] = await Promise.all([running.ended, meanwhile?.(target, running)]);
      return ended;
    });
  const node = (/** @type {string} */ script) => () =>
    startWatched(['--input-type=module', '-e', script]).ended;
  return [
    { name: 'Node.js alone', hasGoal: false, measure: node(REST) },
    { name: '1 request', hasGoal: true, measure: ours(responding, { requests: 1 }) },
    {
      name: `${requests.toLocaleString('en')} requests`,
      hasGoal: true,
      measure: ours(responding, { requests }),
    },
    {
      name: `plan of one hour, ended after ${seconds} s`,
      hasGoal: true,
      measure: ours(responding, { rate: 1000, duration: '1h' }, async ({ stats }, { kill }) => {
        await until(async () => (await stats()).requests > 100);
        await sleep(seconds * 1000);
        kill('SIGINT');
      }),
    },
    {
      name: 'connections refused, backlog of a million',
      hasGoal: true,
      measure: ours(responding, BACKLOG, async ({ stats, stop }) => {
        await until(async () => (await stats()).requests > 0);
        await stop();
      }),
    },
    {
      name: 'no responses, backlog of a million',
      hasGoal: true,
      measure: ours({ ...responding, hangEvery: 1, skip: 1 }, BACKLOG),
    },
    {
      name: 'responses of 1 MB',
      hasGoal: true,
      measure: ours({ bodyFile: longResponse(LONG_RESPONSE_BYTES) }, { duration: seconds }),
    },
    {
      name: 'responses of 1 MB, 100 connections',
      hasGoal: false,
      measure: ours({ bodyFile: longResponse(LONG_RESPONSE_BYTES) }, { concurrency: 100, duration: seconds }),
    },
    { name: 'two threads', hasGoal: false, measure: ours(responding, { threads: 2, duration: seconds }) },
  ];
}

/** @param {() => Promise<boolean>} condition */
async function until(condition) {
  while (!(await condition())) await sleep(POLL_MS);
}

/** @param {string} name @param {Watched} watched @returns {Run} */
function runOf(name, { stdout, stderr, code, peakMb }) {
  if (stdout === '') {
    if (code !== 0) throw new Error(`${name} exited with code ${code}: ${stderr}`);
    return { peakMb, sent: null, waiting: null };
  }
  const { totals } = /** @type {Result} */ (JSON.parse(stdout));
  return { peakMb, sent: totals.sent, waiting: totals.neverSentDue };
}

/** @param {{name: string, hasGoal: boolean, runs: Run[]}} row */
function figuresOf({ name, hasGoal, runs }) {
  const peaks = runs.map(({ peakMb }) => peakMb);
  const highest = Math.max(...peaks);
  const [{ sent, waiting }] = runs;
  const verdict = hasGoal ? verdictOn(`highest < ${GOAL_MB}`, highest < GOAL_MB) : ['', ''];
  return [name, median(peaks), highest, sent, waiting, ...verdict];
}
