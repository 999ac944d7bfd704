/** The operations and their interface. To add one, add a file and a line here; flags, help and docs follow. */
import { usageError } from '../common/errors.js';
import { camelCase } from '../common/options.js';

/** @import { OptionSpec } from '../common/options.js' */
/** @import { Request } from '../http/exchange.js' */
/** @import { Tls } from '../http/tls.js' */
/** @import { LoadPlan } from '../plan/load.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { VaultClient } from '../vault/client.js' */

/**
 * @typedef {object} PrepareContext
 * @property {Plan} plan
 * @property {VaultClient} client for setup calls
 * @property {string | null} token a secret: only for request headers
 * @property {Tls} tls
 * @property {(url: string) => boolean} mayReach whether requests may go to an address from a certificate
 * @property {(everyMs: number) => void} keepAlive renews the token at this interval until the end of the run
 * @property {(check: (load: LoadPlan) => Promise<unknown>) => void} beforeAgain registers a check before each further run that shares this
 *   preparation
 * @property {(end: () => Promise<void>) => void} onEnd registers a function that removes or reports leftovers. Called
 *   once after the run, even if interrupted or failed; last registered, first called. Register it before the request
 *   that creates something; `end` may throw
 * @property {(text: string) => void} notice for the user, before the run
 * @property {(text: string) => void} warn
 * @property {(label: string, done: number, total: number) => void} progress of long preparations
 * @property {AbortSignal} signal
 * @property {(index: number) => boolean} [owns] in a mix: whether this operation sends a request; by default, all
 */
/**
 * @typedef {object} Fixture plain data for every thread; operations add fields
 * @property {string} origin scheme, host and port of all requests
 * @property {string} targetUrl for the result
 * @property {boolean} [isForeign] a certificate named it, not the user: no client certificate, always verified
 * @property {boolean} [hasLeases] its certificates are leased: when the token expires, Vault revokes them
 * @property {{product: string | null, version: string | null}} target
 * @property {FirstResponse} [firstResponse] the target's response before the run, if any, for the warm-up
 */
/** @typedef {{status: number, body: Uint8Array}} FirstResponse */
/**
 * @typedef {object} Classification an operation's judgement of one response
 * @property {string} outcome
 * @property {boolean} success
 * @property {'passed' | 'failed' | null} verification null: nothing to verify, e.g. an HTTP 503
 * @property {unknown} [kept] plain data for the Keeper, e.g. a serial
 */
/** @typedef {{(status: number, body: Uint8Array, index: number, receivedAt?: number): Classification, byStatus?: (status: number) => Classification | null,
 *   notes?: () => string[]}} Classify `receivedAt`: epoch ms; omitted: now. `byStatus`: judges a response whose body was not kept; null: the body
 *   decides, as for HTTP 2xx without `byStatus`. `notes`: at the end, limits of the checks; the same on every thread */
/**
 * @typedef {object} Operation
 * @property {string} name
 * @property {string} unit of its responses, plural, e.g. `certificates`
 * @property {string[]} examples command lines without the program's name
 * @property {Record<string, OptionSpec>} options
 * @property {Readonly<Record<string, string>>} outcomes every outcome and its meaning
 * @property {(options: Record<string, any>, common: Record<string, any>) => void} [check] throws a usage error if options
 *   contradict each other
 * @property {(options: Record<string, any>) => string | null} [leaves] names the leftovers on the target; null: none
 * @property {(context: PrepareContext) => Promise<any>} prepare once, on the main thread; resolves to a Fixture
 * @property {(plan: Plan, fixture: any) => (index: number) => Request} createRequester
 * @property {(plan: Plan, fixture: any) => Classify} createClassifier
 * @property {(plan: Plan) => Keeper | null} [openKeeper] stores the `kept` of verdicts
 * @property {(plan: Plan, kept: Kept) => string} [describeKept] a sentence
 */
/** @typedef {{write: (items: any[]) => void, close: () => Kept}} Keeper on the recorder's thread, not the sender's */
/** @typedef {{count: number, failure: {code?: string, message: string} | null}} Kept items written, and the error if writing failed */

/** FILE.js exports the operation as its name in camelCase. @type {[name: string, describe: string, file?: string][]} */
const LIST = [
  ['issue', 'Issue certificates and check each'],
  ['sign', 'Sign CSRs and check each certificate', 'issue'],
  ['sign-verbatim', 'Sign CSRs without a role and check each certificate', 'issue'],
  ['revoke', 'Revoke certificates issued before the run'],
  ['ocsp', 'Request OCSP status and check each response'],
  ['crl', "Fetch the mount's CRL and check it", 'ca-files'],
  ['ca-chain', "Fetch the mount's CA chain and check it", 'ca-files'],
  ['approle-login', 'Log in with an AppRole created for the run'],
  ['kv-write', 'Write random secrets to a key-value store', 'kv'],
  ['kv-read', 'Read secrets from a key-value store and check each', 'kv'],
  ['transit', 'Encrypt, decrypt, sign or verify with a transit key'],
  ['token-lookup', 'Look up the token (auth/token/lookup-self)'],
  ['health', 'Request sys/health, as load balancers do'],
  ['http', 'Send any HTTP request and check its status'],
];

/** @type {Record<string, {describe: string, file: string}>} */
export const operations = Object.fromEntries(
  LIST.map(([name, describe, file = name]) => [name, { describe, file }]),
);

/** @param {string} name @returns {Promise<Operation>} */
export async function loadOperation(name) {
  if (Object.hasOwn(operations, name))
    return (await import(`./${operations[name].file}.js`))[camelCase(name)];
  const message = `There is no operation ${JSON.stringify(name)}.`;
  throw usageError('unknown_operation', message, `Use one of ${Object.keys(operations).join(', ')}.`);
}
