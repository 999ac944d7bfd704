/** The benches, a line each. A new one is a new file and a line here. */

/**
 * @typedef {object} Settings
 * @property {number} pairs how often both sides are measured, in turn
 * @property {number} seconds of each measurement
 * @property {(text: string) => void} say progress
 */
/**
 * @typedef {object} Report plain data: written as it is to results/NAME.json
 * @property {string} question what was measured, in a sentence
 * @property {string[]} columns
 * @property {(string | number)[][]} rows
 * @property {Record<string, number | string>} summary
 */
/**
 * @typedef {object} Bench
 * @property {(settings: Settings) => Promise<Report>} run
 */

/** @type {Record<string, {describe: string, load: () => Promise<Bench>}>} */
export const benches = {
  'issue-vs-fetch': {
    describe: 'certificates/s on a real Vault: our issue, and a loop of fetch that checks nothing',
    load: () => import('./issue-vs-fetch.js'),
  },
  'ocsp-vs-fetch': {
    describe: 'OCSP responses/s of a real Vault: our ocsp, and a loop of fetch that checks nothing',
    load: () => import('./ocsp-vs-fetch.js'),
  },
};
