/** The parameters `issue` and `sign` take, beside the names. */
import { listParam, secondsParam, textParam } from './params.js';
import { VaultError } from './replies.js';

/** Vault's default lease, which a role without a `ttl` takes. */
const DEFAULT_TTL_SECONDS = 768 * 3600;

const BOTH = [
  'common_name',
  'alt_names',
  'ip_sans',
  'uri_sans',
  'other_sans',
  'ttl',
  'format',
  'exclude_cn_from_sans',
];
const KNOWN = Object.freeze({
  issue: new Set([...BOTH, 'private_key_format']),
  sign: new Set([...BOTH, 'csr']),
});

/**
 * @typedef {import('./params.js').Params} Params
 * @typedef {import('./roles.js').Role} Role
 */

/** @param {Params} params */
export function readFormat(params) {
  const format = textParam(params, 'format') || 'pem';
  if (!['pem', 'der', 'pem_bundle'].includes(format)) {
    throw new VaultError(400, 'the "format" path parameter must be "pem", "der", or "pem_bundle"');
  }
  return format;
}

/**
 * @param {Role} role
 * @param {Params} params
 */
export function lifetime(role, params) {
  const asked = secondsParam(params, 'ttl') || role.ttl || DEFAULT_TTL_SECONDS;
  if (asked <= role.max_ttl) return { seconds: asked, warnings: /** @type {string[]} */ ([]) };
  const warning = `TTL "${goDuration(asked)}" is longer than permitted maxTTL "${goDuration(role.max_ttl)}", so maxTTL is being used`;
  return { seconds: role.max_ttl, warnings: [warning] };
}

/** @param {number} seconds */
function goDuration(seconds) {
  return `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m${seconds % 60}s`;
}

/** @param {Params} params */
export function refuseOtherNames(params) {
  if (listParam(params, 'uri_sans').length > 0) throw new VaultError(400, uriRefusal('the API'));
  const [other] = listParam(params, 'other_sans');
  if (other !== undefined) throw new VaultError(400, `other SAN ${other} not allowed by this role`);
}

/** @param {string} source */
export const uriRefusal = (source) =>
  `URI Subject Alternative Names are not allowed in this role, but were provided via ${source}`;

/**
 * @param {string} altNames separated by commas
 * @param {string[]} ips
 */
export function splitAltNames(altNames, ips) {
  const names = altNames
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return {
    dns: names.filter((name) => !name.includes('@')),
    emails: names.filter((name) => name.includes('@')),
    ips,
  };
}

/**
 * @param {Params} params
 * @param {keyof typeof KNOWN} path
 */
export function ignored(params, path) {
  const names = Object.keys(params).filter((name) => !KNOWN[path].has(name));
  return names.length > 0
    ? [`Endpoint ignored these unrecognized parameters: [${names.sort().join(' ')}]`]
    : [];
}
