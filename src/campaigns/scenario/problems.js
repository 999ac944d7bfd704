/** An issue of zod in a scenario -> an error with its place, the value there and what may stand there. */
import { closest } from '../../common/closest.js';
import { loadOptions, NONE, targetOptions } from './declaration.js';
import { cut, MINIMUM } from './source.js';

/** @import { PkiLoadError } from '../../common/errors.js' */
/** @import { Part, Path, Source } from './source.js' */

/** @typedef {import('zod').z.core.$ZodIssue} Issue */

/** By what zod calls them. @type {Record<string, string>} */
const KINDS = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a group of settings',
  record: 'a group of settings',
};

/**
 * @param {Source} source @param {readonly Issue[]} issues at least one
 * @returns {PkiLoadError} about the issue that stands first in the file
 */
export function firstProblem(source, issues) {
  const placed = issues.map((found) => {
    const { issue, path } = innermost(source, found, /** @type {Path} */ (found.path));
    const isUnknown = issue.code === 'unrecognized_keys';
    const about = isUnknown ? 'key' : issue.code === 'custom' ? issue.params?.about : 'value';
    const part = /** @type {Part} */ (about === 'key' ? 'key' : 'value');
    const at = isUnknown ? [...path, issue.keys[0]] : path;
    // A missing key may be what an unknown one was meant to be.
    const isMissing = about === 'missing' || valueAt(source.value, at) === undefined;
    return { issue, at, part, isMissing, offset: source.offsetOf(at, part) };
  });
  placed.sort((a, b) => Number(a.isMissing) - Number(b.isMissing) || a.offset - b.offset);
  const [{ issue, at, part }] = placed;
  const { problem, remedy = at.length === 0 ? MINIMUM : undefined } =
    issue.code === 'unrecognized_keys'
      ? describeUnknown(String(at.at(-1)), issue.message.split(', '))
      : describe(issue, valueAt(source.value, at));
  return source.error(at, problem, remedy, part);
}

/**
 * Of a choice between kinds, the issue with the kind that the value is of.
 * @param {Source} source @param {Issue} issue @param {Path} path @returns {{issue: Issue, path: Path}}
 */
function innermost(source, issue, path) {
  if (issue.code !== 'invalid_union') return { issue, path };
  const isGroup = typeof valueAt(source.value, path) === 'object';
  const branch = issue.errors.find((errors) =>
    errors.some(({ code, path: { length } }) =>
      isGroup ? length > 0 || code === 'unrecognized_keys' : length === 0 && code !== 'invalid_type',
    ),
  );
  if (branch === undefined) return { issue, path };
  return innermost(source, branch[0], [...path, .../** @type {Path} */ (branch[0].path)]);
}

/** @param {string} key @param {string[]} known @returns {{problem: string, remedy: string | undefined}} */
function describeUnknown(key, known) {
  if (known[0] === NONE) return { problem: 'is not known; no setting is possible here', remedy: undefined };
  const near = closest(key, known);
  const others = known.includes('operation') ? 'Put options of the operation into options.' : '';
  const hint = HINTS.get(key) ?? (near === null ? others : `Did you mean ${near}?`);
  return { problem: 'is not known here', remedy: `${hint} Known here: ${known.join(', ')}.`.trim() };
}

/** @param {Issue} issue @param {unknown} value @returns {{problem: string, remedy?: string}} */
function describe(issue, value) {
  if (issue.code === 'custom') return { problem: issue.message, remedy: issue.params?.remedy };
  if (value === undefined) return { problem: 'is missing' };
  if (value === null) return { problem: 'is empty', remedy: `Write ${wanted(issue)}.` };
  const is = `is ${shown(value)}`;
  if (typeof value === 'number' && !Number.isFinite(value)) return { problem: `${is}, not a finite number` };
  switch (issue.code) {
    case 'invalid_type':
    case 'invalid_union': {
      const isUnquoted = typeof value !== 'object' && wanted(issue) === KINDS.string;
      return { problem: `${is}, not ${wanted(issue)}`, remedy: isUnquoted ? 'Put it in quotes.' : undefined };
    }
    case 'invalid_value': {
      const choices = issue.values.map(String);
      const near = closest(String(value), choices);
      const remedy = near === null ? undefined : `Did you mean ${near}?`;
      return { problem: `${is}, not one of ${choices.join(', ')}`, remedy };
    }
    case 'too_small':
      if (issue.origin === 'array') return { problem: 'is empty', remedy: 'Add an entry.' };
      if (issue.origin === 'string') return { problem: 'is empty' };
      return { problem: `${is}; it must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}` };
    case 'too_big': {
      const units = { array: ' entries', string: ' characters' }[/** @type {'array'} */ (issue.origin)];
      if (units !== undefined) return { problem: `has more than ${issue.maximum}${units}` };
      return { problem: `${is}; it must be at most ${issue.maximum}` };
    }
    default:
      return { problem: `${is}, which ${issue.message}` };
  }
}

/** @param {Issue} issue @returns {string} what may stand there */
function wanted(issue) {
  if (issue.code === 'invalid_type') return KINDS[issue.expected] ?? issue.expected;
  if (issue.code === 'invalid_value') return `one of ${issue.values.map(String).join(', ')}`;
  if (issue.code !== 'invalid_union') return 'something else';
  return [...new Set(issue.errors.flat().map(wanted))].join(' or ');
}

/** @param {unknown} value @param {Path} path */
export function valueAt(value, path) {
  return path.reduce(
    (one, step) => (Object.hasOwn(Object(one), step) ? one[step] : undefined),
    /** @type {any} */ (value),
  );
}

/** @param {unknown} value */
function shown(value) {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a group of settings';
  return cut(typeof value === 'string' ? JSON.stringify(value) : String(value));
}

const HINTS = new Map([
  ...Object.keys(targetOptions).map((key) => /** @type {const} */ ([key, 'Move it to target.'])),
  ...Object.keys(loadOptions).map((key) => /** @type {const} */ ([key, 'Move it to load.'])),
  ['token', 'A token is a secret that must not be in a file: token-env names the variable that holds it.'],
  ...['dev', 'shard', 'start-at'].map(
    (flag) => /** @type {const} */ ([flag, `Give --${flag} on the command line.`]),
  ),
  ...['address', 'vault'].map((name) => /** @type {const} */ ([name, 'Write url.'])),
  ['<<', 'Merge keys (<<) are YAML 1.1: repeat the keys, or use an alias for the whole.'],
]);
