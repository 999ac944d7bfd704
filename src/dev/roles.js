/** The roles of the embedded server, as Vault returns them, and the names that they allow. */
import { domainToASCII } from 'node:url';
import { ipBytes, splitNames } from '../pki/names.js';
import { VaultError } from './routes.js';

/** @import { AlternativeNames } from '../pki/names.js' */

/** Settings that this server reports but does not use. @param {string} names @param {unknown} value */
const fill = (names, value) => Object.fromEntries(names.split(' ').map((name) => [name, value]));

const DEFAULTS = {
  ...fill('allow_any_name allow_bare_domains allow_glob_domains allow_token_displayname', false),
  ...fill('allowed_domains_template allowed_uri_sans_template basic_constraints_valid_for_non_ca', false),
  ...fill('code_signing_flag email_protection_flag generate_lease use_pss', false),
  ...fill('allow_ip_sans allow_localhost allow_subdomains allow_wildcard_certificates', true),
  ...fill('client_flag enforce_hostnames require_cn server_flag use_csr_common_name use_csr_sans', true),
  ...fill('allowed_other_sans allowed_serial_numbers allowed_uri_sans allowed_user_ids country', []),
  ...fill('ext_key_usage ext_key_usage_oids locality organization ou policy_identifiers', []),
  ...fill('postal_code province street_address', []),
  allowed_domains: ['example.com'],
  cn_validations: ['email', 'hostname'],
  issuer_ref: 'default',
  key_bits: 2048,
  key_type: /** @type {'rsa' | 'ec' | 'ed25519'} */ ('rsa'),
  key_usage: ['DigitalSignature', 'KeyAgreement', 'KeyEncipherment'],
  max_ttl: 720 * 3600,
  no_store: false,
  not_after: '',
  not_before_duration: 30,
  serial_number_source: 'json-csr',
  signature_bits: 256,
  ttl: 0,
};

/** @typedef {typeof DEFAULTS} Role times in seconds */

const EC = { key_type: /** @type {const} */ ('ec'), key_bits: 256, signature_bits: 0 };

/** @type {Readonly<Record<string, Role>>} */
export const ROLES = Object.freeze({
  'example-dot-com': DEFAULTS,
  'example-dot-com-ec': { ...DEFAULTS, ...EC },
  'example-dot-com-ec-no-store': { ...DEFAULTS, ...EC, no_store: true },
  'example-dot-com-ed25519': { ...DEFAULTS, key_type: 'ed25519', key_bits: 0, signature_bits: 0 },
});

/** For `sign-verbatim` without a role. @type {Role} */
export const NO_ROLE = { ...DEFAULTS, max_ttl: 768 * 3600 };

const LABEL = '(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9])';
const HOSTNAME = new RegExp(`^(?:${LABEL}\\.)*${LABEL}$`);
const MAX_NAME = 253;

/** @param {string[]} ips @returns {Buffer[]} octets @throws {VaultError} 400 */
export function readIps(ips) {
  return ips.map((ip) => {
    const bytes = ipBytes(ip);
    if (bytes !== null) return bytes;
    throw new VaultError(400, `the value ${JSON.stringify(ip)} is not a valid IP address`);
  });
}

/**
 * All roles allow the same names. Returns those of the certificate, sorted, without duplicates.
 * @param {string} commonName @param {Pick<AlternativeNames, 'dns' | 'email'>} altNames
 * @throws {VaultError} 400 with the name that is not allowed
 */
export function allowedNames(commonName, altNames) {
  if (commonName === '') {
    const where = 'or must be provided in a CSR with "use_csr_common_name" set to true';
    const message = `the common_name field is required, ${where}, unless "require_cn" is set to false`;
    throw new VaultError(400, message);
  }
  if (!isAllowed(commonName)) throw new VaultError(400, `common name ${commonName} not allowed by this role`);
  const given = [...altNames.dns, ...altNames.email];
  const refused = given.find((name) => !isAllowed(name));
  if (refused !== undefined)
    throw new VaultError(400, `subject alternate name ${refused} not allowed by this role`);
  const { dns, email } = splitNames([...given, commonName]);
  return { dns: [...new Set(dns.map(toAscii))].sort(), email: [...new Set(email)].sort() };
}

/** `localhost`, `localdomain`, and names below these or `example.com`. */
const ALLOWED = /^(?:localhost|localdomain)$|\.(?:localhost|localdomain|example\.com)$/;

/** @param {string} name */
function isAllowed(name) {
  const at = name.lastIndexOf('@');
  const host = toAscii(name.slice(at + 1));
  if (at === 0 || (at > 0 && !/^[\x21-\x7e]+$/.test(name.slice(0, at)))) return false;
  // `*.example.com` and, as in Vault, `a*.example.com`: one star, in the first label.
  const plain = host.replace(/^[A-Za-z0-9-]*\*[A-Za-z0-9-]*(?=\.)/, 'x');
  return host.length <= MAX_NAME && HOSTNAME.test(plain) && ALLOWED.test(plain);
}

/** Internationalised names become A-labels; ASCII keeps its case, which URL rules would change. @param {string} name */
const toAscii = (name) =>
  name.length > MAX_NAME || /^[\x20-\x7e]*$/.test(name) ? name : domainToASCII(name);
