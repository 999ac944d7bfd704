/** What `setup` and `teardown` share: single calls on a Vault that can be interrupted between any two, and their messages. */

import { EXIT, PkiLoadError, usageError } from '../common/errors.js';
import { readOptions } from '../common/options.js';
import { orInterrupted } from '../common/stop.js';
import { commonOptions } from '../plan/common-options.js';
import { readEnvironment } from '../vault/environment.js';
import { quoted } from '../vault/setup/command.js';
import { HANG_UP, SIGNALS } from './process.js';

/** @import { OptionSpec } from '../common/options.js' */
/** @import { VaultClient } from '../vault/client.js' */

/** After this time a message names the call. */
const PATIENCE_MS = 3000;

const NEVER = new AbortController().signal;

/** @type {Record<string, OptionSpec>} */
const target = Object.fromEntries(
  Object.entries(commonOptions).filter(
    ([name, { group }]) => group === 'Target' && !['dev', 'mount'].includes(name),
  ),
);

/** @type {Record<string, OptionSpec>} */
export const vaultOptions = {
  ...target,
  format: {
    type: 'choice',
    group: 'Results',
    choices: ['text', 'json'],
    default: 'text',
    describe: 'Format of standard output',
  },
};

/**
 * @typedef {object} Work
 * @property {VaultClient} client see interruptible
 * @property {Record<string, any>} options
 * @property {(text: string) => void} say a sentence as it comes true
 * @property {string} flags how the target was named, to be repeated in other commands; starts with a space where it is not empty
 */

/**
 * @template Report
 * @param {{name: string, specs: Record<string, OptionSpec>, given: Record<string, unknown>}} command
 * @param {Report} report the JSON output, filled by `work`
 * @param {(work: Work) => Promise<{code: number, last: string}>} work `last`: the last line of the text output
 * @returns {Promise<number>} exit code
 */
export async function runOnVault({ name: command, specs, given }, report, work) {
  const options = readOptions(specs, given);
  const common = readOptions(vaultOptions, given);
  const environment = readEnvironment();
  const [{ planTarget }, { connect, limitsOf }] = await Promise.all([
    import('../plan/plan.js'),
    import('../vault/setup/connect.js'),
  ]);
  const { url, namespace, tls } = planTarget({ ...common, dev: false, mount: '' }, given, environment);
  const { token } = environment;
  if (token === null) {
    throw usageError(
      'no_token',
      'There is no token: neither VAULT_TOKEN (BAO_TOKEN) nor ~/.vault-token holds one.',
      'Run vault login, or export VAULT_TOKEN.',
    );
  }
  const client = connect({ url, namespace, tls }, token, limitsOf(environment.timeoutMs));
  const isJson = common.format === 'json';
  const write = (/** @type {string} */ text) =>
    void (isJson ? process.stderr : process.stdout).write(`${text}\n`);
  const json = (/** @type {object} */ more) =>
    isJson &&
    process.stdout.write(
      `${JSON.stringify({ command, name: options.name, url, namespace, ...report, ...more }, null, 2)}\n`,
    );
  const interrupt = onSignal();
  try {
    const { code, last } = await work({
      client: interruptible(client, interrupt.stop, interrupt.cutOff),
      options,
      say: write,
      flags: flagsOf(given),
    });
    json({});
    if (!isJson) process.stdout.write(last);
    return code;
  } catch (error) {
    if (error instanceof PkiLoadError) {
      const { code, message, remedy } = error;
      json({ error: { code, message, remedy } });
    }
    throw error;
  } finally {
    interrupt.release();
    await client.close();
  }
}

/** The first signal ends the work after the call under way, the second with it, the third the process. */
function onSignal() {
  const stop = new AbortController();
  const cutOff = new AbortController();
  const listener = (/** @type {NodeJS.Signals} */ signal) => {
    if (!stop.signal.aborted) {
      process.stderr.write(
        'Interrupted: ending after the call under way. Press Ctrl-C again to end at once.\n',
      );
      stop.abort();
    } else if (signal === HANG_UP) return;
    else if (!cutOff.signal.aborted) cutOff.abort();
    else process.exit(EXIT.interrupted);
  };
  for (const signal of SIGNALS) process.on(signal, listener);
  return {
    stop: stop.signal,
    cutOff: cutOff.signal,
    release() {
      for (const signal of SIGNALS) process.off(signal, listener);
    },
  };
}

/**
 * The same client, but it reports long waits, and after a stop it refuses calls with code `interrupted`. An answer
 * that changes nothing is not waited for then. One to a change is until it is cut off, which is code `cut_off`: it may have come true.
 *
 * @param {VaultClient} client
 * @param {AbortSignal} stop
 * @param {AbortSignal} [cutOff] after `stop`
 * @returns {VaultClient}
 */
export function interruptible(client, stop, cutOff = NEVER) {
  const interrupted = () => interruption('interrupted', 'Interrupted.');
  /**
   * @template Answer
   * @param {string} what
   * @param {() => Promise<Answer>} ask
   * @param {boolean} [isChange]
   * @returns {Promise<Answer>}
   */
  async function patiently(what, ask, isChange = false) {
    if (stop.aborted) throw interrupted();
    const timer = setTimeout(() => {
      process.stderr.write(`Waiting for the response to ${what} ...\n`);
    }, PATIENCE_MS);
    const late = () => interruption('cut_off', `Interrupted before the response to ${what} had come.`);
    try {
      return await (isChange ? orInterrupted(ask(), cutOff, late) : orInterrupted(ask(), stop, interrupted));
    } finally {
      clearTimeout(timer);
    }
  }
  return {
    ...client,
    health: () => patiently('GET sys/health', client.health),
    read: (path, ...more) => patiently(`GET ${path}`, () => client.read(path, ...more)),
    list: (path) => patiently(`LIST ${path}`, () => client.list(path)),
    write: (path, ...more) => patiently(`POST ${path}`, () => client.write(path, ...more), true),
    remove: (path, ...more) => patiently(`DELETE ${path}`, () => client.remove(path, ...more), true),
  };
}

/** @param {string} code @param {string} message */
function interruption(code, message) {
  return new PkiLoadError(code, message, { exitCode: EXIT.interrupted });
}

/**
 * @param {Record<string, unknown>} given
 * @returns {string} how the target is named, for other command lines; starts with a space where it is not empty
 */
export function flagsOf(given) {
  return Object.entries(target)
    .flatMap(([name, { type }]) => {
      const value = given[name];
      if (value === undefined) return [];
      if (type !== 'flag') return [` --${name} ${quoted(String(value))}`];
      // The environment may have it on: the command line turns it off explicitly.
      return String(value) === 'true' ? [` --${name}`] : [` --${name}=false`];
    })
    .join('');
}
