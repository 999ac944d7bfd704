/**
 * Where a text stops being JSON (RFC 8259). Only some messages of `JSON.parse` have it; a person looks for a
 * line and a column.
 */

const SPACE = /[ \t\n\r]*/y;
const WORD = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a string may not hold them
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y;

/** What a string or a word may begin with: at the end of the text it may be one that was cut off. */
const BEGUN = /["\-\dtfn]/;

/** @type {Expected[]} */
const NAMES = ['name', 'name or }'];

/** What may come next. @typedef {'value' | 'value or ]' | 'name' | 'name or }' | 'colon' | 'rest' | 'end'} Expected */

/**
 * @typedef {object} JsonPlace
 * @property {number} line from 1
 * @property {number} column from 1
 * @property {boolean} cutOff the text ends there: all that is there is in order
 */

/**
 * @param {string} text that `JSON.parse` refused
 * @returns {JsonPlace | null} null: nothing wrong was found
 */
export function placeOfJsonError(text) {
  const at = scan(text);
  if (at === null) return null;
  const before = text.slice(0, at).split('\n');
  const rest = text.slice(at);
  // A string without an end, or a number that ends with the text, began where all was well.
  const cutOff = rest === '' || (BEGUN.test(rest[0]) && isUnfinished(rest));
  return { line: before.length, column: /** @type {string} */ (before.at(-1)).length + 1, cutOff };
}

/**
 * @param {string} rest from where the trouble begins
 * @returns {boolean} it could be the beginning of a string, a word or a number
 */
function isUnfinished(rest) {
  if (rest[0] === '"') return !/[\n\r]/.test(rest) && !/^"(?:[^"\\]|\\.)*"/.test(rest);
  return ['true', 'false', 'null'].some((word) => word.startsWith(rest)) || /^-?[\d.eE+-]*$/.test(rest);
}

/** @param {string} text @returns {number | null} offset of what may not be there */
function scan(text) {
  /** Open objects and lists, the innermost last. @type {('{' | '[')[]} */
  const open = [];
  /** @type {Expected} */
  let expected = 'value';
  let at = 0;
  const take = (/** @type {RegExp} */ token) => {
    token.lastIndex = at;
    const found = token.exec(text)?.[0] ?? '';
    at += found.length;
    return found !== '';
  };
  for (;;) {
    take(SPACE);
    const next = text[at];
    if (expected === 'end') return next === undefined ? null : at;
    const step = stepOf(expected, next, open);
    if (step === 'word' || step === 'string') {
      if (!take(step === 'string' ? STRING : WORD)) return at;
      expected = NAMES.includes(expected) ? 'colon' : afterValue(open);
    } else if (step === null) return at;
    else {
      at += 1;
      expected = step;
    }
  }
}

/**
 * @param {Expected} expected
 * @param {string | undefined} next character
 * @param {('{' | '[')[]} open changed by brackets
 * @returns {Expected | 'word' | 'string' | null} a token to take, the expectation after the character, or null: unexpected
 */
function stepOf(expected, next, open) {
  if (expected === 'colon') return next === ':' ? 'value' : null;
  if (expected === 'rest') {
    const inner = open.at(-1);
    if (next === ',') return inner === '{' ? 'name' : 'value';
    return next === (inner === '{' ? '}' : ']') ? close(open) : null;
  }
  if (next === '"') return 'string';
  if (expected === 'name' || expected === 'name or }') {
    return next === '}' && expected === 'name or }' ? close(open) : null;
  }
  if (next === '{' || next === '[') {
    open.push(next);
    return next === '{' ? 'name or }' : 'value or ]';
  }
  if (next === ']' && expected === 'value or ]') return close(open);
  return next === undefined ? null : 'word';
}

/** @param {('{' | '[')[]} open */
function close(open) {
  open.pop();
  return afterValue(open);
}

/** @param {('{' | '[')[]} open @returns {Expected} */
function afterValue(open) {
  return open.length === 0 ? 'end' : 'rest';
}
