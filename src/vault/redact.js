/** Makes server text safe to print: one line, bounded, without secrets and without control characters. */
import { redactTokens, sanitizeText } from '../common/sanitize.js';

/** Vault's and OpenBao's token forms, and the legacy `s.`, `b.`, `r.` ones. */
const TOKEN = /\b(?:hv[sbr]|[sbr])\.[A-Za-z0-9_-]{20,}/g;
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

/** @param {string} text @returns {string} at most 300 characters */
export function redact(text) {
  const line = withoutSecrets(text).replace(/\s+/g, ' ').trim();
  const visible = sanitizeText(line.slice(0, 301));
  return visible.length > 300 ? `${visible.slice(0, 299)}…` : visible;
}

/** Like `redact`, but keeps length and line breaks. @param {string} text */
export function withoutSecrets(text) {
  return redactTokens(text).replace(PRIVATE_KEY, '<redacted>').replace(TOKEN, '<redacted>');
}
