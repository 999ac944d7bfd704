/** Requests -> responses in Vault's format, without sockets: routes, parameters, errors. */
import { randomUUID } from 'node:crypto';
import { posix } from 'node:path';
import { parseDuration } from '../common/units.js';

/** @import { IncomingHttpHeaders } from 'node:http' */
/** @import { ServerState } from './routes-system.js' */

/**
 * @typedef {{status: number, type: string, body: string | Buffer, headers?: Record<string, string>}} Reply `type`: media
 *   type, empty without a body
 * @typedef {{method: string, url: string, headers: IncomingHttpHeaders, body: Buffer}} Request `method`: upper case,
 *   `LIST` and `PUT` included; `url`: path and query, as sent
 * @typedef {Record<string, unknown>} Params without a prototype
 * @typedef {{request: Request, match: string[], params: () => Params}} Call `match`: the whole path, then the groups of
 *   the route's pattern
 * @typedef {object} Route
 * @property {string} method `GET`, `POST` (also for PUT), `LIST`, `DELETE`, or `GET HEAD`
 * @property {RegExp} path below `/v1/`, or below the mount
 * @property {(call: Call) => Reply | Promise<Reply>} handle
 * @property {boolean} isOpen needs no token
 */

/** @param {string} method @param {RegExp} path @param {Route['handle']} handle @returns {Route} */
export const route = (method, path, handle) => ({ method, path, handle, isOpen: false });

/** Needs no token. @param {string} method @param {RegExp} path @param {Route['handle']} handle @returns {Route} */
export const openRoute = (method, path, handle) => ({ method, path, handle, isOpen: true });

/** Becomes the response `{"errors": [...]}`. */
export class VaultError extends Error {
  /** @param {number} status @param {string} [message] if omitted, `errors` is empty, as in some of Vault's 404s and 405s */
  constructor(status, message) {
    super(message ?? '');
    this.status = status;
    this.errors = message === undefined ? [] : [message];
  }
}

/** @template T @param {T | undefined} value @param {string} [message] @throws {VaultError} 404 for undefined */
export function orNotFound(value, message) {
  if (value === undefined) throw new VaultError(404, message);
  return value;
}

/** Error text as Vault's Go library formats it. @param {...string} causes */
export function multiError(...causes) {
  const head = causes.length === 1 ? '1 error occurred' : `${causes.length} errors occurred`;
  return `${head}:\n\t${causes.map((cause) => `* ${cause}\n`).join('\t')}\n`;
}

/** @param {number} status @param {unknown} value @returns {Reply} */
export const json = (status, value) => raw('application/json', `${JSON.stringify(value)}\n`, status);

/** @param {string} type @param {string | Buffer} body @param {number} [status] @returns {Reply} */
export const raw = (type, body, status = 200) => ({ status, type, body });

export const NO_CONTENT = Object.freeze(raw('', '', 204));

/** `mountType`: empty on paths that need no token, as in Vault; `more`: at the top level. @param {Record<string, unknown> | null} data */
export const secret = (data, mountType = '', more = {}) =>
  json(200, {
    ...{ request_id: randomUUID(), lease_id: '', renewable: false, lease_duration: 0 },
    ...{ data, wrap_info: null, warnings: null, auth: null, mount_type: mountType },
    ...more,
  });

/** Never rejects. @param {ServerState} serverState @param {Route[]} system @returns {(request: Request) => Promise<Reply>} */
export function createHandler(serverState, system) {
  return async (request) => {
    try {
      return await respond(serverState, system, request);
    } catch (error) {
      const { status, errors } = error instanceof VaultError ? error : new VaultError(500, 'internal error');
      return json(status, { errors });
    }
  };
}

/** @param {ServerState} serverState @param {Route[]} system @param {Request} request */
function respond({ mounts, token }, system, request) {
  const [rawPath, query = ''] = request.url.split(/\?(.*)/s);
  // Go's router redirects every path with `//` or dot segments, even an OCSP GET that is not percent-encoded.
  if (/\/\/|\/\.\.?(\/|$)/.test(rawPath))
    return { ...raw('', '', 307), headers: { Location: posix.normalize(rawPath) + (query && `?${query}`) } };
  const path = decode(rawPath);
  if (path === null) return raw('text/plain; charset=utf-8', '400 Bad Request', 400);
  if (!path.startsWith('/v1/')) throw new VaultError(404);
  const full = path.slice('/v1/'.length);
  const mount = mounts.find(full);
  const below = mount === undefined ? full : full.slice(mount.fullPath.length + 1);
  const routes = (mount?.routes ?? system).filter(({ path: pattern }) => pattern.test(below));
  const method = verbOf(request.method, query);
  const isOpen = routes[0]?.isOpen === true;
  if (!isOpen) {
    checkToken(token, request.headers);
    if (method === 'POST' && full.endsWith('/'))
      throw new VaultError(400, "cannot write to a path ending in '/'");
  }
  const handler = routes.find((candidate) => candidate.method.split(' ').includes(method));
  if (handler !== undefined) {
    const params = () => readParams(request.body);
    return handler.handle({ request, match: handler.path.exec(below) ?? [], params });
  }
  const refused = 'unsupported operation';
  if (routes.length > 0) throw new VaultError(405, isOpen ? mount && refused : multiError(refused));
  const isKnown = mount !== undefined || /^(sys|auth\/token|identity)\//.test(full);
  const unknown = `no handler for route ${JSON.stringify(full)}. route entry not found.`;
  throw new VaultError(404, isKnown ? multiError('unsupported path') : unknown);
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
  if (given !== token) throw new VaultError(403, multiError('permission denied', 'invalid token'));
}

/** @param {Buffer} body JSON, whatever the Content-Type: `curl -d` sends a form's @returns {Params} */
function readParams(body) {
  const text = body.toString('utf8').trim();
  let value;
  try {
    value = JSON.parse(text || 'null');
  } catch (error) {
    // Vault 1.21 fails to check the limits of an object that it cannot parse.
    if (text.startsWith('{'))
      throw new VaultError(500, `malformed JSON${whereCut(/** @type {Error} */ (error).message, text)}`);
  }
  if (typeof value !== 'object' || Array.isArray(value))
    throw new VaultError(400, 'error parsing JSON: failed to parse JSON input: not an object');
  return Object.assign(Object.create(null), value);
}

/** @param {string} message of `JSON.parse` @param {string} text */
function whereCut(message, text) {
  if (message.startsWith('Unterminated string')) return ', unclosed string';
  const at = Number(/position (\d+)/.exec(message)?.[1] ?? text.length);
  return at < text.length ? `: ${message}` : ', unclosed containers';
}

/** @param {Params} from @param {string} name @returns {string} empty if missing or null; numbers and booleans as text */
export function textParam(from, name) {
  const value = from[name] ?? '';
  if (typeof value === 'object')
    throw fieldError(name, `expected type 'string', got ${Array.isArray(value) ? 'a list' : 'an object'}`);
  return String(value);
}

/** @param {Params} from @param {string} name @returns {string[]} from a list, or text separated by commas */
export function listParam(from, name) {
  const value = from[name];
  const list = Array.isArray(value) ? value : textParam(from, name).split(',');
  if (list.some((item) => item !== null && typeof item === 'object'))
    throw fieldError(name, 'expected a list of strings');
  return list.map((item) => String(item).trim()).filter((item) => item !== '');
}

/** A Go duration, seconds, or days (`30d`). @param {Params} from @param {string} name @returns {number} seconds; 0 if missing */
export function secondsParam(from, name) {
  const text = textParam(from, name).trim();
  if (text.startsWith('-')) throw fieldError(name, `cannot provide negative value '${text}'`);
  try {
    return Math.floor(parseDuration(text || '0') / 1000);
  } catch {
    throw fieldError(name, `time: invalid duration ${JSON.stringify(text)}`);
  }
}

/** @param {string} name @param {string} problem */
export const fieldError = (name, problem) =>
  new VaultError(400, `Field validation failed: error converting input for field "${name}": ${problem}`);
