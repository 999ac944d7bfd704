/** The way to Vault and to other servers, from the environment and --connect-to. */
import { originOf } from '../common/options.js';
import { readProxies, routeOf } from '../http/route.js';
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

/**
 * For the user, before the first request.
 * @param {string} url @param {Network} network @param {boolean} [withToken] requests carry one
 * @returns {{text: string, isWarning: boolean} | null} null: no proxy
 */
export function describeProxy(url, network, withToken = false) {
  const { proxy, tunnelTo } = routeOf(originOf(url), network);
  if (proxy === null) return null;
  const text = `Requests to ${originOf(url)} go through the proxy ${proxy.name} (${proxy.source})`;
  const isWarning = withToken && tunnelTo === null;
  return { text: isWarning ? `${text}, which sees the token: use https://.` : `${text}.`, isWarning };
}
