/**
 * Text of a server, a file or a scenario on its way to a terminal, a log or a page. Escaped are control characters (C0, C1), line
 * breaks, bidi controls, halves of characters and noncharacters, and what GitHub takes for a command in a log: `::error::`, `##[error]`.
 */
const INVISIBLE =
  /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
/** Bounded, so that a long text takes linear time. */
const COMMANDS = /(?<=^|\s):(?=:[a-z])|:(?=:[a-z-]{1,50}(?: .{0,200})?::)|#(?=#\[)/gi;

/** @param {string} text @returns {string} with `\u{1b}` instead of each such character; safe text stays the same */
export function visibleText(text) {
  const escaped = (/** @type {string} */ character) => `\\u{${character.codePointAt(0)?.toString(16)}}`;
  return text.replace(INVISIBLE, escaped).replace(COMMANDS, escaped);
}

/** @param {string} json @returns {string} the same JSON, with `\u009b` instead of each invisible character but the line breaks between its values */
export function escapeInvisible(json) {
  const escaped = (/** @type {string} */ unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return json.replace(INVISIBLE, (character) =>
    character === '\n' ? character : character.split('').map(escaped).join(''),
  );
}

/** @template T @param {T} value plain data @returns {T} a copy in which every string and every key is visible text */
export function visibleData(value) {
  return /** @type {T} */ (copyVisible(value));
}

/** @param {unknown} value @returns {unknown} */
function copyVisible(value) {
  if (typeof value === 'string') return visibleText(value);
  if (Array.isArray(value)) return value.map(copyVisible);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [visibleText(key), copyVisible(one)]));
}
