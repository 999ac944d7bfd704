/** Text from outside, on its way to a terminal or a file: without the tokens in use, and without invisible characters. */

/** Tokens of this thread; and those to hide, the longest first. @type {[Set<string>, string[]]} */
const [known, hidden] = [new Set(), []];

/**
 * From now on, `<redacted>` replaces it in output. Shorter tokens (`root` of a test server) are not secret; removing them, or the
 * tool's own name, would garble the text. @param {string} token
 */
export function hideToken(token) {
  if (token !== '') known.add(token);
  if (token.length < 8 || 'vault-pki-load'.includes(token) || hidden.includes(token)) return;
  hidden.push(token);
  hidden.sort((a, b) => b.length - a.length);
}

/** For other threads. */
export const hiddenTokens = () => hidden;

/** @param {string} text @returns {number} where a token begins; -1: nowhere. A short one must be the whole text */
export const findToken = (text) =>
  known.has(text) ? 0 : (hidden.map((token) => text.indexOf(token)).find((at) => at >= 0) ?? -1);

/** @param {string} text */
export const withoutTokens = (text) =>
  hidden.reduce((safe, token) => safe.replaceAll(token, '<redacted>'), text);

/**
 * Escapes control characters, line breaks, format characters (bidi controls; not joiners), lone surrogates,
 * noncharacters and commands to the logs of GitHub (`::error::`, `##[error]`), Azure (`##vso[`) and TeamCity
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
export const visibleText = (text) => escapeText(withoutTokens(text));

/** @param {string} json @returns {string} these as `\u009b`, except line breaks between values */
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
function mapTexts(value, change, changeKey) {
  if (typeof value === 'string') return change(value);
  if (value === null || typeof value !== 'object') return value;
  const keys = Object.keys(value);
  const parts = keys.map((key) => mapTexts(value[key], change, changeKey));
  if (keys.every((key, i) => changeKey(key) === key && parts[i] === value[key])) return value;
  if (Array.isArray(value)) return parts;
  return Object.fromEntries(keys.map((key, i) => [changeKey(key), parts[i]]));
}

/** Tokens stay in keys, which reports look up; they are removed when a key is shown. @param {any} value plain data */
export const visibleData = (value) => mapTexts(value, visibleText, escapeText);

/** Characters in a piece of JSON, at least. */
const PIECE_LENGTH = 32_768;

/** @param {any} value plain data @returns {Iterable<string>} JSON in pieces, as a whole is too long; without tokens and invisible characters */
export const visibleJson = (value) => ({
  *[Symbol.iterator]() {
    let piece = '';
    for (const text of jsonOf(mapTexts(value, withoutTokens, (key) => key))) {
      piece += escapeInvisible(text);
      if (piece.length < PIECE_LENGTH) continue;
      yield piece;
      piece = '';
    }
    yield `${piece}\n`;
  },
});

/** @param {any} value @param {string} [indent] of its lines after the first @returns {Iterable<string>} as of `JSON.stringify(value, null, 2)` */
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
