/** Parts of requests: headers, paths, names with placeholders, random contents, choices by weight. */
import { fillBytes, hash32, uniform } from '../common/random.js';
/** @import { Request } from '../http/exchange.js' */

/** @param {string | null} token a secret @param {string | null} namespace @returns {Record<string, string>} */
export function apiHeaders(token, namespace) {
  return {
    'content-type': 'application/json',
    'x-vault-request': 'true',
    ...(token === null ? {} : { 'x-vault-token': token }),
    ...(namespace === null ? {} : { 'x-vault-namespace': namespace }),
  };
}

/** @param {string} basePath of the target's URL, without a slash at its end @param {...string} parts mount, verb, role */
export function apiPath(basePath, ...parts) {
  return `${basePath}/v1/${parts.join('/').split('/').map(encodeURIComponent).join('/')}`;
}

/**
 * @param {{commonName: string, altNames: string[], ipSans: string[], ttlMs: number | null}} asked
 * @returns {Record<string, string>} parameters of Vault's issue and sign
 */
export function certificateParameters({ commonName, altNames, ipSans, ttlMs }) {
  return {
    common_name: commonName,
    ...(altNames.length > 0 ? { alt_names: altNames.join(',') } : {}),
    ...(ipSans.length > 0 ? { ip_sans: ipSans.join(',') } : {}),
    ...(ttlMs !== null ? { ttl: vaultDuration(ttlMs) } : {}),
  };
}

/** @param {number} ms @returns {string} whole seconds, at least one: `90s` */
export function vaultDuration(ms) {
  return `${Math.max(1, Math.round(ms / 1000))}s`;
}

/** @param {string} template @returns {boolean} names made from it differ */
export function hasPlaceholder(template) {
  return template.includes('{n}') || template.includes('{random}');
}

/** @param {string} template @param {number} seed @param {number} index @returns {string} */
export function expandName(template, seed, index) {
  return template.replace(/\{(n|random)\}/g, (_, kind) =>
    kind === 'n' ? String(index) : randomHex(seed, index),
  );
}

/** @param {number} seed @param {number} index */
function randomHex(seed, index) {
  const high = hash32(seed, index, 101).toString(16).padStart(8, '0');
  return high + (hash32(seed, index, 102) >>> 16).toString(16).padStart(4, '0');
}

/**
 * @param {Record<string, any>} templates `cn`, `altNames`, `ipSans` @param {number} seed @param {number} index of the request
 * @returns {{commonName: string, altNames: string[], ipSans: string[]}}
 */
export function namesOf({ cn, altNames, ipSans = [] }, seed, index) {
  return {
    commonName: expandName(cn, seed, index),
    altNames: altNames.map((/** @type {string} */ name) => expandName(name, seed, index)),
    ipSans,
  };
}

/** Vault accepts texts up to 1 MiB in a JSON body, and raft entries of that size; base64 makes these a third longer. */
export const MOST_BYTES = 512 * 1024;

const CONTENT_STREAM = 4000;

/** @param {number} seed @param {number} number of the secret or text @param {number} size bytes @returns {string} base64 */
export function secretValue(seed, number, size) {
  const bytes = Buffer.alloc(size);
  fillBytes(bytes, seed, number, CONTENT_STREAM);
  return bytes.toString('base64');
}

const CHOICE_STREAM = 51;

/**
 * @param {readonly number[]} weights above zero @param {number} seed
 * @param {number} [stream] keeps a choice within a choice independent of it
 * @returns {(index: number) => number} which of them
 */
export function createChooser(weights, seed, stream = CHOICE_STREAM) {
  const last = weights.length - 1;
  if (last === 0) return () => 0;
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let sum = 0;
  const bounds = weights.map((weight) => {
    sum += weight;
    return sum / total;
  });
  return (index) => {
    const drawn = uniform(seed, index, stream);
    for (let i = 0; i < last; i++) if (drawn < bounds[i]) return i;
    return last;
  };
}

/** @param {Pick<Request, 'path' | 'headers'> & Partial<Request>} request the same each time */
export function sendAlways({ method = 'GET', path, headers, body = null }) {
  const request = { method, path, headers, body };
  return () => request;
}
