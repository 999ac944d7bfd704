/** Parses JSON that a server sent. */

/** Keys that could break a conversion to text or to a number. */
const CONVERSIONS = new Set(['toString', 'valueOf']);

/** Deeper values would exhaust the memory, or the stack when they are shown. */
const MAX_DEPTH = 1000;
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT, QUOTE, BACKSLASH] = Buffer.from('[]{}"\\');

/** @param {Uint8Array} bytes */
function isDeep(bytes) {
  let [depth, isText] = [0, false];
  for (let i = 0; i < bytes.length && depth <= MAX_DEPTH; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) isText = !isText;
    else if (byte === BACKSLASH) i++;
    else if (isText) continue;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth++;
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--;
  }
  return depth > MAX_DEPTH;
}

/** @param {Uint8Array} body @returns {Record<string, any> | null} null: not a JSON object, or nested too deep */
export function parseJson(body) {
  if (isDeep(body)) return null;
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
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
