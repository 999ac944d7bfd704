/** Command-line arguments before and after yargs parses them. */
import { closest } from '../common/closest.js';
import { quote } from '../common/errors.js';
import { withoutSecrets } from '../common/sanitize.js';
import { quoted } from '../vault/setup/command.js';
/** @import { OptionSpec } from '../common/options.js' */
/** @import { Argv } from 'yargs' */

/**
 * @typedef {object} Positionals words after the command
 * @property {string} name key of these words in the values given to `run`
 * @property {string} describe one line for `--help`
 * @property {number} min
 * @property {number} [max] default: any number
 * @property {string} [missing] error message if there are fewer than `min`
 * @property {string} [placeholder] in `--help`; default FILE
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
 * Accepts `-format=json`, as Vault itself does, and a `--` before the command, as npx passes it on. A lone dash, negative numbers and all after another
 * `--` are values.
 * @param {string[]} given @returns {string[]}
 */
export function normaliseArguments(given) {
  const args = given[0] === '--' ? given.slice(1) : given;
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  return args.map((arg, i) => {
    if (i >= end) return arg;
    return arg === '-h' ? '--help' : /^-[a-z][\w-]+(=.*)?$/s.test(arg) ? `-${arg}` : arg;
  });
}

/** For results: without secrets, and without the query of --otlp, which may contain a key. @param {string[]} args as given */
export function commandLine(args) {
  const words = args.map((arg, i) => {
    const isUrl = /^--?otlp=/.test(arg) || /^--?otlp$/.test(args[i - 1]);
    return quoted(isUrl ? arg.replace(/\?.*/s, '?...') : arg);
  });
  return withoutSecrets(['vault-pki-load', ...words].join(' '));
}

/**
 * Reads the options that yargs cannot: `--with a.json b.json` is one occurrence with two values, and `--dev=foo`, which yargs
 * would read as false, must be checked.
 * @param {string[]} args
 * @param {Command | null} command whose options with `several` take all values up to the next option
 * @returns {{rest: string[], taken: Record<string, string | string[][]>}} `rest`: for yargs; `taken`: values by option
 */
export function takeSpecialOptions(args, command) {
  /** @type {Record<string, string | string[][]>} */
  const taken = {};
  const rest = [];
  for (let i = 0; i < args.length; i++) {
    if (args[i] === '--') return { rest: [...rest, ...args.slice(i)], taken };
    const [, name, text] = /^--([\w-]+)(?:=(.*))?$/s.exec(args[i]) ?? [];
    const { several = false, type } = command?.options[name] ?? {};
    // Of several, the last one wins.
    if (type === 'flag') delete taken[name];
    if (several) {
      const values = text === undefined ? [] : [text];
      while (i + 1 < args.length && !/^-./s.test(args[i + 1])) values.push(args[++i]);
      taken[name] = [.../** @type {string[][]} */ (taken[name] ?? []), values];
    } else if (type === 'flag' && text !== undefined) taken[name] = text;
    else rest.push(args[i]);
  }
  return { rest, taken };
}

/**
 * @param {string} message from yargs
 * @param {string[]} args @param {{commands: string[], flags: string[]}} known
 * @returns {string} a sentence that names the option as the user wrote it, and the nearest known one
 */
export function describeMisuse(message, args, { commands, flags }) {
  const [, missing] = /^Not enough arguments following: (.+)$/.exec(message) ?? [];
  if (missing !== undefined) return `--${missing} needs a value.`;
  const [, unknown] = /^Unknown (?:argument|command)s?: (.+)$/s.exec(message) ?? [];
  if (unknown === undefined) return /[.!?]$/.test(message) ? message : `${message}.`;
  const names = unknown.split(', ');
  // Without a command no flag is known either, so the command is reported first.
  const name = names.includes(args[0]) ? args[0] : names[0];
  const isCommand = args.includes(name);
  const nearest = closest(name, isCommand ? commands : flags);
  const similar = nearest === null ? '' : ` Did you mean ${isCommand ? '' : '--'}${nearest}?`;
  const suggestion = nearest === name ? ' Put the command first, before the options.' : similar;
  if (isCommand) return `Unknown command ${quote(name)}.${suggestion}`;
  const hint = name === 'token' ? ' The token comes from VAULT_TOKEN or ~/.vault-token.' : suggestion;
  return `Unknown option ${name.length === 1 ? '-' : '--'}${name}.${hint}`;
}

/**
 * Every value is text: options.js converts and checks it. `isListed`: false for a run, for which yargs would format the help, too (50 ms).
 * @param {Argv} parser @param {string} name @param {Command} command @param {boolean} isListed in the help and completions
 */
export function declareCommand(parser, name, { options, positionals, examples, epilogue = '' }, isListed) {
  for (const [flag, spec] of Object.entries(options)) {
    parser.option(flag, {
      alias: spec.alias,
      ...(spec.type === 'flag' ? { type: /** @type {const} */ ('boolean') } : { requiresArg: true }),
      describe: describeOption(spec),
      group: `${spec.group}:`,
      hidden: !isListed,
    });
  }
  for (const example of examples) parser.example(`vault-pki-load ${example}`, '');
  parser.epilogue(epilogue);
  if (positionals === undefined) {
    return parser
      .usage(`$0 ${name} [OPTIONS]`)
      .demandCommand(0, 0, '', `${name} takes options only: each value follows its own option.`);
  }
  const { min, max = Infinity, describe, placeholder = 'FILE', missing } = positionals;
  const words = min === 0 ? `[${placeholder}]` : max === 1 ? placeholder : `${placeholder}...`;
  const tooMany = `${name} takes one ${placeholder} at a time.`;
  // Only options are checked: yargs would report a word that is not declared as an unknown command.
  return parser
    .usage(`$0 ${name} ${words} [OPTIONS]\n\n${placeholder}  ${describe}`)
    .strict(false)
    .strictOptions()
    .demandCommand(min, max, missing ?? `${name} needs at least ${min} ${placeholder}.`, tooMany);
}

/** @param {OptionSpec} spec */
function describeOption({ describe, choices, default: value, defaultText, placeholder }) {
  const shown = defaultText ?? (value === 0 ? undefined : value);
  const notes = [...(choices ? [choices.join(' | ')] : []), ...(shown ? [`default: ${shown}`] : [])];
  const head = placeholder === undefined ? describe : `${placeholder}  ${describe}`;
  return notes.length === 0 ? head : `${head} [${notes.join('; ')}]`;
}

/** @param {Record<string, unknown>} given @param {Record<string, OptionSpec>} specs @returns {Record<string, unknown>} options not in `specs` */
export function omit(given, specs) {
  return Object.fromEntries(Object.entries(given).filter(([key]) => !Object.hasOwn(specs, key)));
}
