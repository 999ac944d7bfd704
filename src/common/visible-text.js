/**
 * Escapes control characters, line breaks, format characters (bidi controls; not joiners), lone surrogates,
 * noncharacters and commands to the logs of GitHub (`::error::`, `##[error]`), Azure (`##vso[`) and TeamCity
 * (`##teamcity[`) in text from servers, files and scenarios.
 */
const INVISIBLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Noncharacter_Code_Point}\u2028\u2029]/gu;
/** Bounded, so that a long text takes linear time. */
const COMMANDS = /(?<=^|\s):(?=:[a-z])|:(?=:[a-z-]{1,50}(?: .{0,200})?::)|#(?=#[a-z]{0,20}\[)/gi;

/** @param {string} text @returns {string} with each such character as `\u{1b}`; safe text is unchanged */
export function visibleText(text) {
  const escaped = (/** @type {string} */ character) => `\\u{${character.codePointAt(0)?.toString(16)}}`;
  return text.replace(INVISIBLE, escaped).replace(COMMANDS, escaped);
}

/** @param {string} json @returns {string} these as `\u009b`, except line breaks between values */
export function escapeInvisible(json) {
  const escaped = (/** @type {string} */ unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const shown = (/** @type {string} */ character) =>
    character === '\n' ? character : character.split('').map(escaped).join('');
  return json.replace(INVISIBLE, shown).replace(COMMANDS, shown);
}

/** @param {any} value plain data @returns {any} with visible strings and keys; unchanged parts are not copied */
export function visibleData(value) {
  if (typeof value === 'string') return visibleText(value);
  if (value === null || typeof value !== 'object') return value;
  const keys = Object.keys(value);
  const parts = keys.map((key) => visibleData(value[key]));
  if (keys.every((key, i) => visibleText(key) === key && parts[i] === value[key])) return value;
  if (Array.isArray(value)) return parts;
  return Object.fromEntries(keys.map((key, i) => [visibleText(key), parts[i]]));
}
