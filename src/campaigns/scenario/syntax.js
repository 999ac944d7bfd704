/** What the YAML parser finds wrong, in words that say what to do. */

const EITHER = 'A scenario is YAML, or JSON.';

/** @type {Readonly<Record<string, [problem: string, remedy: string]>>} by the parser's code */
const FAULTS = Object.freeze({
  TAB_AS_INDENT: ['A tab indents this line', 'YAML is indented by spaces; put two for each tab.'],
  BAD_INDENT: ['This line is indented by too little or too much', 'Line it up with those it belongs to.'],
  MULTIPLE_DOCS: ['A second document begins here (---)', 'Write each scenario into a file of its own.'],
  NON_STRING_KEY: ['A key here is not a text', 'Write it as KEY: VALUE.'],
  BLOCK_AS_IMPLICIT_KEY: [
    'Something with a colon or a dash stands where only a value may',
    'Put the value in quotes, or on lines of its own, indented.',
  ],
  MULTILINE_IMPLICIT_KEY: ['This is no KEY: VALUE', 'Write a colon and a space behind the key.'],
  BAD_DQ_ESCAPE: ['An escape in this text is not known', 'Write \\\\ for a backslash, or use single quotes.'],
  BAD_ALIAS: ['An alias needs a name', 'Put a text that begins with * in quotes.'],
});

/**
 * @param {import('yaml').YAMLParseError | import('yaml').YAMLWarning} fault
 * @param {string} text of the file
 * @returns {{problem: string, remedy: string}}
 */
export function explainFault({ code, message, pos: [offset] }, text) {
  const line = lineAt(text, offset);
  const shown = line === '' ? 'the end of the file' : JSON.stringify(line);
  if (code === 'DUPLICATE_KEY') {
    const key = /^[^\s:,{}]+/.exec(text.slice(offset))?.[0] ?? '';
    return { problem: `${key} is there a second time: ${shown}`, remedy: 'Leave one of them out.' };
  }
  if (code === 'TAG_RESOLVE_FAILED') {
    return { problem: `A tag is not known: ${shown}`, remedy: 'Put a text that begins with ! in quotes.' };
  }
  if (code === 'BAD_SCALAR_START') {
    return { problem: `A text may not begin like this: ${shown}`, remedy: 'Put it in quotes.' };
  }
  const missing = /^Missing closing (.)quote|end with an? ([\]}])$/.exec(message);
  if (missing !== null) {
    return { problem: `There is no closing ${missing[1] ?? missing[2]} up to ${shown}`, remedy: EITHER };
  }
  if (Object.hasOwn(FAULTS, code)) {
    const [problem, remedy] = FAULTS[code];
    return { problem: `${problem}: ${shown}`, remedy };
  }
  return { problem: `This cannot be read: ${shown} (${message.replace(/\.$/, '')})`, remedy: EITHER };
}

/**
 * @param {string} text
 * @param {number} offset
 * @returns {string} the line there, by its beginning
 */
function lineAt(text, offset) {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const end = text.indexOf('\n', offset);
  const line = text.slice(start, end === -1 ? undefined : end).trimEnd();
  return line.length <= 60 ? line : `${line.slice(0, 60)}...`;
}
