/** Options of a run beside its plan: where its results go during and after it, and how often it is repeated. */
import { readSearch, searchOptions } from '../campaigns/search/search-options.js';
import { usageError } from '../common/errors.js';
import { readOptions } from '../common/options.js';
import { reporters } from '../report/index.js';
import { grouped } from './arguments.js';
import { checkKind, checkOutputs, outputOptionsFor, summaryFile } from './output.js';

/** @import { AskedSearch } from '../campaigns/search/search-options.js' */
/** @import { OptionSpec } from '../common/options.js' */
/** @import { LoadPlan } from '../plan/load.js' */

const GROUP = 'Requirements and results';

/** @type {Record<string, OptionSpec>} */
export const runOptions = {
  ...outputOptionsFor(undefined, GROUP),
  ...grouped(GROUP, {
    'github-summary': { type: 'flag', describe: 'Append the result to the summary of a GitHub Actions step' },
    metrics: {
      ...{ type: 'text', placeholder: 'HOST:PORT' },
      describe: 'Serve Prometheus metrics at /metrics during the run',
    },
    otlp: {
      ...{ type: 'text', placeholder: 'URL' },
      describe: 'Push metrics to an OpenTelemetry receiver (OTLP/JSON)',
    },
    repeat: {
      ...{ type: 'integer', placeholder: 'N', default: 1, min: 1, max: 1000 },
      describe: 'Repeat the run N times, for compare',
    },
    pause: {
      ...{ type: 'duration', placeholder: 'TIME', default: 0, max: 86_400_000 },
      describe: 'Wait this long between runs, or steps of a search',
    },
  }),
  ...searchOptions,
};

/**
 * @typedef {object} RunSettings
 * @property {string} command the command line, for results; no secrets
 * @property {string[]} out
 * @property {string} format
 * @property {boolean} quiet
 * @property {string | null} summary file that GitHub Actions reads
 * @property {{host: string, port: number} | null} metrics
 * @property {string | null} otlp
 * @property {number} repeat
 * @property {number} pauseMs between runs
 * @property {AskedSearch | null} search
 */

/**
 * @param {Record<string, unknown>} given
 * @param {{line?: string, steps?: number}} [more] `line`: the command line; `steps`: each is run `repeat` times
 * @returns {Promise<RunSettings>}
 * @throws {PkiLoadError} before the run, for an output that would fail at the end
 */
export async function readRunOptions(given, { line = '', steps = 1 } = {}) {
  const options = readOptions(runOptions, given);
  const { out, format, quiet, githubSummary, metrics, otlp, repeat, pause, ...rest } = options;
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
  if (otlp !== null) {
    const { parseOtlpUrl, readOtlpHeaders } = await import('../live/otlp-endpoint.js');
    parseOtlpUrl(otlp);
    readOtlpHeaders(process.env);
  }
  return {
    ...{ out, format, quiet, otlp, repeat, search },
    // The query of --otlp may be a key.
    command: otlp?.includes('?') ? line.replaceAll(otlp.slice(otlp.indexOf('?')), '?...') : line,
    pauseMs: pause,
    summary: githubSummary ? summaryFile() : null,
    metrics:
      metrics === null ? null : (await import('../live/metrics-server.js')).parseListenAddress(metrics),
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
