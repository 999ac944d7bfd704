/**
 * Does the tool know when its own figures are wrong? Short runs on a target that answers after a known delay and keeps its
 * own record: on a quiet machine, with other programs on the generator's processors, and at a hundred times the rate that
 * can be had. A run is off when its p99 is more than 10 % away from what a tool that is never late would have seen: the target
 * held request k for so long, and it was handed over when it was due, or when the first of the connections was free again.
 * In a closed loop that is the time it was held. A false valid is one that is off and calls itself
 * valid; a false invalid is a quiet one that is not off and calls itself invalid.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createSchedule } from '../../src/load/pacing/schedule.js';
import { pinned, shareCores } from './cores.js';
import { measureInTurn, verdictOn } from './in-turn.js';
import { measureOurs } from './measure.js';
import { quantile } from './statistics.js';
import { withSubject } from './subject.js';

const OFF = 0.1;
const OPEN = /** @type {const} */ ([
  { delayMs: 5, ratePerSecond: 50, connections: 10 },
  { delayMs: 10, ratePerSecond: 200, connections: 20 },
  { delayMs: 20, ratePerSecond: 1000, connections: 100 },
  { delayMs: 50, ratePerSecond: 500, connections: 100 },
  { delayMs: 10, ratePerSecond: null, connections: 10 },
]);
/** What the target could answer is connections / delay; the last is about a hundred times what the tool can send. */
const OVERLOADS = /** @type {const} */ ([
  { delayMs: 10, ratePerSecond: 100_000, connections: 10 },
  { delayMs: 1, ratePerSecond: 1_000_000, connections: 10 },
  { delayMs: 0, ratePerSecond: 1_000_000, connections: 10 },
]);

/** Busy loops on the generator's processors, in turn from run to run. */
const HOGS = [1, 2, 4];

/** @typedef {{delayMs: number, ratePerSecond: number | null, connections: number}} Scenario */
/**
 * @typedef {object} Case
 * @property {string} name
 * @property {readonly Scenario[]} scenarios in turn
 * @property {boolean} hogged
 * @property {boolean} honest a run that is not off should not call itself invalid
 */
/** @type {Case[]} */
const CASES = [
  { name: 'quiet', scenarios: OPEN, hogged: false, honest: true },
  { name: "hog on the generator's cores", scenarios: OPEN, hogged: true, honest: false },
  { name: '100 x too high a rate', scenarios: OVERLOADS, hogged: false, honest: false },
];

/**
 * @typedef {object} Run
 * @property {Scenario} scenario
 * @property {number} hogs
 * @property {'valid' | 'suspect' | 'invalid'} verdict
 * @property {string[]} codes
 * @property {number | null} p99 reported, ms
 * @property {number} truth ms
 * @property {boolean} off
 * @property {unknown} observed
 */

/** @param {import('./index.js').Settings} settings @returns {Promise<import('./index.js').Report>} */
export async function run(settings) {
  const { runs, seconds } = settings;
  const { generator } = shareCores();
  if (generator === null) throw new Error('This bench needs taskset and two processors.');
  return withSubject(async (subject) => {
    const cases = CASES.map(({ scenarios, hogged, ...about }) => ({
      ...about,
      measure(/** @type {number} */ i) {
        const hogs = hogged ? HOGS[Math.floor(i / scenarios.length) % HOGS.length] : 0;
        const scenario = scenarios[i % scenarios.length];
        return withHogs(hogs, generator, () => measure(subject, scenario, seconds, hogs));
      },
    }));
    const measured = await measureInTurn(cases, settings);
    return {
      question: `What the tool says of its own measurement, against the target's record: p99 off by more than ${OFF * 100} %, runs of ${seconds} s`,
      columns: [
        'case',
        'runs',
        'valid',
        'suspect',
        'invalid',
        'off',
        'false valid',
        'false invalid',
        'goal',
        'met',
      ],
      rows: measured.map(rowOf),
      basis: `${runs} runs of ${seconds} s of each case`,
      summary: {},
      raw: measured,
    };
  });
}

/**
 * @param {import('./subject.js').Subject} subject
 * @param {Scenario} scenario
 * @param {number} seconds
 * @param {number} hogs
 * @returns {Promise<Run>}
 */
async function measure(subject, scenario, seconds, hogs) {
  const { delayMs, ...load } = scenario;
  const { result, arrivals } = await measureOurs(
    subject,
    { delayMs },
    { ...load, seconds },
    { timeout: '1s' },
  );
  if (arrivals.atNs.length === 0) throw new Error('The target saw nothing.');
  const { verdict, reasons, observed } = result.measurement;
  const truth = quantile(trueResponses(arrivals, result), 0.99);
  const { p99 } = result.latencyMs.response;
  const off = p99 === null || Math.abs(p99 / truth - 1) > OFF;
  return { scenario, hogs, verdict, codes: reasons.map(({ code }) => code), p99, truth, off, observed };
}

/**
 * First come, first served by as many servers as there are connections, each request served for as long as the target held
 * it. Those that it never saw count with the median; what is not begun when the tool gives up counts with its age.
 *
 * @param {import('./target/start.js').Arrivals} arrivals
 * @param {import('../../src/results/schema.js').Result} result
 * @returns {Float64Array} ms, ascending
 */
function trueResponses({ heldNs }, { load, totals }) {
  const held = Float64Array.from(heldNs, (ns) => Number(ns) / 1e6);
  const sorted = Float64Array.from(held).sort();
  if (load.ratePerSecond === null) return sorted;
  const plan = /** @type {import('../../src/plan.js').LoadPlan} */ ({ stages: null, ...load });
  const schedule = createSchedule(plan);
  const giveUpMs = schedule.endMs + load.timeoutMs;
  const freeAt = new Float64Array(load.concurrency);
  return Float64Array.from({ length: totals.planned }, (_, k) => {
    const due = schedule.dueMs(k);
    let first = 0;
    for (let i = 1; i < freeAt.length; i++) if (freeAt[i] < freeAt[first]) first = i;
    const begun = Math.max(due, freeAt[first]);
    if (begun >= giveUpMs) return giveUpMs - due;
    freeAt[first] = begun + (held[k] ?? quantile(sorted, 0.5));
    return freeAt[first] - due;
  }).sort();
}

/**
 * @template T
 * @param {number} count
 * @param {string} cores
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
async function withHogs(count, cores, work) {
  const hogs = Array.from({ length: count }, () => {
    const [command, ...args] = pinned(cores, [process.execPath, '-e', 'for (;;);']);
    return spawn(command, args, { stdio: 'ignore' });
  });
  const kill = () => hogs.forEach((hog) => void hog.kill('SIGKILL'));
  process.once('exit', kill);
  try {
    return await work();
  } finally {
    const ended = hogs.map((hog) => once(hog, 'close'));
    kill();
    process.removeListener('exit', kill);
    await Promise.all(ended);
  }
}

/** @param {Pick<Case, 'name' | 'honest'> & {runs: Run[]}} measured */
function rowOf({ name, honest, runs }) {
  const count = (/** @type {(run: Run) => boolean} */ holds) => runs.filter(holds).length;
  const verdicts = ['valid', 'suspect', 'invalid'].map((verdict) => count((run) => run.verdict === verdict));
  const falseValid = count(({ off, verdict }) => off && verdict === 'valid');
  const falseInvalid = count(({ off, verdict }) => !off && verdict === 'invalid');
  const right = count(({ off }) => !off);
  const isMet = falseValid === 0 && (!honest || (right > runs.length / 2 && falseInvalid < right / 100));
  return [
    name,
    runs.length,
    ...verdicts,
    count(({ off }) => off),
    falseValid,
    honest ? falseInvalid : null,
    ...verdictOn(honest ? 'no false valid, false invalid < 1 % of most' : 'no false valid', isMet),
  ];
}
