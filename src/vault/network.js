/** The way to Vault and to other servers, from the environment and --connect-to. */
import { originOf } from '../common/options.js';
import { readProxies, routeOf } from '../http/route.js';

/** @import { Network } from '../http/route.js' */
/** @import { TargetPlan } from './environment.js' */

/**
 * As in Vault's own client, VAULT_PROXY_ADDR takes precedence over HTTPS_PROXY and HTTP_PROXY, and NO_PROXY does not limit it.
 * @param {Pick<TargetPlan, 'url' | 'connectTo' | 'proxySource'>} target @param {readonly string[]} [nodes] of the same Vault
 * @param {Record<string, string | undefined>} [env] @returns {Network} secret: never print it
 */
export function readNetwork({ url, connectTo = [], proxySource = null }, nodes = [], env = process.env) {
  return {
    ...readProxies(env),
    vault: [url, ...nodes].map((one) => originOf(one)),
    vaultProxy: proxySource === null ? null : { source: proxySource, text: env[proxySource] ?? '' },
    connectTo,
  };
}

/**
 * For the user, before the first request.
 * @param {string} url @param {Network} network @param {string | null} [secret] that requests carry
 * @returns {{text: string, isWarning: boolean} | null} null: no proxy
 */
export function describeProxy(url, network, secret = null) {
  const origin = originOf(url);
  const { proxy } = routeOf(origin, network);
  if (proxy === null) return null;
  const text = `Requests to ${origin} go through the proxy ${proxy.name} (${proxy.source})`;
  // A tunnel without TLS, as --connect-to needs it, hides nothing.
  const isWarning = secret !== null && origin.startsWith('http:');
  return { text: isWarning ? `${text}, which sees ${secret}: use https://.` : `${text}.`, isWarning };
}
