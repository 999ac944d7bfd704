/** Declarations of a command -> its flags, its words and its help. */

/**
 * @typedef {object} Positionals words behind the command
 * @property {string} name key of what was given: a list of texts
 * @property {string} describe one line for `--help`
 * @property {number} min how many there must be; 0: one may be given
 * @property {boolean} [checksItself] the command says itself that there are too few, in words of its own
 * @property {string} [placeholder] what stands for one in `--help`; FILE unless said otherwise
 */
/**
 * @typedef {object} Command
 * @property {Record<string, import('../common/options.js').OptionSpec>} options
 * @property {Positionals} [positionals] none: the command takes options only
 * @property {string[]} examples command lines without the program's name
 * @property {string} [epilogue] for `--help`
 * @property {(given: Record<string, unknown>, line: string) => Promise<number>} run resolves to the exit code
 */

/**
 * Everything is text to yargs; options.js turns it into values and says what is wrong.
 *
 * @param {import('yargs').Argv} parser
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
  // Strict about options alone: to yargs, words that it was not told of would be unknown commands.
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

/** @param {import('../common/options.js').OptionSpec} spec */
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
