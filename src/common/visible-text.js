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

/**
 * @template T
 * @param {T} value plain data
 * @returns {T} the same with every string and every key as visible text: a copy of the parts that change, and the other parts themselves
 */
export function visibleData(value) {
  return /** @type {T} */ (withVisible(value));
}

/** @param {unknown} value @returns {unknown} */
function withVisible(value) {
  if (typeof value === 'string') return visibleText(value);
  if (value === null || typeof value !== 'object') return value;
  const own = /** @type {Record<string, unknown>} */ (value);
  const keys = Object.keys(own);
  const parts = keys.map((key) => withVisible(own[key]));
  const isSame = keys.every((key, i) => visibleText(key) === key && parts[i] === own[key]);
  if (isSame) return value;
  return Array.isArray(value)
    ? parts
    : Object.fromEntries(keys.map((key, i) => [visibleText(key), parts[i]]));
}
