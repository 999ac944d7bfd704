/** Secrets do not belong into a scenario: it is kept, shown and copied into results. */

/**
 * Vault's and OpenBao's tokens, those of before Vault 1.10 (24 characters), and private keys. Shorter than the real ones, so that
 * one which was cut is found as well.
 *
 * @type {readonly {kind: 'token' | 'key', pattern: RegExp}[]}
 */
const PATTERNS = Object.freeze([
  { kind: 'token', pattern: /(?<![\w.-])hv[sbr]\.[\w-]{8,}/ },
  { kind: 'token', pattern: /(?<![\w./-])[sbr]\.(?=[A-Za-z]*\d|\w*[a-z][A-Z])[A-Za-z0-9_-]{24,}/ },
  { kind: 'key', pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----/ },
]);

/**
 * @param {string} text
 * @returns {{kind: 'token' | 'key', offset: number} | null} the first
 */
export function findSecret(text) {
  for (const { kind, pattern } of PATTERNS) {
    const found = pattern.exec(text);
    if (found !== null) return { kind, offset: found.index };
  }
  return null;
}

/**
 * @param {'token' | 'key'} kind
 * @returns {{what: string, remedy: string}}
 */
export function describeSecret(kind) {
  return kind === 'token'
    ? {
        what: 'a Vault token, which is a secret and not for files',
        remedy:
          'The token comes from BAO_TOKEN, VAULT_TOKEN or ~/.vault-token; token-env names another variable. Revoke one that others may have seen.',
      }
    : {
        what: 'a private key, which is a secret and not for files like this one',
        remedy: 'Name its own file, e.g. with client-key.',
      };
}
