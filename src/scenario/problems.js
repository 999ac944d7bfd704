/** What zod finds wrong with a scenario -> one sentence that says where, what stands there, and what may. */

/** @typedef {import('./source.js').Path} Path */
/** @typedef {import('./source.js').Source} Source */

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

/**
 * @param {Source} source
 * @param {import('zod').z.core.$ZodIssue[]} issues at least one
 * @returns {import('../errors.js').PkiLoadError} about the first of them
 */
export function firstProblem(source, issues) {
  const [issue] = [...issues].sort((a, b) => lineOf(source, a) - lineOf(source, b));
  const path = /** @type {Path} */ (issue.path);
  if (issue.code === 'unrecognized_keys') {
    return source.error([...path, issue.keys[0]], issue.message, undefined, 'key');
  }
  return source.error(path, describe(source, issue, path));
}

/**
 * @param {Source} source
 * @param {import('zod').z.core.$ZodIssue} issue
 */
function lineOf(source, { path }) {
  return source.placeOf(/** @type {Path} */ (path)).line;
}

/**
 * @param {Source} source
 * @param {import('zod').z.core.$ZodIssue} issue
 * @param {Path} path
 * @returns {string}
 */
function describe(source, issue, path) {
  const value = valueAt(source.value, path);
  if (value === undefined) return 'is missing';
  const is = `is ${shown(value)}`;
  switch (issue.code) {
    case 'invalid_type':
      return `${is}, not ${KINDS[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `${is}, not one of ${issue.values.map(String).join(', ')}`;
    case 'invalid_union':
      return `${is}, not ${kindsOf(issue)}`;
    case 'too_small':
      if (issue.origin === 'array') return `is empty; there must be at least ${issue.minimum}`;
      if (issue.origin === 'string') return 'is empty';
      return `${is}; it must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'string'
        ? `is longer than ${issue.maximum} characters`
        : `${is}; it must be at most ${issue.maximum}`;
    case 'invalid_format':
      return `${is}, which ${issue.message}`;
    default:
      return issue.message;
  }
}

/** @param {any} issue */
function kindsOf(issue) {
  const kinds = issue.errors
    .flat()
    .flatMap((/** @type {any} */ one) =>
      one.code === 'invalid_type' ? [KINDS[one.expected] ?? one.expected] : [],
    );
  const unique = [...new Set(kinds)];
  return unique.length === 0 ? 'what may stand here' : unique.join(' or ');
}

/**
 * @param {unknown} value
 * @param {Path} path
 */
function valueAt(value, path) {
  return path.reduce((one, step) => Object(one)[step], /** @type {any} */ (value));
}

/** @param {unknown} value */
function shown(value) {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a group of settings';
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= 60 ? text : `${text.slice(0, 60)}...`;
}
