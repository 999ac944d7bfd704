/** The operations, one line each, and their interface. A new one is a new file and a line here: its command, flags and help follow. */
import { usageError } from '../common/errors.js';
/** @import { OptionSpec } from '../common/options.js' */
/** @import { Request } from '../http/exchange.js' */
/** @import { Tls } from '../http/tls.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { VaultClient } from '../vault/client.js' */

/**
 * @typedef {object} PrepareContext
 * @property {Plan} plan
 * @property {VaultClient} client for set-up calls
 * @property {string | null} token a secret: goes into request headers, nowhere else
 * @property {Tls} tls
 * @property {(everyMs: number) => void} keepAlive renews the token that often, from now to the end of the run
 * @property {(end: () => Promise<void>) => void} onEnd removes what `prepare` made; called once, the last first, even if preparing fails.
 *   Call it before the request that makes something, so that an interruption in between leaves nothing behind
 * @property {(text: string) => void} notice what the user should know before the run
 * @property {(text: string) => void} warn
 * @property {(label: string, done: number, total: number) => void} progress of long preparations
 * @property {AbortSignal} signal
 * @property {(index: number) => boolean} [owns] in a mix: which requests are this operation's; none: all are
 */
/**
 * @typedef {object} Fixture plain data that every thread gets; an operation adds what it needs
 * @property {string} origin scheme, host and port that requests go to
 * @property {string} targetUrl what the result names as the target
 * @property {{product: string | null, version: string | null}} target
 * @property {FirstAnswer} [firstAnswer] the target's response before the run, if one was requested: the warm-up uses it
 */
/** @typedef {{status: number, body: Uint8Array}} FirstAnswer */
/**
 * @typedef {object} Verdict an operation's judgement of one response
 * @property {string} outcome
 * @property {boolean} success
 * @property {'passed' | 'failed' | null} verification null: nothing to verify, e.g. an HTTP 503
 * @property {unknown} [kept] what the user asked to keep, e.g. a serial; plain data
 */
/** @typedef {{(status: number, body: Uint8Array, index: number): Verdict, byStatus?: (status: number) => Verdict | null,
 *   notes?: () => string[]}} Classify `byStatus`: of a response whose body was not kept, where the status is enough, else null; without it
 *   HTTP 2xx does not. `notes`: at the end, what the checks left out, in the same words on every thread */
/**
 * @typedef {object} Operation
 * @property {string} name
 * @property {string} unit of its responses, plural, e.g. `certificates`
 * @property {string[]} examples command lines without the program's name
 * @property {Record<string, OptionSpec>} options
 * @property {Readonly<Record<string, string>>} outcomes every outcome it can give, a sentence each
 * @property {(options: Record<string, any>, common: Record<string, any>) => void} [check] throws a usage error where
 *   options contradict each other
 * @property {(options: Record<string, any>) => string | null} [leaves] what stays on the target after the run, a phrase; null or absent:
 *   nothing
 * @property {(context: PrepareContext) => Promise<any>} prepare once, on the main thread; resolves to a Fixture
 * @property {(plan: Plan, fixture: any) => (index: number) => Request} createRequester
 * @property {(plan: Plan, fixture: any) => Classify} createClassifier
 * @property {(fixture: any) => string[]} [takeNotes] on the main thread, when all that classify have ended: what their checks have found
 *   out together, sentences. Another run with the same fixture begins anew
 * @property {(plan: Plan) => Keeper | null} [openKeeper] for what classifiers ask to keep
 * @property {(plan: Plan, kept: Kept) => string} [describeKept] a sentence
 * @property {(context: CleanupContext, fixture: any) => Promise<void>} [cleanup] after the run, interrupted or not: takes away what
 *   preparing and sending have made, or reports what is left; may throw
 */
/** @typedef {Omit<PrepareContext, 'keepAlive' | 'progress' | 'onEnd' | 'owns'>} CleanupContext */
/**
 * @typedef {object} Keeper runs beside the recorder, off the sending thread
 * @property {(items: any[]) => void} write
 * @property {() => Kept} close
 */
/**
 * @typedef {object} Kept
 * @property {number} count items written
 * @property {string | null} failure error code, when writing failed
 */

/** @type {Record<string, {describe: string, load: () => Promise<{operation: Operation}>}>} */
export const operations = {
  issue: { describe: 'Issue certificates and check each', load: () => import('./issue.js') },
  sign: { describe: 'Sign CSRs and check each certificate', load: () => import('./sign.js') },
  'sign-verbatim': {
    describe: 'Sign CSRs without a role and check each certificate',
    load: () => import('./sign-verbatim.js'),
  },
  revoke: {
    describe: 'Revoke certificates issued before the run',
    load: () => import('./revoke.js'),
  },
  ocsp: {
    describe: 'Request OCSP status and check each response',
    load: () => import('./ocsp.js'),
  },
  crl: {
    describe: "Fetch the mount's CRL and check it",
    load: () => import('./crl.js'),
  },
  'ca-chain': { describe: "Fetch the mount's CA chain and check it", load: () => import('./ca-chain.js') },
  'approle-login': {
    describe: 'Log in with an AppRole created for the run',
    load: () => import('./approle-login.js'),
  },
  'kv-write': {
    describe: 'Write random secrets to a key-value store',
    load: () => import('./kv-write.js'),
  },
  'kv-read': {
    describe: 'Read secrets from a key-value store and check each',
    load: () => import('./kv-read.js'),
  },
  transit: {
    describe: 'Encrypt, decrypt, sign or verify with a transit key',
    load: () => import('./transit.js'),
  },
  'token-lookup': {
    describe: 'Look up the token (auth/token/lookup-self)',
    load: () => import('./token-lookup.js'),
  },
  health: { describe: 'Request sys/health, as load balancers do', load: () => import('./health.js') },
  http: {
    describe: 'Send any HTTP request and check its status',
    load: () => import('./http.js'),
  },
};

/** @param {string} name @returns {Promise<Operation>} */
export async function loadOperation(name) {
  if (!Object.hasOwn(operations, name)) {
    const known = Object.keys(operations).join(', ');
    throw usageError(
      'unknown_operation',
      `There is no operation ${JSON.stringify(name)}.`,
      `There are: ${known}.`,
    );
  }
  return (await operations[name].load()).operation;
}
