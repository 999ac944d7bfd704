/** What people type, as the parser wants it. */

/**
 * Vault's own command line takes options with one dash (`-format=json`): those become ones with two. `-h` stays for
 * help; a lone dash and negative numbers are values.
 *
 * @param {string[]} args
 * @returns {string[]}
 */
export function normaliseArguments(args) {
  return args.map((arg) => {
    if (arg === '-h') return '--help';
    return /^-[a-z][\w-]+(=.*)?$/s.test(arg) ? `-${arg}` : arg;
  });
}

/**
 * yargs takes `--dev=foo` for false without a word. As text it is judged like any other option.
 *
 * @param {string[]} args
 * @param {Record<string, unknown>} given what yargs made of them
 * @returns {Record<string, string>} what was written behind `=`, for options that yargs made true or false
 */
export function textOfFlags(args, given) {
  return Object.fromEntries(
    args.flatMap((arg) => {
      const [, name, text] = /^--([\w-]+)=(.*)$/s.exec(arg) ?? [];
      return typeof given[name] === 'boolean' ? [[name, text]] : [];
    }),
  );
}

/**
 * `--with a.json b.json` is one occurrence with two values. yargs would have one value each, or one list of all
 * occurrences: it is given the values of an occurrence as one, in JSON.
 *
 * @param {string[]} args
 * @param {readonly string[]} flags that take all values up to the next option
 * @returns {string[]} to be read with `listsOf`
 */
export function joinValues(args, flags) {
  /** @type {string[]} */
  const joined = [];
  for (let i = 0; i < args.length; i++) {
    if (args[i] === '--') return [...joined, ...args.slice(i)];
    const [, name, first] = /^--([\w-]+)(?:=(.*))?$/s.exec(args[i]) ?? [];
    const isList = flags.includes(name);
    const values = isList && first !== undefined ? [first] : [];
    while (isList && i + 1 < args.length && !/^-./s.test(args[i + 1])) values.push(args[++i]);
    joined.push(values.length === 0 ? args[i] : `--${name}=${JSON.stringify(values)}`);
  }
  return joined;
}

/**
 * @param {Record<string, unknown>} given what yargs made of joined arguments
 * @param {readonly string[]} flags
 * @returns {Record<string, string[][]>} of those that were given: one list for each occurrence
 */
export function listsOf(given, flags) {
  const there = flags.filter((flag) => given[flag] !== undefined);
  return Object.fromEntries(
    there.map((flag) => [flag, [given[flag]].flat().map((text) => JSON.parse(String(text)))]),
  );
}

/**
 * What yargs says, in words that name the option as it was written.
 *
 * @param {string} message
 * @param {string[]} args
 * @returns {string} a sentence
 */
export function describeMisuse(message, args) {
  const [, missing] = /^Not enough arguments following: (.+)$/.exec(message) ?? [];
  if (missing !== undefined) return `--${missing} needs a value.`;
  const [, unknown] = /^Unknown (?:argument|command)s?: (.+)$/s.exec(message) ?? [];
  if (unknown === undefined) return /[.!?]$/.test(message) ? message : `${message}.`;
  const names = unknown.split(', ');
  // Without a command no flag is known either: what is to be mended is the command.
  const name = names.includes(args[0]) ? args[0] : names[0];
  if (args.includes(name)) return `There is no command ${JSON.stringify(name)}.`;
  return `There is no option ${name.length === 1 ? '-' : '--'}${name}.`;
}
