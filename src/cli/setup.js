/** `setup` and `teardown`: a PKI fit for testing on a real Vault, by single calls that can be interrupted between any two. */
import { EXIT, PkiLoadError, usageError } from '../common/errors.js';
import { readOptions } from '../common/options.js';
import { orInterrupted } from '../common/stop.js';
import { escapeInvisible, visibleText } from '../common/visible-text.js';
import { commonOptions } from '../plan/common-options.js';
import { readEnvironment } from '../vault/environment.js';
import { quoted, teardownCommand } from '../vault/setup/command.js';
import { nameOption, readSetupOptions, setupOptions } from '../vault/setup/setup-plan.js';
import { onInterrupt, visibleLines, writeLine } from './process.js';

/** @import { OptionSpec } from '../common/options.js' */
/** @import { VaultClient } from '../vault/client.js' */
/** @import { SetupPlan } from '../vault/setup/setup-plan.js' */
/** @import { SetupReport } from '../vault/setup/setup.js' */
/** @import { TeardownReport } from '../vault/setup/teardown.js' */
/** @import { Command } from './arguments.js' */

/**
 * @typedef {object} Work
 * @property {VaultClient} client see interruptible
 * @property {string} name of the set-up
 * @property {(text: string) => void} say reports a change that was made
 * @property {string} flags see flagsOf
 */

/** Operations that need more than the PKI, by the name of the set-up. @type {Readonly<Record<string, (name: string) => string>>} */
const TRY = Object.freeze({
  kv: (name) => `kv-write --kv-mount ${name}-kv --duration 10s`,
  transit: () => 'transit --duration 10s',
  approle: () => 'approle-login --duration 10s',
});

/** After this time a message names the call. */
const PATIENCE_MS = 3000;

const INTERRUPTED = 'Interrupted: ending after the call under way. Press Ctrl-C again to end at once.';

const NEVER = new AbortController().signal;

/** @type {Record<string, OptionSpec>} */
const targetOptions = Object.fromEntries(
  Object.entries(commonOptions).filter(
    ([name, { group }]) => group === 'Target' && !['dev', 'mount'].includes(name),
  ),
);

/** @type {Record<string, OptionSpec>} */
const vaultOptions = {
  ...targetOptions,
  format: {
    type: 'choice',
    group: 'Results',
    choices: ['text', 'json'],
    default: 'text',
    describe: 'Format of standard output',
  },
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
    'Creates a root PKI NAME-root, an intermediate NAME-int with roles, a policy NAME, and with --with NAME-kv, NAME-transit and ' +
    'NAME-approle. Run it again to create what is missing. teardown removes all of it. See docs/vault.md.',
  run(given) {
    /** @type {SetupReport & {mount?: string, policy?: string}} */
    const report = { made: [], there: [] };
    readOptions(setupOptions, given);
    return runOnVault('setup', given, report, async ({ client, say, flags }) => {
      const [{ planSetup }, { setUp }] = await Promise.all([
        import('../vault/setup/setup-plan.js'),
        import('../vault/setup/setup.js'),
      ]);
      const plan = planSetup(readSetupOptions(given));
      try {
        await setUp(client, plan, say, report);
      } catch (error) {
        throw report.made.length > 0 ? withWhatStays(error, plan.name, flags) : error;
      }
      report.mount = plan.intermediate;
      report.policy = plan.policy;
      return { code: EXIT.ok, last: lastWords(plan, report, flags) };
    });
  },
};

/** @type {Command} */
export const teardown = {
  options: { ...nameOption, ...vaultOptions },
  examples: ['teardown', 'teardown --name load --format json'],
  epilogue:
    'Deletes the mounts and the policy that setup marked under this name, with everything in them, and the mounts that killed runs left: ' +
    'do not use it while a run has a mount of its own there. Can be run again, also after a failed setup. Exit code 2 if anything is left.',
  run(given) {
    /** @type {TeardownReport} */
    const report = { gone: [], left: [] };
    return runOnVault('teardown', given, report, async ({ client, name, say }) => {
      const { takeAway } = await import('../vault/setup/teardown.js');
      const { gone, left } = await takeAway(client, name, say, report);
      const isEmpty = gone.length + left.length === 0;
      return {
        code: left.length === 0 ? EXIT.ok : EXIT.target,
        last: isEmpty ? `There is nothing of a set-up called ${name}.\n` : '',
      };
    });
  },
};

/** @param {SetupPlan} plan @param {SetupReport} report @param {string} flags see flagsOf */
function lastWords({ name, intermediate, policy }, { made, there }, flags) {
  const mount = `--mount ${intermediate}${flags}`;
  const engines = [...made, ...there].flatMap(({ kind, type }) =>
    kind === 'mount' || kind === 'auth' ? [type] : [],
  );
  const lines = [
    ...(made.length === 0 ? ['Everything was there already; nothing was changed.'] : []),
    '',
    'Use it:',
    '',
    `  vault-pki-load issue ${mount} --duration 10s`,
    `  vault-pki-load ocsp ${mount} --rate 20 --duration 10s`,
    ...Object.entries(TRY)
      .filter(([engine]) => engines.includes(engine))
      .map(([, words]) => `  vault-pki-load ${words(name)}${flags}`),
    '',
    'With a token that may do this and nothing else:',
    '',
    `  export VAULT_TOKEN=$(vault token create -policy=${policy} -ttl=24h -field=token)`,
    '',
    'Remove it:',
    '',
    `  ${teardownCommand(name, flags)}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** @param {unknown} error of a set-up of which something was made @param {string} name @param {string} flags see flagsOf */
export function withWhatStays(error, name, flags) {
  if (!(error instanceof PkiLoadError)) return error;
  const { code, message, exitCode } = error;
  const stays = `Everything created until then stays: run setup again to complete it, or ${teardownCommand(name, flags)} to remove it.`;
  const remedy = error.remedy === undefined ? stays : `${error.remedy} ${stays}`;
  return new PkiLoadError(code, message, { remedy, exitCode, cause: error });
}

/**
 * @template Report
 * @param {string} command
 * @param {Record<string, unknown>} given
 * @param {Report} report the JSON output, filled by `work`
 * @param {(work: Work) => Promise<{code: number, last: string}>} work `last`: the last lines of the text output
 * @returns {Promise<number>} exit code
 */
async function runOnVault(command, given, report, work) {
  const { name } = readOptions(nameOption, given);
  const common = readOptions(vaultOptions, given);
  const environment = readEnvironment();
  const [{ planTarget }, { connect, limitsOf }] = await Promise.all([
    import('../plan/plan.js'),
    import('../vault/client.js'),
  ]);
  const target = planTarget({ ...common, dev: false, mount: '' }, given, environment);
  const { url, namespace } = target;
  if (environment.token === null) {
    throw usageError(
      'no_token',
      'There is no token: neither VAULT_TOKEN (BAO_TOKEN) nor ~/.vault-token holds one.',
      'Run vault login, or export VAULT_TOKEN.',
    );
  }
  const client = connect(target, environment.token, limitsOf(environment.timeoutMs));
  const isJson = common.format === 'json';
  const print = (/** @type {string} */ text) => void process.stdout.write(text);
  const say = isJson ? writeLine : (/** @type {string} */ text) => print(`${visibleText(text)}\n`);
  const printJson = (/** @type {object} */ more) =>
    isJson &&
    print(
      `${escapeInvisible(JSON.stringify({ command, name, url, namespace, ...report, ...more }, null, 2))}\n`,
    );
  const interrupt = onInterrupt(process);
  interrupt.attach(writeLine, INTERRUPTED);
  const own = interruptible(client, interrupt.stop, interrupt.cutOff);
  try {
    const { code, last } = await work({ client: own, name, say, flags: flagsOf(given) });
    printJson({});
    if (!isJson) print(visibleLines(last));
    return code;
  } catch (error) {
    if (error instanceof PkiLoadError) {
      const { code, message, remedy } = error;
      printJson({ error: { code, message, remedy } });
    }
    throw error;
  } finally {
    interrupt.release();
    await client.close();
  }
}

/**
 * The same client, but it reports long waits, and after a stop it refuses calls with code `interrupted`. It then waits for the
 * response to a change only, until that is cut off (code `cut_off`): the change may have been made.
 * @param {VaultClient} client
 * @param {AbortSignal} stop
 * @param {AbortSignal} [cutOff] after `stop`
 * @returns {VaultClient}
 */
export function interruptible(client, stop, cutOff = NEVER) {
  const interruption = (/** @type {string} */ code, /** @type {string} */ message) =>
    new PkiLoadError(code, message, { exitCode: EXIT.interrupted });
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
    const timer = setTimeout(writeLine, PATIENCE_MS, `Waiting for the response to ${what} ...`);
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

/** @param {Record<string, unknown>} given @returns {string} ` --url X`: the options that name the target, for other command lines */
export function flagsOf(given) {
  const flags = Object.entries(targetOptions).map(([name, { type }]) => {
    const value = given[name];
    if (value === undefined) return '';
    if (type !== 'flag') return ` --${name} ${quoted(String(value))}`;
    // The environment may have it on: the command line turns it off explicitly.
    return String(value) === 'true' ? ` --${name}` : ` --${name}=false`;
  });
  return flags.join('');
}
