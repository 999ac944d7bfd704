/** The roles of the embedded server, in the shape Vault lists them. */

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

/**
 * @param {Partial<Role>} differences
 * @returns {Role}
 */
const role = (differences) => Object.freeze({ ...DEFAULTS, ...differences });

/** @type {Readonly<Record<string, Role>>} */
export const ROLES = Object.freeze({
  'example-dot-com': role({}),
  'example-dot-com-ec': role({ key_type: 'ec', key_bits: 256, signature_bits: 0 }),
  'example-dot-com-ec-no-store': role({ key_type: 'ec', key_bits: 256, signature_bits: 0, no_store: true }),
  'example-dot-com-ed25519': role({ key_type: 'ed25519', key_bits: 0, signature_bits: 0 }),
});
