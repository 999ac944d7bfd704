/** Options -> Plan. A Plan contains no secrets: they are passed separately (see vault/environment.js). */
import { rejectIf } from '../common/errors.js';
import { readOne, readOptions, rejectUnknownOptions } from '../common/options.js';
import { readEnvironment, withoutSlashes } from '../vault/environment.js';
import { commonOptions } from './common-options.js';
import { loadOfRun, planLoad } from './load.js';
import { admitRequirements, parseRequirement } from './requirements.js';
import { checkArrivals } from './schedule.js';

/** @import { OptionSpec } from '../common/options.js' */
/** @import { TargetPlan, VaultEnvironment } from '../vault/environment.js' */
/** @import { LoadPlan } from './load.js' */
/** @import { Requirement } from './requirements.js' */

const NO_ENVIRONMENT = Object.freeze({
  address: null,
  addressSource: null,
  proxySource: null,
  namespace: null,
  tls: null,
});

/** The default of Vault's own command line. */
export const DEFAULT_URL = 'http://127.0.0.1:8200';

/** Of the embedded server, until it is known. */
const DEV_TLS_URL = 'https://127.0.0.1';

/** @typedef {Requirement & {operation?: string, stage?: string}} PlannedRequirement and its scope, if narrower */
/**
 * `name` in results, unique; `weight`: above zero, its share of the total weight is its share of the requests
 * @typedef {{name: string, operation: string, weight: number, options: Readonly<Record<string, any>>}} MixEntry
 */
/** @typedef {{name: string, options: Record<string, OptionSpec>,
 *   check?: (options: Record<string, any>, common: Record<string, any>) => void}} PlannedOperation see operations/index.js */
/**
 * @typedef {object} Plan
 * @property {string} operation
 * @property {boolean} dev start the embedded server and use it as the target
 * @property {Readonly<TargetPlan>} target
 * @property {Readonly<LoadPlan>} load
 * @property {Readonly<Record<string, any>>} options the operation's own
 * @property {readonly Readonly<MixEntry>[] | null} mix several operations by weight; null: `operation` alone
 * @property {readonly Readonly<PlannedRequirement>[]} requirements
 */

/**
 * @param {PlannedOperation} operation
 * @param {Record<string, unknown>} input options by kebab- or camelCase name, as text or as values
 * @param {VaultEnvironment} [environment] defaults of the target @returns {Readonly<Plan>}
 * @throws {PkiLoadError} naming the option and the remedy
 */
export function makePlan(operation, input, environment = readEnvironment()) {
  rejectUnknownOptions(operation.name, { ...commonOptions, ...operation.options }, input);
  const common = readOptions(commonOptions, input);
  const options = readOptions(operation.options, input);
  operation.check?.(options, common);
  const load = planLoad(common, environment);
  checkArrivals([load]);
  return deepFreeze({
    operation: operation.name,
    dev: common.dev,
    target: planTarget(common, input, environment),
    load,
    options,
    mix: null,
    requirements: admitRequirements(common.require.map(parseRequirement)),
  });
}

/** @param {Readonly<Plan>} plan @param {number} run from 0 @returns {Readonly<Plan>} with the seed of that run */
export const planOfRun = (plan, run) => Object.freeze({ ...plan, load: loadOfRun(plan.load, run) });

/** @type {(common: Record<string, any>, input: Record<string, any>, environment: VaultEnvironment) => TargetPlan} */
export function planTarget(common, input, environment) {
  const isContradiction = common.dev && common.url !== null;
  rejectIf(isContradiction, '--dev starts its own server, but --url names another.', 'Use one of them.');
  rejectIf(
    common.tls && !common.dev,
    '--tls is only for --dev.',
    'For another server, use https:// in --url.',
  );
  // The environment's address and TLS settings do not apply to the embedded server.
  const { address, addressSource, proxySource, namespace, tls } = common.dev
    ? NO_ENVIRONMENT
    : { ...NO_ENVIRONMENT, ...environment };
  const isVerifyGiven = (input.tlsSkipVerify ?? input['tls-skip-verify']) !== undefined;
  return {
    url:
      common.url ??
      (common.tls
        ? DEV_TLS_URL
        : address === null
          ? DEFAULT_URL
          : readOne(commonOptions.url, `The address in ${addressSource}`, address)),
    mount: withoutSlashes(common.mount),
    namespace: common.dev ? null : (common.namespace ?? namespace),
    connectTo: common.connectTo,
    proxySource,
    tls: {
      caCert: common.caCert ?? tls?.caCert ?? null,
      caPath: common.caPath ?? tls?.caPath ?? null,
      clientCert: common.clientCert ?? tls?.clientCert ?? null,
      clientKey: common.clientKey ?? tls?.clientKey ?? null,
      clientCerts: common.clientCerts ?? null,
      serverName: common.tlsServerName ?? tls?.serverName ?? null,
      skipVerify: isVerifyGiven ? common.tlsSkipVerify : (tls?.skipVerify ?? false),
    },
  };
}

/** @template T @param {T} value @returns {Readonly<T>} */
export function deepFreeze(value) {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) deepFreeze(inner);
    Object.freeze(value);
  }
  return value;
}
