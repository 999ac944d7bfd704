/** Parameters of a request and responses, in the shapes of Vault. */
import { randomUUID } from 'node:crypto';

/** @typedef {{status: number, type: string, body: string | Buffer, headers?: Record<string, string>}} Reply `type`: media type, empty without a body */

/** A refusal that becomes `{"errors": [...]}`. */
export class VaultError extends Error {
  /** @param {number} status @param {string} [message] none: an empty list, as Vault has it for some 404 and 405 */
  constructor(status, message) {
    super(message ?? '');
    this.status = status;
    this.errors = message === undefined ? [] : [message];
  }
}

/** Several causes, or one of Vault's framework, in the text its Go library makes of them. @param {...string} causes */
export function listed(...causes) {
  const head = causes.length === 1 ? '1 error occurred' : `${causes.length} errors occurred`;
  return `${head}:\n\t${causes.map((cause) => `* ${cause}\n`).join('\t')}\n`;
}

/** @param {number} status @param {unknown} value @returns {Reply} */
export function json(status, value) {
  return { status, type: 'application/json', body: `${JSON.stringify(value)}\n` };
}

/** @param {VaultError} error @returns {Reply} */
export const refusal = ({ status, errors }) => json(status, { errors });

/** @param {string} type @param {string | Buffer} body @param {number} [status] @returns {Reply} */
export const raw = (type, body, status = 200) => ({ status, type, body });

export const NO_CONTENT = Object.freeze(raw('', '', 204));

/**
 * @param {Record<string, unknown> | null} data
 * @param {object} [more]
 * @param {number} [more.status]
 * @param {Record<string, unknown> | null} [more.auth]
 * @param {string[]} [more.warnings]
 * @param {string} [more.mountType] empty on paths that need no token, as in Vault
 * @param {boolean} [more.isSpread] repeat the data at the top level, as `sys/` paths do
 * @returns {Reply}
 */
export function secret(
  data,
  { status = 200, auth = null, warnings = [], mountType = '', isSpread = false } = {},
) {
  return json(status, {
    ...(isSpread ? data : {}),
    request_id: randomUUID(),
    lease_id: '',
    renewable: false,
    lease_duration: 0,
    data,
    wrap_info: null,
    warnings: warnings.length > 0 ? warnings : null,
    auth,
    mount_type: mountType,
  });
}

/** @typedef {Record<string, unknown>} Params without a prototype */

/** @param {Buffer} body JSON, whatever its media type, as Vault reads what `curl -d` sends @returns {Params} */
export function readParams(body) {
  const value = parseJson(body.toString('utf8').trim() || 'null');
  if (value !== null && (typeof value !== 'object' || Array.isArray(value)))
    throw new VaultError(400, 'error parsing JSON: failed to parse JSON input: not an object');
  return Object.assign(Object.create(null), value);
}

/** @param {string} text @returns {unknown} */
function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw malformed(text, /** @type {Error} */ (error).message);
  }
}

/**
 * Vault 1.21 checks the limits of JSON objects first, and answers 500 if it cannot read them; other texts get 400.
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

/**
 * @param {Params} from
 * @param {string} name
 * @returns {string} empty when missing or null; numbers and booleans as text
 */
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

/** @type {Readonly<Record<string, number>>} */
const UNIT_SECONDS = Object.freeze({ ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 });

/**
 * A Go duration, a number of seconds, or days (`30d`).
 * @param {Params} from
 * @param {string} name
 * @returns {number} whole seconds, 0 when missing
 */
export function secondsParam(from, name) {
  const text = textParam(from, name).trim();
  if (text.startsWith('-')) throw fieldError(name, `cannot provide negative value '${text}'`);
  if (/^\d{0,12}$/.test(text)) return Number(text);
  if (!/^(\d{1,12}(\.\d{1,9})?(ms|[smhd]))+$/.test(text))
    throw fieldError(name, `time: invalid duration ${JSON.stringify(text)}`);
  let total = 0;
  for (const [, number, unit] of text.matchAll(/([\d.]+)(ms|[smhd])/g))
    total += Number(number) * UNIT_SECONDS[unit];
  return Math.floor(total);
}

/** @param {string} name @param {string} problem */
function fieldError(name, problem) {
  const message = `Field validation failed: error converting input for field "${name}": ${problem}`;
  return new VaultError(400, message);
}
