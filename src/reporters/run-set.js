/** The forms of a run set that people read without a browser. */
export { render as markdown } from './run-set-markdown.js';
export { render as text } from './run-set-text.js';
