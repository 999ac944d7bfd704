/** What `setup` and `teardown` share: single calls on a Vault that can be interrupted between any two, and what is said of them. */
import { commonOptions } from '../common-options.js';
import { EXIT, PkiLoadError, usageError } from '../errors.js';
import { readOptions } from '../options.js';
import { quoted } from '../setup/command.js';
import { readEnvironment } from '../vault/environment.js';
import { SIGNALS } from './interrupt.js';

/** @typedef {import('../vault/client.js').VaultClient} VaultClient */

/** Taking away a mount takes as long as what is in it takes to be deleted. */
const TIMEOUT_MS = 600_000;

/** After so long it is said what is waited for. */
const PATIENCE_MS = 3000;

/** @type {Record<string, import('../options.js').OptionSpec>} */
const target = Object.fromEntries(
  Object.entries(commonOptions).filter(
    ([name, { group }]) => group === 'Target' && !['dev', 'mount'].includes(name),
  ),
);

/** @type {Record<string, import('../options.js').OptionSpec>} */
export const vaultOptions = {
  ...target,
  format: {
    type: 'choice',
    group: 'Results',
    choices: ['text', 'json'],
    default: 'text',
    describe: 'Form of what is said on standard output',
  },
};

/**
 * @typedef {object} Work
 * @property {VaultClient} client throws code `interrupted` once that was asked for
 * @property {Record<string, any>} options
 * @property {(text: string) => void} say a sentence as it comes true
 * @property {string} flags how the target was named, to be repeated in other commands; starts with a space where it is not empty
 */

/**
 * @template Report
 * @param {{name: string, specs: Record<string, import('../options.js').OptionSpec>, given: Record<string, unknown>}} command
 * @param {Report} report what there is to say in JSON, filled by `work`
 * @param {(work: Work) => Promise<{code: number, last: string}>} work `last`: what is said last, in text
 * @returns {Promise<number>} exit code
 */
export async function runOnVault({ name: command, specs, given }, report, work) {
  const options = readOptions(specs, given);
  const common = readOptions(vaultOptions, given);
  const environment = readEnvironment();
  const [{ planTarget }, { createVaultClient }, { loadTls }] = await Promise.all([
    import('../plan.js'),
    import('../vault/client.js'),
    import('../http/tls.js'),
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
  const client = createVaultClient({ url, namespace, token, tls: loadTls(tls), timeoutMs: TIMEOUT_MS });
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
      client: interruptible(client, interrupt.signal),
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

/** The first signal ends the work after the call under way, the second the process. */
function onSignal() {
  const controller = new AbortController();
  const listener = () => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    process.stderr.write(
      'Interrupted: ending after the call under way. Press Ctrl-C again to end at once.\n',
    );
    controller.abort();
  };
  for (const signal of SIGNALS) process.on(signal, listener);
  return {
    signal: controller.signal,
    release() {
      for (const signal of SIGNALS) process.off(signal, listener);
    },
  };
}

/**
 * @param {VaultClient} client
 * @param {AbortSignal} signal
 * @returns {VaultClient} the same, but that it asks nothing any more once it is interrupted
 */
export function interruptible(client, signal) {
  /**
   * @template {any[]} Args
   * @template Answer
   * @param {string} method
   * @param {(...args: Args) => Promise<Answer>} ask
   * @returns {(...args: Args) => Promise<Answer>}
   */
  const guarded =
    (method, ask) =>
    async (...args) => {
      if (signal.aborted)
        throw new PkiLoadError('interrupted', 'Interrupted.', { exitCode: EXIT.interrupted });
      const timer = setTimeout(() => {
        process.stderr.write(`Waiting for the answer to ${method} ${args[0]} ...\n`);
      }, PATIENCE_MS);
      try {
        return await ask(...args);
      } finally {
        clearTimeout(timer);
      }
    };
  return {
    ...client,
    read: guarded('GET', client.read),
    write: guarded('POST', client.write),
    remove: guarded('DELETE', client.remove),
    list: guarded('LIST', client.list),
  };
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
      // What the environment says may be the other way round: that it is off is said, too.
      return String(value) === 'true' ? [` --${name}`] : [` --${name}=false`];
    })
    .join('');
}
