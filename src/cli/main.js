/** The command line: which command, with which flags. Each command's own file is loaded when it is asked for. */
import yargs from 'yargs';
import { EXIT, PkiLoadError, usageError } from '../common/errors.js';
import { TOOL_VERSION } from '../common/version.js';
import { operations } from '../operations/index.js';
import { redact, withoutSecrets } from '../vault/redact.js';
import { quoted } from '../vault/setup/command.js';
import {
  declare,
  describeMisuse,
  joinValues,
  listFlags,
  listsOf,
  normaliseArguments,
  textOfFlags,
  wordsOf,
} from './arguments.js';
import { handleOutputErrors } from './process.js';

/** @import { Command } from './arguments.js' */
/** @import { Argv } from 'yargs' */

/** @type {Record<string, {describe: string, load: () => Promise<Command>}>} */
const commands = {
  ...Object.fromEntries(
    Object.entries(operations).map(([name, { describe }]) => [
      name,
      { describe, load: async () => (await import('./operation.js')).operationCommand(name) },
    ]),
  ),
  run: {
    describe: 'Run a scenario: mixes of operations, stages, several targets',
    load: async () => (await import('./scenario.js')).command,
  },
  setup: {
    describe: 'Create a PKI for testing on a real Vault',
    load: async () => (await import('./setup.js')).setup,
  },
  teardown: {
    describe: 'Remove what setup created, and nothing else',
    load: async () => (await import('./setup.js')).teardown,
  },
  propagation: {
    describe: 'Measure how soon OCSP reports revocations',
    load: async () => (await import('./propagation.js')).command,
  },
  dev: {
    describe: 'Run the embedded PKI server',
    load: async () => (await import('./dev.js')).command,
  },
  report: {
    describe: 'Convert result files to reports',
    load: async () => (await import('./report.js')).command,
  },
  compare: {
    describe: 'Compare groups of results statistically',
    load: async () => (await import('./compare.js')).command,
  },
  merge: {
    describe: 'Merge the parts of one plan (--shard)',
    load: async () => (await import('./merge.js')).command,
  },
  calibrate: {
    describe: 'Find out what this machine can measure',
    load: async () => (await import('./calibrate.js')).command,
  },
  schema: {
    describe: 'Print the JSON Schema of result files',
    load: async () => (await import('./schema.js')).command,
  },
};

/** Time for standard output and error to be written before the process is ended. */
const LAST_WORDS_MS = 500;

/** @param {string[]} args without node and the script @returns {Promise<number>} exit code */
export async function main(args) {
  handleOutputErrors(process);
  process.once('uncaughtException', (error) => {
    report(error);
    process.exit(EXIT.usage);
  });
  try {
    const { command, given } = await parse(normaliseArguments(args));
    return command === null ? EXIT.ok : await command.run(given, commandLine(args));
  } catch (error) {
    report(error);
    if (error instanceof PkiLoadError) return error.exitCode;
    // Handles left open by an internal error must not keep the process alive.
    setTimeout(() => process.exit(EXIT.usage), LAST_WORDS_MS).unref();
    return EXIT.usage;
  }
}

/**
 * @param {string[]} args
 * @returns {Promise<{command: Command | null, given: Record<string, unknown>}>} null: help or version was shown
 */
async function parse(args) {
  /** @type {{command: Command | null, given: Record<string, unknown>}} */
  let chosen = { command: null, given: {} };
  /** @type {Command | null} */
  let declared = null;
  const lists = await listFlagsIn(args);
  const parser = yargs(joinValues(args, lists))
    .scriptName('vault-pki-load')
    .usage(
      'Load tester for certificate authorities: HashiCorp Vault, OpenBao and their OCSP responders.\n\n$0 COMMAND [OPTIONS]',
    )
    .parserConfiguration({
      'camel-case-expansion': false,
      'boolean-negation': false,
      'dot-notation': false,
      'parse-numbers': false,
      'parse-positional-numbers': false,
    })
    .version(TOOL_VERSION)
    .strict()
    .wrap(Math.min(100, process.stderr.columns ?? 100))
    .exitProcess(false)
    .completion('completion', 'Print a completion script for bash or zsh')
    .demandCommand(1, 'No command is given: it comes first, before the options.')
    .epilogue('Help on a command: vault-pki-load issue --help')
    .fail((message, error) => {
      throw error ?? misuse(message, args, declared);
    });
  for (const [name, { describe: text, load }] of Object.entries(commands)) {
    parser.command({
      command: name,
      describe: text,
      builder: async (/** @type {Argv} */ sub) => {
        declared = await load();
        return declare(sub, name, declared);
      },
      handler: (/** @type {Record<string, unknown>} */ given) => {
        const command = /** @type {Command} */ (declared);
        const own = { ...ownOptions(given), ...textOfFlags(args, given), ...listsOf(given, lists) };
        chosen = { command, given: { ...own, ...wordsOf(command, given._) } };
      },
    });
  }
  try {
    await parser.parseAsync();
  } catch (error) {
    // Some of what yargs finds wrong comes as a YError, past its fail handler.
    const { name, message } = /** @type {Error} */ (error);
    throw name === 'YError' ? misuse(message, args, declared) : error;
  }
  return chosen;
}

/**
 * @param {string} message of yargs
 * @param {string[]} args
 * @param {Command | null} command null: none was recognised
 */
function misuse(message, args, command) {
  const name = commandIn(args);
  const own = Object.entries(command?.options ?? {});
  const flags = [...own.flatMap(([flag, { alias = [] }]) => [flag, ...alias]), 'help', 'version'];
  return usageError(
    'bad_usage',
    describeMisuse(message, args, { commands: [...Object.keys(commands), 'completion'], flags }),
    `See: vault-pki-load${name === undefined ? '' : ` ${name}`} --help`,
  );
}

/**
 * @param {string[]} args
 * @returns {Promise<string[]>} flags of their command that take several values at a time
 */
async function listFlagsIn(args) {
  const name = commandIn(args);
  return name === undefined ? [] : listFlags(await commands[name].load());
}

/** @param {Record<string, unknown>} given what yargs found, with its own additions */
function ownOptions({ _, $0, help, version, ...given }) {
  return given;
}

/** @param {string[]} args */
function commandIn(args) {
  return args.find((arg) => Object.hasOwn(commands, arg));
}

/** @param {string[]} args */
function commandLine(args) {
  return ['vault-pki-load', ...args.map(quoted)].join(' ');
}

/** @param {unknown} error */
function report(error) {
  process.stderr.write(`vault-pki-load: ${describe(error)}\n`);
}

/** @param {unknown} error @returns {string} without tokens, keys and, but for debugging, without a stack */
function describe(error) {
  if (error instanceof PkiLoadError) return error.full;
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const secrets = [process.env.BAO_TOKEN, process.env.VAULT_TOKEN];
  if (process.env.VAULT_PKI_LOAD_DEBUG) return `internal error: ${withoutSecrets(String(stack), secrets)}`;
  const what = redact(message, secrets).replace(/\.$/, '');
  return `internal error: ${what}. Please report it, with the output under VAULT_PKI_LOAD_DEBUG=1.`;
}
