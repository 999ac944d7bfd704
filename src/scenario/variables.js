/**
 * `${NAME}` in a scenario stands for an environment variable, where the scenario declares it (`env`): what a file takes
 * from its surroundings can be seen in it. Secrets are not for files: tokens come from where they always come from.
 */

/** @typedef {import('./source.js').Path} Path */
/** @typedef {import('./source.js').Source} Source */

const REFERENCE = /\$\{([^}]*)\}/g;

/** Names of what must not get into a plan, which is written into results. */
const SECRET = /TOKEN|SECRET|PASSWORD|PASSWD|PRIVATE|CREDENTIAL|(?:^|_)KEY(?:$|_)/i;

/**
 * @param {Source} source
 * @param {Record<string, string | undefined>} env
 * @returns {unknown} the same value with the variables' values in it; `$${` stands for `${`
 * @throws {import('../errors.js').PkiLoadError} code `bad_scenario`
 */
export function resolveVariables(source, env) {
  const declared = declaredIn(source);
  /**
   * @param {unknown} value
   * @param {Path} path
   * @returns {unknown}
   */
  const resolve = (value, path) => {
    if (typeof value === 'string') return resolveText(value, path);
    if (Array.isArray(value)) return value.map((one, i) => resolve(one, [...path, i]));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolve(one, [...path, key])]));
  };
  /**
   * @param {string} text
   * @param {Path} path
   */
  const resolveText = (text, path) =>
    text
      .split('$${')
      .map((part) =>
        part.replace(REFERENCE, (_, name) => {
          if (!declared.includes(name)) {
            const known = declared.length === 0 ? 'none is declared' : `declared are ${declared.join(', ')}`;
            throw source.error(
              path,
              `\${${name}} is not declared (${known})`,
              `Declare it at the top, env: [${name}], or write $\${ for the characters themselves.`,
            );
          }
          const value = env[name];
          if (value === undefined || value === '') {
            throw source.error(path, `the environment variable ${name} is not set`, `Set ${name}.`);
          }
          return value;
        }),
      )
      .join('${');
  return resolve(source.value, []);
}

/**
 * @param {Source} source
 * @returns {string[]} names; what is wrong with the list itself is found when the scenario is read
 */
function declaredIn(source) {
  const { env } = /** @type {{env?: unknown}} */ (Object(source.value));
  if (!Array.isArray(env)) return [];
  const names = env.filter((name) => typeof name === 'string');
  const secret = names.findIndex((name) => SECRET.test(name));
  if (secret >= 0) {
    throw source.error(
      ['env', secret],
      `${names[secret]} looks like a secret, and what is in a scenario gets into results`,
      'The token is taken from BAO_TOKEN, VAULT_TOKEN or ~/.vault-token by itself.',
    );
  }
  return names;
}
