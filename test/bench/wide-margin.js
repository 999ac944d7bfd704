/**
 * Requirements that a real Vault meets by a wide margin: how many runs report that, on an idle machine and with busy loops,
 * as on a CI runner? Vault, the tool and the loops share all processors.
 */
import { withHogs } from './hogs.js';
import { measureInTurn, verdictOn } from './in-turn.js';
import { BIN } from './ours.js';
import { median } from './statistics.js';
import { runTimed } from './timed.js';
import { withVault } from './vault.js';

/** @import { Report, Settings } from './index.js' */

const HOGS = 2;

/** @typedef {Parameters<Parameters<typeof withVault>[0]>[0]} Vault */
/** @typedef {{low: number, high: number | null}} Bar */
/**
 * @typedef {object} Run
 * @property {number} code
 * @property {number | null} figure as reported
 * @property {Bar | null} bar null: the result has none
 * @property {number | null} p99 ms
 * @property {string} verdict on the measurement
 * @property {{code: string, text: string}[]} reasons
 * @property {Record<string, unknown>[]} requirements
 */
/**
 * @typedef {object} Case
 * @property {string} machine
 * @property {number} hogs
 * @property {'ocsp' | 'issue'} operation
 * @property {string} requires
 */

/** @param {Settings} settings @returns {Promise<Report>} */
export function run(settings) {
  return withVault(async (vault) => {
    const cases = casesOn(vault, settings.seconds).map(({ args, ...about }) => ({
      ...about,
      measure: async (/** @type {number} */ i) => {
        const one = await withHogs(about.hogs, () => measure(vault, about.operation, args));
        settings.log(`${about.machine}, ${about.operation}, run ${i + 1}: ${textOf(one)}`);
        return one;
      },
    }));
    const measured = await measureInTurn(cases, settings);
    return {
      question: `Requirements that a real Vault meets by a wide margin, idle and with ${HOGS} busy loops; p99 of OCSP responses in ms at 20/s, certificates/s of a P-256 role with 10 in flight`,
      basis: `${settings.runs} runs each, of ${settings.seconds} s (ocsp) and ${settings.seconds / 2} s (issue)`,
      chart: { column: 'invalid', unit: 'runs', named: 2 },
      columns: [
        'machine',
        'operation',
        'required',
        'runs',
        'exit codes',
        'invalid',
        'median',
        'lowest',
        'highest',
        'median bar',
        'lowest bound',
        'highest bound',
        'without bar',
        'goal',
        'met',
      ],
      rows: measured.map(rowOf),
      summary: {},
      raw: measured,
    };
  });
}

/** @param {Vault} vault @param {number} seconds @returns {(Case & {args: string[]})[]} */
function casesOn({ cert, issuer }, seconds) {
  const machines = [
    { machine: 'idle', hogs: 0, p99: 'p99<200ms' },
    { machine: 'busy', hogs: HOGS, p99: 'p99<2s' },
  ];
  return machines.flatMap(({ p99, ...machine }) => [
    {
      ...machine,
      operation: /** @type {const} */ ('ocsp'),
      requires: `${p99}, errors<5%`,
      args: [
        ...['--cert', cert, '--issuer', issuer, '--rate', '20', '--duration', `${seconds}`],
        ...['--require', p99, '--require', 'errors<5%'],
      ],
    },
    {
      ...machine,
      operation: /** @type {const} */ ('issue'),
      requires: 'rate>=1000/h',
      args: [
        ...['--role', 'ec-no-store', '--concurrency', '10', '--duration', `${seconds / 2}`],
        ...['--require', 'rate>=1000/h'],
      ],
    },
  ]);
}

/**
 * @param {Vault} vault
 * @param {Case['operation']} operation
 * @param {string[]} args
 * @returns {Promise<Run>}
 */
async function measure({ url, token }, operation, args) {
  const { stdout, stderr, code } = await runTimed(
    [process.execPath, BIN, operation, ...args, '--format', 'json', '--quiet'],
    { env: { VAULT_ADDR: url, VAULT_TOKEN: token } },
  );
  if (stdout === '') throw new Error(`${operation} exited with code ${code}: ${stderr}`);
  const { measurement, requirements, latencyMs, rates } = JSON.parse(stdout);
  const { p99, bars } = latencyMs.response;
  const [figure, bar] = operation === 'ocsp' ? [p99, bars?.p99] : [rates.perSecond, rates.bar];
  const { verdict, reasons } = measurement;
  return { code, figure, bar: bar ?? null, p99, verdict, reasons, requirements };
}

/** @param {Run} one */
function textOf({ code, figure, bar, requirements }) {
  const verdicts = requirements.map(({ text, verdict }) => `${text} ${verdict}`).join(', ');
  return `exit code ${code}, ${figure} (${barText(bar)}), ${verdicts}`;
}

/** @param {Bar | null} bar */
function barText(bar) {
  if (bar === null) return 'no bar';
  const text = (/** @type {number | null} */ value) =>
    value === null || !Number.isFinite(value) ? 'unbounded' : String(Number(value.toPrecision(3)));
  return `${text(bar.low)} to ${text(bar.high)}`;
}

/** @param {Case & {runs: Run[]}} measured */
function rowOf({ machine, operation, requires, runs }) {
  const codes = runs.map(({ code }) => code);
  const counts = [...new Set(codes)]
    .sort((a, b) => a - b)
    .map((code) => `${code}: ${codes.filter((one) => one === code).length}`);
  const figures = runs.flatMap(({ figure }) => figure ?? []);
  const bars = runs.flatMap(({ bar }) => bar ?? []);
  const highs = bars.map(({ high }) => high ?? Number.POSITIVE_INFINITY);
  const lows = bars.map(({ low }) => low);
  const typical = bars.length === 0 ? null : { low: median(lows), high: median(highs) };
  return [
    machine,
    operation,
    requires,
    runs.length,
    counts.join(', '),
    runs.filter(({ verdict }) => verdict === 'invalid').length,
    ...(figures.length === 0
      ? [null, null, null]
      : [median(figures), Math.min(...figures), Math.max(...figures)]),
    barText(typical),
    bars.length === 0 ? null : Math.min(...lows),
    bars.length === 0 ? null : Math.max(...highs),
    runs.length - bars.length,
    ...verdictOn(
      'exit code 0',
      codes.every((code) => code === 0),
    ),
  ];
}
