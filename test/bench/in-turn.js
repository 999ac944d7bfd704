/** Measures several sources in turn, in alternating order, so that changes in the machine's load affect all alike. */
/** @import { Settings } from './index.js' */

/**
 * @template {object} About
 * @template T
 * @param {(About & {measure: (run: number) => Promise<T>})[]} sources
 * @param {Pick<Settings, 'runs' | 'log'>} settings
 * @param {string} [label] for the progress
 * @returns {Promise<(About & {runs: T[]})[]>}
 */
export async function measureInTurn(sources, { runs, log }, label) {
  const rows = sources.map((source) => ({ ...source, runs: /** @type {T[]} */ ([]) }));
  for (let i = 0; i < runs; i++) {
    for (const row of i % 2 === 0 ? rows : rows.toReversed()) row.runs.push(await row.measure(i));
    log(`${label === undefined ? '' : `${label}, `}run ${i + 1} of ${runs}`);
  }
  return rows;
}

/** @param {string} goal @param {boolean} isMet @returns {[string, string]} cells of a table */
export function verdictOn(goal, isMet) {
  return [goal, isMet ? 'yes' : 'no'];
}
