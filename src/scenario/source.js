/** The text of a scenario, YAML 1.2 or JSON, with the place of everything in it: errors say line, column and what stands there. */
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { usageError } from '../errors.js';

/** @typedef {(string | number)[]} Path keys and list positions, from the top */
/** @typedef {{line: number, column: number, text: string}} Place both from 1; `text`: what stands there, its first line */
/**
 * @typedef {object} Source
 * @property {string} name of the file
 * @property {unknown} value plain data
 * @property {(path: Path, part?: 'key' | 'value') => Place} placeOf of what is not there, the place of what should hold it
 * @property {(path: Path, problem: string, remedy?: string, part?: 'key' | 'value') => import('../errors.js').PkiLoadError} error
 *   code `bad_scenario`, saying where
 */

/** Longer texts are shown by their beginning. */
const MOST_CHARACTERS = 60;

/** An alias that stands for another that stands for another: nobody means that. */
const MOST_ALIASES = 100;

/**
 * @param {string} text
 * @param {string} name of the file, for errors
 * @returns {Source}
 * @throws {import('../errors.js').PkiLoadError} code `bad_scenario`: it is neither YAML nor JSON
 */
export function parseSource(text, name) {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false, stringKeys: true });
  const at = (/** @type {number} */ offset) => {
    const { line, col } = counter.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const [fault] = document.errors;
  if (fault !== undefined) {
    const { line, column } = at(fault.pos[0]);
    throw usageError(
      'bad_scenario',
      `${name}:${line}:${column}: ${sentence(fault.message)}`,
      'It must be YAML, or JSON.',
    );
  }
  const value = toPlain(document, name);

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
      const { line, column } = placeOf(path, part);
      const what = path.length === 0 ? '' : `${pathText(path)}: `;
      return usageError('bad_scenario', `${name}:${line}:${column}: ${what}${sentence(problem)}`, remedy);
    },
  };
}

/**
 * @param {Path} path
 * @returns {string} `mix[0].weight`
 */
export function pathText(path) {
  return path
    .map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`))
    .join('');
}

/**
 * @param {import('yaml').Document} document
 * @param {string} name
 * @returns {unknown}
 */
function toPlain(document, name) {
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    throw usageError('bad_scenario', `${name}: ${sentence(message)}`, 'Write it without so many aliases.');
  }
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
      range = nodeRange(isKey ? pair.key : pair.value) ?? nodeRange(pair.key) ?? range;
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
