/** Two ways of doing the same thing, measured in turn: what the machine does meanwhile falls on both. */
import { median } from './statistics.js';

const GOAL_RATIO = 1;

/**
 * @typedef {object} Measured
 * @property {number} perSecond
 * @property {number} cpuMs CPU time of the measuring process per answer, its start and warm-up included
 */

/**
 * A B B A A B ...: medians, the ratio of the medians, and the ratio of each pair, which a machine that slows down for a
 * while disturbs less.
 *
 * @param {import('./index.js').Settings} settings
 * @param {{name: string, measure: (seconds: number) => Promise<Measured>}} ours
 * @param {{name: string, measure: (seconds: number) => Promise<Measured>}} theirs
 * @returns {Promise<Omit<import('./index.js').Report, 'question'>>}
 */
export async function measureInTurn({ runs, seconds, say }, ours, theirs) {
  /** @type {{a: Measured, b: Measured}[]} */
  const measured = [];
  for (let pair = 1; pair <= runs; pair++) {
    const oursFirst = pair % 2 === 1;
    const first = await (oursFirst ? ours : theirs).measure(seconds);
    const second = await (oursFirst ? theirs : ours).measure(seconds);
    const [a, b] = oursFirst ? [first, second] : [second, first];
    measured.push({ a, b });
    say(`pair ${pair} of ${runs}: ${Math.round(a.perSecond)}/s and ${Math.round(b.perSecond)}/s`);
  }
  const rates = (/** @type {'a' | 'b'} */ side) => measured.map((pair) => pair[side].perSecond);
  const cpu = (/** @type {'a' | 'b'} */ side) => median(measured.map((pair) => pair[side].cpuMs));
  const ratios = measured.map(({ a, b }) => a.perSecond / b.perSecond);
  return {
    columns: [
      'pair',
      `${ours.name}/s`,
      `${theirs.name}/s`,
      'ratio',
      `${ours.name} CPU ms`,
      `${theirs.name} CPU ms`,
    ],
    rows: measured.map(({ a, b }, i) => [i + 1, a.perSecond, b.perSecond, ratios[i], a.cpuMs, b.cpuMs]),
    summary: {
      [`${ours.name}, median per second`]: median(rates('a')),
      [`${theirs.name}, median per second`]: median(rates('b')),
      'ratio of medians': median(rates('a')) / median(rates('b')),
      'median of ratios': median(ratios),
      [`goal, >= ${GOAL_RATIO}, met`]: median(ratios) >= GOAL_RATIO ? 'yes' : 'no',
      'lowest ratio': Math.min(...ratios),
      'highest ratio': Math.max(...ratios),
      [`${ours.name}, CPU ms per answer, median`]: cpu('a'),
      [`${theirs.name}, CPU ms per answer, median`]: cpu('b'),
    },
  };
}
