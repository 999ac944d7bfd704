/**
 * From a request to a reply, without a socket. A route is a method list,
 * a pattern over the path below `/v1/` (or below the mount), and a handler.
 */
import { listed, raw, readParams, refusal, VaultError } from './messages.js';
import { mountRoutes, openMountRoutes } from './routes-pki.js';
import { openSystemRoutes, systemRoutes } from './routes-system.js';
/** @import { Ca } from './issuing.js' */
/** @import { Params, Reply } from './messages.js' */
/** @import { Mounts } from './mounts.js' */
/** @import { Role } from './roles.js' */
/** @import { Tokens } from './routes-system.js' */
/** @import { IncomingHttpHeaders } from 'node:http' */

/**
 * @typedef {object} Request
 * @property {string} method upper case; `LIST`, `PUT` included
 * @property {string} url path and query, as sent
 * @property {IncomingHttpHeaders} headers
 * @property {Buffer} body
 *
 * @typedef {object} Call
 * @property {Request} request
 * @property {string[]} match of the route's pattern: the whole path, then its groups
 * @property {() => Params} params
 *
 * @typedef {Reply} Reply
 *
 * @typedef {object} Route
 * @property {string} method `GET`, `POST` (PUT is the same), `LIST`, or `GET POST`
 * @property {RegExp} path
 * @property {(call: Call) => Reply | Promise<Reply>} handle
 *
 * @typedef {object} World everything the server knows
 * @property {string} mount without slashes at its ends
 * @property {string} version
 * @property {string} issuerId
 * @property {Mounts} mounts beside the PKI mount
 * @property {Tokens} tokens
 * @property {Ca} ca
 * @property {Readonly<Record<string, Role>>} roles
 * @property {() => Promise<Buffer>} crl
 * @property {ReturnType<typeof import('./ocsp-responder.js').createResponder>} ocsp
 */

/** @param {World} world @returns {(request: Request) => Promise<Reply>} never rejects */
export function createHandler(world) {
  const tables = {
    openSystem: openSystemRoutes(world),
    system: systemRoutes(world),
    openMount: openMountRoutes(world),
    mount: mountRoutes(world),
  };
  return async (request) => {
    try {
      return await reply(world, tables, request);
    } catch (error) {
      return refusal(error instanceof VaultError ? error : new VaultError(500, 'internal error'));
    }
  };
}

/**
 * @param {World} world
 * @param {Record<'openSystem' | 'system' | 'openMount' | 'mount', Route[]>} tables
 * @param {Request} request
 */
function reply(world, tables, request) {
  const [rawPath, query = ''] = split(request.url);
  if (/\/\/|\/\.\.?(\/|$)/.test(rawPath)) return cleaned(rawPath, query);
  const path = decode(rawPath);
  if (path === null) return raw('text/plain; charset=utf-8', '400 Bad Request', 400);
  if (!path.startsWith('/v1/')) throw new VaultError(404);
  const route = path.slice(4);
  const method = verb(request.method, query);
  const below = route.startsWith(`${world.mount}/`) ? route.slice(world.mount.length + 1) : null;
  const other = below === null ? world.mounts.find(route) : null;
  const open =
    other !== null
      ? find(other.mount.engine.openRoutes, method, other.below)
      : below === null
        ? find(tables.openSystem, method, route)
        : find(tables.openMount, method, below);
  if (open === 'method') throw new VaultError(405, below === null ? undefined : 'unsupported operation');
  if (open !== null) return open.handle(callOf(request, open.match));
  world.tokens.check(tokenOf(request.headers));
  if (method === 'POST' && route.endsWith('/'))
    throw new VaultError(400, "cannot write to a path ending in '/'");
  const known =
    other !== null
      ? find(other.mount.engine.routes, method, other.below)
      : below === null
        ? find(tables.system, method, route)
        : find(tables.mount, method, below);
  if (known === 'method') throw new VaultError(405, listed('unsupported operation'));
  if (known !== null) return known.handle(callOf(request, known.match));
  if (below === null && other === null && !/^(sys|auth\/token|identity)\//.test(route)) {
    throw new VaultError(404, `no handler for route ${JSON.stringify(route)}. route entry not found.`);
  }
  throw new VaultError(404, listed('unsupported path'));
}

/** @param {Request} request @param {string[]} match @returns {Call} */
function callOf(request, match) {
  return { request, match, params: () => readParams(request.body, request.headers['content-type']) };
}

/**
 * @param {Route[]} table
 * @param {string} method
 * @param {string} path
 * @returns {{handle: Route['handle'], match: string[]} | 'method' | null} `method` when only that is wrong
 */
function find(table, method, path) {
  let pathIsKnown = false;
  for (const { method: methods, path: pattern, handle } of table) {
    const match = pattern.exec(path);
    if (match === null) continue;
    if (methods.split(' ').includes(method)) return { handle, match };
    pathIsKnown = true;
  }
  return pathIsKnown ? 'method' : null;
}

/** @param {string} url */
function split(url) {
  const at = url.indexOf('?');
  return at < 0 ? [url] : [url.slice(0, at), url.slice(at + 1)];
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
function verb(method, query) {
  if (method === 'PUT') return 'POST';
  return method === 'GET' && new URLSearchParams(query).get('list') === 'true' ? 'LIST' : method;
}

/** @param {IncomingHttpHeaders} headers */
function tokenOf(headers) {
  const own = headers['x-vault-token'];
  if (typeof own === 'string') return own;
  return /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1];
}

/**
 * Go's router sends every path with `//` or dot segments elsewhere: what happens to an OCSP GET whose base64 was not
 * percent-encoded.
 *
 * @param {string} path
 * @param {string} query
 * @returns {Reply}
 */
function cleaned(path, query) {
  const parts = /** @type {string[]} */ ([]);
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  const location = `/${parts.join('/')}${path.endsWith('/') && parts.length > 0 ? '/' : ''}`;
  return { ...raw('', '', 307), headers: { Location: query === '' ? location : `${location}?${query}` } };
}
