/** `setup`: a PKI fit for testing on a real Vault. */
import { EXIT, PkiLoadError } from '../common/errors.js';
import { teardownCommand } from '../vault/setup/command.js';
import { nameOption, readSetupOptions, setupOptions } from '../vault/setup/setup-plan.js';
import { runOnVault, vaultOptions } from './vault-command.js';

/** @import { SetupPlan } from '../vault/setup/setup-plan.js' */
/** @import { SetupReport } from '../vault/setup/setup.js' */
/** @import { TeardownReport } from '../vault/setup/teardown.js' */
/** @import { Command } from './arguments.js' */
/** @import { Work } from './vault-command.js' */

const EPILOGUE =
  'Creates a root PKI NAME-root, an intermediate NAME-int with roles, a policy NAME, and with --with NAME-kv, NAME-transit and ' +
  'NAME-approle. Run it again to create what is missing. teardown removes all of it. See docs/vault.md.';

/** Operations that need more than the PKI, by the name of the set-up. @type {Readonly<Record<string, (name: string) => string>>} */
const TRY = Object.freeze({
  kv: (name) => `kv-write --kv-mount ${name}-kv --duration 10s`,
  transit: () => 'transit --duration 10s',
  approle: () => 'approle-login --duration 10s',
});

/** @type {Command} */
export const setup = {
  options: { ...setupOptions, ...vaultOptions },
  examples: [
    'setup',
    'setup --name load --ca-key-type ec --with kv,transit,approle',
    'setup --auto-rebuild --format json > setup.json',
  ],
  epilogue: EPILOGUE,
  run(given) {
    /** @type {SetupReport & {mount?: string, policy?: string}} */
    const report = { made: [], there: [] };
    return runOnVault({ name: 'setup', specs: setupOptions, given }, report, async (work) => {
      const [{ planSetup }, { setUp }] = await Promise.all([
        import('../vault/setup/setup-plan.js'),
        import('../vault/setup/setup.js'),
      ]);
      const plan = planSetup(readSetupOptions(given));
      try {
        await setUp(work.client, plan, work.say, report);
      } catch (error) {
        throw report.made.length > 0 ? withWhatStays(error, plan.name, work.flags) : error;
      }
      report.mount = plan.intermediate;
      report.policy = plan.policy;
      return { code: EXIT.ok, last: lastWords(plan, report, work) };
    });
  },
};

/** @param {SetupPlan} plan @param {SetupReport} report @param {Work} work */
function lastWords({ name, intermediate, policy }, { made, there }, { flags }) {
  const mount = `--mount ${intermediate}${flags}`;
  const beside = Object.entries(TRY).filter(([engine]) =>
    [...made, ...there].some(({ kind, type }) => (kind === 'mount' || kind === 'auth') && type === engine),
  );
  const lines = [
    ...(made.length === 0 ? ['Everything was there already; nothing was changed.'] : []),
    '',
    'Use it:',
    '',
    `  vault-pki-load issue ${mount} --duration 10s`,
    `  vault-pki-load ocsp ${mount} --rate 20 --duration 10s`,
    ...beside.map(([, words]) => `  vault-pki-load ${words(name)}${flags}`),
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

/**
 * @param {unknown} error of a set-up of which something was made
 * @param {string} name
 * @param {string} flags how the target was named
 */
export function withWhatStays(error, name, flags) {
  if (!(error instanceof PkiLoadError)) return error;
  const { code, message, remedy, exitCode } = error;
  const stays = `Everything created until then stays: run setup again to complete it, or ${teardownCommand(name, flags)} to remove it.`;
  return new PkiLoadError(code, message, {
    remedy: remedy === undefined ? stays : `${remedy} ${stays}`,
    exitCode,
    cause: error,
  });
}

const TEARDOWN_EPILOGUE =
  'Deletes the mounts and the policy that setup marked under this name, with everything in them. Can be run again, also after a failed ' +
  'setup. Exit code 2 if anything is left under these names.';

/** @type {Command} */
export const teardown = {
  options: { ...nameOption, ...vaultOptions },
  examples: ['teardown', 'teardown --name load --format json'],
  epilogue: TEARDOWN_EPILOGUE,
  run(given) {
    /** @type {TeardownReport} */
    const report = { gone: [], left: [] };
    return runOnVault({ name: 'teardown', specs: nameOption, given }, report, async (work) => {
      const { takeAway } = await import('../vault/setup/teardown.js');
      const { name } = work.options;
      const { gone, left } = await takeAway(work.client, name, work.say, report);
      const isEmpty = gone.length + left.length === 0;
      return {
        code: left.length === 0 ? EXIT.ok : EXIT.target,
        last: isEmpty ? `There is nothing of a set-up called ${name}.\n` : '',
      };
    });
  },
};
