/** Command lines that remove a setup, ready to copy and without secrets. */
import { readEnvironment } from '../environment.js';
/** @import { TargetPlan } from '../environment.js' */

/**
 * @param {string} name of the setup @param {string} flags that name the target; empty, or starts with a space
 * @param {string | null} [tokenEnv] environment variable of the token, passed as BAO_TOKEN, which takes precedence; null:
 *   the command finds its token itself
 * @returns {string} for a shell
 */
export function teardownCommand(name, flags, tokenEnv = null) {
  const token = tokenEnv === null ? '' : `BAO_TOKEN="$${tokenEnv}" `;
  return `${token}vault-pki-load teardown --name ${name}${flags}`;
}

/**
 * @param {TargetPlan} target
 * @param {Record<string, string | undefined>} [env] of the shell: VAULT_SKIP_VERIFY must not disable verification
 * @returns {string} flags that name it; starts with a space
 */
export function targetFlags({ url, namespace, tls, connectTo = [] }, env = process.env) {
  const { caCert, caPath, clientCert, clientKey, serverName } = tls;
  const files = { 'ca-cert': caCert, 'ca-path': caPath, 'client-cert': clientCert, 'client-key': clientKey };
  const values = Object.entries({ url, namespace, ...files, 'tls-server-name': serverName });
  const flags = values.flatMap(([flag, value]) => (value ? [` --${flag} ${quoted(value)}`] : []));
  for (const text of connectTo) flags.push(` --connect-to ${quoted(text)}`);
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
 * @returns {string[]} a command for each target, except embedded servers
 */
export function teardownCommands(name, steps) {
  const real = steps.filter(({ plan }) => !plan.dev);
  const all = real.map(({ plan, tokenEnv }) => teardownCommand(name, targetFlags(plan.target), tokenEnv));
  return [...new Set(all)];
}
