/** The command line that removes a set-up, to be copied: without secrets, and without a full stop. */
import { readEnvironment } from '../environment.js';
/** @import { TargetPlan } from '../environment.js' */

/**
 * @param {string} name of the set-up
 * @param {string} flags that name the target; starts with a space where it is not empty
 * @param {string | null} [tokenEnv] environment variable that holds the token; null: the command finds it itself.
 *   It becomes BAO_TOKEN, which wins over every other exported token
 * @returns {string} for a shell
 */
export function teardownCommand(name, flags, tokenEnv = null) {
  const token = tokenEnv === null ? '' : `BAO_TOKEN="$${tokenEnv}" `;
  return `${token}vault-pki-load teardown --name ${name}${flags}`;
}

/**
 * @param {TargetPlan} target
 * @param {Record<string, string | undefined>} [env] of the shell: a verified target stays verified whatever
 *   VAULT_SKIP_VERIFY is
 * @returns {string} flags that name it; starts with a space
 */
export function targetFlags({ url, namespace, tls }, env = process.env) {
  const { caCert, caPath, clientCert, clientKey, serverName } = tls;
  const files = { 'ca-cert': caCert, 'ca-path': caPath, 'client-cert': clientCert, 'client-key': clientKey };
  const values = Object.entries({ url, namespace, ...files, 'tls-server-name': serverName });
  const flags = values.flatMap(([flag, value]) => (value ? [` --${flag} ${quoted(value)}`] : []));
  if (tls.skipVerify) flags.push(' --tls-skip-verify');
  else if (readEnvironment(env).tls.skipVerify) flags.push(' --tls-skip-verify=false');
  return flags.join('');
}

/** @param {string} value @returns {string} one word of a shell */
export function quoted(value) {
  return /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}

/**
 * @param {string} name
 * @param {readonly {plan: {dev: boolean, target: TargetPlan}, tokenEnv?: string | null}[]} steps
 * @returns {string[]} one for each of their targets, except embedded servers
 */
export function teardownCommands(name, steps) {
  const real = steps.filter(({ plan }) => !plan.dev);
  const commands = real.map(({ plan, tokenEnv }) =>
    teardownCommand(name, targetFlags(plan.target), tokenEnv),
  );
  return [...new Set(commands)];
}
