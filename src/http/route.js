/** The way to a server: its own address, another one (--connect-to), a Unix socket, or a proxy. */
import { BlockList, isIP } from 'node:net';
import { usageError } from '../common/errors.js';
import { isLoopback, toIPv4 } from '../common/listen.js';
import { isSocket, parseConnectTo } from '../common/options.js';
import { redactToken } from '../common/sanitize.js';

/**
 * A proxy's address, with its user name and password, and the variable that names it.
 * @typedef {{source: string, text: string}} ProxySetting
 * @typedef {object} Network plain data, with secrets: never print it
 * @property {readonly string[]} vault origins for which `vaultProxy` takes precedence
 * @property {ProxySetting | null} vaultProxy
 * @property {ProxySetting | null} httpProxy for http:// @property {ProxySetting | null} httpsProxy for https://
 * @property {string} noProxy servers that httpProxy and httpsProxy are not for
 * @property {readonly string[]} connectTo see parseConnectTo; the first that fits applies
 */
/** @typedef {{host: string, port: number}} Place */
/**
 * @typedef {object} Route plain data
 * @property {Place | {path: string, host?: undefined}} address to connect to; `path`: of a Unix socket
 * @property {{name: string, source: string, authorization: string | null} | null} proxy at that address; `name`: host and
 *   port; `authorization`: a secret, for the Proxy-Authorization field
 * @property {string | null} tunnelTo authority for CONNECT (RFC 9110, 9.3.6); null: with a proxy, requests have
 *   the absolute form (RFC 9112, 3.2.2)
 */

/** No proxy, and no redirection. @type {Network} */
export const DIRECT = Object.freeze({
  ...{ vault: [], vaultProxy: null, httpProxy: null, httpsProxy: null },
  ...{ noProxy: '', connectTo: [] },
});

/**
 * As Go's net/http does (golang.org/x/net/http/httpproxy): upper case first; a CGI script's HTTP_PROXY may be a header of
 * its request (httpoxy), and is ignored.
 * @param {Record<string, string | undefined>} env @returns {Pick<Network, 'httpProxy' | 'httpsProxy' | 'noProxy'>}
 */
export function readProxies(env) {
  const read = (/** @type {string} */ name) => {
    const source = [name, name.toLowerCase()].find((key) => env[key]);
    return source === undefined ? null : { source, text: String(env[source]) };
  };
  return {
    httpProxy: env.REQUEST_METHOD ? null : read('HTTP_PROXY'),
    httpsProxy: read('HTTPS_PROXY'),
    noProxy: read('NO_PROXY')?.text ?? '',
  };
}

/** @param {string} origin @returns {Place} host without brackets; for a Unix socket localhost, as Vault's own client sends */
export function placeOf(origin) {
  const { protocol, hostname, port } = new URL(isSocket(origin) ? 'http://localhost' : origin);
  return {
    host: toIPv4(hostname.replace(/^\[|\]$/g, '')),
    port: Number(port || (protocol === 'https:' ? 443 : 80)),
  };
}

/**
 * @param {string} origin scheme, host and port, or unix:///PATH @param {Network} [network] @returns {Route}
 * @throws {PkiLoadError} for a proxy of another kind
 */
export function routeOf(origin, network = DIRECT) {
  if (isSocket(origin))
    return { address: { path: origin.slice('unix://'.length) }, proxy: null, tunnelTo: null };
  const own = placeOf(origin);
  const to = redirect(own, network.connectTo);
  const setting = findProxy(origin, own, network);
  if (setting === null) return { address: to, proxy: null, tunnelTo: null };
  const isTunnel = origin.startsWith('https:') || to !== own;
  return { ...parseProxy(setting), tunnelTo: isTunnel ? formatPlace(to) : null };
}

/** @param {Place} place @returns {string} `host:port`, `[::1]:443` */
export const formatPlace = ({ host, port }) => `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;

/** @param {string} origin @param {Place} own @param {Network} network */
function findProxy(origin, { host, port }, { vault, vaultProxy, httpProxy, httpsProxy, noProxy }) {
  if (vaultProxy !== null && vault.includes(origin)) return vaultProxy;
  const setting = origin.startsWith('https:') ? httpsProxy : httpProxy;
  return isLoopback(host) || isExcluded(host, port, noProxy) ? null : setting;
}

/**
 * @param {string} host @param {number} port
 * @param {string} noProxy separated by commas: a domain with its subdomains, .domain for these alone, an address, a
 *   network, each with or without a port; or * for all
 */
export function isExcluded(host, port, noProxy) {
  const entries = noProxy.toLowerCase().split(',');
  return entries.some((raw) => {
    const entry = raw.trim();
    const [, name, ownPort = String(port)] =
      isIP(entry) === 0 ? (/^\[?(.*?)\]?(?::(\d+))?$/s.exec(entry) ?? []) : ['', entry];
    if (entry === '*') return true;
    if (!name || ownPort !== String(port)) return false;
    const [
      ,
      network = isIP(name) === 6 ? placeOf(`http://[${name}]`).host : name,
      bits = isIP(network) === 6 ? 128 : 32,
    ] = /^(.+)\/(\d+)$/.exec(name) ?? [];
    if (isIP(network) !== 0) return isWithin(host, network, Number(bits));
    const domain = name.replace(/^\*(?=\.)/, '');
    return host === domain || host.endsWith(domain.startsWith('.') ? domain : `.${domain}`);
  });
}

/** @param {string} host @param {string} network an address @param {number} bits of its prefix */
function isWithin(host, network, bits) {
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
  if (isIP(host) !== isIP(network) || bits > (family === 'ipv6' ? 128 : 32)) return false;
  const list = new BlockList();
  list.addSubnet(network, bits, family);
  return list.check(host, family);
}

/** The text may contain a password, so no message quotes it. @param {ProxySetting} setting @returns {Omit<Route, 'tunnelTo'>} */
function parseProxy({ source, text }) {
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : null;
  const example = `Write http://HOST:PORT in ${source}, or exclude the server with NO_PROXY.`;
  if (url !== null && url.protocol !== 'http:') {
    const message = `${source} names a proxy for ${url.protocol}//, but this tool connects to proxies over http:// only.`;
    throw usageError('proxy_unsupported', message, example);
  }
  const authorization = url === null ? null : authorizationOf(url);
  if (url === null || authorization === undefined || !url.hostname)
    throw usageError('bad_proxy', `${source} is not the address of a proxy.`, example);
  const address = placeOf(url.origin);
  return { address, proxy: { name: formatPlace(address), source, authorization } };
}

/** @param {URL} url @returns {string | null | undefined} undefined: not decodable */
function authorizationOf({ username, password }) {
  try {
    if (username === '' && password === '') return null;
    const secret = decodeURIComponent(password);
    const encoded = Buffer.from(`${decodeURIComponent(username)}:${secret}`).toString('base64');
    for (const one of [secret, encoded]) redactToken(one);
    return `Basic ${encoded}`;
  } catch {
    return undefined;
  }
}

/** @param {Place} own @param {readonly string[]} connectTo @returns {Place} the same object: no redirection */
function redirect(own, connectTo) {
  const fits = connectTo.map(parseConnectTo).find((one) => {
    const { host, port } = one?.from ?? { host: '', port: '' };
    return (host === '' || toIPv4(host) === own.host) && (port === '' || port === String(own.port));
  });
  if (!fits) return own;
  return { host: fits.to.host || own.host, port: Number(fits.to.port || own.port) };
}
