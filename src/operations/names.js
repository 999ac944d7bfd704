/** Names with placeholders: `{n}` is the request's index, `{random}` twelve hex digits that follow from the seed. */
import { hash32 } from '../common/random.js';

const PLACEHOLDER = /\{(n|random)\}/g;

/**
 * @param {string} template
 * @returns {boolean} names made from it differ
 */
export function hasPlaceholder(template) {
  return new RegExp(PLACEHOLDER.source).test(template);
}

/**
 * @param {string} template
 * @param {number} seed
 * @param {number} index
 * @returns {string}
 */
export function expandName(template, seed, index) {
  return template.replace(PLACEHOLDER, (_, kind) => (kind === 'n' ? String(index) : randomHex(seed, index)));
}

/**
 * What request `index` asks for.
 *
 * @param {Record<string, any>} templates `cn`, `altNames`, `ipSans`
 * @param {number} seed
 * @param {number} index
 * @returns {{commonName: string, altNames: string[], ipSans: string[]}}
 */
export function namesOf({ cn, altNames, ipSans }, seed, index) {
  return {
    commonName: expandName(cn, seed, index),
    altNames: altNames.map((/** @type {string} */ name) => expandName(name, seed, index)),
    ipSans,
  };
}

/**
 * @param {number} seed
 * @param {number} index
 */
function randomHex(seed, index) {
  const high = hash32(seed, index, 101).toString(16).padStart(8, '0');
  return high + (hash32(seed, index, 102) >>> 16).toString(16).padStart(4, '0');
}
