/** The text of a scenario, YAML 1.2 or JSON, with the place of everything in it: errors say line, column and what stands there. */
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import { usageError } from '../../common/errors.js';

/** @import { PkiLoadError } from '../../common/errors.js' */
/** @import { Document, YAMLParseError, YAMLWarning } from 'yaml' */

/** @typedef {(string | number)[]} Path keys and list positions, from the top */
/** @typedef {{line: number, column: number, text: string}} Place both from 1; `text`: what stands there, its first line */
/**
 * @typedef {object} Source
 * @property {string} name of the file
 * @property {unknown} value plain data
 * @property {(path: Path, part?: 'key' | 'value') => Place} placeOf of what is not there, the place of what should hold it
 * @property {(path: Path, problem: string, remedy?: string, part?: 'key' | 'value') => PkiLoadError} error
 *   code `bad_scenario`, saying where; the variables that stand there, too
 */

const MOST_CHARACTERS = 60;

const MOST_ALIASES = 100;

/** Keys are compared with each other, so time grows with the square of their number. */
const MOST_TEXT = 100_000;

/**
 * @param {string} text
 * @param {string} name of the file, for errors
 * @returns {Source}
 * @throws {PkiLoadError} code `bad_scenario`: it is neither YAML nor JSON, or holds a secret
 */
export function parseSource(text, name) {
  const counter = new LineCounter();
  const at = (/** @type {number} */ offset) => {
    const { line, col } = counter.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const fault = (
    /** @type {number} */ offset,
    /** @type {string} */ problem,
    /** @type {string} */ remedy,
  ) => {
    const { line, column } = at(offset);
    return usageError('bad_scenario', `${name}:${line}:${column}: ${sentence(problem)}`, remedy);
  };
  checkText(text, name);
  const document = parse(text, name, counter);
  const secret = findSecret(text);
  if (secret !== null) {
    const { what, remedy } = describeSecret(secret.kind);
    throw fault(secret.offset, `This looks like ${what}`, remedy);
  }
  const [wrong] = [...document.errors, ...document.warnings];
  if (wrong !== undefined) {
    const { problem, remedy } = explainFault(wrong, text);
    throw fault(wrong.pos[0], problem, remedy);
  }
  const value = toPlain(document, fault);
  if (isCircular(value)) {
    throw fault(
      aliasOffset(document, undefined),
      'An alias stands for what it is in',
      'Write it without it.',
    );
  }
  if (value === null || value === undefined) {
    throw fault(0, 'There is nothing in it', 'The least is name: NAME and mix: [{operation: issue}].');
  }

  /** @param {Path} path @param {'key' | 'value'} part @returns {Place} */
  function placeOf(path, part) {
    const range = rangeOf(document.contents, path, part);
    const [start, end] = range ?? [0, 0];
    return { ...at(start), text: firstLine(text.slice(start, end)) };
  }

  return {
    name,
    value,
    placeOf: (path, part = 'value') => placeOf(path, part),
    error(path, problem, remedy, part = 'value') {
      const { line, column, text: there } = placeOf(path, part);
      const variables = part === 'value' ? (there.match(/\$\{\w+\}/g) ?? []) : [];
      const where = path.length === 0 || variables.length === 0 ? '' : ` (${variables.join(', ')})`;
      const what = path.length === 0 ? '' : `${pathText(path)}${where}: `;
      return usageError('bad_scenario', `${name}:${line}:${column}: ${what}${sentence(problem)}`, remedy);
    },
  };
}

/** @param {Path} path @returns {string} `mix[0].weight` */
function pathText(path) {
  return path
    .map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? shown(step) : `.${shown(step)}`))
    .join('');
}

/** @param {string} key @returns {string} on one line, and not too long */
function shown(key) {
  return firstLine(/^[\w$.{}<>-]+$/.test(key) ? key : JSON.stringify(key));
}

/** @param {string} text @param {string} name */
function checkText(text, name) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u0008\u000e-\u001f\ufffd]/.test(text)) {
    throw usageError(
      'bad_scenario',
      `${name}: It is not text in UTF-8.`,
      'A scenario is a YAML or JSON file; save it as UTF-8.',
    );
  }
  if (text.length > MOST_TEXT) {
    throw usageError(
      'bad_scenario',
      `${name}: It has ${text.length} characters, and ${MOST_TEXT} are the most.`,
      'A result is read by report; a scenario is far shorter.',
    );
  }
}

/** @param {string} text @param {string} name @param {LineCounter} lineCounter */
function parse(text, name, lineCounter) {
  try {
    const document = parseDocument(text, {
      lineCounter,
      prettyErrors: false,
      stringKeys: true,
      logLevel: 'error',
    });
    // What nests a thousand levels deep exhausts the parser's stack, and it may say so as if it were an error of syntax.
    if (!document.errors.some(({ message }) => message.startsWith('Maximum call stack'))) return document;
    throw new RangeError();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw usageError('bad_scenario', `${name}: It is nested too deeply to be read.`, 'Write it flatter.');
  }
}

/**
 * @param {Document} document
 * @param {(offset: number, problem: string, remedy: string) => PkiLoadError} fault
 * @returns {unknown}
 */
function toPlain(document, fault) {
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    const [, missing] = /^Unresolved alias.*: (.*)$/s.exec(message) ?? [];
    const offset = aliasOffset(document, missing);
    if (missing !== undefined) {
      throw fault(
        offset,
        `The alias *${firstLine(missing)} stands for nothing`,
        'Mark what it stands for with &NAME, above it; or put the text in quotes.',
      );
    }
    throw fault(
      offset,
      'Aliases stand for each other, or for more than can be read',
      'Write it without so many aliases.',
    );
  }
}

/**
 * @param {unknown} value
 * @param {readonly unknown[]} [above] what it is in
 * @returns {boolean} it is in itself
 */
function isCircular(value, above = []) {
  if (typeof value !== 'object' || value === null) return false;
  if (above.includes(value)) return true;
  const within = [...above, value];
  return Object.values(value).some((one) => isCircular(one, within));
}

/**
 * @param {Document} document
 * @param {string | undefined} name of the alias; undefined: any
 * @returns {number} of the first of them
 */
function aliasOffset(document, name) {
  let offset = 0;
  visit(document, {
    Alias(_, node) {
      if (name !== undefined && node.source !== name) return undefined;
      offset = node.range?.[0] ?? 0;
      return visit.BREAK;
    },
  });
  return offset;
}

/**
 * @param {unknown} contents
 * @param {Path} path
 * @param {'key' | 'value'} part of the last step
 * @returns {[start: number, end: number] | null}
 */
function rangeOf(contents, path, part) {
  let range = nodeRange(contents);
  let node = contents;
  for (const [i, step] of path.entries()) {
    if (isAlias(node)) return range;
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
      if (pair === undefined) return range;
      const isKey = part === 'key' && i === path.length - 1;
      const valueRange = nodeRange(pair.value);
      // Of a value that is left out, the key: its own place is behind everything that follows.
      const isThere = valueRange !== null && valueRange[1] > valueRange[0];
      range = (isKey || !isThere ? nodeRange(pair.key) : valueRange) ?? range;
      node = pair.value;
    } else if (isSeq(node) && node.items[Number(step)] !== undefined) {
      node = node.items[Number(step)];
      range = nodeRange(node) ?? range;
    } else return range;
  }
  return range;
}

/**
 * @param {unknown} node
 * @returns {[start: number, end: number] | null} of its own text, without what is behind it
 */
function nodeRange(node) {
  const range = /** @type {{range?: [number, number, number] | null} | null} */ (node)?.range;
  return range === undefined || range === null ? null : [range[0], range[1]];
}

/** @param {string} text */
function firstLine(text) {
  const [line] = text.trim().split('\n');
  return line.length <= MOST_CHARACTERS ? line : `${line.slice(0, MOST_CHARACTERS)}...`;
}

/** @param {string} text @returns {string} ends with a full stop */
function sentence(text) {
  const line = text.split('\n')[0].trim();
  return /[.!?]$/.test(line) ? line : `${line}.`;
}

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
 * @param {YAMLParseError | YAMLWarning} fault
 * @param {string} text of the file
 * @returns {{problem: string, remedy: string}}
 */
function explainFault({ code, message, pos: [offset] }, text) {
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

/** @param {string} text @param {number} offset @returns {string} the line there, by its beginning */
function lineAt(text, offset) {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const end = text.indexOf('\n', offset);
  const line = text.slice(start, end === -1 ? undefined : end).trimEnd();
  return line.length <= 60 ? line : `${line.slice(0, 60)}...`;
}

/**
 * Vault's and OpenBao's tokens, those of before Vault 1.10 (24 characters), and private keys. Shorter than the real ones, so that
 * one which was cut is found as well.
 *
 * @type {readonly {kind: 'token' | 'key', pattern: RegExp}[]}
 */
const PATTERNS = Object.freeze([
  { kind: 'token', pattern: /(?<![\w.-])hv[sbr]\.[\w-]{8,}/ },
  { kind: 'token', pattern: /(?<![\w./-])[sbr]\.(?=[A-Za-z]*\d|\w*[a-z][A-Z])[A-Za-z0-9_-]{24,}/ },
  { kind: 'key', pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----/ },
]);

/** @param {string} text @returns {{kind: 'token' | 'key', offset: number} | null} the first */
export function findSecret(text) {
  for (const { kind, pattern } of PATTERNS) {
    const found = pattern.exec(text);
    if (found !== null) return { kind, offset: found.index };
  }
  return null;
}

/** @param {'token' | 'key'} kind @returns {{what: string, remedy: string}} */
export function describeSecret(kind) {
  return kind === 'token'
    ? {
        what: 'a Vault token, which is a secret and not for files',
        remedy:
          'The token comes from BAO_TOKEN, VAULT_TOKEN or ~/.vault-token; token-env names another variable. Revoke one that others may have seen.',
      }
    : {
        what: 'a private key, which is a secret and not for files like this one',
        remedy: 'Name its own file, e.g. with client-key.',
      };
}
