/** The whole Result as JSON, one object, indented. */

/**
 * @param {import('../results/schema.js').Result} result
 * @returns {string} ends with a newline
 */
export function render(result) {
  return `${JSON.stringify(result, null, 2)}\n`;
}
