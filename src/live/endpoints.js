/** The address that `--metrics` listens on, and where `--otlp` sends to, with which headers. */
import { isIP, isIPv6 } from 'node:net';
import { usageError } from '../common/errors.js';

/** Only this machine can read the metrics there. */
const DEFAULT_HOST = '127.0.0.1';

const HIGHEST_PORT = 65_535;

const REMEDY = 'Give a port or an address with one, such as 9464, 127.0.0.1:9464 or [::1]:9464.';

/**
 * `9464`, `:9464`, `127.0.0.1:9464`, `[::1]:9464`, `localhost:9464`; port 0 takes a free one. A port alone, with or without a
 * colon, listens on the loopback address; `0.0.0.0:9464` lets other machines read.
 *
 * @param {string} text
 * @param {string} [name] what to call it in an error
 * @returns {{host: string, port: number}} an IPv6 host without its brackets
 * @throws {PkiLoadError} code `bad_listen_address`
 */
export function parseListenAddress(text, name = '--metrics') {
  const source = text.trim();
  const bad = (/** @type {string} */ why) =>
    usageError('bad_listen_address', `${name} is ${JSON.stringify(source.slice(0, 80))}, ${why}.`, REMEDY);
  if (source === '') throw usageError('bad_listen_address', `${name} is empty.`, REMEDY);
  if (/^\d+$/.test(source)) return { host: DEFAULT_HOST, port: toPort(source, bad) };
  if (source.includes('/')) throw bad('which is a URL or a path, not an address to listen on');
  if (isIPv6(source)) throw bad('an IPv6 address without brackets, so its port cannot be told apart');
  const colon = source.lastIndexOf(':');
  if (colon < 0 || source.endsWith(']')) throw bad('which has no port');
  return { host: toHost(source.slice(0, colon), bad), port: toPort(source.slice(colon + 1), bad) };
}

/** @param {string} text @param {(why: string) => Error} bad */
function toPort(text, bad) {
  if (!/^\d+$/.test(text)) throw bad('whose port is not a number');
  const port = Number(text);
  if (port > HIGHEST_PORT) throw bad(`whose port is above ${HIGHEST_PORT}`);
  return port;
}

/** @param {string} text without its port @param {(why: string) => Error} bad */
function toHost(text, bad) {
  if (text === '') return DEFAULT_HOST;
  const bracketed = /^\[(.*)\]$/.exec(text)?.[1];
  if (bracketed !== undefined) {
    if (!isIPv6(bracketed)) throw bad('whose brackets hold no IPv6 address');
    return bracketed;
  }
  if (text.includes(':')) throw bad('whose host has a colon in it: an IPv6 address goes in brackets');
  // Digits and dots are an IPv4 address, never a host name: 1.2.3 is an error.
  if (/^[\d.]+$/.test(text) ? isIP(text) === 0 : !/^\w(?:[\w.-]*\w)?$/.test(text)) {
    throw bad('whose host is neither a name nor an IP address');
  }
  return text;
}

/** https://opentelemetry.io/docs/specs/otel/protocol/exporter/: the one for metrics wins over the one for all signals. */
const HEADER_VARIABLES = /** @type {const} */ ([
  'OTEL_EXPORTER_OTLP_METRICS_HEADERS',
  'OTEL_EXPORTER_OTLP_HEADERS',
]);

const DEFAULT_PATH = '/v1/metrics';

/** The connection sets these. */
const NOT_TO_SET = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'transfer-encoding',
  'upgrade',
]);

/** Words of an Authorization header that are not secret. */
const SCHEMES = new Set(['basic', 'bearer', 'digest', 'apikey', 'api-key', 'token']);

/**
 * @param {string} text e.g. `http://127.0.0.1:4318`; a path that is given is kept, else it defaults to /v1/metrics
 * @param {string} [name] what to call it in an error
 * @returns {{origin: string, path: string, shown: string}} `path` with its query; `shown` without it, as it may hold a key
 * @throws {PkiLoadError} code `bad_url`
 */
export function parseOtlpUrl(text, name = '--otlp') {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.username || url?.password) {
    throw usageError(
      'bad_url',
      `${name} holds a user name or password, which would be visible to others.`,
      "Set it as a header, e.g. OTEL_EXPORTER_OTLP_HEADERS='Authorization=Basic%20...'.",
    );
  }
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') {
    const what = /[@?]/.test(text) ? '' : ` ${JSON.stringify(text.slice(0, 120))}, which is`;
    throw usageError(
      'bad_url',
      `${name} is${what} not an http:// or https:// URL.`,
      'Give the address of an OTLP/HTTP receiver, such as http://127.0.0.1:4318.',
    );
  }
  const path = url.pathname === '/' ? DEFAULT_PATH : url.pathname;
  return { origin: url.origin, path: `${path}${url.search}`, shown: `${url.origin}${path}` };
}

/**
 * `NAME=VALUE,NAME=VALUE`, values percent-decoded.
 *
 * @param {Record<string, string | undefined>} env
 * @returns {Record<string, string>} by lower-case name; values are secrets: never to be shown
 * @throws {PkiLoadError} code `bad_otlp_headers`, without any value
 */
export function readOtlpHeaders(env) {
  const variable = HEADER_VARIABLES.find((name) => (env[name] ?? '').trim() !== '');
  if (variable === undefined) return {};
  /** @type {Record<string, string>} */
  const headers = {};
  for (const [i, entry] of String(env[variable]).split(',').entries()) {
    if (entry.trim() === '') continue;
    const [name, value] = parseHeader(entry, `Part ${i + 1} of ${variable}`);
    headers[name] = value;
  }
  return headers;
}

/**
 * @param {string} entry
 * @param {string} where what to call it in an error
 * @returns {[name: string, value: string]}
 */
function parseHeader(entry, where) {
  const bad = (/** @type {string} */ why) =>
    usageError(
      'bad_otlp_headers',
      `${where} ${why}.`,
      'Write NAME=VALUE,NAME=VALUE, with spaces and commas of a value as %20 and %2C.',
    );
  const equals = entry.indexOf('=');
  if (equals < 0) throw bad('has no equals sign');
  const name = entry.slice(0, equals).trim().toLowerCase();
  // RFC 9110, 5.6.2: a token.
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) throw bad('does not begin with the name of a header');
  if (NOT_TO_SET.has(name)) throw bad(`sets the header ${name}, which is the connection's own`);
  const value = decode(entry.slice(equals + 1).trim());
  if (value === null) throw bad(`has a percent sign that begins no %XX, in the value of ${name}`);
  // Node sends Latin-1 without control characters as it is, and nothing else.
  if (!/^[\t -~\u00a0-\u00ff]*$/.test(value)) {
    throw bad(`has a character that no header can hold, in the value of ${name}`);
  }
  return [name, value];
}

/**
 * @param {Record<string, string>} headers
 * @returns {string[]} never printed, even if the receiver's response repeats them: values, their words, decoded Basic credentials
 */
export function secretsOf(headers) {
  const parts = Object.values(headers).flatMap((value) => {
    const basic = /^basic\s+(\S+)$/i.exec(value)?.[1];
    const decoded = basic === undefined ? '' : Buffer.from(basic, 'base64').toString();
    return [value, ...value.split(/[\s,;]+/), decoded, ...decoded.split(':')];
  });
  return [...new Set(parts)].filter((part) => part !== '' && !SCHEMES.has(part.toLowerCase()));
}

/** @param {string} text @returns {string | null} null: not percent-encoded UTF-8 */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
