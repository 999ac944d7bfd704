/** The whole document as JSON, one object, indented. */
/** @import { Document } from '../../result/document.js' */

/** @param {Document} document @returns {string} ends with a newline */
export function render(document) {
  return `${JSON.stringify(document, null, 2)}\n`;
}
