/**
 * How one option is declared and how its text becomes a value. Declarations are the one source of flags, `--help`,
 * validation and defaults: see common-options.js and `options` in every operation.
 */
import { usageError } from './errors.js';
import { formatDuration, parseDuration, parseRate } from './units.js';

/**
 * @typedef {'text' | 'list' | 'integer' | 'duration' | 'rate' | 'choice' | 'flag' | 'file' | 'url' | 'milliseconds'} OptionType
 *   `duration` and `milliseconds` become milliseconds, `rate` becomes events per second; `list` splits at commas, and
 *   lists given several times are joined.
 */
/**
 * @typedef {object} OptionSpec
 * @property {OptionType} type
 * @property {string} describe one line for `--help`
 * @property {string} group heading in `--help`
 * @property {string} [placeholder] shown for the value in `--help`, e.g. `FILE`
 * @property {unknown} [default] as a user would write it; none: the value is null
 * @property {string} [defaultText] shown in `--help` in place of a computed default
 * @property {string[]} [alias] other names of the flag
 * @property {readonly string[]} [choices] for `choice`
 * @property {number} [min] inclusive, after conversion
 * @property {number} [max] inclusive, after conversion
 * @property {boolean} [repeatable] may be given several times; the value is then a list
 * @property {boolean} [several] on the command line it takes all values up to the next option, each time it is given: a command
 *   gets a list of lists; not for `readOptions`
 * @property {(value: any, flag: string) => void} [check] throws a usage error when the value will not do
 */

/**
 * Turns what the user gave into values, one per declaration, defaults filled in.
 *
 * @param {Record<string, OptionSpec>} specs by kebab-case name
 * @param {Record<string, unknown>} given by kebab- or camelCase name; undefined counts as not given
 * @returns {Record<string, any>} by camelCase name; null where there is neither value nor default
 */
export function readOptions(specs, given) {
  /** @type {Record<string, any>} */
  const values = {};
  for (const [name, spec] of Object.entries(specs)) {
    const key = camelCase(name);
    const flag = `--${name}`;
    const raw = given[key] ?? given[name];
    const value = raw ?? spec.default ?? null;
    values[key] = spec.repeatable
      ? asList(value).map((one) => readOne(spec, flag, one))
      : value === null
        ? emptyValue(spec)
        : readOne(spec, flag, spec.type === 'list' ? value : single(value, flag));
  }
  return values;
}

/** @param {string} name @returns {string} `alt-names` as `altNames` */
export function camelCase(name) {
  return name.replace(/[-_]([a-z])/g, (_, letter) => letter.toUpperCase());
}

/** @param {OptionSpec} spec */
function emptyValue(spec) {
  if (spec.type === 'flag') return false;
  return spec.type === 'list' ? [] : null;
}

/** @param {unknown} value @returns {unknown[]} */
function asList(value) {
  if (value === null) return [];
  return Array.isArray(value) ? value : [value];
}

/** @param {unknown} value @param {string} flag */
function single(value, flag) {
  if (!Array.isArray(value)) return value;
  throw usageError('repeated_option', `${flag} is given ${value.length} times.`, 'Give it once.');
}

/**
 * @param {OptionSpec} spec
 * @param {string} flag its name in an error
 * @param {unknown} raw
 * @returns {any}
 */
export function readOne(spec, flag, raw) {
  const value = CONVERT[spec.type](raw, flag, spec);
  if (typeof value === 'number') checkRange(spec, flag, value, raw);
  spec.check?.(value, flag);
  return value;
}

/** @type {Record<OptionType, (raw: any, flag: string, spec: OptionSpec) => unknown>} */
const CONVERT = {
  text: toText,
  file: toText,
  list: (raw, flag) => {
    const parts = asList(raw).flatMap((part) => toText(part, flag).split(','));
    return parts.map((part) => part.trim()).filter((part) => part !== '');
  },
  flag: (raw, flag) => {
    if (raw === true || raw === 'true') return true;
    if (raw === false || raw === 'false') return false;
    throw usageError('bad_option', `${flag} takes no value, but got ${quote(raw)}.`, `Write just ${flag}.`);
  },
  integer: (raw, flag) => {
    const text = String(raw).replaceAll('_', '').trim();
    if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
    throw usageError(
      'bad_option',
      `${flag} is ${quote(raw)}, which is not a whole number.`,
      'Write it in digits, e.g. 10.',
    );
  },
  milliseconds: (raw, flag) => {
    if (/^\d+(\.\d+)?$/.test(String(raw).trim())) return Number(raw);
    throw usageError(
      'bad_option',
      `${flag} is ${quote(raw)}, which is not a number of milliseconds.`,
      'Write it in digits, e.g. 500.',
    );
  },
  duration: (raw, flag) => parseDuration(raw, flag),
  rate: (raw, flag) => parseRate(raw, flag),
  choice: (raw, flag, spec) => {
    const choices = spec.choices ?? [];
    if (choices.includes(String(raw))) return String(raw);
    throw usageError('bad_option', `${flag} is ${quote(raw)}, which is not one of ${choices.join(', ')}.`);
  },
  url: toUrl,
};

/** @param {unknown} raw @param {string} flag */
function toText(raw, flag) {
  const text = String(raw);
  if (text === '') throw usageError('empty_option', `${flag} is empty.`, 'Give it a value or leave it out.');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern is for control characters
  if (/[\u0000-\u001f\u007f]/.test(text)) {
    throw usageError('bad_option', `${flag} contains a control character such as a newline.`, 'Remove it.');
  }
  return text;
}

/** @param {unknown} raw @param {string} flag @returns {string} without a trailing slash */
function toUrl(raw, flag) {
  const text = toText(raw, flag);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') {
    throw usageError(
      'bad_url',
      `${flag} is ${quote(text)}, which is not an http:// or https:// address.`,
      'Write it as http://127.0.0.1:8200.',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw usageError(
      'bad_url',
      `${flag} holds a user name or password, which would be visible to others.`,
      'Leave them out.',
    );
  }
  const extra = text.search(/[?#]/);
  if (extra >= 0) {
    throw usageError(
      'bad_url',
      `${flag} has a query or fragment (${quote(text.slice(extra))}).`,
      'Leave it out.',
    );
  }
  return text.replace(/\/+$/, '');
}

/**
 * @param {OptionSpec} spec
 * @param {string} flag
 * @param {number} value
 * @param {unknown} raw
 */
function checkRange(spec, flag, value, raw) {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY, type } = spec;
  if (value >= min && value <= max) return;
  const text = (/** @type {number} */ bound) => {
    if (type === 'duration') return formatDuration(bound);
    const unit = { milliseconds: ' ms', rate: '/s' }[/** @type {string} */ (type)] ?? '';
    return `${bound}${unit}`;
  };
  const bounds = value < min ? `at least ${text(min)}` : `at most ${text(max)}`;
  throw usageError('out_of_range', `${flag} is ${quote(raw)}; it must be ${bounds}.`);
}

/** @param {unknown} raw */
function quote(raw) {
  return JSON.stringify(String(raw).slice(0, 80));
}
