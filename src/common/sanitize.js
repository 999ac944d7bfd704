/** Makes text from servers and files safe to display: redacts tokens and escapes invisible characters. */

/** Tokens that this thread knows, and those long enough to redact, longest first. @type {[Set<string>, string[]]} */
const [known, hidden] = [new Set(), []];

/**
 * Redacts this token in all further output. Tokens under 8 characters (a test server's `root`) are not secret;
 * redacting them, or parts of the tool's name, would garble the text. @param {string} token
 */
export function redactToken(token) {
  if (token !== '') known.add(token);
  if (token.length < 8 || 'vault-pki-load'.includes(token) || hidden.includes(token)) return;
  hidden.push(token);
  hidden.sort((a, b) => b.length - a.length);
}

/** For other threads. */
export const redactedTokens = () => hidden;

/** @param {string} text @param {boolean} mayBeShort a short token must be the whole text @returns {number} where a token begins; -1: nowhere */
export const findToken = (text, mayBeShort) =>
  mayBeShort && known.has(text)
    ? 0
    : (hidden.map((token) => text.indexOf(token)).find((at) => at >= 0) ?? -1);

/** @param {string} text */
export const redactTokens = (text) =>
  hidden.reduce((safe, token) => safe.replaceAll(token, '<redacted>'), text);

/** Vault's and OpenBao's token forms, and the legacy `s.`, `b.`, `r.` ones. */
const TOKEN =
  /\bhv[sbr]\.[A-Za-z0-9_-]{20,}|(?<![\w-]|\w\.)[sbr]\.(?:[A-Za-z0-9]{24}(?:\.[A-Za-z0-9]{5,6})?|[A-Za-z0-9_-]{64,})(?![\w-]|\.\w)/g;
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

/** Also tokens not in use, such as one in the wrong variable, and keys. @param {string} text */
export const withoutSecrets = (text) =>
  redactTokens(text).replace(PRIVATE_KEY, '<redacted>').replace(TOKEN, '<redacted>');

/**
 * Escapes control characters, line breaks, format characters (bidi controls; not joiners), lone surrogates,
 * noncharacters and log commands of GitHub (`::error::`, `##[error]`), Azure (`##vso[`) and TeamCity
 * (`##teamcity[`) in text from servers, files and scenarios.
 */
const INVISIBLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Noncharacter_Code_Point}\u2028\u2029]/gu;
/** Bounded, so that a long text takes linear time. */
const COMMANDS = /(?<=^|\s):(?=:[a-z])|:(?=:[a-z-]{1,50}(?: .{0,200})?::)|#(?=#[a-z]{0,20}\[)/gi;

/** @param {string} text @returns {string} with each such character as `\u{1b}` */
function escapeText(text) {
  const escaped = (/** @type {string} */ character) => `\\u{${character.codePointAt(0)?.toString(16)}}`;
  return text.replace(INVISIBLE, escaped).replace(COMMANDS, escaped);
}

/** @param {string} text @returns {string} safe text is unchanged */
export const sanitizeText = (text) => escapeText(redactTokens(text));

/** @param {string} json @returns {string} with these characters as `\u009b`, except line breaks between values */
function escapeInvisible(json) {
  const escaped = (/** @type {string} */ unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const shown = (/** @type {string} */ character) =>
    character === '\n' ? character : character.split('').map(escaped).join('');
  return json.replace(INVISIBLE, shown).replace(COMMANDS, shown);
}

/**
 * @param {any} value plain data @param {(text: string) => string} change @param {(key: string) => string} changeKey
 * @returns {any} unchanged parts are not copied
 */
function mapStrings(value, change, changeKey) {
  if (typeof value === 'string') return change(value);
  if (value === null || typeof value !== 'object') return value;
  const mapped = (/** @type {any} */ part) => mapStrings(part, change, changeKey);
  // Not the indices: a list may have millions of numbers.
  if (Array.isArray(value)) {
    if (value.every(Number.isFinite)) return value;
    const items = value.map(mapped);
    return items.every((item, i) => item === value[i]) ? value : items;
  }
  const keys = Object.keys(value);
  const parts = keys.map((key) => mapped(value[key]));
  if (keys.every((key, i) => changeKey(key) === key && parts[i] === value[key])) return value;
  return Object.fromEntries(keys.map((key, i) => [changeKey(key), parts[i]]));
}

/** Keeps tokens in keys, which reports look up; displaying a key redacts them. @param {any} value plain data */
export const sanitizeData = (value) => mapStrings(value, sanitizeText, escapeText);

/** Not the keys of our schemas, even if a token is such a word. @param {string} key */
const redactKey = (key) => (/^[a-z_]+$/i.test(key) ? key : redactTokens(key));

/** @param {any} value plain data @returns {any} without tokens, in the same shape */
export const redactData = (value) => mapStrings(value, redactTokens, redactKey);

/** Characters in a piece of JSON, at least. */
const PIECE_LENGTH = 32_768;

/** @param {any} value plain data @returns {Iterable<string>} redacted and escaped JSON, in pieces: as one string it could be too long for V8 */
export const jsonPieces = (value) => ({
  *[Symbol.iterator]() {
    let piece = '';
    for (const text of jsonOf(redactData(value))) {
      piece += escapeInvisible(text);
      if (piece.length < PIECE_LENGTH) continue;
      yield piece;
      piece = '';
    }
    yield `${piece}\n`;
  },
});

/** @param {any} value @param {string} [indent] of its lines after the first @returns {Iterable<string>} `JSON.stringify(value, null, 2)` in pieces */
function* jsonOf(value, indent = '') {
  if (isLeaf(value) || Object.values(value).every(isLeaf)) {
    return yield JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`);
  }
  const isList = Array.isArray(value);
  let before = isList ? '[' : '{';
  for (const [key, part] of Object.entries(value)) {
    if (part === undefined) continue;
    yield `${before}\n${indent}  ${isList ? '' : `${JSON.stringify(key)}: `}`;
    yield* jsonOf(part, `${indent}  `);
    before = ',';
  }
  yield `\n${indent}${isList ? ']' : '}'}`;
}

/** @param {any} value */
const isLeaf = (value) => value === null || typeof value !== 'object' || Object.keys(value).length === 0;
