/**
 * Like `speed`, but every response is different, as from an ECDSA CA: each has its own P-256 signature, and there are more
 * than the checker remembers, so it must verify each. Responses that arrive too fast count as unchecked.
 */
import {
  checkedPerSecond,
  closedLoopRows,
  measureAll,
  ourSource,
  peerSource,
  ratioTo,
} from './closed-loop.js';
import { presentPeers } from './measure.js';
import { withAuthority } from './pool.js';
import { median } from './statistics.js';

/** @import { Row } from './closed-loop.js' */
/** @import { Report, Settings } from './index.js' */

const CONNECTIONS = 10;
/** They check nothing. The fastest, and the one from npm. */
const PEERS = ['wrk', 'autocannon'];
const RESPONSES = 100_000;
const GOAL_PER_SECOND = 8000;
/** Every response must be checked at this rate; slightly above the goal, since start and end of a run lower it. */
const PACED_PER_SECOND = 8100;
/** Checks run on their own thread: an unpinned target leaves a core for it on a machine with two. */
const SHARED = { cores: null, spin: false };

/** @param {Settings} settings @returns {Promise<Report>} */
export async function run(settings) {
  return withAuthority(async ({ subject, distinctResponses }) => {
    const behaviour = { bodiesFile: distinctResponses(RESPONSES) };
    const load = { connections: CONNECTIONS, behaviour, oneCore: true };
    const others = (await presentPeers()).filter(({ name }) => PEERS.includes(name));
    const sources = [
      ourSource('ours, one core', subject, load),
      ourSource('ours, all cores', subject, { ...load, behaviour: { ...behaviour, ...SHARED } }),
      ourSource(`ours at ${PACED_PER_SECOND}/s, one core`, subject, {
        ...load,
        options: { rate: PACED_PER_SECOND },
      }),
      ourSource(`ours at ${PACED_PER_SECOND}/s, all cores`, subject, {
        connections: CONNECTIONS,
        behaviour: { ...behaviour, ...SHARED },
        options: { rate: PACED_PER_SECOND },
      }),
      ...others.map((peer) => peerSource(peer, subject, load)),
    ];
    const measured = await measureAll(sources, settings);
    return {
      question: `OCSP responses per second, ${RESPONSES.toLocaleString('en')} different ones in turn, each signed with ECDSA P-256: closed loop, ${CONNECTIONS} connections, one sender thread; sender and checks on one core and the target on another, or nothing pinned`,
      chart: { column: 'responses/s', named: 1 },
      columns: [
        'tool',
        'responses/s',
        'CPU us each',
        '% unchecked',
        'checked/s',
        'ours / tool',
        'goal',
        'met',
      ],
      rows: closedLoopRows(measured).map((row, i) => [...row, ...judge(measured[i], measured[0])]),
      summary: {},
      raw: measured,
    };
  });
}

/** @param {Row} row @param {Row} ours closed loop on one core, as the peers are */
function judge(row, ours) {
  if (!row.name.startsWith('ours')) return [null, ratioTo(ours, row), '', ''];
  const checked = median(row.runs.map(checkedPerSecond));
  const goal = `checked >= ${GOAL_PER_SECOND.toLocaleString('en')}`;
  return [checked, null, goal, Math.round(checked) >= GOAL_PER_SECOND ? 'yes' : 'no'];
}
