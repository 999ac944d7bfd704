/** The command that takes a set-up away, as it is typed for one target. */

/**
 * @param {string} name of the set-up
 * @param {import('../plan.js').TargetPlan} target
 * @param {string | null} [tokenEnv] environment variable that holds the token; null: where the command looks for it itself
 * @returns {string} for a shell; nothing in it is secret
 */
export function teardownCommand(name, { url, namespace, tls }, tokenEnv = null) {
  const flags = Object.entries({
    url,
    namespace,
    'ca-cert': tls.caCert,
    'ca-path': tls.caPath,
    'client-cert': tls.clientCert,
    'client-key': tls.clientKey,
    'tls-server-name': tls.serverName,
  }).flatMap(([flag, value]) => (value ? [`--${flag} ${quoted(value)}`] : []));
  return [
    ...(tokenEnv === null ? [] : [`VAULT_TOKEN="$${tokenEnv}"`]),
    `vault-pki-load teardown --name ${name}`,
    ...flags,
    ...(tls.skipVerify ? ['--tls-skip-verify'] : []),
  ].join(' ');
}

/** @param {string} value @returns {string} one word of a shell */
export function quoted(value) {
  return /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}

/**
 * @param {string} name
 * @param {readonly {plan: import('../plan.js').Plan, tokenEnv?: string | null}[]} steps
 * @returns {string[]} one for each of their targets, but for embedded servers
 */
export function teardownCommands(name, steps) {
  const real = steps.filter(({ plan }) => !plan.dev);
  return [...new Set(real.map(({ plan, tokenEnv }) => teardownCommand(name, plan.target, tokenEnv)))];
}
