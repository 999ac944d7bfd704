/**
 * One sending thread and two, as in the bench of speed. On a machine with two processors both threads share the one that the
 * target leaves, so there is nothing to gain there; what must hold everywhere is that the merged figures are exact:
 * requests, successes and the counts of all histograms are what the target counted.
 */
import { availableParallelism } from 'node:os';
import { closedLoopRows, measureAll, oursIn, ratioTo } from './closed-loop.js';
import { withSubject } from './subject.js';

const CONNECTIONS = 10;

/**
 * @param {import('./index.js').Settings} settings
 * @returns {Promise<import('./index.js').Report>}
 */
export async function run(settings) {
  return withSubject(async (subject) => {
    const sources = [1, 2].map((threads) =>
      oursIn(`${threads}`, subject, { connections: CONNECTIONS, options: { threads } }),
    );
    const measured = await measureAll(sources, settings);
    const [one, two] = measured;
    return {
      question: `OCSP responses a second, the same one each time, by sending threads: closed loop, ${CONNECTIONS} connections, the target on a core of its own`,
      columns: ['threads', 'answers/s', 'CPU us each', '% unchecked', 'goal', 'met'],
      rows: closedLoopRows(measured).map((row, i) => [
        ...row,
        'every count that of the target',
        measured[i].runs.every(({ isExact }) => isExact) ? 'yes' : 'no',
      ]),
      summary: {
        'two threads to one': ratioTo(two, one) ?? '-',
        'processors beside that of the target': Math.max(1, availableParallelism() - 1),
      },
      raw: measured,
    };
  });
}
