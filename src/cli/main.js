/** The command line: which command, with which flags. Each command's own file is loaded on demand. */
import yargs from 'yargs';
import { EXIT, PkiLoadError, usageError } from '../common/errors.js';
import { TOOL_VERSION } from '../common/version.js';
import { operations } from '../operations/index.js';
import { redact, withoutSecrets } from '../vault/redact.js';
import { quoted } from '../vault/setup/command.js';
import { declare, describeMisuse, normaliseArguments, takeSpecial } from './arguments.js';
import { closeLostTerminals, handleOutputErrors, writeLine } from './process.js';

/** @import { Command } from './arguments.js' */
/** @import { Argv } from 'yargs' */

/** @type {Record<string, [describe: string, load: () => Promise<Record<string, unknown>>]>} a module has its `command`, or one by its name */
const modules = {
  run: ['Run a scenario: mixes of operations, stages, several targets', () => import('./scenario.js')],
  setup: ['Create a PKI for testing on a real Vault', () => import('./setup.js')],
  teardown: ['Remove a setup, and leftovers of killed runs', () => import('./setup.js')],
  propagation: ['Measure how soon OCSP reports revocations', () => import('./measurements.js')],
  dev: ['Run the embedded PKI server', () => import('./dev.js')],
  report: ['Convert result files to reports', () => import('./report.js')],
  compare: ['Compare groups of results statistically', () => import('./compare.js')],
  merge: ['Merge the parts of one plan (--shard)', () => import('./report.js')],
  calibrate: ['Measure the limits of this machine', () => import('./measurements.js')],
  schema: ['Print the JSON Schema of results or scenarios', () => import('./schema.js')],
};

/** In the order of `--help`. @type {Record<string, string>} */
const descriptions = {
  ...Object.fromEntries(Object.entries(operations).map(([name, { describe }]) => [name, describe])),
  ...Object.fromEntries(Object.entries(modules).map(([name, [describe]]) => [name, describe])),
};

/** @param {string} name @returns {Promise<Command>} */
async function loadCommand(name) {
  if (Object.hasOwn(operations, name)) return (await import('./operation.js')).operationCommand(name);
  const loaded = await modules[name][1]();
  return /** @type {Command} */ (loaded.command ?? loaded[name]);
}

const INTRODUCTION =
  'Load tester for certificate authorities: HashiCorp Vault, OpenBao and their OCSP responders.\n\n$0 COMMAND [OPTIONS]';

/** Time for standard output and error to be written before the process is ended. */
const LAST_WORDS_MS = 500;

/** @param {string[]} args without node and the script @returns {Promise<number>} exit code */
export async function main(args) {
  handleOutputErrors(process);
  closeLostTerminals(process);
  process.once('uncaughtException', (error) => {
    reportError(error);
    process.exit(EXIT.usage);
  });
  try {
    const run = await parse(normaliseArguments(args));
    return run === null ? EXIT.ok : await run(['vault-pki-load', ...args.map(quoted)].join(' '));
  } catch (error) {
    reportError(error);
    if (error instanceof PkiLoadError) return error.exitCode;
    // Handles left open by an internal error must not keep the process alive.
    setTimeout(() => process.exit(EXIT.usage), LAST_WORDS_MS).unref();
    return EXIT.usage;
  }
}

/**
 * @param {string[]} args
 * @returns {Promise<((line: string) => Promise<number>) | null>} runs the command; null: help or version was shown
 */
async function parse(args) {
  /** @type {((line: string) => Promise<number>) | null} */
  let run = null;
  const name = args.find((arg) => Object.hasOwn(descriptions, arg));
  const command = name === undefined ? null : await loadCommand(name);
  const { rest, taken } = takeSpecial(args, command);
  const misuse = (/** @type {string} */ message) => {
    const own = Object.entries(command?.options ?? {});
    const flags = [...own.flatMap(([flag, { alias = [] }]) => [flag, ...alias]), 'help', 'version'];
    const commands = [...Object.keys(descriptions), 'completion'];
    const help = ['vault-pki-load', ...(name === undefined ? [] : [name]), '--help'].join(' ');
    return usageError('bad_usage', describeMisuse(message, args, { commands, flags }), `See: ${help}`);
  };
  const parser = yargs(rest)
    .scriptName('vault-pki-load')
    .usage(INTRODUCTION)
    .parserConfiguration({
      'camel-case-expansion': false,
      'boolean-negation': false,
      'dot-notation': false,
      'parse-numbers': false,
      'parse-positional-numbers': false,
      'strip-aliased': true,
    })
    .version(TOOL_VERSION)
    .strict()
    .wrap(Math.min(100, process.stderr.columns ?? 100))
    .exitProcess(false)
    .completion('completion', 'Print a completion script for bash or zsh')
    .demandCommand(1, 'No command is given: it comes first, before the options.')
    .epilogue('Help on a command: vault-pki-load issue --help')
    .fail((message, error) => {
      throw error ?? misuse(message);
    });
  for (const [one, describe] of Object.entries(descriptions)) {
    if (one !== name || command === null) parser.command(one, describe);
    else {
      const builder = (/** @type {Argv} */ sub) => declare(sub, one, command);
      parser.command(one, describe, builder, ({ _, $0, help, version, ...found }) => {
        const { positionals } = command;
        const words = positionals && { [positionals.name]: _.slice(1).map(String) };
        run = (line) => command.run({ ...found, ...taken, ...words }, line);
      });
    }
  }
  try {
    await parser.parseAsync();
  } catch (error) {
    // Some faults that yargs finds come as a YError, past its fail handler.
    const thrown = /** @type {Error} */ (error);
    throw thrown.name === 'YError' ? misuse(thrown.message) : error;
  }
  return run;
}

/** Of the machine, by the system's code. @type {Record<string, string>} */
const LIMITS = {
  EMFILE: 'Too many files are open. Raise the limit (ulimit -n).',
  ENFILE: 'Too many files are open on this machine. End other programs.',
  ENOMEM: 'There is not enough memory. Raise the limit (ulimit -v), or end other programs.',
  ERR_WORKER_OUT_OF_MEMORY: 'There is not enough memory for a thread. End other programs.',
};

/** @param {unknown} thrown */
function reportError(thrown) {
  const secrets = [process.env.BAO_TOKEN, process.env.VAULT_TOKEN];
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  writeLine(`vault-pki-load: ${describe(error, secrets)}`);
  if (!process.env.VAULT_PKI_LOAD_DEBUG || error instanceof PkiLoadError) return;
  for (const line of withoutSecrets(String(error.stack), secrets).split('\n')) writeLine(line);
}

/** @param {NodeJS.ErrnoException} error @param {(string | undefined)[]} secrets @returns {string} a sentence without tokens and keys */
function describe(error, secrets) {
  if (error instanceof PkiLoadError) return error.full;
  const limit = LIMITS[error.code ?? ''];
  if (limit !== undefined) return limit;
  const what = redact(error.message, secrets).replace(/\.$/, '');
  return `internal error: ${what}. Please report it, with the output under VAULT_PKI_LOAD_DEBUG=1.`;
}
