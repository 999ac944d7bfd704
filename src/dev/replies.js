/** Answers in Vault's shapes. */
import { randomUUID } from 'node:crypto';

/**
 * @typedef {object} Reply
 * @property {number} status
 * @property {string} type media type, empty where there is no body
 * @property {string | Buffer} body
 * @property {Record<string, string>} [headers]
 */

/** A refusal that becomes `{"errors": [...]}`. */
export class VaultError extends Error {
  /**
   * @param {number} status
   * @param {string} [message] none: an empty list, as Vault has it for some 404 and 405
   */
  constructor(status, message) {
    super(message ?? '');
    this.status = status;
    this.errors = message === undefined ? [] : [message];
  }
}

/**
 * Several causes, or one of Vault's framework, in the text its Go library makes of them.
 *
 * @param {...string} causes
 */
export function listed(...causes) {
  const head = causes.length === 1 ? '1 error occurred' : `${causes.length} errors occurred`;
  return `${head}:\n\t${causes.map((cause) => `* ${cause}\n`).join('\t')}\n`;
}

/**
 * @param {number} status
 * @param {unknown} value
 * @returns {Reply}
 */
export function json(status, value) {
  return { status, type: 'application/json', body: `${JSON.stringify(value)}\n` };
}

/**
 * @param {VaultError} error
 * @returns {Reply}
 */
export const refusal = (error) => json(error.status, { errors: error.errors });

/**
 * @param {object} parts
 * @param {Record<string, unknown> | null} parts.data
 * @param {Record<string, unknown> | null} [parts.auth]
 * @param {string[]} [parts.warnings]
 * @param {string} [parts.mountType] empty on paths that need no token, as in Vault
 * @param {boolean} [parts.spread] repeat the data at the top level, as `sys/` paths do
 * @returns {Reply}
 */
export function secret({ data, auth = null, warnings = [], mountType = '', spread = false }) {
  return json(200, {
    ...(spread ? data : {}),
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

/**
 * @param {string} type
 * @param {string | Buffer} body
 * @param {number} [status]
 * @returns {Reply}
 */
export const raw = (type, body, status = 200) => ({ status, type, body });
