/** Makes server text safe to print: one line, bounded, without secrets and without control characters. */
import { visibleText } from '../common/visible-text.js';

/** Vault's and OpenBao's token forms, and the legacy `s.`, `b.`, `r.` ones. */
const TOKEN = /\b(?:hv[sbr]|[sbr])\.[A-Za-z0-9_-]{20,}/g;
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

/** Shorter tokens (`root` of a test server) are not secret, and redacting them would garble the text. */
const SHORTEST_SECRET = 8;

/**
 * @param {string} text @param {(string | null | undefined)[]} [secrets] exact strings to remove
 * @returns {string} at most 300 characters
 */
export function redact(text, secrets = []) {
  const line = withoutSecrets(text, secrets).replace(/\s+/g, ' ').trim();
  const visible = visibleText(line.slice(0, 301));
  return visible.length > 300 ? `${visible.slice(0, 299)}…` : visible;
}

/** Like `redact`, but keeps length and line breaks. @type {typeof redact} */
export function withoutSecrets(text, secrets = []) {
  let safe = text;
  for (const secret of secrets) {
    if (secret && secret.length >= SHORTEST_SECRET) safe = safe.replaceAll(secret, '<redacted>');
  }
  return safe.replace(PRIVATE_KEY, '<redacted>').replace(TOKEN, '<redacted>');
}
