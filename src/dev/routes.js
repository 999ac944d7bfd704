/** From a request to a reply, without a socket. */
import { listed, raw, readParams, refusal, VaultError } from './messages.js';

/** @import { IncomingHttpHeaders } from 'node:http' */
/** @import { Params, Reply } from './messages.js' */
/** @import { World } from './routes-system.js' */

/**
 * @typedef {object} Request
 * @property {string} method upper case; `LIST`, `PUT` included
 * @property {string} url path and query, as sent
 * @property {IncomingHttpHeaders} headers
 * @property {Buffer} body
 * @typedef {object} Call
 * @property {Request} request
 * @property {string[]} match of the route's pattern: the whole path, then its groups
 * @property {() => Params} params
 * @typedef {object} Route
 * @property {string} method `GET`, `POST` (PUT is the same), `LIST`, `DELETE`, or `GET HEAD`
 * @property {RegExp} path below `/v1/`, or below the mount
 * @property {(call: Call) => Reply | Promise<Reply>} handle
 * @property {boolean} isOpen needs no token
 */

/** @param {string} method @param {RegExp} path @param {Route['handle']} handle @returns {Route} */
export const route = (method, path, handle) => ({ method, path, handle, isOpen: false });

/** Needs no token. @param {string} method @param {RegExp} path @param {Route['handle']} handle @returns {Route} */
export const openRoute = (method, path, handle) => ({ method, path, handle, isOpen: true });

/** @param {World} world @param {Route[]} system below no mount @returns {(request: Request) => Promise<Reply>} never rejects */
export function createHandler(world, system) {
  return async (request) => {
    try {
      return await respond(world, system, request);
    } catch (error) {
      return refusal(error instanceof VaultError ? error : new VaultError(500, 'internal error'));
    }
  };
}

/** @param {World} world @param {Route[]} system @param {Request} request */
function respond({ mounts, token }, system, request) {
  const [rawPath, query = ''] = request.url.split(/\?(.*)/s);
  if (/\/\/|\/\.\.?(\/|$)/.test(rawPath)) return redirectToCleaned(rawPath, query);
  const path = decode(rawPath);
  if (path === null) return raw('text/plain; charset=utf-8', '400 Bad Request', 400);
  if (!path.startsWith('/v1/')) throw new VaultError(404);
  const full = path.slice('/v1/'.length);
  const mount = mounts.find(full);
  const below = mount === undefined ? full : full.slice(mount.fullPath.length + 1);
  const routes = (mount?.routes ?? system).filter((one) => one.path.test(below));
  const method = verbOf(request.method, query);
  const isOpen = routes[0]?.isOpen === true;
  if (!isOpen) {
    checkToken(token, request.headers);
    if (method === 'POST' && full.endsWith('/'))
      throw new VaultError(400, "cannot write to a path ending in '/'");
  }
  const found = routes.find((one) => one.method.split(' ').includes(method));
  if (found !== undefined) {
    const params = () => readParams(request.body);
    return found.handle({ request, match: found.path.exec(below) ?? [], params });
  }
  const refused = 'unsupported operation';
  if (routes.length > 0) throw new VaultError(405, isOpen ? mount && refused : listed(refused));
  const isKnown = mount !== undefined || /^(sys|auth\/token|identity)\//.test(full);
  const unknown = `no handler for route ${JSON.stringify(full)}. route entry not found.`;
  throw new VaultError(404, isKnown ? listed('unsupported path') : unknown);
}

/** @param {string} path */
function decode(path) {
  try {
    const text = decodeURIComponent(path);
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

/** @param {string} method @param {string} query */
function verbOf(method, query) {
  if (method === 'PUT') return 'POST';
  return method === 'GET' && new URLSearchParams(query).get('list') === 'true' ? 'LIST' : method;
}

/** @param {string} token @param {IncomingHttpHeaders} headers @throws {VaultError} 403 for a missing or wrong token */
function checkToken(token, headers) {
  const given = headers['x-vault-token'] || /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (given === undefined) throw new VaultError(403, 'permission denied');
  if (given !== token) throw new VaultError(403, listed('permission denied', 'invalid token'));
}

/**
 * Go's router redirects every path with `//` or dot segments; so it does with an OCSP GET whose base64 was not percent-encoded.
 * @param {string} path
 * @param {string} query
 * @returns {Reply}
 */
function redirectToCleaned(path, query) {
  const parts = /** @type {string[]} */ ([]);
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  const location = `/${parts.join('/')}${path.endsWith('/') && parts.length > 0 ? '/' : ''}`;
  return { ...raw('', '', 307), headers: { Location: query === '' ? location : `${location}?${query}` } };
}
