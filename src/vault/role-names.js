/**
 * Would a role allow this name? After ValidateNames in Vault's builtin/logical/pki/issuing/issue_common.go (1.21).
 * Refuses only where Vault surely would: templates, display names and names in other scripts are left to Vault.
 */

const LABEL = '([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const HOSTNAME = new RegExp(`^(${LABEL}\\.)*${LABEL}\\.?$`);
const WILDCARD_LABEL = new RegExp(`^(\\*|\\*${LABEL}|${LABEL}\\*|${LABEL}\\*${LABEL})$`);

/** @typedef {Record<string, any>} Role as Vault returns it */
/**
 * @typedef {object} Name
 * @property {string} whole
 * @property {string} host behind the @ of an e-mail address, behind the first label of a wildcard
 * @property {string | null} wildcard the first label, where it holds a `*`
 * @property {boolean} isEmail
 */

/**
 * @param {Role} role
 * @param {string} text a DNS name or an e-mail address
 * @returns {string | null} why not; null: allowed, or only Vault can decide
 */
export function whyNotAllowed(role, text) {
  if (!/^[\x21-\x7e]+$/.test(text)) return null;
  const name = split(text);
  const form = whyBadForm(role, name);
  if (form !== null || role.allow_any_name) return form;
  if (role.allow_localhost && isLocal(role, name)) return null;
  if (role.allow_token_displayname || role.allowed_domains_template) return null;
  const domains = listOf(role.allowed_domains);
  return domains.some((domain) => matches(role, domain, name)) ? null : describe(role, domains);
}

/** @param {string} text @returns {Name} */
function split(text) {
  const at = text.indexOf('@');
  const host = text.slice(at + 1);
  if (!host.includes('*')) return { whole: text, host, wildcard: null, isEmail: at >= 0 };
  const dot = host.indexOf('.');
  const wildcard = dot < 0 ? host : host.slice(0, dot);
  return { whole: text, host: dot < 0 ? '' : host.slice(dot + 1), wildcard, isEmail: at >= 0 };
}

/** @param {Role} role @param {Name} name */
function whyBadForm(role, { whole, host, wildcard, isEmail }) {
  if (whole.split('@').length > 2) return 'it has more than one @';
  if (wildcard !== null) {
    if (role.allow_wildcard_certificates === false) return 'it allows no wildcard certificates';
    const misplaced = isEmail || host.includes('*') || wildcard.split('*').length > 2;
    if (misplaced) return 'a wildcard may only be one * in the first label';
  }
  if (!role.enforce_hostnames) return null;
  const good = (host === '' || HOSTNAME.test(host)) && (wildcard === null || WILDCARD_LABEL.test(wildcard));
  return good ? null : 'it takes host names only (enforce_hostnames)';
}

/** @param {Role} role @param {Name} name */
function isLocal(role, { host, wildcard }) {
  return ['localhost', 'localdomain'].some(
    (local) =>
      host === local ||
      (role.allow_subdomains && (host.endsWith(`.${local}`) || (wildcard && host === local))),
  );
}

/**
 * Subdomains are compared as they are written, the rest whatever its case: so does Vault.
 *
 * @param {Role} role
 * @param {string} domain
 * @param {Name} name
 */
function matches(role, domain, { whole, host, wildcard, isEmail }) {
  if (domain === '') return false;
  const same = (/** @type {string} */ text) => text.toLowerCase() === domain.toLowerCase();
  if (role.allow_bare_domains && (same(whole) || (isEmail && same(host)))) return true;
  if (role.allow_subdomains && (host.endsWith(`.${domain}`) || (wildcard !== null && same(host))))
    return true;
  return (
    Boolean(role.allow_glob_domains) &&
    domain.includes('*') &&
    glob(domain.toLowerCase(), whole.toLowerCase())
  );
}

/** @param {string} pattern @param {string} text */
function glob(pattern, text) {
  const literal = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${literal.join('.*')}$`).test(text);
}

/** @param {Role} role @param {string[]} domains */
function describe(role, domains) {
  if (domains.length === 0) return 'it has no allowed_domains';
  const ways = [
    role.allow_bare_domains ? 'themselves' : null,
    role.allow_subdomains ? 'subdomains' : null,
    role.allow_glob_domains ? 'globs' : null,
  ].filter((way) => way !== null);
  const shown = domains.slice(0, 5).join(', ') + (domains.length > 5 ? ', ...' : '');
  return `it names ${shown}, and allows ${ways.length > 0 ? `only ${ways.join(' and ')}` : 'neither them nor their subdomains'}`;
}

/**
 * A common name that no rule of its own binds (cn_validations=disabled) still becomes a DNS or e-mail name, where it
 * looks like one.
 *
 * @param {Role} role
 * @param {string} commonName
 */
export function isCommonNameChecked(role, commonName) {
  const validations = listOf(role.cn_validations);
  if (validations.length !== 1 || validations[0] !== 'disabled') return true;
  return commonName.includes('@') || HOSTNAME.test(commonName.replace(/^\*\./, ''));
}

/** @param {unknown} value Vault gives lists, old versions a comma-separated string @returns {string[]} */
export function listOf(value) {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === 'string' ? value.split(',').map((each) => each.trim()) : [];
}
