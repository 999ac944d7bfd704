/** Declarations of the options of `propagation`; plan.js reads them. Options shared with all commands are declared there. */

import { usageError } from '../../common/errors.js';
import { camelCase, readOptions } from '../../common/options.js';
import { commonOptions } from '../../plan/common-options.js';
import { deepFreeze, planTarget } from '../../plan/plan.js';
import { parseRequirement } from '../../plan/requirements.js';
import { readEnvironment } from '../../vault/environment.js';

/** @import { OptionSpec } from '../../common/options.js' */
/** @import { Requirement } from '../../plan/requirements.js' */
/** @import { TargetPlan, VaultEnvironment } from '../../vault/environment.js' */

const WHAT = 'Certificates';
const HOW = 'Polling';

const { url, dev, mount, namespace, timeout, seed, require: requirement } = commonOptions;

/** @type {Record<string, OptionSpec>} */
export const propagationOptions = {
  certificates: {
    type: 'integer',
    group: WHAT,
    placeholder: 'N',
    default: 50,
    min: 1,
    max: 10_000,
    describe: 'Certificates to issue and revoke',
  },
  role: {
    type: 'text',
    group: WHAT,
    placeholder: 'NAME',
    default: 'example-dot-com',
    describe: 'Role of the certificates; it must store them',
  },
  cn: {
    type: 'text',
    group: WHAT,
    placeholder: 'NAME',
    default: 'localhost',
    describe: 'Common name of the certificates',
  },
  ttl: {
    type: 'duration',
    group: WHAT,
    placeholder: 'TIME',
    min: 1000,
    describe: 'Lifetime; revoked certificates stay on the CRL until then',
    defaultText: "the role's",
  },
  concurrency: {
    type: 'integer',
    group: WHAT,
    placeholder: 'N',
    default: 2,
    min: 1,
    max: 100,
    describe: 'Certificates in progress at once',
  },
  pause: {
    type: 'duration',
    group: WHAT,
    placeholder: 'TIME',
    default: '100ms',
    max: 86_400_000,
    describe: 'Wait this long between certificates',
  },
  node: {
    type: 'url',
    group: HOW,
    placeholder: 'URL',
    repeatable: true,
    describe: 'Node to poll at URL/v1/MOUNT/ocsp; repeatable [default: --url]',
  },
  poll: {
    type: 'duration',
    group: HOW,
    placeholder: 'TIME',
    default: '20ms',
    min: 1,
    max: 3_600_000,
    describe: 'Poll each node this often, answered or not',
  },
  'give-up': {
    type: 'duration',
    group: HOW,
    placeholder: 'TIME',
    default: '60s',
    min: 1,
    max: 86_400_000,
    describe: 'Count a certificate as never revoked this long after the response',
  },
  url: { ...url, describe: 'Vault or OpenBao that issues and revokes' },
  dev,
  mount,
  namespace,
  ...Object.fromEntries(
    ['ca-cert', 'ca-path', 'client-cert', 'client-key', 'tls-server-name', 'tls-skip-verify'].map((name) => [
      name,
      commonOptions[name],
    ]),
  ),
  timeout: { ...timeout, group: HOW },
  seed: {
    ...seed,
    group: HOW,
    describe: 'Seed of the start times of polling',
  },
  require: {
    ...requirement,
    describe: "Requirement on the delay to the last node: 'p99<2s', 'errors<1%'; repeatable",
  },
};

/**
 * @typedef {object} PropagationPlan
 * @property {boolean} dev
 * @property {TargetPlan} target
 * @property {readonly string[]} nodes addresses that are asked; empty: the target's own
 * @property {string} role
 * @property {string} cn
 * @property {number | null} ttlMs
 * @property {number} certificates
 * @property {number} concurrency
 * @property {number} pauseMs
 * @property {number} pollMs
 * @property {number} giveUpMs from when the revocation was answered
 * @property {number} timeoutMs of one call and of one poll
 * @property {number} seed
 * @property {readonly Requirement[]} requirements
 */

const DEFAULT_TIMEOUT_MS = 10_000;

/**
 * @param {Record<string, unknown>} given options by kebab- or camelCase name, as text or as values
 * @param {VaultEnvironment} [environment] where defaults of the target come from
 * @returns {Readonly<PropagationPlan>}
 */
export function planPropagation(given, environment = readEnvironment()) {
  rejectUnknown(given);
  const options = readOptions(propagationOptions, given);
  const { dev, node, role, cn, ttl, certificates, concurrency, pause, poll, giveUp } = options;
  if (dev && node.length > 0) {
    throw usageError(
      'contradiction',
      '--dev starts its own server, but --node names others.',
      'Give one of them.',
    );
  }
  const twice = node.find((/** @type {string} */ url, /** @type {number} */ i) => node.indexOf(url) !== i);
  if (twice !== undefined)
    throw usageError('repeated_node', `--node ${twice} is given twice.`, 'Give it once.');
  if (giveUp < poll) {
    throw usageError(
      'contradiction',
      '--give-up is shorter than --poll, so no node would be asked even once.',
      'Raise --give-up or lower --poll.',
    );
  }
  return deepFreeze({
    dev,
    target: planTarget(options, given, environment),
    nodes: node,
    role,
    cn,
    ttlMs: ttl,
    certificates,
    concurrency,
    pauseMs: pause,
    pollMs: poll,
    giveUpMs: giveUp,
    timeoutMs: options.timeout ?? environment.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    seed: options.seed ?? Math.floor(Math.random() * 0x1_0000_0000),
    requirements: options.require.map((/** @type {string} */ text) => onDelay(parseRequirement(text))),
  });
}

/** @param {Requirement} requirement */
function onDelay(requirement) {
  const { text, metric, series, comparator } = requirement;
  const problem =
    metric === 'rate'
      ? 'propagation measures no rate'
      : series !== 'response'
        ? 'a delay is of one kind only'
        : metric !== 'errors' && comparator.startsWith('>')
          ? 'what is known of a delay is how long it was at most'
          : null;
  if (problem === null) return requirement;
  throw usageError(
    'bad_requirement',
    `Requirement ${JSON.stringify(text.slice(0, 80))}: ${problem}.`,
    "Examples: 'p99<2s', 'max<10s', 'mean<500ms', 'errors<1%'.",
  );
}

/** @param {Record<string, unknown>} given */
function rejectUnknown(given) {
  const known = new Set(Object.keys(propagationOptions).flatMap((name) => [name, camelCase(name)]));
  const unknown = Object.keys(given).find((key) => given[key] !== undefined && !known.has(key));
  if (unknown === undefined) return;
  throw usageError(
    'unknown_option',
    `propagation has no option ${JSON.stringify(unknown)}.`,
    'See --help for those it has.',
  );
}
