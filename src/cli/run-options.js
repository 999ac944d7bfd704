/** What may be asked of a run beside its plan: where its results go while it goes on and afterwards, and how often it is run. */

import { readSearch, searchOptions } from '../campaigns/search/search-options.js';
import { usageError } from '../common/errors.js';
import { readOptions } from '../common/options.js';
import { reporters } from '../report/index.js';
import { checkKind, checkOutputs, outputOptions, summaryFile } from './output.js';

/** @import { AskedSearch } from '../campaigns/search/search-options.js' */
/** @import { OptionSpec } from '../common/options.js' */
/** @import { LoadPlan } from '../plan/load.js' */

const GROUP = 'Requirements and results';

/** @type {Record<string, OptionSpec>} */
export const runOptions = {
  ...outputOptions,
  'github-summary': {
    type: 'flag',
    group: GROUP,
    describe: 'Append the result to the summary of a GitHub Actions step',
  },
  metrics: {
    type: 'text',
    group: GROUP,
    placeholder: 'HOST:PORT',
    describe: 'Serve Prometheus metrics at /metrics during the run',
  },
  otlp: {
    type: 'text',
    group: GROUP,
    placeholder: 'URL',
    describe: 'Push metrics to an OpenTelemetry receiver (OTLP/JSON)',
  },
  repeat: {
    type: 'integer',
    group: GROUP,
    placeholder: 'N',
    default: 1,
    min: 1,
    max: 1000,
    describe: 'Repeat the run N times, for compare',
  },
  pause: {
    type: 'duration',
    group: GROUP,
    placeholder: 'TIME',
    default: 0,
    max: 86_400_000,
    describe: 'Wait this long between runs, or steps of a search',
  },
  ...searchOptions,
};

/**
 * @typedef {object} RunSettings
 * @property {string[]} out
 * @property {string} format
 * @property {boolean} quiet
 * @property {string | null} summary file that GitHub Actions reads
 * @property {{host: string, port: number} | null} metrics
 * @property {string | null} otlp
 * @property {number} repeat
 * @property {number} pauseMs between runs
 * @property {AskedSearch | null} [search] null: none
 */

/**
 * @param {Record<string, unknown>} given
 * @param {number} [steps] run one after the other, each `repeat` times
 * @returns {Promise<RunSettings>}
 * @throws {PkiLoadError} for an output that would fail at the end, before the run
 */
export async function readRunOptions(given, steps = 1) {
  const { out, format, quiet, githubSummary, metrics, otlp, repeat, pause, ...rest } = readOptions(
    runOptions,
    given,
  );
  const search = readSearch(rest, repeat);
  const kind = search !== null ? 'search' : repeat > 1 ? 'run-set' : 'result';
  checkOutputs(out, kind);
  checkKind(reporters[format], kind, `--format ${format}`);
  if (pause > 0 && repeat * steps === 1 && search === null) {
    throw usageError(
      'contradiction',
      '--pause is between runs, but there is only one.',
      'Add --repeat, e.g. --repeat 10.',
    );
  }
  return {
    out,
    format,
    quiet,
    summary: githubSummary ? summaryFile() : null,
    metrics: metrics === null ? null : await listenAddress(metrics),
    otlp: otlp === null ? null : await receiver(otlp),
    repeat,
    pauseMs: pause,
    search,
  };
}

/** @param {RunSettings} settings @param {LoadPlan} load */
export function checkRepeat({ repeat }, { shard, startAt }) {
  const only = shard ? '--shard sends a part of a run' : startAt ? '--start-at is the time of one run' : null;
  if (repeat === 1 || only === null) return;
  throw usageError(
    'contradiction',
    `${only}, but --repeat ${repeat} asks for several whole ones.`,
    'Leave one of them out.',
  );
}

/** @param {string} text */
async function listenAddress(text) {
  const { parseListenAddress } = await import('../live/endpoints.js');
  return parseListenAddress(text);
}

/** @param {string} url @returns {Promise<string>} the same, where it will do */
async function receiver(url) {
  const { parseOtlpUrl, readOtlpHeaders } = await import('../live/endpoints.js');
  parseOtlpUrl(url);
  readOtlpHeaders(process.env);
  return url;
}

/**
 * What stands behind the question mark of --otlp may be a key.
 *
 * @param {string} line a command line
 * @param {string | null} otlp
 * @returns {string} for the result
 */
export function withoutQuery(line, otlp) {
  const query = otlp === null ? '' : (/[?].+$/s.exec(otlp)?.[0] ?? '');
  return query === '' ? line : line.replaceAll(query, '?...');
}
