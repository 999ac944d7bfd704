import assert from 'node:assert/strict';
import { test } from 'node:test';
import { targetError } from '../../src/common/errors.js';
import { checkPermission, isCommonNameChecked, whyNotAllowed } from '../../src/vault/check-role.js';

const domains = {
  allowed_domains: ['example.com'],
  enforce_hostnames: true,
  allow_wildcard_certificates: true,
};
const sub = { ...domains, allow_subdomains: true };

/** @type {[string, object, string, boolean][]} what, role, name, allowed; each as seen on Vault 1.21.1 */
const table = [
  ['a domain without any allow_* setting is not allowed', domains, 'example.com', false],
  ['a bare domain in any case', { ...domains, allow_bare_domains: true }, 'EXAMPLE.com', true],
  ['a subdomain at any depth', sub, 'a.b.example.com', true],
  ['a subdomain in different case is refused', sub, 'a.Example.com', false],
  ['a name with the same ending', sub, 'notexample.com', false],
  ['a wildcard directly below', sub, '*.example.com', true],
  ['a wildcard inside the first label', sub, 'a*.example.com', true],
  ['a wildcard in another label: left to Vault', sub, 'a.*.example.com', true],
  [
    'a glob',
    { ...domains, allowed_domains: ['app-*.example.com'], allow_glob_domains: true },
    'app-1.x.example.com',
    true,
  ],
  [
    'a glob with every part in order, once',
    { ...domains, allowed_domains: ['a*b*c'], allow_glob_domains: true },
    'a.bb.bc',
    true,
  ],
  [
    'a glob whose last part comes too early',
    { ...domains, allowed_domains: ['a*bc*cd'], allow_glob_domains: true },
    'a.bcd',
    false,
  ],
  [
    'a glob whose parts overlap',
    { ...domains, allowed_domains: ['aba*aba'], allow_glob_domains: true },
    'aba',
    false,
  ],
  [
    'a glob with many stars (a regular expression would never end)',
    { ...domains, allowed_domains: [`${'*'.repeat(24)}z`], allow_glob_domains: true },
    `${'a'.repeat(60)}.example.com`,
    false,
  ],
  [
    'a glob with many stars and letters',
    { ...domains, allowed_domains: [`${'*a'.repeat(24)}z`], allow_glob_domains: true },
    `${'a'.repeat(60)}.example.com`,
    false,
  ],
  ['a host name of one long label', sub, `${'a'.repeat(50_000)}_`, false],
  ['an underscore is not allowed in a host name', sub, 'a_b.example.com', false],
  [
    'an underscore where host names are not enforced',
    { ...sub, enforce_hostnames: false },
    'a_b.example.com',
    true,
  ],
  ['localhost', { ...sub, allow_localhost: true }, 'localhost', true],
  ['localhost disabled', { ...sub, allow_localhost: false }, 'localhost', false],
  ['any name', { ...domains, allow_any_name: true }, 'x.org', true],
  ['an e-mail address below a subdomain', sub, 'me@a.example.com', true],
  ['an e-mail address at the bare domain: left to Vault', sub, 'me@example.com', true],
  ['a template: left to Vault', { ...sub, allowed_domains_template: true }, 'x.org', true],
  ['a display name: left to Vault', { ...sub, allow_token_displayname: true }, 'x.org', true],
  ['another script: left to Vault', sub, 'bücher.example', true],
];
for (const [what, role, name, allowed] of table) {
  test(`names: ${what}`, () => assert.equal(whyNotAllowed(role, name) === null, allowed));
}

test('names: escapes control characters in text of the role', () => {
  const role = { ...sub, allowed_domains: ['\u001b]0;X\u0007\u001b[31mexample.com', '\u202emoc.elpmaxe'] };
  assert.equal(
    whyNotAllowed(role, 'a.example.org'),
    'it has allowed_domains \\u{1b}]0;X\\u{7}\\u{1b}[31mexample.com, \\u{202e}moc.elpmaxe with allow_subdomains',
  );
});

test('names: checks a common name without validation only if it becomes a DNS name', () => {
  const role = { cn_validations: ['disabled'] };
  assert.equal(isCommonNameChecked(role, 'host.example.com'), true);
  assert.equal(isCommonNameChecked(role, 'Jane Doe'), false);
  assert.equal(isCommonNameChecked({ cn_validations: ['email', 'hostname'] }, 'Jane Doe'), true);
});

/** @param {string} code @returns {any} a client whose every call fails with it */
const failing = (code) => ({ write: async () => Promise.reject(targetError(code, 'It failed.', 'Wait.')) });

test('unavailable capabilities do not stop a run', async () => {
  for (const code of [
    'vault_permission_denied',
    'vault_unsupported',
    'vault_rate_limited',
    'vault_unavailable',
  ])
    await checkPermission(failing(code), 'pki/issue/r');
  for (const code of ['interrupted', 'connection_refused'])
    await assert.rejects(checkPermission(failing(code), 'pki/issue/r'), { code });
  const client = /** @type {any} */ ({ write: async () => ({ data: { 'pki/issue/r': ['deny'] } }) });
  await assert.rejects(checkPermission(client, 'pki/issue/r'), { code: 'role_permission_denied' });
});
