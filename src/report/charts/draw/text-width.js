/** Upper bounds of the width of a text in the fonts that browsers take for `system-ui`; DejaVu Sans, the widest, sets them. */

/** In ems; the first match counts. @type {[RegExp, number][]} */
const WIDTHS = [
  [/[ijlI|.,:;']/, 0.36],
  [/[ftr()[\]/\\ "!-]/, 0.46],
  [/[0-9]/, 0.64],
  [/[mwMW@%…—]/, 1],
  [/[a-z_µ{}–]/, 0.65],
  [/[A-Z&<>=+~^#?*$]/, 0.84],
  [/[\u00c0-\u024f]/, 1.1],
];

/** Any other character: other scripts, emoji. */
const WIDE = 1.4;

/**
 * @param {string} text
 * @param {number} size of the font
 * @returns {number} in the unit of `size`
 */
export function textWidth(text, size) {
  let ems = 0;
  for (const character of text) {
    ems += WIDTHS.find(([pattern]) => pattern.test(character))?.[1] ?? WIDE;
  }
  return ems * size;
}

/**
 * @param {string} text
 * @param {number} room in the unit of `size`
 * @param {number} size of the font
 * @returns {string} the text, or its beginning with an ellipsis
 */
export function ellipsize(text, room, size) {
  if (textWidth(text, size) <= room) return text;
  let kept = '';
  for (const character of text) {
    if (textWidth(`${kept}${character}…`, size) > room) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}
