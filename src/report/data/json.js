/** The whole document as JSON, one object, indented. */

/**
 * @param {import('../../result/document.js').Document} document
 * @returns {string} ends with a newline
 */
export function render(document) {
  return `${JSON.stringify(document, null, 2)}\n`;
}
