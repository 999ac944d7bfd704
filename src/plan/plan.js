/**
 * Options -> Plan: the one frozen, plain object that determines a run. The only place of defaults and
 * validation. A Plan holds no secret: tokens and keys travel beside it (see vault/environment.js).
 */

import { usageError } from '../common/errors.js';
import { camelCase, readOne, readOptions } from '../common/options.js';
import { readEnvironment } from '../vault/environment.js';
import { commonOptions } from './common-options.js';
import { loadOfRun, planLoad } from './load.js';
import { parseRequirement } from './requirements.js';

/** @import { OptionSpec } from '../common/options.js' */
/** @import { TargetPlan } from '../vault/environment.js' */
/** @import { LoadPlan } from './load.js' */
/** @import { Requirement } from './requirements.js' */

/** @typedef {Requirement & {operation?: string, stage?: string}} PlannedRequirement about one of
 *   the operations, or of the stages, or of both, where set */
/**
 * @typedef {object} MixEntry
 * @property {string} name in results; no two have the same
 * @property {string} operation
 * @property {number} weight above zero: its share of the requests is this of the sum
 * @property {Readonly<Record<string, any>>} options the operation's own
 */
/**
 * @typedef {object} PlannedOperation of an operation, what planning needs: see operations/index.js
 * @property {string} name
 * @property {Record<string, OptionSpec>} options
 * @property {(options: Record<string, any>, common: Record<string, any>) => void} [check]
 */
/**
 * @typedef {object} Plan
 * @property {string} operation
 * @property {boolean} dev start the embedded server and aim at it
 * @property {Readonly<TargetPlan>} target
 * @property {Readonly<LoadPlan>} load
 * @property {Readonly<Record<string, any>>} options the operation's own
 * @property {readonly Readonly<MixEntry>[] | null} mix several operations by weight; null: `operation` alone
 * @property {readonly Readonly<PlannedRequirement>[]} requirements
 */

const NO_TLS = Object.freeze({
  caCert: null,
  caPath: null,
  clientCert: null,
  clientKey: null,
  serverName: null,
  skipVerify: false,
});

/**
 * @param {PlannedOperation} operation
 * @param {Record<string, unknown>} given options by kebab- or camelCase name, as text or as values
 * @param {ReturnType<typeof readEnvironment>} [environment] where defaults of the target come from
 * @returns {Readonly<Plan>}
 * @throws {PkiLoadError} naming the option and the remedy
 */
export function makePlan(operation, given, environment = readEnvironment()) {
  rejectUnknown(operation, given);
  const common = readOptions(commonOptions, given);
  const options = readOptions(operation.options, given);
  operation.check?.(options, common);
  return deepFreeze({
    operation: operation.name,
    dev: common.dev,
    target: planTarget(common, given, environment),
    load: planLoad(common, environment),
    options,
    mix: null,
    requirements: common.require.map((/** @type {string} */ text) => parseRequirement(text)),
  });
}

/**
 * @param {Readonly<Plan>} plan
 * @param {number} run of several of this plan, from 0
 * @returns {Readonly<Plan>} the same but for the seed
 */
export function planOfRun(plan, run) {
  return Object.freeze({ ...plan, load: loadOfRun(plan.load, run) });
}

/**
 * @param {Record<string, any>} common
 * @param {Record<string, unknown>} given
 * @param {ReturnType<typeof readEnvironment>} environment
 * @returns {TargetPlan}
 */
export function planTarget(common, given, environment) {
  if (common.dev && common.url !== null) {
    throw usageError(
      'contradiction',
      '--dev starts its own server, but --url names another.',
      'Give one of them.',
    );
  }
  // The environment's address and TLS settings do not apply to the embedded server.
  const tls = common.dev ? NO_TLS : environment.tls;
  return {
    url: common.url ?? addressOf(environment, common.dev),
    mount: common.mount.replace(/^\/+|\/+$/g, ''),
    namespace: common.dev ? null : (common.namespace ?? environment.namespace),
    tls: {
      caCert: common.caCert ?? tls.caCert,
      caPath: common.caPath ?? tls.caPath,
      clientCert: common.clientCert ?? tls.clientCert,
      clientKey: common.clientKey ?? tls.clientKey,
      serverName: common.tlsServerName ?? tls.serverName,
      skipVerify:
        (given.tlsSkipVerify ?? given['tls-skip-verify']) === undefined
          ? tls.skipVerify
          : common.tlsSkipVerify,
    },
  };
}

/** The default of Vault's own command line. */
export const DEFAULT_URL = 'http://127.0.0.1:8200';

/** @param {ReturnType<typeof readEnvironment>} environment @param {boolean} isDev @returns {string} */
function addressOf({ address }, isDev) {
  if (address === null || isDev) return DEFAULT_URL;
  return readOne(commonOptions.url, 'The address in BAO_ADDR or VAULT_ADDR', address);
}

/** @param {PlannedOperation} operation @param {Record<string, unknown>} given */
function rejectUnknown(operation, given) {
  const names = [...Object.keys(commonOptions), ...Object.keys(operation.options)];
  const known = new Set(names.flatMap((name) => [name, camelCase(name)]));
  const unknown = Object.keys(given).find((key) => given[key] !== undefined && !known.has(key));
  if (unknown !== undefined) {
    throw usageError(
      'unknown_option',
      `${operation.name} has no option ${JSON.stringify(unknown)}.`,
      'See --help for those it has.',
    );
  }
}

/** @template T @param {T} value @returns {Readonly<T>} */
export function deepFreeze(value) {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) deepFreeze(inner);
    Object.freeze(value);
  }
  return value;
}
