/** `setup` and `teardown` of a PKI for testing on a real Vault. An interrupt takes effect between two calls. */
import { EXIT, PkiLoadError } from '../common/errors.js';
import { inGroup, option, readOptions } from '../common/options.js';
import { jsonPieces, sanitizeText } from '../common/sanitize.js';
import { delayedSignal, LAST_CALLS_MS, rejectOnStop } from '../common/stop.js';
import { optionsOf } from '../plan/common-options.js';
import { noToken, readEnvironment } from '../vault/environment.js';
import { targetFlags, teardownCommand } from '../vault/setup/command.js';
import { nameOption, planSetup, readSetupOptions, setupOptions } from '../vault/setup/setup-plan.js';
import { onInterrupt, visibleLines, withChanges, writeLine, writeWarning } from './process.js';

/** @import { VaultClient } from '../vault/client.js' */
/** @import { SetupReport } from '../vault/setup/setup.js' */
/** @import { TeardownReport } from '../vault/setup/teardown.js' */
/** @import { Command } from './arguments.js' */

/** @typedef {{client: VaultClient, name: string, log: (text: string) => void, flags: string}} Work `log` reports a change;
 *   `flags` name the target in other command lines; empty if the environment names it */

/** Commands to try, by engine; NAME and MOUNT are replaced by those of the setup. */
const TRY = [
  ['pki', 'issue --mount MOUNT'],
  ['pki', 'ocsp --mount MOUNT --rate 20'],
  ['kv', 'kv-write --kv-mount NAME-kv'],
  ['transit', 'transit'],
  ['approle', 'approle-login'],
];

/** After this time, a message names the call in progress. */
const SLOW_CALL_MS = 3000;

const INTERRUPTED = 'Interrupted: ending after the current call. Press Ctrl-C again to end at once.';

const targetOptions = optionsOf('Target', ['dev', 'tls', 'mount', 'client-certs']);

const vaultOptions = {
  ...targetOptions,
  ...inGroup('Results', {
    format: option('choice', 'Format of standard output', { choices: ['text', 'json'], default: 'text' }),
  }),
};

/** @type {Command} */
export const setup = {
  options: { ...setupOptions, ...vaultOptions },
  examples: [
    'setup',
    'setup --name load --ca-key-type ec --with kv,transit,approle',
    'setup --auto-rebuild --format json > setup.json',
  ],
  epilogue:
    'Creates a root PKI NAME-root, an intermediate NAME-int with roles, a policy NAME and, with --with, NAME-kv, NAME-transit and ' +
    'NAME-approle. Run it again to create missing parts. teardown removes all of it. See docs/vault.md.',
  async run(given) {
    const plan = planSetup(readSetupOptions(given));
    /** @type {SetupReport & {mount?: string, policy?: string}} */
    const report = { created: [], existing: [] };
    return runOnVault('setup', given, report, async ({ client, log, flags }) => {
      const { setUp } = await import('../vault/setup/setup.js');
      try {
        await setUp(client, plan, log, report);
      } catch (error) {
        throw report.created.length > 0 ? withCleanupHint(error, plan.name, flags) : error;
      }
      report.mount = plan.intermediate;
      report.policy = plan.policy;
      return { code: EXIT.ok, last: nextSteps(plan.name, report, flags) };
    });
  },
};

/** @type {Command} */
export const teardown = {
  options: { ...nameOption, ...vaultOptions },
  examples: ['teardown', 'teardown --name load --format json'],
  epilogue:
    'Deletes the marked mounts and policy of this name, with all contents, and leftover mounts of killed runs. Do not use it during ' +
    'a run that creates its own mounts (kv, transit, approle). It is safe to repeat, also after a failed setup. Exit code 2 if anything remains.',
  async run(given) {
    /** @type {TeardownReport} */
    const report = { removed: [], remaining: [] };
    return runOnVault('teardown', given, report, async ({ client, name, log }) => {
      const { tearDown } = await import('../vault/setup/teardown.js');
      if (!(await tearDown(client, name, log, report, true))) return { code: EXIT.target, last: '' };
      return { code: EXIT.ok, last: report.removed.length > 0 ? '' : `No setup named ${name} was found.\n` };
    });
  },
};

/** @param {string} name @param {SetupReport & {mount?: string, policy?: string}} report @param {string} flags see Work */
function nextSteps(name, { created, existing, mount, policy }, flags) {
  const types = new Set([...created, ...existing].map(({ type }) => type));
  const lines = TRY.filter(([engine]) => types.has(engine)).map(
    ([, words]) =>
      `  vault-pki-load ${words.replace('NAME', name).replace('MOUNT', String(mount))}${flags} --duration 10s`,
  );
  return `${created.length === 0 ? 'Everything already exists; nothing was changed.\n' : ''}
Use it:

${lines.join('\n')}

With a token limited to these operations:

  export VAULT_TOKEN=$(vault token create -policy=${policy} -ttl=24h -field=token)

Remove it:

  ${teardownCommand(name, flags)}
`;
}

/** @param {unknown} error after setup created something @param {string} name @param {string} flags see Work */
export function withCleanupHint(error, name, flags) {
  if (!(error instanceof PkiLoadError)) return error;
  const hint = `The objects created so far remain. Run setup again to create the rest, or ${teardownCommand(name, flags)} to remove them.`;
  return withChanges(error, { remedy: error.remedy === undefined ? hint : `${error.remedy} ${hint}` });
}

/**
 * @param {string} command @param {Record<string, unknown>} given @param {object} report the JSON output, filled by `work`
 * @param {(work: Work) => Promise<{code: number, last: string}>} work `last`: the last lines of the text output
 */
async function runOnVault(command, given, report, work) {
  const { name } = readOptions(nameOption, given);
  const common = readOptions(vaultOptions, given);
  const environment = readEnvironment();
  const { planTarget } = await import('../plan/plan.js');
  const { connect } = await import('../vault/client.js');
  const target = planTarget({ ...common, dev: false, mount: '' }, given, environment);
  if (environment.token === null) throw noToken();
  const connection = connect(target, environment.token, { notice: writeLine, warn: writeWarning });
  const isJson = common.format === 'json';
  const { url, namespace } = target;
  const log = isJson
    ? writeLine
    : (/** @type {string} */ text) => process.stdout.write(`${sanitizeText(text)}\n`);
  const printEnd = (/** @type {string} */ last, /** @type {object} */ error = {}) => {
    const output = { command, name, url, namespace, ...report, ...error };
    process.stdout.write(isJson ? [...jsonPieces(output)].join('') : visibleLines(last));
  };
  const interrupt = onInterrupt(process);
  interrupt.attach(writeLine, INTERRUPTED);
  const client = interruptible(connection, interrupt.stop, interrupt.cutOff);
  const isNamed = Object.keys(targetOptions).some((option) => given[option] !== undefined);
  try {
    const { code, last } = await work({ client, name, log, flags: isNamed ? targetFlags(target) : '' });
    printEnd(last);
    return code;
  } catch (error) {
    if (error instanceof PkiLoadError) {
      const { code, message, remedy } = error;
      printEnd('', { error: { code, message, remedy } });
    }
    throw error;
  } finally {
    interrupt.release();
    await connection.close();
  }
}

/**
 * The same client, but it reports long waits, and after a stop refuses calls with code `interrupted`. It still waits for the
 * response to a change, which Vault may have executed, for 5 s or until cut off (code `cut_off`).
 * @param {VaultClient} client @param {AbortSignal} stop @param {AbortSignal} [cutOff] after `stop` @returns {VaultClient}
 */
export function interruptible(client, stop, cutOff = new AbortController().signal) {
  const errorFactory = (/** @type {string} */ code, /** @type {string} */ text) => () =>
    new PkiLoadError(code, text, { exitCode: EXIT.interrupted });
  const interrupted = errorFactory('interrupted', 'Interrupted.');
  const tooLate = delayedSignal(stop, LAST_CALLS_MS).signal;
  /** @template {(...args: any[]) => Promise<any>} Call @param {string} method @param {Call} call @param {boolean} [isChange] */
  const wrapCall = (method, call, isChange = false) => {
    const act = async (/** @type {any[]} */ ...args) => {
      if (stop.aborted) throw interrupted();
      const request = `${method} ${typeof args[0] === 'string' ? args[0] : 'sys/health'}`;
      const late = errorFactory('cut_off', `Interrupted before the response to ${request}.`);
      const timer = setTimeout(writeLine, SLOW_CALL_MS, `Waiting for the response to ${request} ...`);
      const ended = isChange
        ? rejectOnStop(rejectOnStop(call(...args), cutOff, late), tooLate, late)
        : rejectOnStop(call(...args), stop, interrupted);
      return ended.finally(() => clearTimeout(timer));
    };
    return /** @type {Call} */ (act);
  };
  return {
    ...client,
    health: wrapCall('GET', client.health),
    read: wrapCall('GET', client.read),
    list: wrapCall('LIST', client.list),
    write: wrapCall('POST', client.write, true),
    remove: wrapCall('DELETE', client.remove, true),
  };
}
