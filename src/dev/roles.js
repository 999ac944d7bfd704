/** The roles of the embedded server, in the shape Vault lists them, and the names that they allow. */
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { VaultError } from './messages.js';

/** @import { AltNames } from './certificate.js' */

const DEFAULTS = {
  allow_any_name: false,
  allow_bare_domains: false,
  allow_glob_domains: false,
  allow_ip_sans: true,
  allow_localhost: true,
  allow_subdomains: true,
  allow_token_displayname: false,
  allow_wildcard_certificates: true,
  allowed_domains: ['example.com'],
  allowed_domains_template: false,
  allowed_other_sans: /** @type {string[]} */ ([]),
  allowed_serial_numbers: /** @type {string[]} */ ([]),
  allowed_uri_sans: /** @type {string[]} */ ([]),
  allowed_uri_sans_template: false,
  allowed_user_ids: /** @type {string[]} */ ([]),
  basic_constraints_valid_for_non_ca: false,
  client_flag: true,
  cn_validations: ['email', 'hostname'],
  code_signing_flag: false,
  country: /** @type {string[]} */ ([]),
  email_protection_flag: false,
  enforce_hostnames: true,
  ext_key_usage: /** @type {string[]} */ ([]),
  ext_key_usage_oids: /** @type {string[]} */ ([]),
  generate_lease: false,
  issuer_ref: 'default',
  key_bits: 2048,
  key_type: /** @type {'rsa' | 'ec' | 'ed25519'} */ ('rsa'),
  key_usage: ['DigitalSignature', 'KeyAgreement', 'KeyEncipherment'],
  locality: /** @type {string[]} */ ([]),
  max_ttl: 720 * 3600,
  no_store: false,
  not_after: '',
  not_before_duration: 30,
  organization: /** @type {string[]} */ ([]),
  ou: /** @type {string[]} */ ([]),
  policy_identifiers: /** @type {string[]} */ ([]),
  postal_code: /** @type {string[]} */ ([]),
  province: /** @type {string[]} */ ([]),
  require_cn: true,
  serial_number_source: 'json-csr',
  server_flag: true,
  signature_bits: 256,
  street_address: /** @type {string[]} */ ([]),
  ttl: 0,
  use_csr_common_name: true,
  use_csr_sans: true,
  use_pss: false,
};

/** @typedef {typeof DEFAULTS} Role times in seconds */

/** @param {Partial<Role>} differences @returns {Role} */
const role = (differences) => Object.freeze({ ...DEFAULTS, ...differences });

/** @type {Readonly<Record<string, Role>>} */
export const ROLES = Object.freeze({
  'example-dot-com': role({}),
  'example-dot-com-ec': role({ key_type: 'ec', key_bits: 256, signature_bits: 0 }),
  'example-dot-com-ec-no-store': role({ key_type: 'ec', key_bits: 256, signature_bits: 0, no_store: true }),
  'example-dot-com-ed25519': role({ key_type: 'ed25519', key_bits: 0, signature_bits: 0 }),
});

const LABEL = '(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9])';
const HOSTNAME = new RegExp(`^(?:${LABEL}\\.)*${LABEL}$`);
const MAX_NAME = 253;

/**
 * @param {Role} role
 * @param {{commonName: string, altNames: AltNames, includeCommonName: boolean}} asked
 * @returns {AltNames} what the certificate gets, sorted and without repeats
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

/** @param {Role} role @param {string} name */
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

/** @param {Role} role @param {string} host */
function isUnder(role, host) {
  const local = role.allow_localhost ? ['localhost', 'localdomain'] : [];
  if (local.includes(host) || (role.allow_bare_domains && role.allowed_domains.includes(host))) return true;
  const parents = [...local, ...role.allowed_domains];
  return role.allow_subdomains && parents.some((domain) => host.endsWith(`.${domain}`));
}

/** @param {Role} role @param {string} ip */
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
