/** The way to Vault and to other servers, from the environment and --connect-to. */
import { originOf } from '../common/options.js';
import { readProxies } from '../http/route.js';
import { finder } from './environment.js';

/** @import { Network } from '../http/route.js' */

/**
 * As in Vault's own client, VAULT_PROXY_ADDR (formerly VAULT_HTTP_PROXY) takes precedence over HTTPS_PROXY and HTTP_PROXY, and
 * NO_PROXY does not limit it.
 * @param {readonly string[]} urls of Vault; none: the embedded server @param {readonly string[]} [connectTo] see --connect-to
 * @param {Record<string, string | undefined>} [env] @returns {Network} secret: never print it
 */
export function readNetwork(urls, connectTo = [], env = process.env) {
  const find = finder(env);
  const found = find('PROXY_ADDR') ?? find('HTTP_PROXY');
  return {
    ...readProxies(env),
    vault: urls.map((url) => originOf(url)),
    vaultProxy: found === undefined ? null : { source: found.name, text: found.value },
    connectTo,
  };
}
