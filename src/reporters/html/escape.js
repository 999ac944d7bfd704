/** Text -> markup. Everything that a server, a file or a user wrote goes through here. */

/** Controls, half surrogates, noncharacters, and what turns round the direction of the text beside it. */
const UNFIT = /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}\u202a-\u202e\u2066-\u2069]/gu;

/** @type {Record<string, string>} */
const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** @param {string} text @returns {string} as plain text that a page may show: what a script writes is not escaped */
export function fitText(text) {
  return text.replace(UNFIT, '?');
}

/**
 * @param {string} text
 * @returns {string} safe between tags and within a quoted attribute
 */
export function escapeHtml(text) {
  return fitText(text).replace(/[&<>"']/g, (character) => ENTITIES[character]);
}

/**
 * @param {unknown} value
 * @returns {string} JSON that a `<script type="application/json">` can hold whatever it says
 */
export function jsonForScript(value) {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** @param {string} text @returns {string} markup: names like `never_sent` may go on in the next line after each part */
export function breakable(text) {
  return escapeHtml(text).replace(/_(?=[^_])/g, '_<wbr>');
}
