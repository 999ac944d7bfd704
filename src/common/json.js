/** Parses JSON that a server sent; bounds the cost of any JSON before it is parsed. */

/** Keys that could break a conversion to text or to a number. */
const CONVERSIONS = new Set(['toString', 'valueOf']);

/** Deeper values would exhaust the memory, or the stack when they are shown. */
const MAX_DEPTH = 1000;
/** More than any response needs, except lists. Parsing a value takes up to 200 bytes and a microsecond. */
export const MAX_VALUES = 10_000;
/** Of one object of a document: reading it takes 8 us and 600 bytes for each. */
export const MAX_NAMES = 10_000;
/** Nesting of objects and lists in a document. */
export const DOCUMENT_DEPTH = 100;
/** An item of a list takes up to 48 bytes of memory, an object 200, a name up to 100 and more time. A value of a real result takes 40 bytes of the file, on average. */
const DOCUMENT = Object.freeze({ maxDepth: DOCUMENT_DEPTH, perItem: 2, perList: 4, perName: 4 });
const [MIN_VALUES, BYTES_PER_VALUE] = [1_000_000, 2];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT, COMMA, QUOTE, BACKSLASH] = Buffer.from('[]{},"\\');
/** With fewer of these, in texts or not, no limit is reached: faster to find than the ends of texts. */
const [FEW, COUNTED] = [100, [OPEN_LIST, OPEN_OBJECT, COMMA]];

/** @param {Uint8Array} bytes @param {number} octet */
function hasFew(bytes, octet) {
  let at = bytes.indexOf(octet);
  for (let count = 1; at >= 0 && count < FEW; count++) at = bytes.indexOf(octet, at + 1);
  return at < 0;
}

/**
 * @param {Uint8Array} bytes UTF-8
 * @param {{maxDepth?: number, maxValues: number, perItem?: number, perList?: number, perName?: number}} limits `perItem`, `perList`,
 *   `perName`: how many values a further item of a list, a list or an object, and a further name of an object count as
 */
export function isTooComplex(bytes, { maxDepth = MAX_DEPTH, maxValues, ...counts }) {
  const { perItem = 1, perList = 1, perName = 1 } = counts;
  const isSmall = 2 * FEW <= maxDepth && 2 * FEW * (Math.max(perName, perItem) + perList) <= maxValues;
  if (isSmall && COUNTED.every((octet) => hasFew(bytes, octet))) return false;
  let [depth, values] = [0, 1];
  /** By depth: 1 and the commas of the open object; -Infinity: a list. */
  const names = [Number.NEGATIVE_INFINITY];
  for (let i = 0; i < bytes.length && depth <= maxDepth && values <= maxValues; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) {
      while (++i < bytes.length && bytes[i] !== QUOTE) if (bytes[i] === BACKSLASH) i++;
    } else if (byte === COMMA) {
      if (++names[depth] > MAX_NAMES) return true;
      values += names[depth] > 0 ? perName : perItem;
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      names[++depth] = byte === OPEN_LIST ? Number.NEGATIVE_INFINITY : 1;
      values += perList;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--;
  }
  return depth > maxDepth || values > maxValues;
}

/**
 * Whether parsing a document would take far more memory than its text.
 * @param {Uint8Array} bytes UTF-8 @param {{perItem?: number}} [other] limits of isTooComplex
 */
export const isTooCostly = (bytes, other) =>
  isTooComplex(bytes, { ...DOCUMENT, maxValues: MIN_VALUES + bytes.length / BYTES_PER_VALUE, ...other });

/** @param {Uint8Array} body @returns {Record<string, any> | null} null: not a JSON object, nested too deep, or of too many values */
export function parseJson(body, maxValues = MAX_VALUES) {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (isTooComplex(bytes, { maxValues })) return null;
  const text = bytes.toString('utf8');
  // A reviver is slow, so only JSON that may contain such a key gets one.
  const isHarmless = !/toString|valueOf|\\u/.test(text);
  try {
    const value = JSON.parse(
      text,
      isHarmless ? undefined : (key, v) => (CONVERSIONS.has(key) ? undefined : v),
    );
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

/** @param {unknown} value @returns {boolean} whether it is a Unix time in whole seconds, as Vault sends it, with 11 digits at most */
export const isTime = (value) => typeof value === 'number' && value % 1 === 0 && value > 0 && value < 1e11;

/** @param {unknown} value @returns {value is Record<string, any>} */
export function isRecord(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Like Object.entries, which takes 100 bytes for each element of a list, but without the numbers in lists.
 * @param {object} value @returns {Generator<[string, unknown]>}
 */
export function* entriesOf(value) {
  if (!Array.isArray(value)) return yield* Object.entries(value);
  for (let i = 0; i < value.length; i++) if (typeof value[i] !== 'number') yield [String(i), value[i]];
}
