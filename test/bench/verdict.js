/**
 * Are the tool's error bars and verdicts correct? Runs on targets of known behaviour (verdict-scenarios.js), on an idle
 * machine and with busy loops, each compared with a packet capture. The true value is the value that a tool without
 * lateness would have reported (truth.js). Each run has a grid of requirements around the figures of the previous run
 * (grid.js).
 *
 * Idle: target and tool have their own processors. Busy: as many busy loops as processors, and nothing is pinned.
 * `pooled` compares the bars with all runs of a scenario together, to test the sampling error.
 */
import { availableParallelism } from 'node:os';
import { shareCores } from './cores.js';
import { withHogs } from './hogs.js';
import { measureInTurn } from './in-turn.js';
import { withSubject } from './subject.js';
import { measureAgainstTruth } from './verdict-run.js';
import { SCENARIOS } from './verdict-scenarios.js';
import { COLUMNS, rowsOf, summaryOf } from './verdict-table.js';
import { requireRoot } from './wire.js';

/** @import { Figures } from './grid.js' */
/** @import { Report, Settings } from './index.js' */
/** @import { Subject } from './subject.js' */
/** @import { Run } from './verdict-run.js' */

/** Of the first run, which yields the expected figures. */
const PILOT_SECONDS = 2;

/** @typedef {Run & {responses: Float64Array}} MeasuredRun */

/** @param {Settings} settings @returns {Promise<Report>} */
export async function run(settings) {
  const { runs, seconds } = settings;
  requireRoot('verdict');
  if (shareCores().generator === null) throw new Error('This bench needs taskset and two processors.');
  return withSubject(async (subject) => {
    const machines = [
      { name: 'idle', hogs: 0 },
      { name: 'busy', hogs: availableParallelism() },
    ].map((machine) => ({ ...machine, measure: measurerOn(subject, machine.hogs, seconds) }));
    const measured = await measureInTurn(machines, settings);
    return {
      question: `Error bars of response times and rates, and verdicts on requirements, compared with a packet capture; ${SCENARIOS.length} scenarios in turn`,
      basis: `${runs} runs of ${seconds} s each on an idle and on a busy machine`,
      chart: { column: 'width p50', unit: '% of the true value', named: 2 },
      columns: COLUMNS,
      rows: measured.flatMap(({ name, runs: all }) => rowsOf(name, all)),
      summary: Object.assign({}, ...measured.map(({ name, runs: all }) => summaryOf(name, all))),
      raw: measured.map(({ name, hogs, runs: all }) => ({
        name,
        hogs,
        runs: all.map(({ responses, ...one }) => one),
      })),
    };
  });
}

/**
 * @param {Subject} subject
 * @param {number} hogs
 * @param {number} seconds
 * @returns {(i: number) => Promise<MeasuredRun>}
 */
function measurerOn(subject, hogs, seconds) {
  /** @type {Map<string, Figures>} */
  const expected = new Map();
  const isPinned = hogs === 0;
  return (i) =>
    withHogs(hogs, async () => {
      const scenario = SCENARIOS[i % SCENARIOS.length];
      const { name } = scenario;
      if (!expected.has(name)) {
        const pilot = { seconds: PILOT_SECONDS, seed: 1, isPinned, expected: null };
        expected.set(name, (await measureAgainstTruth(subject, scenario, pilot)).run.truth);
      }
      const about = { seconds, seed: i + 2, isPinned, expected: expected.get(name) ?? null };
      const { run: one, responses } = await measureAgainstTruth(subject, scenario, about);
      expected.set(name, one.truth);
      return { ...one, responses };
    });
}
