/** Parts of requests: headers, paths, names with placeholders, random contents; choices by weight. */
import { fillBytes, hash32, uniform } from '../common/random.js';
import { total } from '../common/sums.js';
/** @import { Request } from '../http/exchange.js' */

/** @param {string | null} token a secret @param {string | null} namespace @returns {Record<string, string>} */
export function apiHeaders(token, namespace) {
  return {
    'content-type': 'application/json',
    ...(token === null ? {} : { 'x-vault-token': token }),
    ...vaultHeaders(namespace),
  };
}

/** Listeners of Vault Agent may require the first (`require_request_header`). @param {string | null} namespace @returns {Record<string, string>} */
export const vaultHeaders = (namespace) => ({
  'x-vault-request': 'true',
  ...(namespace === null ? {} : { 'x-vault-namespace': namespace }),
});

/** @param {string} basePath of the target's URL, without a trailing slash @param {...string} parts mount, verb, role */
export function apiPath(basePath, ...parts) {
  return `${basePath}/v1/${parts.join('/').split('/').map(encodeURIComponent).join('/')}`;
}

/** Of issue and sign. @param {CertificateNames & {ttlMs: number | null}} names @returns {Record<string, string>} */
export function certificateParameters({ commonName, altNames, ipSans, ttlMs }) {
  return {
    common_name: commonName,
    ...(altNames.length > 0 ? { alt_names: altNames.join(',') } : {}),
    ...(ipSans.length > 0 ? { ip_sans: ipSans.join(',') } : {}),
    ...(ttlMs !== null ? { ttl: vaultDuration(ttlMs) } : {}),
  };
}

/** @param {number} ms @returns {string} whole seconds, at least one: `90s` */
export const vaultDuration = (ms) => `${Math.max(1, Math.round(ms / 1000))}s`;

/** @param {string} template @returns {boolean} whether it differs between requests */
export const hasPlaceholder = (template) => template.includes('{n}') || template.includes('{random}');

/** `{random}` is 48 bits in hexadecimal. @param {string} template @param {number} seed @param {number} index */
export function expandName(template, seed, index) {
  const hex = (/** @type {number} */ stream) => hash32(seed, index, stream).toString(16).padStart(8, '0');
  return template.replace(/\{(n|random)\}/g, (_, kind) =>
    kind === 'n' ? String(index) : hex(101) + hex(102).slice(0, 4),
  );
}

/** @typedef {{commonName: string, altNames: string[], ipSans: string[]}} CertificateNames */

/** @param {Record<string, any>} templates @param {number} seed @param {number} index @returns {CertificateNames} */
export function namesOf({ cn, altNames, ipSans = [] }, seed, index) {
  const expand = (/** @type {string} */ template) => expandName(template, seed, index);
  return { commonName: expand(cn), altNames: altNames.map(expand), ipSans };
}

/** Vault accepts strings up to 1 MiB in a JSON body, and raft entries of that size; base64 adds a third. */
export const MAX_BYTES = 512 * 1024;

const CONTENT_STREAM = 4000;

/** @param {number} seed @param {number} number of the secret @param {number} size bytes @returns {string} base64 */
export function secretValue(seed, number, size) {
  const bytes = Buffer.alloc(size);
  fillBytes(bytes, seed, number, CONTENT_STREAM);
  return bytes.toString('base64');
}

const CHOICE_STREAM = 51;

/**
 * @param {readonly number[]} weights above zero @param {number} seed
 * @param {number} [stream] of random numbers: nested choices need different ones
 * @returns {(index: number) => number} index of the chosen weight
 */
export function createChooser(weights, seed, stream = CHOICE_STREAM) {
  const last = weights.length - 1;
  if (last === 0) return () => 0;
  const sum = total(weights);
  const bounds = weights.map((_, i) => total(weights.slice(0, i + 1)) / sum);
  return (index) => {
    const drawn = uniform(seed, index, stream);
    for (let i = 0; i < last; i++) if (drawn < bounds[i]) return i;
    return last;
  };
}

/** @param {Pick<Request, 'path' | 'headers'> & Partial<Request>} request sent every time */
export function repeatRequest({ method = 'GET', path, headers, body = null }) {
  const request = { method, path, headers, body };
  return () => request;
}
