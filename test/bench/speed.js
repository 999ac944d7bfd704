/**
 * How many OCSP responses per second can the tool receive and check from a fast target that repeats one response? Each
 * load generator has one processor, and the target another. The peers check nothing.
 *
 * Ours with two sender threads has all processors but the target's. On a machine with two processors both threads share one,
 * so they cannot be faster; but the merged counts of requests, successes and all histograms must equal the target's.
 */
import {
  checkedPerSecond,
  closedLoopRows,
  measureAll,
  ourSource,
  peerSource,
  ratioTo,
} from './closed-loop.js';
import { verdictOn } from './in-turn.js';
import { describePeers, presentPeers } from './measure.js';
import { median } from './statistics.js';
import { withSubject } from './subject.js';

/** @import { Row } from './closed-loop.js' */
/** @import { Report, Settings } from './index.js' */

const CONNECTIONS = 10;
const GOAL_PER_SECOND = 60_000;
const GOAL_OF_WRK = 0.5;

/** @param {Settings} settings @returns {Promise<Report>} */
export async function run(settings) {
  return withSubject(async (subject) => {
    const load = { connections: CONNECTIONS, oneCore: true };
    const sources = [
      ourSource('ours', subject, load),
      ourSource('ours, two threads', subject, { connections: CONNECTIONS, options: { threads: 2 } }),
      ...(await presentPeers()).map((peer) => peerSource(peer, subject, load)),
    ];
    const measured = await measureAll(sources, settings);
    const [ours] = measured;
    return {
      question: `OCSP responses per second, one response repeated: closed loop, ${CONNECTIONS} connections, all threads on one core, the target on another; ours checks every response or reports the unchecked share`,
      chart: { column: 'responses/s', named: 1 },
      columns: ['tool', 'responses/s', 'CPU us each', '% unchecked', 'ours / tool', 'goal', 'met'],
      rows: closedLoopRows(measured).map((row, i) => [
        ...row,
        i === 0 ? null : ratioTo(ours, measured[i]),
        ...judge(measured[i], ours),
      ]),
      summary: { peers: await describePeers() },
      raw: measured,
    };
  });
}

/** @param {Row} row @param {Row} ours */
function judge(row, ours) {
  if (row === ours) {
    const goal = `checked >= ${GOAL_PER_SECOND.toLocaleString('en')}`;
    return verdictOn(goal, median(row.runs.map(checkedPerSecond)) >= GOAL_PER_SECOND);
  }
  if (row.name === 'ours, two threads') {
    return verdictOn(
      "every count equals the target's",
      row.runs.every(({ isExact }) => isExact),
    );
  }
  if (row.name !== 'wrk') return ['', ''];
  return verdictOn(`ratio >= ${GOAL_OF_WRK}`, ratioTo(ours, row) >= GOAL_OF_WRK);
}
