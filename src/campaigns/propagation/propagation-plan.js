/** Options of `propagation`, and the plan built from them. */
import { quote, rejectIf, usageError } from '../../common/errors.js';
import { inGroup, option, readOptions, rejectUnknownOptions } from '../../common/options.js';
import { commonOptions } from '../../plan/common-options.js';
import { deepFreeze, planTarget } from '../../plan/plan.js';
import { METRICS, parseRequirement } from '../../plan/requirements.js';
import { readEnvironment } from '../../vault/environment.js';

/** @import { Requirement } from '../../plan/requirements.js' */
/** @import { TargetPlan } from '../../vault/environment.js' */

const { url, timeout, seed, require: requirement } = commonOptions;
const SHARED =
  /^(dev|tls|connect-to|mount|namespace|ca-.*|client-cert|client-key|tls-server-name|tls-skip-verify)$/;
const DAY_MS = 86_400_000;

export const propagationOptions = {
  ...inGroup('Certificates', {
    certificates: option('integer', 'Certificates to issue and revoke', { default: 50, min: 1, max: 10_000 }),
    role: option('text', 'Role of the certificates; it must store them', { default: 'example-dot-com' }),
    cn: option('text', 'Common name of the certificates', { default: 'localhost' }),
    ttl: option('duration', 'Lifetime; a revoked certificate stays on the CRL until it expires', {
      ...{ min: 1000, defaultText: "the role's" },
    }),
    concurrency: option('integer', 'Certificates in progress at once', { default: 2, min: 1, max: 100 }),
    pause: option('duration', 'Pause between certificates', { default: '100ms', max: DAY_MS }),
  }),
  ...inGroup('Polling', {
    node: option('url', 'Node to poll at URL/v1/MOUNT/ocsp; repeatable [default: --url]', {
      repeatable: true,
    }),
    poll: option('duration', 'Time between polls of a node, whether it responds or not', {
      ...{ default: '20ms', min: 1, max: 3_600_000 },
    }),
    'give-up': option('duration', 'Stop polling this long after the response to the revocation', {
      ...{ default: '60s', min: 1, max: DAY_MS },
    }),
  }),
  url: { ...url, describe: 'Vault or OpenBao that issues and revokes' },
  ...Object.fromEntries(Object.entries(commonOptions).filter(([name]) => SHARED.test(name))),
  ...inGroup('Polling', { timeout, seed: { ...seed, describe: 'Seed for the start times of polling' } }),
  require: {
    ...requirement,
    describe: "Requirement on the delay to the last node: 'p99<2s', 'errors<1%'; repeatable",
  },
};

/**
 * `nodes`: URLs to poll, empty: the target itself; `giveUpMs`: from the response to the revocation;
 * `timeoutMs`: per call and per poll
 * @typedef {{dev: boolean, target: TargetPlan, nodes: readonly string[], role: string, cn: string,
 *   ttlMs: number | null, certificates: number, concurrency: number, pauseMs: number, pollMs: number,
 *   giveUpMs: number, timeoutMs: number, seed: number, requirements: readonly Requirement[]}} PropagationPlan
 */

/**
 * @param {Record<string, unknown>} given options by kebab- or camelCase name, as text or as values
 * @param {ReturnType<typeof readEnvironment>} [environment] defaults for the target @returns {Readonly<PropagationPlan>}
 */
export function planPropagation(given, environment = readEnvironment()) {
  rejectUnknownOptions('propagation', propagationOptions, given);
  const options = readOptions(propagationOptions, given);
  const { dev, role, cn, certificates, concurrency } = options;
  /** @type {string[]} */
  const nodes = options.node;
  const duplicate = nodes.find((address, i) => nodes.indexOf(address) !== i);
  if (duplicate !== undefined)
    throw usageError('repeated_node', `--node ${duplicate} is given twice.`, 'Remove one of them.');
  const isMixed = dev && nodes.length > 0;
  rejectIf(isMixed, '--dev starts its own server, but --node names others.', 'Use one of them.');
  const problem = '--give-up is shorter than --poll, so no node would be polled even once.';
  rejectIf(options.giveUp < options.poll, problem, 'Raise --give-up or lower --poll.');
  return deepFreeze({
    ...{ dev, nodes, role, cn, certificates, concurrency },
    target: planTarget(options, given, environment),
    ttlMs: options.ttl,
    pauseMs: options.pause,
    pollMs: options.poll,
    giveUpMs: options.giveUp,
    timeoutMs: options.timeout ?? environment.timeoutMs ?? 10_000,
    seed: options.seed ?? Math.floor(Math.random() * 0x1_0000_0000),
    requirements: options.require.map(parseDelayRequirement),
  });
}

/** @param {string} text */
function parseDelayRequirement(text) {
  const requirement = parseRequirement(text);
  const { metric, series, comparator } = requirement;
  let problem = null;
  if (METRICS[metric].unit === '/s') problem = 'propagation measures no rate';
  else if (series !== 'response') problem = 'propagation measures only one kind of delay';
  else if (METRICS[metric].unit === 'ms' && comparator.startsWith('>'))
    problem = 'only the upper bound of a delay is known';
  if (problem === null) return requirement;
  const remedy = "Examples: 'p99<2s', 'max<10s', 'mean<500ms', 'errors<1%'.";
  throw usageError('bad_requirement', `Requirement ${quote(text)}: ${problem}.`, remedy);
}
