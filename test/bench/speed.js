/**
 * How many OCSP responses a second can be asked for, and checked, where the target is no limit and repeats one response? Each
 * load generator has one processor, whatever the machine has, and the target one of its own. The peers check nothing.
 */
import { checkedPerSecond, closedLoopRows, measureAll, oursIn, peerIn, ratioTo } from './closed-loop.js';
import { describePeers, presentPeers } from './measure.js';
import { median } from './statistics.js';
import { withSubject } from './subject.js';

const CONNECTIONS = 10;
const GOAL_PER_SECOND = 60_000;
const GOAL_OF_WRK = 0.5;

/**
 * @param {import('./index.js').Settings} settings
 * @returns {Promise<import('./index.js').Report>}
 */
export async function run(settings) {
  return withSubject(async (subject) => {
    const load = { connections: CONNECTIONS, oneCore: true };
    const peers = (await presentPeers()).map((peer) => peerIn(peer, subject, load));
    const measured = await measureAll([oursIn('ours', subject, load), ...peers], settings);
    const [ours] = measured;
    const goals = [...judge(ours, measured)];
    return {
      question: `OCSP responses a second, the same one each time: closed loop, ${CONNECTIONS} connections, all threads on one core, the target on another; ours checks every response or says what share it did not`,
      columns: ['who', 'answers/s', 'CPU us each', '% unchecked', 'ours to it', 'goal', 'met'],
      rows: closedLoopRows(measured).map((row, i) => [
        ...row,
        i === 0 ? null : ratioTo(ours, measured[i]),
        ...(goals.find(({ name }) => name === row[0])?.verdict ?? ['', '']),
      ]),
      summary: { peers: await describePeers() },
      raw: measured,
    };
  });
}

/**
 * @param {import('./closed-loop.js').Row} ours
 * @param {import('./closed-loop.js').Row[]} measured
 */
function judge(ours, measured) {
  const perSecond = median(ours.runs.map(checkedPerSecond));
  const ofWrk = ratioTo(
    ours,
    measured.find(({ name }) => name === 'wrk'),
  );
  const met = (/** @type {boolean} */ isMet) => (isMet ? 'yes' : 'no');
  return [
    {
      name: 'ours',
      verdict: [`checked >= ${GOAL_PER_SECOND.toLocaleString('en')}`, met(perSecond >= GOAL_PER_SECOND)],
    },
    {
      name: 'wrk',
      verdict: [`ours >= ${GOAL_OF_WRK} of it`, ofWrk === null ? '-' : met(ofWrk >= GOAL_OF_WRK)],
    },
  ];
}
