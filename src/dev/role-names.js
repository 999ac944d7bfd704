/** Which names a role allows: Vault's rules for the fields our roles use. Names are compared as written, case included. */
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { VaultError } from './replies.js';

const LABEL = '(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9])';
const HOSTNAME = new RegExp(`^(?:${LABEL}\\.)*${LABEL}$`);
const MAX_NAME = 253;

/** @typedef {import('./roles.js').Role} Role */

/**
 * @param {Role} role
 * @param {{commonName: string, altNames: import('./extensions.js').AltNames, includeCommonName: boolean}} asked
 * @returns {import('./extensions.js').AltNames} what the certificate gets, sorted and without repeats
 * @throws {VaultError} 400 naming the name that is not allowed
 */
export function allowedNames(role, { commonName, altNames, includeCommonName }) {
  if (commonName === '') {
    throw new VaultError(
      400,
      'the common_name field is required, or must be provided in a CSR with "use_csr_common_name" set to true, unless "require_cn" is set to false',
    );
  }
  if (!isAllowed(role, commonName)) {
    throw new VaultError(400, `common name ${commonName} not allowed by this role`);
  }
  const given = [...altNames.dns, ...altNames.emails];
  const refused = given.find((name) => !isAllowed(role, name));
  if (refused !== undefined) {
    throw new VaultError(400, `subject alternate name ${refused} not allowed by this role`);
  }
  for (const ip of altNames.ips) checkIp(role, ip);
  const names = includeCommonName ? [...given, commonName] : given;
  return {
    dns: sortedUnique(names.filter((name) => !name.includes('@')).map(toAscii)),
    emails: sortedUnique(names.filter((name) => name.includes('@'))),
    ips: altNames.ips,
  };
}

/**
 * @param {Role} role
 * @param {string} name
 */
function isAllowed(role, name) {
  const at = name.lastIndexOf('@');
  const host = toAscii(at < 0 ? name : name.slice(at + 1));
  if (at === 0 || (at > 0 && !/^[\x21-\x7e]+$/.test(name.slice(0, at)))) return false;
  const [first, ...rest] = host.split('.');
  // `*.example.com` and, as Vault takes it, `a*.example.com`: one star, in the first label.
  const wildcard = /^[A-Za-z0-9-]*\*[A-Za-z0-9-]*$/.test(first) && rest.length > 0;
  const fixed = wildcard ? rest.join('.') : host;
  if (host.length > MAX_NAME || !HOSTNAME.test(fixed)) return false;
  if (wildcard && !role.allow_wildcard_certificates) return false;
  return role.allow_any_name || isUnder(role, wildcard ? `x.${fixed}` : host);
}

/**
 * @param {Role} role
 * @param {string} host
 */
function isUnder(role, host) {
  const local = role.allow_localhost ? ['localhost', 'localdomain'] : [];
  if (local.includes(host) || (role.allow_bare_domains && role.allowed_domains.includes(host))) return true;
  const parents = [...local, ...role.allowed_domains];
  return role.allow_subdomains && parents.some((domain) => host.endsWith(`.${domain}`));
}

/**
 * @param {Role} role
 * @param {string} ip
 */
function checkIp(role, ip) {
  if (isIP(ip) === 0 || ip.includes('%'))
    throw new VaultError(400, `the value ${JSON.stringify(ip)} is not a valid IP address`);
  if (!role.allow_ip_sans) {
    throw new VaultError(
      400,
      'IP Subject Alternative Names are not allowed in this role, but was provided some',
    );
  }
}

/**
 * Internationalised names become A-labels; ASCII stays as written, since URL rules would change its case.
 *
 * @param {string} name
 */
function toAscii(name) {
  return /^[\x20-\x7e]*$/.test(name) ? name : domainToASCII(name);
}

/** @param {string[]} names */
const sortedUnique = (names) => [...new Set(names)].sort();
