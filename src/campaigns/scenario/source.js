/** The text of a scenario, YAML 1.2 or JSON, and the place of each value in it: an error gives line, column and key. */
import { isMap, isScalar, isSeq, Lexer, LineCounter, Parser, parseDocument, visit } from 'yaml';
import { usageError } from '../../common/errors.js';
import { visibleText } from '../../common/visible-text.js';

/** @import { PkiLoadError } from '../../common/errors.js' */
/** @import { Document, YAMLParseError, YAMLWarning } from 'yaml' */

/** @typedef {(string | number)[]} Path keys and list positions, from the top */
/** @typedef {'key' | 'value'} Part */
/**
 * @typedef {object} Source
 * @property {string} name of the file
 * @property {unknown} value plain data
 * @property {(path: Path, part?: Part) => number} offsetOf of a missing value, the offset of the value that should hold it
 * @property {(path: Path, problem: string, remedy?: string, part?: Part) => PkiLoadError} error code `bad_scenario`; its message
 *   has the place and the variables that the value there refers to
 */

/** Of the file's text in a message. */
const MAX_SHOWN = 60;
const MAX_ALIASES = 100;
const MAX_DEPTH = 40;
/** The parser compares keys pairwise: its time grows with the square of their number. */
const MAX_CHARACTERS = 100_000;

/**
 * @param {string} text
 * @param {string} name of the file, for errors
 * @returns {Source}
 * @throws {PkiLoadError} code `bad_scenario`: the text is neither YAML nor JSON, or holds a secret
 */
export function parseSource(text, name) {
  const lines = new LineCounter();
  const errorAt = (
    /** @type {number | null} */ offset,
    /** @type {string} */ problem,
    /** @type {string} */ remedy = '',
  ) => {
    const { line, col } = lines.linePos(offset ?? 0);
    const place = offset === null ? '' : `${Math.max(1, line)}:${Math.max(1, col)}:`;
    const message = visibleText(`${name}:${place} ${sentence(problem)}`);
    return usageError('bad_scenario', message, visibleText(remedy) || undefined);
  };
  if (text.length > MAX_CHARACTERS) {
    const problem = `The file has more than ${MAX_CHARACTERS} characters`;
    throw errorAt(null, problem, 'Use report to read a result.');
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern is for control characters
  if (/[\u0000-\u0008\u000e-\u001f\ufffd]/.test(text)) {
    throw errorAt(
      null,
      'The file is not text in UTF-8',
      'A scenario is a YAML or JSON file; save it as UTF-8.',
    );
  }
  if (isNestedTooDeeply(text)) throw errorAt(null, TOO_DEEP, FLATTER);
  const document = parseDocument(text, {
    ...{ lineCounter: lines, prettyErrors: false, stringKeys: true },
    logLevel: 'error',
  });
  const secret = findSecret(text);
  if (secret !== null) throw errorAt(secret.offset, `This looks like ${secret.what}`, secret.remedy);
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined) {
    const [offset] = fault.pos;
    const { problem, remedy } = explainFault(fault, lineAt(text, offset));
    throw errorAt(offset, problem, remedy);
  }
  const value = toPlain(document, errorAt);
  const rangeOf = (/** @type {Path} */ path, /** @type {Part} */ part = 'value') =>
    findRange(document.contents, path, part);
  return {
    name,
    value,
    offsetOf: (path, part) => rangeOf(path, part)[0],
    error(path, problem, remedy, part = 'value') {
      const [start, end] = rangeOf(path, part);
      const variables = part === 'value' ? firstLine(text.slice(start, end)).match(/\$\{\w+\}/g) : null;
      const what = `${pathText(path)}${variables === null ? '' : ` (${variables.join(', ')})`}: `;
      return errorAt(start, path.length === 0 ? problem : `${what}${problem}`, remedy);
    },
  };
}

/**
 * The composer of parseDocument is recursive, and V8 ends the process where a regular expression is compiled at the end of the stack.
 *
 * @param {string} text
 */
function isNestedTooDeeply(text) {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    for (const _token of parser.next(lexeme));
    if (parser.stack.length > 2 * MAX_DEPTH) return true;
  }
  return false;
}

/**
 * @param {Document} document
 * @param {(offset: number, problem: string, remedy: string) => PkiLoadError} errorAt
 * @returns {unknown}
 */
function toPlain(document, errorAt) {
  const aliasError = (
    /** @type {string} */ problem,
    /** @type {string} */ remedy,
    /** @type {string} */ name = '',
  ) => errorAt(aliasOffset(document, name), problem, remedy);
  /** @type {unknown} */
  let value;
  try {
    value = document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    const [, missing] = /^Unresolved alias[^:]*: (.*)$/s.exec(/** @type {Error} */ (error).message) ?? [];
    throw missing === undefined
      ? aliasError('The aliases expand to too much', 'Write the values out.')
      : aliasError(
          `There is no anchor for the alias *${firstLine(missing)}`,
          'Mark the value with &NAME above it; or put the text in quotes.',
          missing,
        );
  }
  if (isTooDeep(value)) throw aliasError(`${TOO_DEEP}, or an alias is inside its own value`, FLATTER);
  if (value === null || value === undefined) throw errorAt(0, 'The file is empty', MINIMUM);
  return value;
}

/** @param {unknown} value @param {number} [depth] @returns {boolean} true, too, for a value that contains itself */
function isTooDeep(value, depth = 0) {
  if (typeof value !== 'object' || value === null) return false;
  return depth > MAX_DEPTH || Object.values(value).some((one) => isTooDeep(one, depth + 1));
}

const TOO_DEEP = 'The values are nested too deeply';
const FLATTER = 'Write the file without so many levels.';

export const MINIMUM = 'A minimal scenario is name: NAME and mix: [{operation: issue}].';

/** @param {Document} document @param {string} name of an alias; '': any @returns {number} of the first of them */
function aliasOffset(document, name) {
  let offset = 0;
  visit(document, {
    Alias(_, node) {
      if (name !== '' && node.source !== name) return undefined;
      offset = node.range?.[0] ?? 0;
      return visit.BREAK;
    },
  });
  return offset;
}

/** @typedef {{range?: [number, number, number] | null} | null | undefined} Ranged */

/**
 * @param {unknown} contents
 * @param {Path} path
 * @param {Part} part of the last step
 * @returns {[start: number, end: number]} of the value, or of the innermost that is there
 */
function findRange(contents, path, part) {
  let node = contents;
  let [start, end] = /** @type {Ranged} */ (contents)?.range ?? [0, 0];
  for (const [i, step] of path.entries()) {
    /** @type {Ranged} */
    let at;
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
      if (pair === undefined) break;
      node = pair.value;
      const { range } = /** @type {NonNullable<Ranged>} */ (pair.value ?? {});
      // An empty value's own place is behind everything that follows.
      const isEmpty = !range || range[1] <= range[0];
      at = /** @type {Ranged} */ (
        isEmpty || (part === 'key' && i === path.length - 1) ? pair.key : pair.value
      );
    } else if (isSeq(node) && node.items[Number(step)] !== undefined) {
      node = node.items[Number(step)];
      at = /** @type {Ranged} */ (node);
    } else break;
    [start, end] = at?.range ?? [start, end];
  }
  return [start, end];
}

/** @param {Path} path @returns {string} `mix[0].weight` */
export function pathText(path) {
  const shown = (/** @type {string} */ key) =>
    firstLine(/^[\w$.{}<>-]+$/.test(key) ? key : JSON.stringify(key));
  return path
    .map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i === 0 ? '' : '.'}${shown(step)}`))
    .join('');
}

/** @param {string} text */
function firstLine(text) {
  const [line] = text.trim().split('\n', 1);
  return line.length <= MAX_SHOWN ? line : `${line.slice(0, MAX_SHOWN)}...`;
}

/** @param {string} text @param {number} offset @returns {string} the line there, quoted */
function lineAt(text, offset) {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const line = text.slice(start).split('\n', 1)[0].trimEnd();
  if (line === '') return 'the end of the file';
  return JSON.stringify(line.length <= MAX_SHOWN ? line : `${line.slice(0, MAX_SHOWN)}...`);
}

/** @param {string} text @returns {string} ends with a full stop */
function sentence(text) {
  const line = text.split('\n', 1)[0].trim();
  return /[.!?]$/.test(line) ? line : `${line}.`;
}

/** @type {Readonly<Record<string, [problem: string, remedy: string]>>} by the parser's code */
const FAULTS = Object.freeze({
  TAB_AS_INDENT: ['A tab indents this line', 'Indent with spaces.'],
  BAD_INDENT: ['This line is indented too little or too much', 'Align it with the keys of its group.'],
  MULTIPLE_DOCS: ['A second document begins here (---)', 'Write each scenario into its own file.'],
  DUPLICATE_KEY: ['This key is there twice', 'Remove one of them.'],
  NON_STRING_KEY: ['A key here is not a text', 'Write KEY: VALUE.'],
  BLOCK_AS_IMPLICIT_KEY: [
    'A group or list begins where only a value may stand',
    'Put the value in quotes, or on its own lines, indented.',
  ],
  MULTILINE_IMPLICIT_KEY: ['This is not KEY: VALUE', 'Write a colon and a space behind the key.'],
  BAD_DQ_ESCAPE: ['This text has an unknown escape', 'Write \\\\ for a backslash, or use single quotes.'],
  BAD_ALIAS: ['An alias has no name', 'Put a text that begins with * in quotes.'],
  TAG_RESOLVE_FAILED: ['A tag is not known', 'Put a text that begins with ! in quotes.'],
  BAD_SCALAR_START: ['A text cannot begin like this', 'Put it in quotes.'],
});

/** @param {YAMLParseError | YAMLWarning} fault @param {string} line where it was noticed */
function explainFault({ code, message }, line) {
  const [, bracket, quote = bracket] = /end with an? ([\]}])$|^Missing closing (.)quote/.exec(message) ?? [];
  if (quote !== undefined) {
    return { problem: `There is no closing ${quote} before ${line}`, remedy: YAML_OR_JSON };
  }
  const [problem, remedy] = FAULTS[code] ?? [message.split(';', 1)[0], YAML_OR_JSON];
  return { problem: `${problem}: ${line}`, remedy };
}

const YAML_OR_JSON = 'A scenario is YAML or JSON.';

const TOKEN = Object.freeze({
  what: 'a Vault token, a secret that must not be in a file',
  remedy:
    'The token comes from BAO_TOKEN, VAULT_TOKEN or ~/.vault-token; token-env names another variable. Revoke a token that others may have seen.',
});
const KEY = Object.freeze({
  what: 'a private key, a secret that must not be in a scenario',
  remedy: 'Name the file of the key, e.g. with client-key.',
});

/** Tokens of Vault and OpenBao, and of Vault before 1.10 (24 characters); shorter than real ones, to find one that was cut, too. */
const SECRETS = Object.freeze([
  { pattern: /(?<![\w.-])hv[sbr]\.[\w-]{8,}/, ...TOKEN },
  { pattern: /(?<![\w./-])[sbr]\.(?=[A-Za-z]*\d|\w*[a-z][A-Z])[A-Za-z0-9_-]{24,}/, ...TOKEN },
  { pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----/, ...KEY },
]);

/** @param {string} text @returns {{what: string, remedy: string, offset: number} | null} the first */
export function findSecret(text) {
  for (const { pattern, what, remedy } of SECRETS) {
    const offset = text.search(pattern);
    if (offset >= 0) return { what, remedy, offset };
  }
  return null;
}
