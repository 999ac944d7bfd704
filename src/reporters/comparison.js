/** The forms of a comparison that people read without a browser. */
export { render as markdown } from './comparison-markdown.js';
export { render as text } from './comparison-text.js';
