/**
 * `${NAME}` in a scenario stands for an environment variable, where the scenario declares it (`env`): what a file takes
 * from its surroundings can be seen in it. Secrets are not for files: tokens come from where they always come from.
 */
import { closest } from '../../common/closest.js';
import { describeSecret, findSecret } from './source.js';
/** @import { Path, Source } from './source.js' */

/** `NAME`, or `NAME=default`. */
export const DECLARATION = /^([A-Za-z_]\w*)(?:=(.*))?$/s;

const REFERENCE = /\$\{([^}]*)\}/g;

/** Names of what must not get into a plan, which is written into results. */
const SECRET = /TOKEN|SECRET|PASSWORD|PASSWD|PRIVATE|CREDENTIAL|(?:^|_)KEY(?:$|_)/i;

/** More than this in a file of at most 100,000 characters could only be meant to exhaust the memory. */
const MOST_VALUE = 10_000;

/**
 * @param {Source} source
 * @param {Record<string, string | undefined>} env
 * @returns {Source} the same with the variables' values in its value; `$${` stands for `${`
 * @throws {PkiLoadError} code `bad_scenario`
 */
export function resolveVariables(source, env) {
  const declared = declaredIn(source);
  /** @param {unknown} value @param {Path} path @returns {unknown} */
  const resolve = (value, path) => {
    if (typeof value === 'string') return path[0] === 'env' ? value : resolveText(value, path);
    if (Array.isArray(value)) return value.map((one, i) => resolve(one, [...path, i]));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolve(one, [...path, key])]));
  };
  /** @param {string} text @param {Path} path */
  const resolveText = (text, path) =>
    text
      .split('$${')
      .map((part) => part.replace(REFERENCE, (_, name) => lookUp(source, path, name, declared, env)))
      .join('${');
  return { ...source, value: resolve(source.value, []) };
}

/**
 * @param {Source} source
 * @param {Path} path where it is asked for
 * @param {string} name
 * @param {ReadonlyMap<string, string | null>} declared
 * @param {Record<string, string | undefined>} env
 */
function lookUp(source, path, name, declared, env) {
  const fallback = declared.get(name);
  if (fallback === undefined) throw undeclared(source, path, name, [...declared.keys()]);
  const value = env[name] || fallback;
  if (value === null) {
    throw source.error(
      path,
      `the environment variable ${name} is not set`,
      `Set ${name}, or give it a default: env: [${name}=VALUE].`,
    );
  }
  const secret = findSecret(value);
  if (secret !== null) {
    const { what, remedy } = describeSecret(secret.kind);
    throw source.error(path, `the environment variable ${name} holds ${what}`, remedy);
  }
  if (value.length > MOST_VALUE) {
    throw source.error(
      path,
      `the environment variable ${name} has ${value.length} characters`,
      'Shorten it.',
    );
  }
  return value;
}

/**
 * @param {Source} source
 * @param {Path} path
 * @param {string} name
 * @param {string[]} declared
 */
function undeclared(source, path, name, declared) {
  const known = declared.length === 0 ? 'none is declared' : `declared are ${declared.join(', ')}`;
  const near = closest(name, declared);
  const isName = /^[A-Za-z_]\w*$/.test(name);
  const mend =
    near !== null
      ? `Did you mean \${${near}}?`
      : isName
        ? `Declare it at the top, env: [${name}], or write $\${ for the characters themselves.`
        : `A variable is written as \${NAME}; write $\${ for the characters themselves.`;
  return source.error(path, `the variable ${JSON.stringify(name)} is not declared (${known})`, mend);
}

/**
 * @param {Source} source
 * @returns {Map<string, string | null>} defaults by name; what is wrong with the list itself is found when the scenario is read
 */
function declaredIn(source) {
  const { env } = /** @type {{env?: unknown}} */ (Object(source.value));
  /** @type {Map<string, string | null>} */
  const declared = new Map();
  for (const [i, text] of (Array.isArray(env) ? env : []).entries()) {
    const [, name, fallback = null] = (typeof text === 'string' ? DECLARATION.exec(text) : null) ?? [];
    if (name === undefined) continue;
    if (SECRET.test(name)) {
      throw source.error(
        ['env', i],
        `${name} looks like a secret, and what is in a scenario gets into results`,
        'The token is taken from BAO_TOKEN, VAULT_TOKEN or ~/.vault-token by itself; token-env names another variable.',
      );
    }
    if (declared.has(name)) throw source.error(['env', i], `${name} is declared a second time`);
    declared.set(name, fallback);
  }
  return declared;
}
