/** The benches, in running order. To add one, add a file and an entry here. */

/**
 * @typedef {object} Settings
 * @property {number} runs measurements of each figure; the table has their median
 * @property {number} seconds of each measurement
 * @property {number} requests of the memory bench's longest run
 * @property {(text: string) => void} log progress
 */
/**
 * @typedef {object} Chart bars for the rows that have a figure in this column
 * @property {string} column
 * @property {string} [unit]
 * @property {number} named columns that name a row, from the first one
 * @property {boolean} [isLog]
 * @property {{label: string, value: number}[]} [bars] instead of those of the rows
 */
/**
 * @typedef {object} Report plain data, written to results/NAME.json
 * @property {string} question what was measured, in a sentence
 * @property {Chart} chart
 * @property {string[]} columns
 * @property {string} [basis] how a row was computed; default: medians of the runs
 * @property {(string | number | null)[][]} rows null: not measured here
 * @property {Record<string, number | string>} summary
 * @property {unknown} [raw] the figures of every run
 */
/**
 * @typedef {object} Bench
 * @property {(settings: Settings) => Promise<Report>} run
 */

/** Defaults of the command line: `seconds` per measurement, and `runs` (5 if omitted). @type {Record<string, {describe: string, seconds: number, runs?: number, load: () => Promise<Bench>}>} */
export const benches = {
  lateness: {
    describe: 'lateness of sent requests, measured at the target',
    seconds: 5,
    load: () => import('./lateness.js'),
  },
  freeze: {
    describe: 'reported percentiles of a target that freezes periodically',
    seconds: 10,
    load: () => import('./freeze.js'),
  },
  queue: {
    describe: 'reported mean wait at a single server with Poisson arrivals, compared with queueing theory',
    seconds: 20,
    load: () => import('./queue.js'),
  },
  delay: {
    describe: 'reported percentiles of a target with a known delay',
    seconds: 2,
    load: () => import('./delay.js'),
  },
  verdict: {
    describe: 'error bars and verdicts compared with a packet capture, idle and busy; needs root',
    seconds: 5,
    runs: 64,
    load: () => import('./verdict.js'),
  },
  speed: {
    describe:
      'checked OCSP responses/s, one response repeated, on one and two threads, compared with other load generators',
    seconds: 4,
    load: () => import('./speed.js'),
  },
  distinct: {
    describe: 'checked OCSP responses/s, each different and signed with ECDSA',
    seconds: 5,
    load: () => import('./distinct.js'),
  },
  handshakes: {
    describe: 'TLS handshakes/s with a new connection for each request, compared with other load generators',
    seconds: 5,
    load: () => import('./handshakes.js'),
  },
  transport: {
    describe:
      'the same plans through our connections and through undici: speed, CPU time, lateness, cut bodies',
    seconds: 5,
    load: () => import('./transport.js'),
  },
  cpu: {
    describe: 'CPU time while offering a rate',
    seconds: 3,
    load: () => import('./cpu.js'),
  },
  live: {
    describe: 'send lag with live view and rewritten files, compared with --quiet',
    seconds: 10,
    runs: 9,
    load: () => import('./live.js'),
  },
  start: {
    describe: 'startup time: --help and --version',
    seconds: 0,
    load: () => import('./start.js'),
  },
  'on-vault': {
    describe:
      'certificates/s and OCSP responses/s on a real Vault, compared with vegeta, wrk and a fetch loop',
    seconds: 10,
    load: () => import('./on-vault.js'),
  },
  certificates: {
    describe:
      'CPU time to check a certificate of a real Vault, and certificates/s compared with vault-benchmark',
    seconds: 10,
    runs: 10,
    load: () => import('./certificates.js'),
  },
  http2: {
    describe: 'OCSP responses/s of a real Vault over HTTP/2, compared with h2load',
    seconds: 10,
    load: () => import('./http2.js'),
  },
  'wide-margin': {
    describe:
      'requirements that a real Vault meets by a wide margin: how many runs report that, idle and busy',
    seconds: 20,
    runs: 20,
    load: () => import('./wide-margin.js'),
  },
  soak: {
    describe: 'memory, counts and verdicts of a one-hour run on a Vault that is restarted and sealed',
    seconds: 3600,
    runs: 1,
    load: () => import('./soak.js'),
  },
  // Last, since other load on the machine does not affect it.
  memory: {
    describe: 'peak resident memory: ten million requests, a one-hour plan, a dead target, long responses',
    seconds: 5,
    load: () => import('./memory.js'),
  },
};
