/** The client of `setup` and `teardown`, with a time-out for each kind of call. */
import { PkiLoadError } from '../../common/errors.js';
import { loadTls } from '../../http/tls.js';
import { createVaultClient } from '../client.js';
import { readEnvironment } from '../environment.js';
/** @import { VaultClient } from '../client.js' */
/** @import { TargetPlan } from '../environment.js' */

/**
 * Vault reports its health at once, and makes the key of a CA within a minute. Removing a mount takes as long as deleting
 * its content.
 * @param {number | null} timeoutMs of the environment
 */
export function limitsOf(timeoutMs) {
  return {
    healthMs: timeoutMs ?? 10_000,
    callMs: timeoutMs ?? 60_000,
    removeMs: Math.max(timeoutMs ?? 0, 600_000),
  };
}

/**
 * @param {Pick<TargetPlan, 'url' | 'namespace' | 'tls'>} target @param {string | null} token
 * @param {ReturnType<typeof limitsOf>} [limits]
 * @returns {VaultClient}
 */
export function connect(
  { url, namespace, tls: files },
  token,
  { healthMs, callMs, removeMs } = limitsOf(readEnvironment().timeoutMs),
) {
  const client = createVaultClient({ url, namespace, token, tls: loadTls(files), timeoutMs: callMs });
  return {
    ...client,
    health: (within = healthMs) => client.health(within).catch(nameEnvironment),
    read: (...call) => client.read(...call).catch(nameEnvironment),
    write: (...call) => client.write(...call).catch(nameEnvironment),
    list: (path) => client.list(path).catch(nameEnvironment),
    remove: (path, within = removeMs) => client.remove(path, within).catch(nameEnvironment),
  };
}

/** @param {unknown} error @returns {never} set-ups have no --timeout: the remedy names the variable */
function nameEnvironment(error) {
  if (!(error instanceof PkiLoadError) || !error.remedy?.includes('--timeout')) throw error;
  const { code, message, exitCode } = error;
  const remedy = error.remedy.replace('--timeout', 'VAULT_CLIENT_TIMEOUT (BAO_CLIENT_TIMEOUT)');
  throw new PkiLoadError(code, message, { remedy, exitCode, cause: error });
}
