/** Where `--otlp` sends to, and with which headers. */
import { usageError } from '../common/errors.js';

/** https://opentelemetry.io/docs/specs/otel/protocol/exporter/: the variable for metrics wins over the one for all signals. */
const HEADER_VARIABLES = ['OTEL_EXPORTER_OTLP_METRICS_HEADERS', 'OTEL_EXPORTER_OTLP_HEADERS'];

/** The connection sets these. */
const RESERVED = /^(?:connection|content-(?:encoding|length|type)|expect|host|transfer-encoding|upgrade)$/;

/**
 * @param {string} text e.g. `http://127.0.0.1:4318`; a path is kept, else it is /v1/metrics
 * @returns {{origin: string, path: string, shown: string}} `path` with its query; `shown` without it, as it may hold a key
 * @throws {PkiLoadError} code `bad_url`
 */
export function parseOtlpUrl(text) {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.username || url?.password) {
    throw usageError(
      'bad_url',
      '--otlp holds a user name or password, which would be visible to others.',
      "Set it as a header, e.g. OTEL_EXPORTER_OTLP_HEADERS='Authorization=Basic%20...'.",
    );
  }
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    const what = /[@?]/.test(text) ? '' : ` ${JSON.stringify(text.slice(0, 120))}, which is`;
    throw usageError(
      'bad_url',
      `--otlp is${what} not an http:// or https:// URL.`,
      'Give the address of an OTLP/HTTP receiver, such as http://127.0.0.1:4318.',
    );
  }
  const path = url.pathname === '/' ? '/v1/metrics' : url.pathname;
  return { origin: url.origin, path: `${path}${url.search}`, shown: `${url.origin}${path}` };
}

/**
 * @param {Record<string, string | undefined>} env `NAME=VALUE,NAME=VALUE`, values percent-decoded
 * @returns {Record<string, string>} by lower-case name; values are secrets: never to be shown
 * @throws {PkiLoadError} code `bad_otlp_headers`, without any value
 */
export function readOtlpHeaders(env) {
  const variable = HEADER_VARIABLES.find((name) => env[name]?.trim()) ?? '';
  const entries = (env[variable] ?? '').split(',').map((entry) => entry.trim());
  return Object.fromEntries(
    entries.flatMap((entry, i) => (entry === '' ? [] : [parseHeader(entry, `Part ${i + 1} of ${variable}`)])),
  );
}

/** @param {string} entry @param {string} where in an error @returns {[name: string, value: string]} */
function parseHeader(entry, where) {
  const bad = (/** @type {string} */ why) =>
    usageError(
      'bad_otlp_headers',
      `${where} ${why}.`,
      'Write NAME=VALUE,NAME=VALUE, with spaces and commas of a value as %20 and %2C.',
    );
  // RFC 9110, 5.6.2: a token.
  const [, written, encoded] = /^([\w!#$%&'*+.^`|~-]+)\s*=(.*)$/s.exec(entry) ?? [];
  if (written === undefined) throw bad('does not begin with the name of a header and an equals sign');
  const name = written.toLowerCase();
  if (RESERVED.test(name)) throw bad(`sets the header ${name}, which is the connection's own`);
  try {
    const value = decodeURIComponent(encoded.trim());
    // Node sends Latin-1 without control characters as it is, and nothing else.
    if (/^[\t -~\u00a0-\u00ff]*$/.test(value)) return [name, value];
  } catch {
    // Not percent-encoded UTF-8.
  }
  throw bad(`has a bad %XX or a character that no header can hold, in the value of ${name}`);
}
