/** `--join`: this process is one of several parts of a run, which meet at an address. */
import { createServer } from 'node:net';
import { EXIT, PkiLoadError, rejectIf, usageError } from '../common/errors.js';
import { listen, parseAddress } from '../common/listen.js';
import { inGroup, option, readOne } from '../common/options.js';
import { readBytes } from '../common/read-file.js';
import { redactToken } from '../common/sanitize.js';
import { checkPart } from '../plan/load.js';
import { MAX_PARTS, parseShard } from '../plan/shard-part.js';
import { writeFiles } from './output.js';
import { failAtExit, textOf, writeLine, writeWarning } from './process.js';
import { keepHeapSmall, quietly } from './quiet-v8.js';

/** @import { Leader } from '../join/leader.js' */
/** @import { Plan } from '../plan/plan.js' */
/** @import { ShardPart } from '../plan/shard-part.js' */
/** @import { Result } from '../result/schema.js' */
/** @import { RunEvent, RunOptions } from '../run.js' */
/** @import { RunSettings } from './operation.js' */
/** @import { Interrupt } from './process.js' */

/** Of a joined run @typedef {Pick<Leader, 'run' | 'prepareRun'> & Partial<Pick<Leader, 'broken' | 'ofStep'>>} Runner */
/** @typedef {NonNullable<ReturnType<typeof readJoin>>} Join */

const PARTS = {
  min: 1,
  max: MAX_PARTS,
  describe: 'Number of parts, if --shard K/N is left out',
  type: /** @type {const} */ ('integer'),
};

export const joinOptions = inGroup('Parts on several machines', {
  join: option('text', 'Run as one part of several, which meet here; part 0 listens', {
    placeholder: 'HOST:PORT',
  }),
  parts: PARTS,
  'join-timeout': option('duration', 'Wait this long until all parts are there', {
    min: 1,
    max: 86_400_000,
    defaultText: '5m',
  }),
});

const JOIN_TIMEOUT_MS = 300_000;
/** With more parts, memory matters more than the time of the garbage collector. */
const MANY_PARTS = 32;

/** Where an engine says which part a process is, and how many there are. */
const INDEX = ['JOB_COMPLETION_INDEX', 'NOMAD_ALLOC_INDEX'];
const COUNT = ['VAULT_PKI_LOAD_PARTS', 'NOMAD_GROUP_COUNT'];

const JSON_FILE = /\.json$/i;

const SECRET = 'VAULT_PKI_LOAD_JOIN_SECRET';
const MIN_SECRET = 16;

/** @param {Record<string, any>} options of joinOptions @param {{shard?: unknown, seed?: unknown, 'start-at'?: unknown}} given @param {NodeJS.ProcessEnv} [env] */
export function readJoin({ join, parts, joinTimeout }, given, env = process.env) {
  const flag = parts !== null ? '--parts' : '--join-timeout';
  const isUseless = join === null && (parts ?? joinTimeout) !== null;
  rejectIf(
    isUseless,
    `${flag} is for a run of several parts, but there is no --join.`,
    'Add --join HOST:PORT.',
  );
  if (join === null) return null;
  const isTwice = given['start-at'] !== undefined;
  rejectIf(isTwice, '--start-at sets the time to start, but with --join part 0 does.', 'Leave it out.');
  const hasBoth = given.shard !== undefined && parts !== null;
  rejectIf(hasBoth, '--shard K/N says how many parts there are, and so does --parts.', 'Leave --parts out.');
  const where = parseAddress('--join', join);
  rejectIf(where.port === 0, '--join needs a port that all parts know, not 0.', 'Choose one, such as 9555.');
  return {
    where,
    part: given.shard === undefined ? partFrom(parts, env) : parseShard(String(given.shard)),
    /** As given: part 0 draws one for all, but must not replace another. */
    seed: given.seed === undefined ? null : Number(given.seed),
    timeoutMs: joinTimeout ?? JOIN_TIMEOUT_MS,
    /** Never print it. */
    secret: readSecret(env),
  };
}

/** @param {number | null} parts @param {NodeJS.ProcessEnv} env @returns {ShardPart} */
function partFrom(parts, env) {
  const find = (/** @type {string[]} */ names) => names.find((name) => env[name]);
  const [index, count] = [find(INDEX), find(COUNT)];
  const of = parts ?? (count === undefined ? null : readOne({ ...PARTS, group: '' }, count, env[count]));
  const remedy = `Add --shard K/N, or set one of ${INDEX.join(', ')}, and --parts N or one of ${COUNT.join(', ')}.`;
  if (index === undefined) throw usageError('no_part', '--join does not say which part this is.', remedy);
  if (of === null) throw usageError('no_part', '--join does not say how many parts there are.', remedy);
  return parseShard(`${env[index]}/${of}`, `${index} with ${of} parts`);
}

/** @param {NodeJS.ProcessEnv} env @returns {string} */
function readSecret(env) {
  const [given, file] = [env[SECRET], env[`${SECRET}_FILE`]];
  const name = given ? SECRET : `${SECRET}_FILE`;
  const text = given || (file ? readBytes(file, `The file in ${name}`, { maxMiB: 1 }).toString() : '');
  const secret = text.trim();
  redactToken(secret);
  const how = 'Use the same for all parts, e.g. from: openssl rand -hex 32.';
  if (secret === '')
    throw usageError('no_secret', `--join needs a secret in ${SECRET} or ${SECRET}_FILE.`, how);
  const short = `The secret in ${name} has fewer than ${MIN_SECRET} characters.`;
  if (secret.length < MIN_SECRET) throw usageError('short_secret', short, how);
  return secret;
}

/** @param {readonly string[]} out @param {ShardPart} part @returns {string[]} paths of its own result */
export const partFilesOf = (out, { index }) =>
  out.filter((path) => JSON_FILE.test(path)).map((path) => path.replace(JSON_FILE, `-part-${index}.json`));

/**
 * Runs `act` as it is or, with `--join`, together with the other parts; a part other than 0 does what part 0 asks instead.
 * @param {Pick<RunSettings, 'join' | 'quiet' | 'partFiles' | 'search' | 'repeat' | 'command' | 'metrics'>} settings
 * @param {readonly (Pick<RunOptions, 'token' | 'mayReach'> & {plan: Plan})[]} steps @param {Interrupt} interrupt
 * @param {(interrupt: Interrupt, runner?: Runner) => Promise<number>} act @returns {Promise<number>} exit code
 */
export async function withOtherParts(
  { join, quiet, partFiles, metrics, ...settings },
  steps,
  interrupt,
  act,
) {
  if (join === null) return act(interrupt);
  const { part, secret, ...meeting } = join;
  // The part with the fewest connections, so that all parts agree; in a search some may have none.
  const last = { index: part.of - 1, of: part.of };
  const load = settings.search?.of === 'concurrency' ? { concurrency: MAX_PARTS } : {};
  for (const { plan } of steps) checkPart({ ...plan, ...plan.load, ...load }, last, '--join');
  const { keyOf } = await import('../join/wire.js');
  let print = writeWarning;
  const onEvent = (/** @type {RunEvent} */ event) => {
    if (event.type === 'warning' && event.isFailure) failAtExit(process);
    if (event.type === 'warning') print(event.text);
    else if (event.type === 'notice' && !quiet) writeLine(event.text);
  };
  await checkBeforeOthers({ ...settings, metrics: part.index === 0 ? metrics : null }, steps);
  const writePart = async (/** @type {Result} */ result) => {
    for (const failure of await writeFiles(result, partFiles)) {
      failAtExit(process);
      print(textOf(failure));
    }
  };
  const { search, repeat } = settings;
  const series = {
    '--repeat': repeat,
    '--find-max-rate': search?.of === 'rate',
    '--max-rate': search?.of === 'rate' ? search.highest : null,
    '--max-concurrency': search?.of === 'concurrency' ? search.highest : null,
  };
  const common = { ...meeting, series, key: keyOf(secret), onEvent: quietly(onEvent) };
  const { stop, cutOff } = interrupt;
  if (part.index > 0) {
    const { runAsMember } = await import('../join/member.js');
    const { mostAsked } = await import('../campaigns/search/step-plan.js');
    const most = (/** @type {Plan} */ plan) => settings.search && mostAsked(plan, settings.search);
    const bounded = steps.map((step) => ({ ...step, most: most(step.plan) }));
    const mine = { part, steps: bounded, command: settings.command };
    return runAsMember({ ...common, ...mine, stop, cutOff, onResult: writePart });
  }
  if (part.of > MANY_PARTS) keepHeapSmall();
  const { createLeader } = await import('../join/leader.js');
  const plans = steps.map(({ plan }) => plan);
  const leader = await createLeader({ ...common, of: part.of, plans, onOwnResult: writePart });
  const stopAll = AbortSignal.any([stop, leader.interrupted]);
  try {
    await leader.complete(stopAll);
    const joined = { ...interrupt, stop: stopAll };
    // While a live view is shown, it shows what happens to other parts.
    joined.attach = (newPrint, ...rest) => {
      print = newPrint;
      interrupt.attach(newPrint, ...rest);
    };
    const code = await act(joined, leader);
    leader.end({ exitCode: code === EXIT.interrupted ? code : EXIT.ok });
    return code;
  } catch (error) {
    leader.end({ why: textOf(error), exitCode: error instanceof PkiLoadError ? error.exitCode : EXIT.usage });
    throw error;
  }
}

/**
 * Mistakes that would otherwise be found only when all parts are there.
 * @param {Pick<RunSettings, 'search' | 'metrics'>} settings @param {readonly {plan: Plan}[]} steps
 */
async function checkBeforeOthers({ search, metrics }, steps) {
  if (search !== null) {
    const { checkSearchable } = await import('../campaigns/search/find-max.js');
    for (const { plan } of steps) checkSearchable(plan, search);
  }
  if (metrics === null) return;
  const server = createServer();
  await listen(server, metrics, '--metrics', 'metrics');
  server.close();
}
