/** The text of a scenario (YAML 1.2 or JSON) and the place of each value: errors name line, column and key. */
import {
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  Parser,
  parseDocument,
  visit,
} from 'yaml';
import { usageError } from '../../common/errors.js';
import { findToken, sanitizeText } from '../../common/sanitize.js';

/** @import { PkiLoadError } from '../../common/errors.js' */
/** @import { Alias, Document, ParsedNode as Node } from 'yaml' */

/** @typedef {(string | number)[]} Path keys and list positions, from the top */
/** @typedef {'key' | 'value'} Part */
/** @typedef {ReturnType<typeof parseSource>} Source */

/** Max characters of the file's text in a message. */
const MAX_SHOWN = 60;
const MAX_ALIASES = 1000;
const MAX_DEPTH = 40;
const MAX_CHARACTERS = 100_000;
/** Of all values, with each alias written out; a value counts as one more. */
const MAX_WRITTEN_OUT = 1_000_000;

const TOO_DEEP = 'The values are nested too deeply';
const TOO_LONG = `With its aliases written out, this exceeds ${MAX_WRITTEN_OUT} characters`;
const FLATTEN = 'Use fewer levels.';
const WRITE_OUT = 'Write the values out, or quote text that begins with *.';
const YAML_OR_JSON = 'A scenario is YAML or JSON; quote text that has special characters.';
const NO_SCENARIO = 'This is no scenario: it has neither mix nor runs';
/** Nothing of other files is shown but plain keys: there may be secrets in them. */
const IS_SCENARIO = /(?:^|[{,])[ \t]*["']?(?:mix|runs)["']?[ \t]*:/m;
export const MINIMUM = 'A minimal scenario is name: NAME and mix: [{operation: issue}].';

/** @param {string} text @param {string} name of the file @throws {PkiLoadError} if it is not YAML or JSON, or has a secret */
export function parseSource(text, name) {
  const lineCounter = new LineCounter();
  /** @type {ErrorAt} */
  const errorAt = (offset, problem, remedy = '') => {
    const { line, col } = lineCounter.linePos(offset ?? 0);
    const place = offset === null ? '' : `${Math.max(1, line)}:${Math.max(1, col)}:`;
    const sentence = /[.!?]$/.test(problem) ? problem : `${problem}.`;
    const message = sanitizeText(`${name}:${place} ${sentence}`);
    return usageError('bad_scenario', message, sanitizeText(remedy) || undefined);
  };
  if (text.length > MAX_CHARACTERS)
    throw errorAt(null, `The file exceeds ${MAX_CHARACTERS} characters`, 'To read a result, use report.');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern is for control characters
  if (/[\u0000-\u0008\u000e-\u001f\ufffd]/.test(text))
    throw errorAt(null, 'The file is not UTF-8 text', 'A scenario is YAML or JSON; save it as UTF-8.');
  if (isNestedTooDeeply(text)) throw errorAt(null, TOO_DEEP, FLATTEN);
  // The parser would compare keys pairwise: findRepeatedKey takes their number, not its square.
  const settings = /** @type {const} */ ({ uniqueKeys: false, prettyErrors: false, stringKeys: true });
  const document = parseDocument(text, { lineCounter, logLevel: 'error', ...settings });
  const secret = findSecret(text);
  if (secret !== undefined)
    throw errorAt(secret.offset, `This looks like ${secret.kind}: remove it`, secret.remedy);
  const isScenario = IS_SCENARIO.test(text);
  const noScenario = () => errorAt(0, NO_SCENARIO, MINIMUM);
  const [fault = findRepeatedKey(document)] = [...document.errors, ...document.warnings];
  if (fault !== undefined) {
    const [offset] = fault.pos;
    const problem = fault.message.split(/[;\n]/, 1)[0].slice(0, 2 * MAX_SHOWN);
    throw isScenario ? errorAt(offset, `${problem}: ${lineAt(text, offset)}`, YAML_OR_JSON) : noScenario();
  }
  return {
    name,
    /** plain data */
    value: toPlain(document, errorAt),
    /** The offset of a missing value is that of its parent. @param {Path} path @param {Part} [part] */
    offsetOf: (path, part) => findRange(document.contents, path, part)[0],
    /**
     * Code `bad_scenario`; its message has the place and the variables of the value there.
     * @param {Path} path @param {string} problem @param {string} [remedy] @param {Part} [part]
     */
    error(path, problem, remedy, part) {
      const isPlain = isMap(document.contents) && path.every((step) => /^[\w-]+$/.test(String(step)));
      if (!isScenario && !isPlain) return noScenario();
      const [start, end] = findRange(document.contents, path, part);
      const variables = part === 'key' ? null : firstLine(text.slice(start, end)).match(/\$\{\w+\}/g);
      const place = `${pathText(path)}${variables === null ? '' : ` (${variables.join(', ')})`}: `;
      return errorAt(start, path.length === 0 ? problem : place + problem, remedy);
    },
  };
}

/** @typedef {(offset: number | null, problem: string, remedy?: string) => PkiLoadError} ErrorAt */

/** parseDocument is recursive, and V8 aborts if it compiles a regular expression on a full stack. @param {string} text */
function isNestedTooDeeply(text) {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    for (const _token of parser.next(lexeme));
    if (parser.stack.length > 2 * MAX_DEPTH) return true;
  }
  return false;
}

/** @param {Document} document @returns {{pos: [number, number], message: string} | undefined} */
function findRepeatedKey(document) {
  /** @type {ReturnType<typeof findRepeatedKey>} */
  let found;
  visit(document, {
    Map(_, { items }) {
      const keys = new Set();
      for (const { key } of items) {
        if (!isScalar(key) || keys.size < keys.add(key.value).size) continue;
        const [start = 0, end = 0] = key.range ?? [];
        found = { pos: [start, end], message: 'Map keys must be unique' };
        return visit.BREAK;
      }
    },
  });
  return found;
}

/** @param {Document} document @param {ErrorAt} errorAt @returns {unknown} */
function toPlain(document, errorAt) {
  checkExtent(document, errorAt);
  /** @type {unknown} */
  let value;
  try {
    // Its own limit takes time with the square of the aliases.
    value = document.toJS({ maxAliasCount: -1 });
  } catch (error) {
    throw errorAt(0, /** @type {Error} */ (error).message, YAML_OR_JSON);
  }
  if (value === null || value === undefined) throw errorAt(0, 'The file is empty', MINIMUM);
  return value;
}

/** Characters and levels of a value, with each alias written out; until it ends, an infinite depth @typedef {{size: number, depth: number}} Extent */

/** @param {Document} document @param {ErrorAt} errorAt @throws {PkiLoadError} for values that are too large, without writing them out */
function checkExtent(document, errorAt) {
  /** Of the last value with this anchor. @type {Map<string, Extent>} */
  const anchored = new Map();
  let aliases = 0;
  /** @param {Alias} alias @param {number} start */
  const follow = ({ source }, start) => {
    if (++aliases > MAX_ALIASES)
      throw errorAt(start, `The file has more than ${MAX_ALIASES} aliases`, WRITE_OUT);
    const extent = anchored.get(source);
    if (extent !== undefined) return extent;
    throw errorAt(start, 'Unresolved alias (the anchor must be set before the alias)', WRITE_OUT);
  };
  /** @param {Node} node @param {number} characters @returns {Extent} */
  const addUp = (node, characters) => {
    const whole = { size: 1 + (isScalar(node) ? characters : 0), depth: Infinity };
    if (node.anchor !== undefined) anchored.set(node.anchor, whole);
    let depth = 0;
    for (const part of partsOf(node)) {
      const inner = measure(part);
      whole.size += inner.size;
      depth = Math.max(depth, inner.depth + 1);
    }
    return Object.assign(whole, { depth });
  };
  /** @param {unknown} value @returns {Extent} */
  const measure = (value) => {
    const node = /** @type {Node} */ (Object(value));
    const [start, end] = node.range ?? [0, 0];
    const extent = isAlias(node) ? follow(node, start) : addUp(node, end - start);
    if (extent.depth > MAX_DEPTH) throw errorAt(start, `${TOO_DEEP}, or an alias contains itself`, FLATTEN);
    if (extent.size > MAX_WRITTEN_OUT) throw errorAt(start, TOO_LONG, 'Use fewer aliases.');
    return extent;
  };
  measure(document.contents);
}

/** @param {unknown} node @returns {unknown[]} keys and values of a map, values of a list */
const partsOf = (node) =>
  isCollection(node) ? node.items.flatMap((item) => (isPair(item) ? [item.key, item.value] : [item])) : [];

/**
 * @param {unknown} contents @param {Path} path @param {Part} [part] of the last step
 * @returns {[start: number, end: number, ...unknown[]]} of the value, or of its innermost parent that exists
 */
function findRange(contents, path, part = 'value') {
  /** @typedef {{range?: [number, number, number] | null} | null | undefined} Ranged */
  let node = /** @type {Ranged} */ (contents);
  let range = node?.range ?? [0, 0];
  for (const [i, step] of path.entries()) {
    const pair = isMap(node)
      ? node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
      : undefined;
    node = /** @type {Ranged} */ (isSeq(node) ? node.items[Number(step)] : pair?.value);
    // The parser places an empty value after the comments and blank lines that follow.
    const isEmpty = !node?.range || node.range[1] <= node.range[0];
    const isKey = isEmpty || (part === 'key' && i === path.length - 1);
    const at = pair !== undefined && isKey ? /** @type {Ranged} */ (pair.key) : node;
    if (!at?.range) break;
    range = at.range;
  }
  return range;
}

/** @param {Path} path @returns {string} `mix[0].weight` */
export function pathText(path) {
  const steps = path.map((step) => {
    if (typeof step === 'number') return `[${step}]`;
    return `.${firstLine(/^[\w$.{}<>-]+$/.test(step) ? step : JSON.stringify(step))}`;
  });
  return steps.join('').replace(/^\./, '');
}

/** @param {string} text */
export const cut = (text) => (text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}...`);

/** @param {string} text */
const firstLine = (text) => cut(text.trim().split('\n', 1)[0]);

/** @param {string} text @param {number} offset @returns {string} the line there, quoted */
function lineAt(text, offset) {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const line = cut(text.slice(start).split('\n', 1)[0].trimEnd());
  return line === '' ? 'the end of the file' : JSON.stringify(line);
}

const TOKEN_REMEDY =
  'The token comes from BAO_TOKEN, VAULT_TOKEN or ~/.vault-token; token-env names another variable.';

/** Tokens of Vault and OpenBao, and of Vault before 1.10 (24 characters). `hvs.` and 8 characters also match a truncated token. */
const TOKEN =
  /(?<![\w.-])hv[sbr]\.[\w-]{8,}|(?<![\w./-])[sbr]\.(?=[A-Za-z]*\d|\w*[a-z][A-Z])[A-Za-z0-9_-]{24,}/;
const KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;

/** @param {string} text @param {boolean} [isValue] it may be a short token @returns {{kind: string, remedy: string, offset: number} | undefined} */
export function findSecret(text, isValue = false) {
  const remedy = `${TOKEN_REMEDY} Revoke a token that others may have seen.`;
  const secrets = [
    { kind: 'the token in use', remedy, offset: findToken(text, isValue) },
    { kind: 'a Vault token', remedy, offset: text.search(TOKEN) },
    { kind: 'a private key', remedy: 'Name its file, e.g. with client-key.', offset: text.search(KEY) },
  ];
  return secrets.find(({ offset }) => offset >= 0);
}
