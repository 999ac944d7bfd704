/** Parses JSON that a server sent. */

/** Keys that could break a conversion to text or to a number. */
const CONVERSIONS = new Set(['toString', 'valueOf']);

/** @param {Uint8Array} body @returns {Record<string, any> | null} null: not a JSON object */
export function parseJson(body) {
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

/** @param {unknown} value @returns {value is Record<string, any>} */
export function isRecord(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
