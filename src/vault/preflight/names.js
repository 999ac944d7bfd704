/**
 * Would a role allow this name? After validateNames and validateCommonName in Vault's builtin/logical/pki
 * (cert_util.go, issuing/cert_util.go). Says no only where Vault surely would.
 */

const HOSTNAME =
  /^(\*\.)?(([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])\.)*([A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9])\.?$/;

/** @typedef {Record<string, any>} Role as Vault returns it */

/**
 * @param {Role} role
 * @param {string} name a DNS name or an e-mail address
 * @returns {string | null} why not; null: allowed, or only Vault can tell
 */
export function whyNotAllowed(role, name) {
  if (!/^[\x21-\x7e]+$/.test(name)) return null;
  const host = name.slice(name.lastIndexOf('@') + 1);
  const isEmail = host !== name;
  if (host.includes('*') && role.allow_wildcard_certificates === false)
    return 'it allows no wildcard certificates';
  if (role.enforce_hostnames && !HOSTNAME.test(host)) return 'it is not a host name (enforce_hostnames)';
  if (role.allow_any_name) return null;
  if (role.allow_localhost && isLocal(host, role)) return null;
  if (role.allow_token_displayname || role.allowed_domains_template) return null;
  const domains = listOf(role.allowed_domains);
  if (domains.some((domain) => matches(role, domain, { host, name, isEmail }))) return null;
  return describe(role, domains);
}

/**
 * @param {string} host
 * @param {Role} role
 */
function isLocal(host, role) {
  if (host === 'localhost' || host === 'localdomain') return true;
  return Boolean(role.allow_subdomains) && /\.(localhost|localdomain)$/.test(host);
}

/**
 * @param {Role} role
 * @param {string} domain
 * @param {{host: string, name: string, isEmail: boolean}} asked
 */
function matches(role, domain, { host, name, isEmail }) {
  const [wanted, have] = [domain.toLowerCase(), host.toLowerCase()];
  if (wanted === '') return false;
  if (have === wanted && (role.allow_bare_domains || isEmail)) return true;
  if (isEmail && name.toLowerCase() === wanted) return true;
  if (role.allow_subdomains && have.endsWith(`.${wanted}`)) return true;
  return Boolean(role.allow_glob_domains) && wanted.includes('*') && glob(wanted, have);
}

/**
 * @param {string} pattern
 * @param {string} text
 */
function glob(pattern, text) {
  const literal = pattern.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${literal.join('.*')}$`).test(text);
}

/**
 * @param {Role} role
 * @param {string[]} domains
 */
function describe(role, domains) {
  if (domains.length === 0) return 'it has no allowed_domains';
  const ways = [
    role.allow_bare_domains ? 'themselves' : null,
    role.allow_subdomains ? 'subdomains' : null,
    role.allow_glob_domains ? 'globs' : null,
  ].filter((way) => way !== null);
  const shown = domains.slice(0, 5).join(', ') + (domains.length > 5 ? ', ...' : '');
  return `it allows ${shown}${ways.length > 0 ? ` (${ways.join(' and ')})` : ' in no way at all'}`;
}

/**
 * @param {unknown} value Vault gives lists, old versions a comma-separated string
 * @returns {string[]}
 */
export function listOf(value) {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === 'string' ? value.split(',').map((each) => each.trim()) : [];
}
