/** Shared by the end-to-end tests: the program as a child process, and what a right result looks like. */
import assert from 'node:assert/strict';
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startDevServer } from '../../src/dev/spawn.js';
import { operations } from '../../src/operations/index.js';
import { checkResult } from '../../src/result/check/check.js';
import { validatorOf } from '../json-schema.js';

/** @import { SpawnedDevServer } from '../../src/dev/spawn.js' */
/** @import { Result } from '../../src/result/schema.js' */
/** @import { RequestListener } from 'node:http' */
/** @import { AddressInfo } from 'node:net' */

/** @typedef {{code: number | null, signal: string | null, stdout: string, stderr: string}} Ended */

const PROGRAM = fileURLToPath(new URL('../../bin/vault-pki-load.js', import.meta.url));
const BATCH = fileURLToPath(new URL('batch.js', import.meta.url));

/** However slow the machine: no run of these tests takes this long unless it hangs. */
const HANGS_AFTER_MS = 300_000;

/** The role that answers fastest. */
export const EC = ['--role', 'example-dot-com-ec'];

const problemIn = await validatorOf('result');

/**
 * With `--cold-start` where load is sent: what a test looks at does not depend on how early the first requests are sent.
 *
 * @param {string[]} args
 */
export const cold = (args) =>
  Object.hasOwn(operations, args[0]) || ['run', 'search'].includes(args[0])
    ? args.toSpliced(1, 0, '--cold-start')
    : args;

/**
 * Starts the program with nothing of this machine's Vault in its environment.
 *
 * @param {string[]} args
 * @param {{env?: Record<string, string>, cwd?: string}} [options]
 */
export function startCli(args, { env = {}, cwd } = {}) {
  const child = spawn(process.execPath, [PROGRAM, ...cold(args)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd,
    env: { PATH: process.env.PATH, HOME: '/nonexistent', ...env },
  });
  const output = { stdout: '', stderr: '' };
  for (const name of /** @type {const} */ (['stdout', 'stderr'])) {
    child[name].setEncoding('utf8').on('data', (text) => {
      output[name] += text;
    });
  }
  const hangs = setTimeout(() => child.kill('SIGKILL'), HANGS_AFTER_MS);
  const ended = once(child, 'close').then(([code, signal]) => {
    clearTimeout(hangs);
    assert.notEqual(signal, 'SIGKILL', `hangs: ${args.join(' ')}\n${output.stderr}`);
    assertAddsUp(output);
    return /** @type {Ended} */ ({ code, signal, ...output });
  });
  /** Resolves when it has. @param {'stdout' | 'stderr'} name @param {RegExp} pattern */
  async function seen(name, pattern) {
    while (!pattern.test(output[name])) {
      const more = await Promise.race([once(child[name], 'data'), ended.then(() => null)]);
      assert.ok(more !== null || pattern.test(output[name]), `never showed ${pattern}: ${output.stderr}`);
    }
  }
  return {
    ended,
    /** @param {NodeJS.Signals} signal */
    kill: (signal) => child.kill(signal),
    shows: (/** @type {RegExp} */ pattern) => seen('stderr', pattern),
    prints: (/** @type {RegExp} */ pattern) => seen('stdout', pattern),
  };
}

/**
 * @param {string[]} args
 * @param {{env?: Record<string, string>, cwd?: string}} [options]
 * @returns {Promise<Ended>}
 */
export const runCli = (args, options) => startCli(args, options).ended;

/**
 * One process for many command lines that end before anything is sent: starting one for each takes most of the time.
 * They take turns.
 *
 * @param {{after: (fn: () => void) => void}} context
 */
export function startBatch(context) {
  const env = { PATH: process.env.PATH, HOME: '/nonexistent' };
  const child = fork(BATCH, { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  context.after(() => child.disconnect());
  /** @type {Promise<unknown>} */
  let turn = Promise.resolve();
  /** @param {string[]} args @param {{env?: Record<string, string>}} [options] @returns {Promise<Ended>} */
  return (args, options = {}) => {
    const mine = turn.then(async () => {
      child.send({ args, env: options.env ?? {} });
      const [ended] = await once(child, 'message');
      return ended;
    });
    turn = mine;
    return mine;
  };
}

/**
 * A run whose result is wanted, whole and right.
 *
 * @param {string[]} args
 * @param {{env?: Record<string, string>, code?: number}} [options]
 * @returns {Promise<Result>}
 */
export async function measure(args, { env, code = 0 } = {}) {
  const ended = await runCli([...args, '--format', 'json', '--quiet'], { env });
  assertDone(ended, code);
  return rightResult(ended.stdout);
}

/**
 * On a busy machine the tool rightly says that it was late itself; that is no failure of the test.
 *
 * @param {Ended} ended
 * @param {number} [expected] exit code
 */
export function assertDone({ code, stdout, stderr }, expected = 0) {
  const isInvalid = /^ {2}invalid +measurement |"verdict": "invalid"/m.test(stdout);
  assert.equal(code, isInvalid && expected !== 130 ? 98 : expected, stderr + stdout);
  assertNoStack(stderr);
}

/**
 * What a search finds on a machine with other things to do is its own affair; that it came to an end is ours.
 *
 * @param {number | null} code
 */
export function assertSearched(code) {
  assert.ok(code === 0 || code === 98 || code === 99, `exit code ${code}`);
}

/**
 * @param {string} text
 * @returns {Result} of one JSON object that the published schema takes and whose numbers agree with each other
 */
export function rightResult(text) {
  const parsed = JSON.parse(text);
  assert.equal(problemIn(parsed), null);
  const result = /** @type {Result} */ (parsed);
  assert.deepEqual(checkResult(result, { isFile: true }), []);
  const { planned, sent, dropped, neverSent, succeeded, failed } = result.totals;
  assert.equal(sent + dropped + neverSent, planned);
  assert.equal(succeeded + failed, sent);
  return result;
}

/**
 * Whatever a test is about: the tool itself did not find its figures wrong. Busy machines make runs invalid, this does not.
 *
 * @param {{stdout: string, stderr: string}} output
 */
export function assertAddsUp({ stdout, stderr }) {
  assert.doesNotMatch(stdout + stderr, /figures\s+do\s+not\s+add\s+up|"bookkeeping"/);
}

/** @param {Ended} ended @param {RegExp} message @param {number} [expected] exit code */
export function assertRefused({ code, stdout, stderr }, message, expected = 1) {
  assert.match(stderr, message);
  assert.equal(code, expected, stderr);
  assert.equal(stdout, '');
  assertNoStack(stderr);
  assert.match(stderr, /^vault-pki-load: [^\n]+\n$/, 'one line');
}

/** @param {string} text */
export function assertNoStack(text) {
  assert.doesNotMatch(text, /^\s+at .+:\d+:\d+|node:internal|internal error/m);
}

/**
 * @param {{after: (fn: () => void) => void}} context of `node:test`
 * @returns {(name: string, content?: string | Uint8Array) => string} a path in a folder that goes with the test
 */
export function scratch(context) {
  const folder = mkdtempSync(join(tmpdir(), 'vpl-cli-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return (name, content) => {
    if (content !== undefined) writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
}

/**
 * The embedded server, from before the tests of where this is called until after them: what is known of it comes before the first.
 *
 * @returns {SpawnedDevServer}
 */
export function devServer() {
  const server = /** @type {SpawnedDevServer} */ ({});
  before(async () => void Object.assign(server, await startDevServer({ caKeyType: 'ec' })));
  after(() => server.stop());
  return server;
}

/**
 * @param {{after: (fn: () => any) => void}} context of `node:test`
 * @param {RequestListener} onRequest
 * @returns {Promise<string>} address of a server that goes with the test
 */
export async function serve(context, onRequest) {
  const server = createServer(onRequest).listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${/** @type {AddressInfo} */ (server.address()).port}`;
}

/** @param {{url: string, token: string}} server @returns {Record<string, string>} */
export const environmentOf = ({ url, token }) => ({ VAULT_ADDR: url, VAULT_TOKEN: token });
