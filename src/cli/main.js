/** The command line: selects the command, parses its options and runs it. Each command's file is loaded on demand. */
import yargs from 'yargs';
import { EXIT, PkiLoadError, quote, usageError } from '../common/errors.js';
import { redactToken, withoutSecrets } from '../common/sanitize.js';
import { TOOL_VERSION } from '../common/version.js';
import { operations } from '../operations/index.js';
import { redact } from '../vault/redact.js';
import {
  commandLine,
  declareCommand,
  describeMisuse,
  normaliseArguments,
  takeSpecialOptions,
} from './arguments.js';
import { blockOutput, closeLostTerminals, handleOutputErrors, writeInFull, writeLine } from './process.js';

/** @import { Command } from './arguments.js' */
/** @import { Argv } from 'yargs' */

/** @param {string} describe @param {() => Promise<Record<string, unknown>>} load its module exports `command`, or commands by name */
const lazy = (describe, load) => ({ describe, load });

const modules = {
  run: lazy('Run a scenario: mixes of operations, stages, several targets', () => import('./scenario.js')),
  setup: lazy('Create a PKI for testing on a real Vault', () => import('./setup.js')),
  teardown: lazy('Remove a setup, and leftovers of killed runs', () => import('./setup.js')),
  propagation: lazy('Measure how soon OCSP reports revocations', () => import('./measurements.js')),
  dev: lazy('Run the embedded PKI server', () => import('./dev.js')),
  report: lazy('Convert result files to reports', () => import('./report.js')),
  compare: lazy('Compare groups of results statistically', () => import('./compare.js')),
  merge: lazy('Merge the parts of one plan (--shard)', () => import('./report.js')),
  calibrate: lazy('Measure the limits of this machine', () => import('./measurements.js')),
  schema: lazy('Print the JSON Schema of results or scenarios', () => import('./schema.js')),
};

/** In the order of `--help`. @type {Record<string, {describe: string}>} */
const commands = { ...operations, ...modules };

/** @param {string} name @returns {Promise<Command>} */
async function loadCommand(name) {
  if (Object.hasOwn(operations, name)) return (await import('./operation.js')).operationCommand(name);
  const loaded = await modules[/** @type {keyof typeof modules} */ (name)].load();
  return /** @type {Command} */ (loaded.command ?? loaded[name]);
}

const INTRODUCTION =
  'Load tester for certificate authorities: HashiCorp Vault, OpenBao and their OCSP responders.\n\n$0 COMMAND [OPTIONS]';

/** Time to flush standard output and error before the process exits. */
const FLUSH_MS = 500;

/** @param {string[]} args without node and the script @returns {Promise<number>} exit code */
export async function main(args) {
  // Arguments may contain a token.
  for (const name of ['BAO_TOKEN', 'VAULT_TOKEN']) redactToken(process.env[name] ?? '');
  handleOutputErrors(process);
  writeInFull(process.stdout);
  closeLostTerminals(process);
  process.once('uncaughtException', (error) => {
    blockOutput();
    reportError(error);
    process.exit(EXIT.usage);
  });
  try {
    const run = await parse(normaliseArguments(args));
    return run === null ? EXIT.ok : await run(commandLine(args));
  } catch (error) {
    if (!(error instanceof PkiLoadError)) blockOutput();
    reportError(error);
    if (error instanceof PkiLoadError) return error.exitCode;
    // Handles that an internal error left open must not keep the process alive.
    setTimeout(() => process.exit(EXIT.usage), FLUSH_MS).unref();
    return EXIT.usage;
  }
}

/** @param {string[]} args @returns {Promise<((line: string) => Promise<number>) | null>} null: yargs has shown help or the version */
async function parse(args) {
  /** @type {((line: string) => Promise<number>) | null} */
  let run = null;
  const name = args.find((arg) => Object.hasOwn(commands, arg));
  const command = name === undefined ? null : await loadCommand(name);
  if (args[0] === 'completion') args = chooseShell(args);
  const { rest, taken } = takeSpecialOptions(args, command);
  const misuse = (/** @type {string} */ message) => {
    const specs = Object.entries(command?.options ?? {});
    const flags = [...specs.flatMap(([flag, { alias = [] }]) => [flag, ...alias]), 'help', 'version'];
    const known = { commands: [...Object.keys(commands), 'completion'], flags };
    const help = `See: vault-pki-load ${name === undefined ? '' : `${name} `}--help`;
    return usageError('bad_usage', describeMisuse(message, args, known), help);
  };
  const own = rest.find((arg) => /^--?(?:\$0|_)(?:=|$)/.test(arg));
  if (own !== undefined) throw misuse(`Unknown argument: ${own.replace(/^--?|=.*/gs, '')}`);
  // yargs would take any value as false, and run the command.
  const valued = rest.find((arg, i) =>
    /^--(?:help|version)(?:=| (?:true|false)$)/.test(`${arg} ${rest[i + 1]}`),
  );
  if (valued !== undefined) throw misuse(`${valued.replace(/=.*/s, '')} takes no value.`);
  const parser = yargs(rest)
    .scriptName('vault-pki-load')
    .detectLocale(false)
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
    .demandCommand(1, 'The command is missing. Put it first, before the options.')
    .epilogue('For help on a command: vault-pki-load COMMAND --help')
    .fail((message, error) => {
      throw error ?? misuse(message);
    });
  for (const [listed, { describe }] of Object.entries(commands)) {
    if (listed !== name || command === null) parser.command(listed, describe);
    else {
      const isListed = args.some((arg) => /help|completions/.test(arg));
      const builder = (/** @type {Argv} */ sub) => declareCommand(sub, listed, command, isListed);
      parser.command(listed, describe, builder, ({ _, $0, help, version, ...options }) => {
        const { positionals } = command;
        const words = positionals && { [positionals.name]: _.slice(1).map(String) };
        run = (line) => command.run({ ...options, ...taken, ...words }, line);
      });
    }
  }
  try {
    await parser.parseAsync();
  } catch (error) {
    // yargs throws some errors as a YError, without calling its fail handler.
    const thrown = /** @type {Error} */ (error);
    throw thrown.name === 'YError' ? misuse(thrown.message) : error;
  }
  return run;
}

/** yargs takes the shell from the environment. @param {string[]} args @returns {string[]} without the name of a shell @throws {PkiLoadError} */
function chooseShell([completion, ...args]) {
  const [shell] = args;
  if (shell === undefined || shell.startsWith('-')) return [completion, ...args];
  const message = `There is no completion for ${quote(shell)}.`;
  if (!['bash', 'zsh'].includes(shell))
    throw usageError('bad_usage', message, 'Use completion bash or completion zsh.');
  delete process.env.ZSH_NAME;
  process.env.SHELL = shell;
  return [completion, ...args.slice(1)];
}

/** Limits and states of the machine, by error code or system call. @type {Record<string, string>} */
const LIMITS = {
  mkdtemp: 'No temporary directory can be created. Set TMPDIR to a writable directory.',
  uv_cwd: 'The current directory has been removed. Change to another one.',
  EMFILE: 'Too many files are open. Raise the limit (ulimit -n).',
  ENFILE: 'Too many files are open on this machine. Close other programs.',
  ENOMEM: 'There is not enough memory. Raise the limit (ulimit -v), or close other programs.',
  ERR_WORKER_INIT_FAILED:
    'No further thread can be created. Raise the limit of processes (ulimit -u, or that of the container) or of memory.',
  ERR_WORKER_OUT_OF_MEMORY: 'There is not enough memory for a thread. Close other programs.',
};

/** @param {unknown} thrown */
function reportError(thrown) {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  writeLine(`vault-pki-load: ${describe(error)}`);
  if (!process.env.VAULT_PKI_LOAD_DEBUG || error instanceof PkiLoadError) return;
  for (const line of withoutSecrets(String(error.stack)).split('\n')) writeLine(line);
}

/** @param {NodeJS.ErrnoException} error @returns {string} without tokens and keys */
function describe(error) {
  if (error instanceof PkiLoadError) return error.full;
  const limit = LIMITS[error.syscall ?? ''] ?? LIMITS[error.code ?? ''];
  if (limit !== undefined) return limit;
  const message = redact(error.message).replace(/\.$/, '');
  return `internal error: ${message}. Please report it, with the output under VAULT_PKI_LOAD_DEBUG=1.`;
}
