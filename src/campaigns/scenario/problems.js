/** What zod finds wrong with a scenario -> one sentence that says where, what stands there, and what may. */
import { closest } from '../../common/closest.js';
import { PkiLoadError } from '../../common/errors.js';
import { camelCase, readOne } from '../../common/options.js';
import { loadOptions, optionSchema, targetOptions } from './declaration.js';
import { SHAPES } from './stages.js';

/** @import { OptionSpec } from '../../common/options.js' */
/** @import { Path, Source } from './source.js' */

/** @typedef {import('zod').z.core.$ZodIssue} Issue */

/** @type {Record<string, string>} */
const KINDS = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a group of settings',
  record: 'a group of settings',
};

/** What to do where there is no scenario at all. */
const LEAST = 'The least is name: NAME and mix: [{operation: issue}].';

/**
 * @param {Source} source
 * @param {readonly Issue[]} issues at least one
 * @param {Path} [base] what the issues' paths begin at
 * @returns {import('../../common/errors.js').PkiLoadError} about that which stands first in the file
 */
export function firstProblem(source, issues, base = []) {
  const placed = issues.map((found) => {
    const { issue, path } = innermost(source, found, [...base, .../** @type {Path} */ (found.path)]);
    const at = issue.code === 'unrecognized_keys' ? [...path, issue.keys[0]] : path;
    return { issue, path: at, ...source.placeOf(at, 'key') };
  });
  // What is missing may be what an unknown key stands for.
  const isMissing = (/** @type {{path: Path}} */ { path }) => valueAt(source.value, path) === undefined;
  const [{ issue, path }] = placed.sort(
    (a, b) => Number(isMissing(a)) - Number(isMissing(b)) || a.line - b.line || a.column - b.column,
  );
  if (issue.code === 'unrecognized_keys') {
    return unknownKey(source, path, issue.message.split(', '));
  }
  const { problem, remedy } = describe(issue, valueAt(source.value, path));
  return source.error(path, problem, remedy ?? (path.length === 0 ? LEAST : undefined));
}

/** @param {Source} source @param {Path} path of the key @param {readonly string[]} known */
function unknownKey(source, path, known) {
  const key = String(path[path.length - 1]);
  const home = homeOf(key);
  const near = home === null ? closest(key, known) : null;
  const isOption = known.includes('operation') ? 'What the operation is told stands in options. ' : '';
  const hint = home !== null ? `${home} ` : near !== null ? `Did you mean ${near}? ` : isOption;
  const problem = known.length === 0 ? 'not known here; there is nothing to be set' : 'not known here';
  const remedy = `${hint}${known.length === 0 ? '' : `Known here: ${known.join(', ')}.`}`;
  return source.error(path, problem, remedy.trim() === '' ? undefined : remedy.trim(), 'key');
}

/**
 * Of a choice between kinds, what is wrong with the kind that the value is of.
 *
 * @param {Source} source
 * @param {Issue} issue
 * @param {Path} path from the top
 * @returns {{issue: Issue, path: Path}}
 */
function innermost(source, issue, path) {
  if (issue.code !== 'invalid_union') return { issue, path };
  const value = valueAt(source.value, path);
  const isWithin = typeof value === 'object' && value !== null;
  const branch = issue.errors.find((errors) =>
    errors.some(({ code, path: own }) =>
      isWithin ? own.length > 0 || code === 'unrecognized_keys' : own.length === 0 && code !== 'invalid_type',
    ),
  );
  if (branch === undefined) return { issue, path };
  const [inner] = branch;
  return innermost(source, inner, [...path, .../** @type {Path} */ (inner.path)]);
}

/** @param {Issue} issue @param {unknown} value @returns {{problem: string, remedy?: string}} */
function describe(issue, value) {
  if (value === undefined) return { problem: 'is missing' };
  if (value === null) return { problem: 'is empty', remedy: `It is to be ${wanted(issue)}.` };
  const is = `is ${shown(value)}`;
  if (typeof value === 'number' && !Number.isFinite(value)) return { problem: `${is}, not a finite number` };
  switch (issue.code) {
    case 'invalid_type':
    case 'invalid_union':
      return {
        problem: `${is}, not ${wanted(issue)}`,
        ...(isScalar(value) && wanted(issue) === KINDS.string ? { remedy: 'Put it in quotes.' } : {}),
      };
    case 'invalid_value': {
      const choices = issue.values.map(String);
      const near = closest(String(value), choices);
      return {
        problem: `${is}, not one of ${choices.join(', ')}`,
        ...(near === null ? {} : { remedy: `Did you mean ${near}?` }),
      };
    }
    case 'too_small':
      if (issue.origin === 'array') return { problem: 'is empty; there must be at least one' };
      if (issue.origin === 'string') return { problem: 'is empty' };
      return { problem: `${is}; it must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}` };
    case 'too_big':
      if (issue.origin === 'array') return { problem: `has more than ${issue.maximum} entries` };
      return issue.origin === 'string'
        ? { problem: `is longer than ${issue.maximum} characters` }
        : { problem: `${is}; it must be at most ${issue.maximum}` };
    case 'invalid_format':
      return { problem: `${is}, which ${issue.message}` };
    default:
      return { problem: `${is}: ${issue.message}` };
  }
}

/** @param {Issue} issue @returns {string} what may stand there */
function wanted(issue) {
  if (issue.code === 'invalid_type') return KINDS[issue.expected] ?? issue.expected;
  if (issue.code === 'invalid_value') return `one of ${issue.values.map(String).join(', ')}`;
  if (issue.code !== 'invalid_union') return 'something else';
  return [...new Set(issue.errors.flat().map(wanted))].join(' or ');
}

/** @param {unknown} value */
function isScalar(value) {
  return typeof value === 'number' || typeof value === 'boolean';
}

/** @param {unknown} value @param {Path} path */
function valueAt(value, path) {
  return path.reduce(
    (one, step) => (Object.hasOwn(Object(one), step) ? one[step] : undefined),
    /** @type {any} */ (value),
  );
}

/** @param {unknown} value */
function shown(value) {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a group of settings';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length <= 60 ? text : `${text.slice(0, 60)}...`;
}

/** By key; the first that has it. @type {readonly [home: string, keys: readonly string[]][]} */
const HOMES = Object.freeze([
  ['target', [...Object.keys(targetOptions), 'token-env']],
  ['load', ['model', ...Object.keys(loadOptions)]],
  ['stages', Object.keys(SHAPES)],
  ['mix', ['operation', 'weight']],
]);

const AT_THE_TOP = Object.freeze(['setup', 'target', 'targets', 'runs', 'repeat', 'pause', 'out', 'env']);

/** @type {Readonly<Record<string, string>>} */
const ELSEWHERE = Object.freeze({
  token: 'A token is a secret and not for files: token-env names the environment variable that holds it.',
  dev: 'The embedded server is asked for on the command line, --dev.',
  shard: 'It is given on the command line, --shard: another part on each machine.',
  'start-at': 'It is given on the command line, --start-at.',
  operations: 'Name operations in mix.',
  address: 'It is called url.',
  vault: 'It is called url.',
  '<<': 'Merge keys (<<) are YAML 1.1: repeat the keys, or use an alias for the whole.',
});

/** @param {string} key @returns {string | null} a sentence */
function homeOf(key) {
  if (Object.hasOwn(ELSEWHERE, key)) return ELSEWHERE[key];
  const home = HOMES.find(([, keys]) => keys.includes(key));
  if (home !== undefined) return `It belongs into ${home[0]}.`;
  return AT_THE_TOP.includes(key) ? 'It belongs to the top of the file.' : null;
}

/**
 * @param {Source} source
 * @param {Path} path of the group
 * @param {Record<string, OptionSpec>} specs by kebab-case name
 * @param {Record<string, unknown>} given by kebab- or camelCase name
 */
export function checkOptions(source, path, specs, given) {
  /** @type {Set<string>} */
  const seen = new Set();
  for (const [key, value] of Object.entries(given)) {
    const found = Object.entries(specs).find(([name]) => name === key || camelCase(name) === key);
    if (found === undefined) throw unknownKey(source, [...path, key], Object.keys(specs));
    const [name, spec] = found;
    if (seen.has(name)) {
      throw source.error(
        [...path, key],
        `is ${name}, which is there already`,
        'Leave one of them out.',
        'key',
      );
    }
    seen.add(name);
    const { success, error } = optionSchema(spec).safeParse(value);
    if (!success) throw firstProblem(source, error.issues, [...path, key]);
    checkEach(source, [...path, key], spec, value);
  }
}

/**
 * @param {Source} source
 * @param {Path} path
 * @param {OptionSpec} spec
 * @param {unknown} value of the right kind
 */
function checkEach(source, path, spec, value) {
  const name = String(path[path.length - 1]);
  if (!Array.isArray(value)) return located(source, path, () => readOne(spec, name, value));
  for (const [i, one] of value.entries()) located(source, [...path, i], () => readOne(spec, name, one));
  return undefined;
}

/**
 * What the command line says of a value, at its place in the file.
 *
 * @template T
 * @param {Source} source
 * @param {Path} path
 * @param {() => T} read
 * @returns {T}
 */
export function located(source, path, read) {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof PkiLoadError)) throw error;
    const name = String(path.findLast((step) => typeof step === 'string'));
    throw source.error(path, withoutName(error.message, name), error.remedy);
  }
}

/**
 * @param {string} message `--rate is "x", which ...`
 * @param {string} name
 * @returns {string} `is "x", which ...`: the place says the rest
 */
function withoutName(message, name) {
  for (const start of [`--${name} `, `${name} `]) {
    if (message.startsWith(start)) return message.slice(start.length);
  }
  return message;
}
