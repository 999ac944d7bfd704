/** PEM (RFC 7468): blocks between `-----BEGIN label-----` and `-----END label-----`, other text around them ignored. */

const BEGIN = '-----BEGIN ';
const MAX_LABEL = 64;

/** @typedef {{label: string, body: string | null}} PemBlock `body` is base64, null where the END line is missing */

/**
 * @param {string} text
 * @returns {Generator<PemBlock>} in time linear in the text
 */
export function* pemBlocks(text) {
  let at = text.indexOf(BEGIN);
  while (at >= 0) {
    const from = at + BEGIN.length;
    const labelEnd = text.indexOf('-----', from);
    if (labelEnd < 0) {
      yield { label: '', body: null };
      return;
    }
    if (labelEnd - from > MAX_LABEL) {
      at = text.indexOf(BEGIN, from);
      continue;
    }
    const label = text.slice(from, labelEnd);
    const bodyEnd = text.indexOf(`-----END ${label}-----`, labelEnd);
    const next = text.indexOf(BEGIN, labelEnd);
    const complete = bodyEnd >= 0 && (next < 0 || bodyEnd < next);
    yield { label, body: complete ? text.slice(labelEnd + 5, bodyEnd) : null };
    at = next;
  }
}

/**
 * @param {string} text
 * @param {RegExp} label
 * @returns {Buffer | null} DER of the first block with such a label, null when there is none or it is cut off
 */
export function decodePem(text, label) {
  for (const block of pemBlocks(text)) {
    if (label.test(block.label)) return block.body === null ? null : Buffer.from(block.body, 'base64');
  }
  return null;
}

/**
 * @param {string} label
 * @param {Uint8Array} der
 * @returns {string} with lines of 64 characters and a newline at the end
 */
export function encodePem(label, der) {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}
