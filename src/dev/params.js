/** Parameters of a write, as Vault reads them: JSON or, with that content type, a form. */
import { VaultError } from './replies.js';

/** @typedef {Record<string, unknown>} Params without a prototype */

/**
 * @param {Buffer} body
 * @param {string | undefined} contentType
 * @returns {Params}
 */
export function readParams(body, contentType) {
  const text = body.toString('utf8').trim();
  if (text === '') return params({});
  if (contentType?.startsWith('application/x-www-form-urlencoded') && !/^[{[]/.test(text)) {
    return params(Object.fromEntries(new URLSearchParams(text)));
  }
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw malformed(text, /** @type {Error} */ (error).message);
  }
  if (value === null) return params({});
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new VaultError(400, 'error parsing JSON: failed to parse JSON input: not an object');
  }
  return params(value);
}

/**
 * Vault 1.21 checks the limits of JSON objects first, and what it cannot read then is an internal error to it; other texts get 400.
 *
 * @param {string} text
 * @param {string} reason
 */
function malformed(text, reason) {
  if (!text.startsWith('{'))
    return new VaultError(400, `error parsing JSON: failed to parse JSON input: ${reason}`);
  if (/^Unterminated string/.test(reason)) return new VaultError(500, 'malformed JSON, unclosed string');
  const at = Number(/position (\d+)/.exec(reason)?.[1] ?? text.length);
  return new VaultError(500, at >= text.length ? 'malformed JSON, unclosed containers' : reason);
}

/** @param {object} value @returns {Params} */
const params = (value) => Object.assign(Object.create(null), value);

/**
 * @param {Params} from
 * @param {string} name
 * @returns {string} empty when missing or null; numbers and booleans as text
 */
export function textParam(from, name) {
  const value = from[name];
  if (value === undefined || value === null) return '';
  if (typeof value === 'object') throw fieldError(name, `expected type 'string', got ${typeName(value)}`);
  return String(value);
}

/**
 * @param {Params} from
 * @param {string} name
 * @returns {string[]} from a list, or text separated by commas
 */
export function listParam(from, name) {
  const value = from[name];
  const list = Array.isArray(value) ? value : textParam(from, name).split(',');
  if (list.some((item) => item !== null && typeof item === 'object')) {
    throw fieldError(name, 'expected a list of strings');
  }
  return list.map((item) => String(item).trim()).filter((item) => item !== '');
}

/** @param {Params} from @param {string} name */
export function flagParam(from, name) {
  return ['true', '1', 't'].includes(textParam(from, name).toLowerCase());
}

const UNIT_SECONDS = /** @type {Record<string, number>} */ ({ ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 });

/**
 * A Go duration, a number of seconds, or days (`30d`).
 *
 * @param {Params} from
 * @param {string} name
 * @returns {number} whole seconds, 0 when missing
 */
export function secondsParam(from, name) {
  const text = textParam(from, name).trim();
  if (text === '') return 0;
  if (text.startsWith('-')) throw fieldError(name, `cannot provide negative value '${text}'`);
  if (/^\d{1,12}$/.test(text)) return Number(text);
  if (!/^(\d{1,12}(\.\d{1,9})?(ms|[smhd]))+$/.test(text)) {
    throw fieldError(name, `time: invalid duration ${JSON.stringify(text)}`);
  }
  let total = 0;
  for (const [, number, unit] of text.matchAll(/([\d.]+)(ms|[smhd])/g))
    total += Number(number) * UNIT_SECONDS[unit];
  return Math.floor(total);
}

/** @param {string} name @param {string} problem */
function fieldError(name, problem) {
  return new VaultError(
    400,
    `Field validation failed: error converting input for field "${name}": ${problem}`,
  );
}

/** @param {object} value */
const typeName = (value) => (Array.isArray(value) ? 'a list' : 'an object');
