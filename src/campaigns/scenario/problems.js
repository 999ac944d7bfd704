/** Zod issue in a scenario -> an error with the place and the value. */
import { closest } from '../../common/closest.js';
import { loadOptions, targetOptions } from './declaration.js';
import { cut, MINIMUM } from './source.js';

/** @import { Part, Path, Source } from './source.js' */

/** @typedef {import('zod').z.core.$ZodIssue} Issue */

/** @param {Source} source @param {readonly Issue[]} issues at least one @returns about the first issue in the file */
export function firstProblem(source, issues) {
  const placed = issues.map((found) => {
    const { issue, path } = innermost(source, found, /** @type {Path} */ (found.path));
    const isUnknown = issue.code === 'unrecognized_keys';
    const about = isUnknown ? 'key' : issue.code === 'custom' ? issue.params?.about : 'value';
    const part = /** @type {Part} */ (about === 'key' ? 'key' : 'value');
    const at = isUnknown ? [...path, issue.keys[0]] : path;
    // An unknown key may be a misspelled missing one.
    const isMissing = about === 'missing' || valueAt(source.value, at) === undefined;
    return { issue, at, part, isMissing, offset: source.offsetOf(at, part) };
  });
  placed.sort((a, b) => Number(a.isMissing) - Number(b.isMissing) || a.offset - b.offset);
  const [{ issue, at, part }] = placed;
  const [problem, remedy = at.length === 0 ? MINIMUM : undefined] =
    issue.code === 'unrecognized_keys'
      ? describeUnknown(String(at.at(-1)), issue.message.split(', '))
      : describe(issue, valueAt(source.value, at));
  return source.error(at, problem, remedy, part);
}

/**
 * For a union: the issue of the branch that matches the kind of the value.
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

/** @param {string} key @param {string[]} known @returns {[problem: string, remedy?: string]} */
function describeUnknown(key, known) {
  if (known[0] === '-') return ['is not a valid key; this group takes no settings'];
  const near = closest(key, known);
  const others = known.includes('operation') ? "Put the operation's options under options." : '';
  const hint = HINTS.get(key) ?? (near === null ? others : `Did you mean ${near}?`);
  return ['is not a valid key', `${hint} Valid keys: ${known.join(', ')}.`.trim()];
}

/** @param {Issue} issue @param {unknown} value @returns {[problem: string, remedy?: string]} */
function describe(issue, value) {
  if (issue.code === 'custom') return [issue.message, issue.params?.remedy];
  if (value === undefined) return ['is missing'];
  if (value === null) return ['is empty'];
  // String() calls toString, which an object from a file can redefine.
  const text = typeof value === 'object' ? '' : String(value);
  const is =
    typeof value === 'object' ? '' : `is ${cut(typeof value === 'string' ? JSON.stringify(text) : text)}; `;
  if (issue.code === 'invalid_value') {
    const choices = [...new Set(issue.values.map(String))];
    const near = closest(text, choices);
    const remedy = near === null ? undefined : `Did you mean ${near}?`;
    return [`${is}must be one of ${choices.join(', ')}`, remedy];
  }
  const rules = new Set(
    leavesOf(issue).map(({ message }) =>
      message
        .replace(/^Invalid input: expected (\w+), received \w+$/, 'be $1')
        .replace(
          /^Invalid option: expected (one of .*)/,
          (_, choices) => `be ${choices.replaceAll('"', '').replaceAll('|', ', ')}`,
        )
        .replace(/^Too (?:small|big): expected \w+ to /, ''),
    ),
  );
  // The string branch accepts only variables.
  if ([...rules].some((rule) => /^be (?:boolean|int|one of )/.test(rule))) rules.delete('be string');
  const isUnquoted = rules.size === 1 && rules.has('be string') && typeof value !== 'object';
  return [`${is}must ${[...rules].join(' or ')}`, isUnquoted ? 'Put it in quotes.' : undefined];
}

/** @param {Issue} issue @returns {Issue[]} */
const leavesOf = (issue) =>
  issue.code === 'invalid_union' ? issue.errors.flatMap((branch) => branch.flatMap(leavesOf)) : [issue];

/** @param {unknown} value @param {Path} path */
export function valueAt(value, path) {
  return path.reduce(
    (parent, step) => (Object.hasOwn(Object(parent), step) ? parent[step] : undefined),
    /** @type {any} */ (value),
  );
}

/** Misplaced or foreign keys. */
const HINTS = new Map(
  /** @type {[keys: string[], hint: string][]} */ ([
    [Object.keys(targetOptions), 'Move it to target.'],
    [Object.keys(loadOptions), 'Move it to load.'],
    [['token'], 'A token is a secret and must not be in a file: token-env names its environment variable.'],
    [['dev', 'tls', 'shard', 'start-at'], 'It is a command-line flag.'],
    [['address', 'vault'], 'Use url.'],
    [['<<'], 'Merge keys (<<) are YAML 1.1: repeat the keys, or alias the whole map.'],
  ]).flatMap(([keys, hint]) => keys.map((key) => /** @type {const} */ ([key, hint]))),
);
