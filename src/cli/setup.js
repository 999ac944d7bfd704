/** `setup` and `teardown`: a PKI fit for testing on a real Vault, and back. */
import { commonOptions } from '../common-options.js';
import { EXIT, usageError } from '../errors.js';
import { readOptions } from '../options.js';
import { ENGINES, nameOption, setupOptions } from '../setup/options.js';
import { readEnvironment } from '../vault/environment.js';

const target = Object.fromEntries(
  Object.entries(commonOptions).filter(
    ([name, { group }]) => group === 'Target' && !['dev', 'mount'].includes(name),
  ),
);

/** @type {import('./declare.js').Command} */
export const setup = {
  options: { ...setupOptions, ...target },
  examples: ['setup', 'setup --name load --ca-key-type ec --with kv,transit,approle'],
  epilogue:
    'Makes a root and an intermediate PKI with roles, and a policy; says what it made. It may be run again: what is there is ' +
    'left. A mount or policy of the same name that it did not make is refused, and nothing is changed.',
  run: (given) =>
    withClient(setupOptions, given, async (client, options) => {
      const unknown = options.with.find((/** @type {any} */ one) => !ENGINES.includes(one));
      if (unknown !== undefined) {
        throw usageError(
          'bad_option',
          `--with holds ${JSON.stringify(unknown)}, which is not one of ${ENGINES.join(', ')}.`,
        );
      }
      const [{ planSetup }, { setUp }] = await Promise.all([
        import('../setup/plan.js'),
        import('../setup/setup.js'),
      ]);
      const plan = planSetup(/** @type {any} */ (options));
      await setUp(client, plan, say);
      say(
        `Use it with --mount ${plan.intermediate}; vault-pki-load teardown --name ${plan.name} takes it away.`,
      );
      return EXIT.ok;
    }),
};

/** @type {import('./declare.js').Command} */
export const teardown = {
  options: { ...nameOption, ...target },
  examples: ['teardown', 'teardown --name load'],
  epilogue:
    'Takes away what setup has made under this name, and nothing else. Certificates go with their mounts.',
  run: (given) =>
    withClient(nameOption, given, async (client, { name }) => {
      const { tearDown } = await import('../setup/teardown.js');
      return (await tearDown(client, name, say)) ? EXIT.ok : EXIT.target;
    }),
};

/**
 * @param {Record<string, import('../options.js').OptionSpec>} specs
 * @param {Record<string, unknown>} given
 * @param {(client: import('../vault/client.js').VaultClient, options: Record<string, any>) => Promise<number>} use
 */
async function withClient(specs, given, use) {
  const options = readOptions(specs, given);
  const common = readOptions(target, given);
  const environment = readEnvironment();
  const [{ planTarget }, { createVaultClient }, { loadTls }] = await Promise.all([
    import('../plan.js'),
    import('../vault/client.js'),
    import('../http/tls.js'),
  ]);
  const { url, namespace, tls } = planTarget({ ...common, dev: false, mount: '' }, given, environment);
  const client = createVaultClient({
    url,
    namespace,
    token: environment.token,
    tls: loadTls(tls),
    timeoutMs: 30_000,
  });
  try {
    return await use(client, options);
  } finally {
    await client.close();
  }
}

/** @param {string} text */
function say(text) {
  process.stdout.write(`${text}\n`);
}
