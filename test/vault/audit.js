/** Requests according to Vault itself: its audit log. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
/** @import { VaultClient } from '../../src/vault/client.js' */
/** @import { RunningVault } from './start.js' */

/**
 * @typedef {object} Asked
 * @property {string} path
 * @property {string} operation `read` for GET, `update` for POST
 */

/**
 * Vault logs every response before it sends it.
 *
 * @param {RunningVault} vault
 * @param {VaultClient} client with a root token
 */
export async function openAudit(vault, client) {
  const file = join(vault.folder, 'audit.log');
  await client.write('sys/audit/file', { type: 'file', options: { file_path: file } });
  return {
    /** @returns {number} argument of `since` */
    mark: () => statSync(file).size,
    /**
     * @param {number} mark
     * @param {string} path requests for it and for what is below it
     * @returns {Asked[]}
     */
    since(mark, path) {
      const lines = readFileSync(file).subarray(mark).toString('utf8').split('\n').filter(Boolean);
      return lines
        .map((line) => JSON.parse(line))
        .filter(({ type }) => type === 'response')
        .map(({ request }) => ({ path: request.path, operation: request.operation }))
        .filter((asked) => asked.path === path || asked.path.startsWith(`${path}/`));
    },
  };
}
