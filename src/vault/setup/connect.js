/** The client of `setup` and `teardown`, with a time-out for each kind of call. */
import { PkiLoadError } from '../../common/errors.js';
import { loadTls } from '../../http/tls.js';
import { createVaultClient } from '../client.js';
import { readEnvironment } from '../environment.js';

/** @import { VaultClient } from '../client.js' */
/** @import { TargetPlan } from '../environment.js' */

const ENVIRONMENT = 'VAULT_CLIENT_TIMEOUT (BAO_CLIENT_TIMEOUT)';

/**
 * Vault reports its health at once, and makes the key of a CA within a minute. Removing a mount takes as long as its content
 * takes to be deleted.
 *
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
 * @param {Pick<TargetPlan, 'url' | 'namespace' | 'tls'>} target
 * @param {string | null} token
 * @param {ReturnType<typeof limitsOf>} [limits]
 * @returns {VaultClient}
 */
export function connect(
  { url, namespace, tls: files },
  token,
  { healthMs, callMs, removeMs } = limitsOf(readEnvironment().timeoutMs),
) {
  const tls = loadTls(files);
  const client = createVaultClient({ url, namespace, token, tls, timeoutMs: callMs });
  const first = createVaultClient({ url, tls, timeoutMs: healthMs });
  return {
    ...client,
    health: truly(first.health),
    read: truly(client.read),
    write: truly(client.write),
    list: truly(client.list),
    remove: truly((path, within = removeMs) => client.remove(path, within)),
    async close() {
      await Promise.all([client.close(), first.close()]);
    },
  };
}

/**
 * @template {any[]} Args
 * @template Answer
 * @param {(...args: Args) => Promise<Answer>} ask
 * @returns {(...args: Args) => Promise<Answer>} the same, but that no remedy names a flag which set-ups do not have
 */
function truly(ask) {
  return async (...args) => {
    try {
      return await ask(...args);
    } catch (error) {
      if (!(error instanceof PkiLoadError)) throw error;
      const { code, message, remedy, exitCode } = error;
      if (remedy === undefined || !remedy.includes('--timeout')) throw error;
      const own = remedy.replace('--timeout', ENVIRONMENT);
      throw new PkiLoadError(code, message, { remedy: own, exitCode, cause: error });
    }
  };
}
