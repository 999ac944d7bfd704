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
    since: (mark, path) =>
      entriesSince(mark, path).map(({ request: { path, operation } }) => ({ path, operation })),
    /** When requests for this path arrived. @param {number} mark @param {string} path @returns {number[]} Unix times in ms */
    arrivals: (mark, path) =>
      entriesSince(mark, path, 'request').map(
        ({ time }) => Date.parse(time) + Number(`0.${/\.\d{3}(\d+)/.exec(time)?.[1]}`),
      ),
  };

  /** @param {number} mark @param {string} path @param {'request' | 'response'} [kind] @returns {any[]} */
  function entriesSince(mark, path, kind = 'response') {
    const lines = readFileSync(file).subarray(mark).toString('utf8').split('\n').filter(Boolean);
    return lines
      .map((line) => JSON.parse(line))
      .filter(({ type }) => type === kind)
      .filter(({ request }) => request.path === path || request.path.startsWith(`${path}/`));
  }
}
