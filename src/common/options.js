/**
 * Declares options and converts their text to values. Declarations are the only source of flags, `--help`,
 * validation and defaults: see common-options.js and `options` in every operation.
 */
import { badValue, quote, usageError } from './errors.js';
import { formatDuration, parseDuration, parseRate, WHOLE_PATTERN } from './units.js';

/**
 * @typedef {'text' | 'list' | 'integer' | 'duration' | 'rate' | 'choice' | 'flag' | 'file' | 'url'} OptionType
 *   `duration` becomes milliseconds, `rate` events per second; `list` splits at commas, and repeated lists are joined.
 */
/**
 * @typedef {object} OptionSpec
 * @property {OptionType} type
 * @property {string} describe one line for `--help`
 * @property {string} group heading in `--help`
 * @property {string} [placeholder] of the value in `--help`, e.g. `FILE`
 * @property {unknown} [default] as a user would write it; without it, the value is null
 * @property {string} [defaultText] shown in `--help` instead of a computed default
 * @property {string[]} [alias] other names of the flag
 * @property {readonly string[]} [choices] for `choice`
 * @property {number} [min] inclusive, after conversion
 * @property {number} [max] inclusive, after conversion
 * @property {boolean} [repeatable] may be given several times; the value is then a list
 * @property {boolean} [several] takes all values up to the next option: the command receives a list of lists;
 *   not for `readOptions`
 * @property {boolean} [socket] a `url` may be a Unix socket, unix:///PATH
 * @property {boolean} [isWhole] a `url` is that of the requests: a slash at its end counts
 * @property {(value: any, flag: string) => void} [check] throws a usage error if the value is wrong
 */
/** @typedef {Omit<OptionSpec, 'group'>} UngroupedSpec */

/** @type {Partial<Record<OptionType, string>>} */
const PLACEHOLDERS = {
  integer: 'N',
  duration: 'TIME',
  rate: 'N/s',
  file: 'FILE',
  url: 'URL',
  text: 'NAME',
};

/** @param {OptionType} type @param {string} describe @param {Partial<OptionSpec>} [more] @returns {UngroupedSpec} */
export function option(type, describe, more) {
  return { type, describe, ...more };
}

/**
 * @param {string} group @param {Record<string, UngroupedSpec>} specs by kebab-case name
 * @returns {Record<string, OptionSpec>} with the group and a placeholder added
 */
export function inGroup(group, specs) {
  const withGroup = (/** @type {UngroupedSpec} */ spec) => {
    const placeholder = spec.placeholder ?? PLACEHOLDERS[spec.type];
    return { ...spec, group, ...(placeholder === undefined ? {} : { placeholder }) };
  };
  return Object.fromEntries(Object.entries(specs).map(([name, spec]) => [name, withGroup(spec)]));
}

/**
 * Reads the value of each declared option, or its default.
 * @param {Record<string, OptionSpec>} specs by kebab-case name
 * @param {Record<string, unknown>} values by kebab- or camelCase name; undefined counts as not set
 * @returns {Record<string, any>} by camelCase name
 */
export function readOptions(specs, values) {
  const read = (/** @type {string} */ name, /** @type {OptionSpec} */ spec) => {
    const value = values[camelCase(name)] ?? values[name] ?? spec.default ?? null;
    if (spec.repeatable) return [value ?? []].flat().map((item) => readOne(spec, `--${name}`, item));
    if (value === null) return spec.type === 'flag' ? false : spec.type === 'list' ? [] : null;
    if (spec.type === 'list' || !Array.isArray(value)) return readOne(spec, `--${name}`, value);
    throw usageError('repeated_option', `--${name} is given ${value.length} times.`, 'Use it once.');
  };
  return Object.fromEntries(Object.entries(specs).map(([name, spec]) => [camelCase(name), read(name, spec)]));
}

/** @param {string} name @returns {string} `alt-names` as `altNames` */
export function camelCase(name) {
  return name.replace(/[-_]([a-z])/g, (_, letter) => letter.toUpperCase());
}

/**
 * @param {string} command for the error
 * @param {Record<string, OptionSpec>} specs @param {Record<string, unknown>} values by kebab- or camelCase name
 */
export function rejectUnknownOptions(command, specs, values) {
  const known = new Set(Object.keys(specs).flatMap((name) => [name, camelCase(name)]));
  const unknown = Object.keys(values).find((key) => values[key] !== undefined && !known.has(key));
  if (unknown === undefined) return;
  const message = `${command} has no option ${JSON.stringify(unknown)}.`;
  throw usageError('unknown_option', message, 'See --help for its options.');
}

/** @param {OptionSpec} spec @param {string} flag its name in an error @param {unknown} raw @returns {any} */
export function readOne(spec, flag, raw) {
  const value = CONVERT[spec.type](raw, flag, spec);
  if (typeof value === 'number') checkRange(spec, flag, value, raw);
  spec.check?.(value, flag);
  return value;
}

const WHOLE = new RegExp(`^${WHOLE_PATTERN}$`);

/** @type {Record<OptionType, (raw: any, flag: string, spec: OptionSpec) => unknown>} */
const CONVERT = {
  text: toText,
  file: toText,
  list: (raw, flag) => {
    const parts = [raw].flat().flatMap((part) => toText(part, flag).split(','));
    return parts.map((part) => part.trim()).filter((part) => part !== '');
  },
  flag: (raw, flag) => {
    if (String(raw) === 'true' || String(raw) === 'false') return String(raw) === 'true';
    throw usageError('bad_option', `${flag} takes no value, but got ${quote(raw)}.`, `Write just ${flag}.`);
  },
  integer: (raw, flag) => {
    const text = String(raw).trim();
    const value = WHOLE.test(text) ? Number(text.replaceAll('_', '')) : Number.NaN;
    if (Number.isSafeInteger(value)) return value;
    throw badValue(flag, raw, 'not a whole number', 'Write it in digits, e.g. 10.');
  },
  duration: (raw, flag) => parseDuration(raw, flag),
  rate: (raw, flag, { min }) => parseRate(raw, flag, min === 0),
  choice: (raw, flag, { choices = [] }) => {
    if (choices.includes(String(raw))) return String(raw);
    throw badValue(flag, raw, `not one of ${choices.join(', ')}`);
  },
  url: (raw, flag, { socket, isWhole = false }) => {
    const url = readUrl(toText(raw, flag), flag, socket);
    return isWhole ? url : withoutSlashAtEnd(url);
  },
};

/** @param {unknown} raw @param {string} flag */
function toText(raw, flag) {
  const text = String(raw);
  if (text === '') throw usageError('empty_option', `${flag} is empty.`, 'Set a value or leave it out.');
  if (!/\p{Cc}/u.test(text)) return text;
  throw usageError('bad_option', `${flag} contains a control character such as a newline.`, 'Remove it.');
}

/** Parsing takes quadratic time: a certificate can name a host of 100,000 characters. */
const MAX_URL_LENGTH = 2048;

/** Of a Unix socket's path (sun_path, with a zero at its end). Node.js 20 would cut a longer one, and connect to another socket. */
const MAX_SOCKET_BYTES = process.platform === 'linux' ? 107 : 103;

/** @param {string} url */
export const isSocket = (url) => url.startsWith('unix:');

/** @param {string} url @returns {string} scheme, host and port, or unix:///PATH, which may contain a colon */
export const originOf = (url) => (isSocket(url) ? url : new URL(url).origin);

/** @param {string} url @returns {string} */
export const withoutSlashAtEnd = (url) => url.replace(/(?<!\/)\/+$/, '');

/** @param {string} text @param {string} name of the option @param {boolean} [socket] see OptionSpec @returns {string} as given */
export function readUrl(text, name, socket = false) {
  const bad = (/** @type {string} */ problem, /** @type {string} */ remedy) =>
    usageError('bad_url', `${name} ${problem}.`, remedy);
  if (text.length > MAX_URL_LENGTH)
    throw bad(`is longer than ${MAX_URL_LENGTH} characters`, 'Use a shorter address.');
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.username || url?.password)
    throw bad('contains a user name or password, which would be visible to others', 'Leave them out.');
  // Quotes the value of flags only: VAULT_ADDR holds the token if the user swapped the two variables.
  const isFlag = name.startsWith('--');
  if (url === null || !(/^https?:\/\//i.test(text) || (socket && /^unix:\/\/\/[^/]/.test(text)))) {
    const problem = `not an http://${socket ? ', https:// or unix:///PATH' : ' or https://'} address`;
    const remedy = 'Use an address such as http://127.0.0.1:8200.';
    throw isFlag ? badValue(name, text, problem, remedy, 'bad_url') : bad(`is ${problem}`, remedy);
  }
  if (isSocket(text) && Buffer.byteLength(text.slice('unix://'.length)) > MAX_SOCKET_BYTES)
    throw bad(`has a path of more than ${MAX_SOCKET_BYTES} bytes`, 'Use a shorter path, such as a link.');
  const extra = text.search(/[?#]/);
  const quoted = isFlag ? ` (${quote(text.slice(extra))})` : '';
  if (extra >= 0) throw bad(`has a query or fragment${quoted}`, 'Leave it out.');
  return text;
}

const PART = String.raw`(\[[\da-f:.]+\]|[^:[\]/\s]*)`;
const CONNECT_TO = new RegExp(`^${PART}:(\\d*):${PART}:(\\d*)$`, 'i');

/**
 * curl's --connect-to: HOST1:PORT1:HOST2:PORT2; an empty HOST1 or PORT1 fits all, an empty HOST2 or PORT2 keeps the server's.
 * @param {string} text @returns {{from: {host: string, port: string}, to: {host: string, port: string}} | null} null: not such text
 */
export function parseConnectTo(text) {
  const [whole, ...parts] = CONNECT_TO.exec(text.toLowerCase()) ?? [];
  if (
    whole === undefined ||
    [parts[1], parts[3]].some((port) => port !== '' && !(+port > 0 && +port < 65_536))
  )
    return null;
  const [fromHost, fromPort, toHost, toPort] = parts.map((part) => part.replace(/^\[|\]$/g, ''));
  return { from: { host: fromHost, port: fromPort }, to: { host: toHost, port: toPort } };
}

/** @param {string} text @param {string} flag */
export function checkConnectTo(text, flag) {
  const example = 'Write HOST1:PORT1:HOST2:PORT2, such as vault.example.com:8200:10.0.0.7:8200.';
  if (parseConnectTo(text) === null) throw badValue(flag, text, 'not two hosts with their ports', example);
}

/** @param {OptionSpec} spec @param {string} flag @param {number} value @param {unknown} raw */
function checkRange({ type, min = -Infinity, max = Infinity }, flag, value, raw) {
  if (value >= min && value <= max) return;
  const [which, bound] = value < min ? ['least', min] : ['most', max];
  const shown = type === 'duration' ? formatDuration(bound) : type === 'rate' ? `${bound}/s` : bound;
  throw usageError('out_of_range', `${flag} is ${quote(raw)}; it must be at ${which} ${shown}.`);
}
