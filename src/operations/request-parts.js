/** Parts of requests: headers, paths, names with placeholders, random contents, choices by weight. */
import { fillBytes, hash32, uniform } from '../common/random.js';
/** @import { OptionSpec } from '../common/options.js' */
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

/**
 * @param {string} basePath of the target's URL, without a slash at its end
 * @param {...string} parts mount, verb, role
 */
export function apiPath(basePath, ...parts) {
  const encoded = parts.join('/').split('/').map(encodeURIComponent).join('/');
  return `${basePath}/v1/${encoded}`;
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
    ...(ttlMs !== null ? { ttl: `${Math.max(1, Math.round(ttlMs / 1000))}s` } : {}),
  };
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
 * The names of request `index`.
 *
 * @param {Record<string, any>} templates `cn`, `altNames`, `ipSans`
 * @param {number} seed
 * @param {number} index
 * @returns {{commonName: string, altNames: string[], ipSans: string[]}}
 */
export function namesOf({ cn, altNames, ipSans = [] }, seed, index) {
  return {
    commonName: expandName(cn, seed, index),
    altNames: altNames.map((/** @type {string} */ name) => expandName(name, seed, index)),
    ipSans,
  };
}

/** In linear time, as /\/+$/ is not: the text may be the target's. @param {string} text @returns {string} without slashes around it */
export function trimSlashes(text) {
  let [from, to] = [0, text.length];
  while (from < to && text[from] === '/') from++;
  while (to > from && text[to - 1] === '/') to--;
  return text.slice(from, to);
}

const CONTENT_STREAM = 4000;

/** Vault accepts texts up to 1 MiB in a JSON body, and raft entries of that size; base64 makes these a third longer. */
export const MOST_BYTES = 512 * 1024;

/**
 * @param {number} seed
 * @param {number} number of the secret, or of the text
 * @param {number} size bytes
 * @returns {string} base64
 */
export function secretValue(seed, number, size) {
  const bytes = Buffer.alloc(size);
  fillBytes(bytes, seed, number, CONTENT_STREAM);
  return bytes.toString('base64');
}

const CHOICE_STREAM = 51;

/**
 * @param {readonly number[]} weights above zero
 * @param {number} seed
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

/** @typedef {Omit<OptionSpec, 'group'>} Spec */
/** @typedef {Partial<Omit<Spec, 'type' | 'describe'>>} More */

/** Declarations of options; `more`: its default and bounds. */
export const option = Object.freeze({
  /** @type {(describe: string) => Spec} */
  flag: (describe) => ({ type: 'flag', describe }),
  /** @type {(describe: string, more?: More) => Spec} */
  file: (describe, more) => ({ type: 'file', placeholder: 'FILE', describe, ...more }),
  /** @type {(placeholder: string, describe: string, more?: More) => Spec} */
  text: (placeholder, describe, more) => ({ type: 'text', placeholder, describe, ...more }),
  /** @type {(placeholder: string, describe: string, more?: More) => Spec} */
  list: (placeholder, describe, more) => ({ type: 'list', placeholder, describe, ...more }),
  /** @type {(placeholder: string, describe: string, more: More) => Spec} */
  integer: (placeholder, describe, more) => ({ type: 'integer', placeholder, describe, ...more }),
  /** @type {(describe: string, more: More) => Spec} */
  duration: (describe, more) => ({ type: 'duration', placeholder: 'TIME', min: 1000, describe, ...more }),
  /** @type {(choices: readonly string[], describe: string, more: More) => Spec} */
  choice: (choices, describe, more) => ({ type: 'choice', choices, describe, ...more }),
});

/** @param {string} group heading in `--help` @param {Record<string, Spec>} specs @returns {Record<string, OptionSpec>} */
export function inGroup(group, specs) {
  return Object.fromEntries(Object.entries(specs).map(([name, spec]) => [name, { group, ...spec }]));
}

/** @param {Pick<Request, 'path' | 'headers'> & Partial<Request>} request the same each time */
export function sendAlways({ method = 'GET', path, headers, body = null }) {
  const request = { method, path, headers, body };
  return () => request;
}
