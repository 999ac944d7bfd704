/**
 * CPU time of all processes and threads of a load generator at a constant rate, in percent of one core, as counted by
 * the kernel. Excludes startup.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { shareCores } from './cores.js';
import { measureInTurn, verdictOn } from './in-turn.js';
import { describePeers, openLoopPeers } from './measure.js';
import { runOcsp } from './ours.js';
import { childrenOf, readTree } from './process-tree.js';
import { median } from './statistics.js';
import { OCSP_REQUEST, withSubject } from './subject.js';
import { withTarget } from './target/start.js';

/** @import { Report, Settings } from './index.js' */
/** @import { Subject } from './subject.js' */
/** @import { RunningTarget } from './target/start.js' */

const RATES = [20, 100, 1000];
const MODES = ['auto', 'spin', 'sleep'];
const CONNECTIONS = 10;
/** The goal applies to this rate; peers are measured only at it. */
const GOAL_RATE = 1000;
const GOAL_PERCENT = 20;

/** The load has started when the target has received this many; fewer may be requests before the run. */
const FIRST_REQUESTS = 10;
const FIRST_REQUESTS_WITHIN_SECONDS = 30;
const SETTLE_SECONDS = 2;
const SPARE_SECONDS = 1;

/** @typedef {{percent: number, perSecond: number}} Usage percent of a core, and requests per second at the target */
/** @typedef {{rate: number, tool: string, runs: Usage[]}} Row */
/** @typedef {(url: string, seconds: number) => Promise<unknown>} Offer runs the load generator; takes slightly longer, including startup */

/** @param {Settings} settings @returns {Promise<Report>} */
export async function run(settings) {
  return withSubject(async (subject) => {
    /** @type {Row[]} */
    const rows = [];
    for (const rate of RATES) {
      const sources = (await sourcesAt(rate, subject)).map(({ tool, offer }) => ({
        ...{ rate, tool },
        measure: () => cpuPercent(subject, settings.seconds, offer),
      }));
      rows.push(...(await measureInTurn(sources, settings, `${rate}/s`)));
    }
    return {
      question: `CPU time while offering a rate, in % of one core, without startup: ${CONNECTIONS} connections, the target on its own core`,
      chart: { column: '% of a core', named: 2 },
      columns: ['rate/s', 'tool', '% of a core', 'lowest', 'highest', 'received/s', 'goal', 'met'],
      rows: rows.map(figuresOf),
      summary: { peers: await describePeers() },
      raw: rows,
    };
  });
}

/**
 * @param {number} ratePerSecond
 * @param {Subject} subject
 * @returns {Promise<{tool: string, offer: Offer}[]>}
 */
async function sourcesAt(ratePerSecond, subject) {
  const ours = MODES.map((pacing) => ({
    tool: `ours, ${pacing}`,
    offer: (/** @type {string} */ url, /** @type {number} */ seconds) =>
      runOcsp(subject, url, {
        rate: ratePerSecond,
        concurrency: CONNECTIONS,
        duration: seconds,
        pacing,
      }),
  }));
  const { request: bodyFile, folder } = subject;
  const job = { bodyFile, contentType: OCSP_REQUEST, folder, cores: shareCores().generator };
  const peers = ratePerSecond === GOAL_RATE ? await openLoopPeers() : [];
  return [
    ...ours,
    ...peers.map(({ name, openLoop }) => ({
      tool: name,
      offer: async (/** @type {string} */ url, /** @type {number} */ seconds) =>
        openLoop?.({ ...job, url, seconds, connections: CONNECTIONS, ratePerSecond }),
    })),
  ];
}

/** @param {Subject} subject @param {number} seconds @param {Offer} offer */
function cpuPercent({ response }, seconds, offer) {
  return withTarget({ bodyFile: response }, async (target) => {
    const offering = offer(target.url, SETTLE_SECONDS + seconds + SPARE_SECONDS);
    const [usage] = await Promise.all([measureUsage(target, seconds), offering]);
    return usage;
  });
}

/**
 * @param {RunningTarget} target its process is the only child that does not count
 * @param {number} seconds
 * @returns {Promise<Usage>}
 */
async function measureUsage({ pid, stats }, seconds) {
  const deadline = performance.now() + FIRST_REQUESTS_WITHIN_SECONDS * 1000;
  while ((await stats()).requests < FIRST_REQUESTS) {
    if (performance.now() > deadline) {
      throw new Error(`The load generator sent nothing within ${FIRST_REQUESTS_WITHIN_SECONDS} s.`);
    }
    await sleep(100);
  }
  await sleep(SETTLE_SECONDS * 1000);
  const [cpuBefore, { requests: before }, begun] = [cpuSecondsExcept(pid), await stats(), performance.now()];
  await sleep(seconds * 1000);
  const [cpuAfter, { requests: after }, ended] = [cpuSecondsExcept(pid), await stats(), performance.now()];
  const elapsed = (ended - begun) / 1000;
  return { percent: (100 * (cpuAfter - cpuBefore)) / elapsed, perSecond: (after - before) / elapsed };
}

/** @param {number} target */
function cpuSecondsExcept(target) {
  const others = childrenOf(process.pid).filter((pid) => pid !== target);
  const usages = others.map(readTree).filter((one) => one !== null);
  if (usages.length === 0) throw new Error('The load generator exited early.');
  return usages.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
}

/** @param {Row} row */
function figuresOf({ rate, tool, runs }) {
  const percents = runs.map(({ percent }) => percent);
  const perSecond = median(runs.map((one) => one.perSecond));
  const isGoal = rate === GOAL_RATE && tool === 'ours, auto';
  const isMet = median(percents) <= GOAL_PERCENT && Math.abs(perSecond / rate - 1) <= 0.01;
  const verdict = isGoal ? verdictOn(`<= ${GOAL_PERCENT}`, isMet) : ['', ''];
  return [rate, tool, median(percents), Math.min(...percents), Math.max(...percents), perSecond, ...verdict];
}
