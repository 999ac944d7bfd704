/** Replaces `${NAME}` in a scenario with an environment variable declared in `env`, if its value cannot be a secret. */
import { closest } from '../../common/closest.js';
import { sanitizeText } from '../../common/sanitize.js';
import { DURATION_PATTERN, RATE_PATTERN } from '../../common/units.js';
import { findSecret, pathText } from './source.js';
/** @import { Path, Source } from './source.js' */

/** `NAME`, or `NAME=default`. */
export const DECLARATION = /^([A-Za-z_]\w*)(?:=(.*))?$/s;

/** A variable, or `$${`, for which the name is undefined. */
const REFERENCE = /\$\$\{|\$\{([^${}]*)\}/g;

/** Only values that cannot be secrets: requests and results contain them. An address has no user, path or query. */
const HARMLESS = new RegExp(`^(?=.{1,16}$)(?:true|false|${DURATION_PATTERN}|${RATE_PATTERN})$`);
const ADDRESS = /^https?:\/\/[^/?#@\\]+\/?$/i;

/** Max characters of one text, as some options are parsed in quadratic time, and of all variables together. */
const [MAX_TEXT, MAX_VALUES] = [20_000, 1_000_000];

/** Control characters except tabs and line breaks, lone surrogates, and characters that reorder the text of a terminal. */
const INVISIBLE = /[^\P{Cc}\t\n\r]|[\p{Cs}\p{Bidi_Control}\u2028\u2029]/u;

/** @typedef {Record<string, string | undefined>} Environment */
/** @typedef {{allowEnv?: readonly string[], mayReach?: (url: string) => boolean}} Allowed variables with any value; addresses */

/**
 * @param {Source} source @param {Environment} env @param {Allowed} allowed
 * @returns {Source & {reads: ReadonlyMap<string, string[]>}} with values in place of variables, and `${` in place of `$${`. `reads`:
 *   variable -> places of its value
 * @throws {PkiLoadError} code `bad_scenario`
 */
export function resolveVariables(source, env, allowed) {
  const declared = readDeclarations(source);
  /** @type {Map<string, Set<string>>} */
  const reads = new Map();
  let characters = 0;
  /** @param {string} name @param {Path} path */
  const read = (name, path) => {
    const value = lookUp(source, path, name, { declared, env, ...allowed });
    characters += value.length;
    if (characters > MAX_VALUES)
      throw source.error(path, `the variables have more than ${MAX_VALUES} characters`, 'Use fewer.');
    reads.set(name, (reads.get(name) ?? new Set()).add(pathText(path)));
    return value;
  };
  /** @param {string} text @param {Path} path */
  const resolveText = (text, path) => {
    refuseSecret(source, text, path);
    const isDeclaration = path[0] === 'env';
    const resolved = text.replace(REFERENCE, (reference, name) =>
      isDeclaration ? reference : name === undefined ? '${' : read(name, path),
    );
    const [invisible] = INVISIBLE.exec(resolved) ?? [];
    if (invisible !== undefined)
      throw source.error(path, `contains the invisible character ${sanitizeText(invisible)}`, 'Remove it.');
    if (resolved.length <= MAX_TEXT) return resolved;
    throw source.error(path, `has ${resolved.length} characters; the limit is ${MAX_TEXT}`, 'Shorten it.');
  };
  /** @param {unknown} value @param {Path} path @returns {unknown} */
  const resolve = (value, path) => {
    if (typeof value === 'string') return resolveText(value, path);
    if (Array.isArray(value)) return value.map((entry, i) => resolve(entry, [...path, i]));
    if (typeof value !== 'object' || value === null) return value;
    if (Object.hasOwn(value, '__proto__'))
      throw source.error([...path, '__proto__'], 'cannot be a key', 'Remove it.', 'key');
    for (const key of Object.keys(value)) refuseSecret(source, key, path);
    return Object.fromEntries(Object.entries(value).map(([key, v]) => [key, resolve(v, [...path, key])]));
  };
  const value = resolve(source.value, []);
  return { ...source, value, reads: new Map([...reads].map(([name, places]) => [name, [...places]])) };
}

/** Escapes of YAML hide a secret from a search of the file. @param {Source} source @param {string} text @param {Path} path */
function refuseSecret(source, text, path) {
  const secret = findSecret(text);
  if (secret !== undefined) throw source.error(path, `contains ${secret.kind}: remove it`, secret.remedy);
}

/**
 * @param {Source} source @param {Path} path of the reference @param {string} name
 * @param {Allowed & {declared: ReadonlyMap<string, string | null>, env: Environment}} context
 */
function lookUp(source, path, name, { declared, env, allowEnv = [], mayReach = () => false }) {
  const fallback = declared.get(name);
  if (fallback === undefined) {
    const known = [...declared.keys()];
    const near = closest(name, known);
    const hint = DECLARATION.test(name) ? `Declare it with env: [${name}]` : `Write a variable as \${NAME}`;
    const problem = `the variable ${JSON.stringify(name)} is not declared (declared: ${known.join(', ') || 'none'})`;
    const remedy = near === null ? `${hint}; $\${ is a literal \${.` : `Did you mean \${${near}}?`;
    throw source.error(path, problem, remedy);
  }
  const value = env[name] || fallback;
  const refuse = (/** @type {string} */ problem, /** @type {string} */ remedy) =>
    source.error(path, `the environment variable ${name} ${problem}`, remedy);
  if (value === null) throw refuse('is not set', `Set ${name}, or give it a default: env: [${name}=VALUE].`);
  const secret = findSecret(value, true);
  if (secret !== undefined) throw refuse(`contains ${secret.kind}`, secret.remedy);
  const isHarmless = HARMLESS.test(value.trim()) || (ADDRESS.test(value) && mayReach(value));
  if (value === fallback || isHarmless || allowEnv.includes(name)) return value;
  const remedy = `Requests and results would contain its value. To allow it, add --allow-env ${name}.`;
  throw refuse('is not a number (with or without a unit), true, false or an allowed address', remedy);
}

/** @param {Source} source @returns {Map<string, string | null>} defaults by name; the schema checks the list itself */
function readDeclarations(source) {
  const { env } = /** @type {{env?: unknown}} */ (Object(source.value));
  /** @type {Map<string, string | null>} */
  const declared = new Map();
  for (const [i, text] of (Array.isArray(env) ? env : []).entries()) {
    const [, name, fallback = null] = DECLARATION.exec(typeof text === 'string' ? text : '') ?? [];
    if (name === undefined) continue;
    const refuse = (/** @type {string} */ problem, /** @type {string} */ remedy) =>
      source.error(['env', i], problem, remedy);
    if (fallback?.includes('${'))
      throw refuse(`the default of ${name} cannot refer to a variable`, 'Write its value.');
    if (declared.has(name)) throw refuse(`${name} is declared twice`, 'Remove one of them.');
    declared.set(name, fallback);
  }
  return declared;
}
