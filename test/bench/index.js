/** The benches, a line each, in the order they run. A new one is a new file and a line here. */

/**
 * @typedef {object} Settings
 * @property {number} runs how often each figure is measured; what is printed is the median
 * @property {number} seconds of each measurement
 * @property {number} requests of the measurement that is about how many there are
 * @property {(text: string) => void} say progress
 */
/**
 * @typedef {object} Report plain data: written as it is to results/NAME.json
 * @property {string} question what was measured, in a sentence
 * @property {string[]} columns
 * @property {string} [basis] what a row is of; medians of the runs when left out
 * @property {(string | number | null)[][]} rows null: not measured here
 * @property {Record<string, number | string>} summary
 * @property {unknown} [raw] the figures of every run
 */
/**
 * @typedef {object} Bench
 * @property {(settings: Settings) => Promise<Report>} run
 */

/** `seconds` of each measurement and `runs`, 5 when left out, unless the command line says otherwise. @type {Record<string, {describe: string, seconds: number, runs?: number, load: () => Promise<Bench>}>} */
export const benches = {
  lateness: {
    describe: 'how late requests are sent, as the target saw them',
    seconds: 5,
    load: () => import('./lateness.js'),
  },
  freeze: {
    describe: 'percentiles reported of a target that freezes for a known part of the time',
    seconds: 10,
    load: () => import('./freeze.js'),
  },
  queue: {
    describe: 'mean wait reported of a single server with Poisson arrivals, against queueing theory',
    seconds: 20,
    load: () => import('./queue.js'),
  },
  delay: {
    describe: 'percentiles reported of a target that answers after a known delay',
    seconds: 2,
    load: () => import('./delay.js'),
  },
  verdict: {
    describe: 'error bars and verdicts on requirements against the wire, idle and busy; needs root',
    seconds: 5,
    runs: 64,
    load: () => import('./verdict.js'),
  },
  speed: {
    describe:
      'checked OCSP responses/s where they repeat, on one thread and on two, beside other load generators',
    seconds: 4,
    load: () => import('./speed.js'),
  },
  distinct: {
    describe: 'checked OCSP responses/s where each is different and signed with ECDSA',
    seconds: 5,
    load: () => import('./distinct.js'),
  },
  cpu: {
    describe: 'CPU time while offering a rate',
    seconds: 3,
    load: () => import('./cpu.js'),
  },
  live: {
    describe: 'send lag while the run is shown and its files are rewritten, beside a run that shows nothing',
    seconds: 10,
    runs: 9,
    load: () => import('./live.js'),
  },
  start: {
    describe: 'time until help is there',
    seconds: 0,
    load: () => import('./start.js'),
  },
  'on-vault': {
    describe: 'certificates/s and OCSP responses/s on a real Vault, beside vegeta, wrk and a loop of fetch',
    seconds: 10,
    load: () => import('./on-vault.js'),
  },
  withheld: {
    describe: 'requirements that a real Vault keeps with a wide margin: how many runs say so, idle and busy',
    seconds: 20,
    runs: 20,
    load: () => import('./withheld.js'),
  },
  soak: {
    describe: 'memory, counts and verdicts of an hour on a Vault that is restarted and sealed',
    seconds: 3600,
    runs: 1,
    load: () => import('./soak.js'),
  },
  // The last: what else the machine does meanwhile does not matter to it.
  memory: {
    describe: 'peak resident memory: ten million requests, a plan of an hour, a dead target, long answers',
    seconds: 5,
    load: () => import('./memory.js'),
  },
};
