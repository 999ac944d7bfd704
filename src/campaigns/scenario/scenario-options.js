/** Options in a scenario: those of the command line, judged by the same rules, with the place of what is wrong. */
import { PkiLoadError } from '../../common/errors.js';
import { camelCase, readOne } from '../../common/options.js';
import { homeOf } from './homes.js';
import { optionSchema } from './option-schema.js';
import { firstProblem, unknownKey } from './problems.js';

/** @typedef {import('./source.js').Path} Path */
/** @typedef {import('./source.js').Source} Source */
/** @typedef {import('../../common/options.js').OptionSpec} OptionSpec */

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
    if (found === undefined) throw unknownKey(source, [...path, key], Object.keys(specs), homeOf);
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
    if (!success) throw firstProblem(source, error.issues, homeOf, [...path, key]);
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
