/** Command-line arguments before and after yargs parses them. */
import { closest } from '../common/closest.js';
/** @import { OptionSpec } from '../common/options.js' */
/** @import { Argv } from 'yargs' */

/**
 * Vault's own command line takes options with one dash (`-format=json`): those become ones with two. `-h` stays for
 * help; a lone dash and negative numbers are values.
 *
 * @param {string[]} args
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
 * @returns {Record<string, string>} the text after `=`, for options that yargs made true or false
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
 * @param {string} message of yargs
 * @param {string[]} args
 * @param {{commands: string[], flags: string[]}} known
 * @returns {string} a sentence that names the option as it was written, and the nearest known one
 */
export function describeMisuse(message, args, { commands, flags }) {
  const [, missing] = /^Not enough arguments following: (.+)$/.exec(message) ?? [];
  if (missing !== undefined) return `--${missing} needs a value.`;
  const [, unknown] = /^Unknown (?:argument|command)s?: (.+)$/s.exec(message) ?? [];
  if (unknown === undefined) return /[.!?]$/.test(message) ? message : `${message}.`;
  const names = unknown.split(', ');
  // Without a command no flag is known either, so the command is reported first.
  const name = names.includes(args[0]) ? args[0] : names[0];
  if (args.includes(name)) return `Unknown command ${JSON.stringify(name)}.${suggest(name, commands, '')}`;
  const dashes = name.length === 1 ? '-' : '--';
  return `Unknown option ${dashes}${name}.${suggest(name, flags, '--')}`;
}

/** @param {string} word @param {string[]} known @param {string} dashes */
function suggest(word, known, dashes) {
  const nearest = closest(word, known);
  return nearest === null ? '' : ` Did you mean ${dashes}${nearest}?`;
}

/**
 * @typedef {object} Positionals words behind the command
 * @property {string} name its key in the given values: a list of texts
 * @property {string} describe one line for `--help`
 * @property {number} min how many there must be; 0: one may be given
 * @property {boolean} [checksItself] the command says itself that there are too few, with its own message
 * @property {string} [placeholder] what stands for one in `--help`; default FILE
 */
/**
 * @typedef {object} Command
 * @property {Record<string, OptionSpec>} options
 * @property {Positionals} [positionals] none: the command takes options only
 * @property {string[]} examples command lines without the program's name
 * @property {string} [epilogue] for `--help`
 * @property {(given: Record<string, unknown>, line: string) => Promise<number>} run resolves to the exit code
 */

/**
 * Everything is text to yargs; options.js turns it into values and reports faults.
 *
 * @param {Argv} parser
 * @param {string} name
 * @param {Command} command
 */
export function declare(parser, name, { options, positionals, examples, epilogue }) {
  for (const [flag, spec] of Object.entries(options)) {
    const isFlag = spec.type === 'flag';
    parser.option(flag, {
      alias: spec.alias,
      ...(isFlag ? { type: /** @type {const} */ ('boolean') } : { requiresArg: true }),
      describe: describeOption(spec),
      group: `${spec.group}:`,
    });
  }
  for (const example of examples) parser.example(`vault-pki-load ${example}`, '');
  parser.epilogue(epilogue ?? '');
  if (positionals === undefined) {
    return parser.usage(`$0 ${name} [OPTIONS]`).demandCommand(0, 0, '', `${name} takes options only.`);
  }
  const { min, describe, placeholder = 'FILE', checksItself = false } = positionals;
  // Strict about options alone: to yargs, words that were not declared would be unknown commands.
  const words = min === 0 ? `[${placeholder}]` : `${placeholder}...`;
  return parser
    .usage(`$0 ${name} ${words} [OPTIONS]\n\n${placeholder}  ${describe}`)
    .strict(false)
    .strictOptions()
    .demandCommand(
      checksItself ? 0 : min,
      `${name} needs at least ${min} ${placeholder}${min === 1 ? '' : 's'}.`,
    );
}

/** @param {OptionSpec} spec */
function describeOption({ describe: text, choices, default: value, defaultText, placeholder }) {
  const notes = [
    choices === undefined ? null : choices.join(' | '),
    defaultText !== undefined
      ? `default: ${defaultText}`
      : value === undefined || value === 0
        ? null
        : `default: ${value}`,
  ].filter((note) => note !== null);
  const head = placeholder === undefined ? text : `${placeholder}  ${text}`;
  return notes.length === 0 ? head : `${head} [${notes.join('; ')}]`;
}

/** @param {Command} command @returns {string[]} flags that take several values at a time */
export function listFlags({ options }) {
  return Object.entries(options).flatMap(([flag, { several }]) => (several === true ? [flag] : []));
}

/**
 * @param {Command} command
 * @param {unknown} words what yargs found beside options, the command first
 * @returns {Record<string, string[]>}
 */
export function wordsOf({ positionals }, words) {
  if (positionals === undefined) return {};
  return { [positionals.name]: /** @type {unknown[]} */ (words).slice(1).map(String) };
}
