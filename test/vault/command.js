/** Runs the real command line as a separate process, and checks the invariants of every run. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkResult } from '../../src/result/check/check.js';
import { validatorOf } from '../json-schema.js';

/** @import { Result } from '../../src/result/schema.js' */

const ROOT = new URL('../../', import.meta.url);
const BIN = fileURLToPath(new URL('bin/vault-pki-load.js', ROOT));

/** More than twice as long as any run in these tests; a hanging run must fail in its own test. */
const KILL_AFTER_MS = 150_000;

/**
 * @typedef {object} Ended
 * @property {number | null} code
 * @property {string} stdout
 * @property {string} stderr
 * @property {Result | null} result written by `--out`
 */

const problemIn = await validatorOf('result');

/**
 * @param {string[]} args
 * @param {Record<string, string>} [env] the whole environment but for PATH and HOME
 */
export function startCommand(args, env = {}) {
  const home = mkdtempSync(join(tmpdir(), 'vault-pki-load-home-'));
  const out = join(home, 'result.json');
  const child = spawn(process.execPath, [BIN, ...args, '--out', out], {
    env: { PATH: process.env.PATH, HOME: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: KILL_AFTER_MS,
    killSignal: 'SIGKILL',
  });
  const said = { stdout: '', stderr: '' };
  for (const name of /** @type {const} */ (['stdout', 'stderr'])) {
    child[name].setEncoding('utf8').on('data', (text) => {
      said[name] += text;
      child.emit('said');
    });
  }
  const ended = new Promise((resolve) => child.once('close', resolve)).then((code) => {
    const file = existsSync(out) ? readFileSync(out, 'utf8') : null;
    rmSync(home, { recursive: true });
    return whole({ code: /** @type {number | null} */ (code), file, ...said }, env);
  });
  ended.catch(() => {});
  return {
    ended,
    /** @param {NodeJS.Signals} signal */
    kill: (signal) => child.kill(signal),
    /** Resolves after a second of requests. @returns {Promise<void>} */
    underWay: () =>
      new Promise((resolve, reject) => {
        const look = () => /^(?:warm-up )?\d+(?:\.\d+)? s(?:\/| )/m.test(said.stderr) && resolve();
        child.on('said', look).once('close', () => reject(new Error(`ended early: ${said.stderr}`)));
        look();
      }),
  };
}

/** @param {string[]} args @param {Record<string, string>} [env] @returns {Promise<Ended>} */
export function runCommand(args, env) {
  return startCommand(args, env).ended;
}

/**
 * Like {@link runCommand}, for runs that produce a result, valid or not.
 *
 * @param {string[]} args
 * @param {Record<string, string>} [env]
 */
export async function runToResult(args, env) {
  return withResult(await runCommand(args, env));
}

/** @param {Ended} ended @returns {Ended & {result: Result}} */
export function withResult(ended) {
  const { result } = ended;
  assert.ok(result !== null, `no result, exit code ${ended.code}: ${ended.stderr}`);
  return { ...ended, result };
}

/**
 * The run ended as expected: 0, or 98 only because this machine was too busy: Vault and its tests share two cores.
 *
 * @param {Ended} ended
 */
export function assertRan({ code, stderr, result }) {
  const codes = result?.measurement.reasons.map((reason) => reason.code) ?? [];
  const late = code === 98 && codes.includes('load_not_offered');
  assert.ok(code === 0 || late, `exit code ${code} (${codes}): ${stderr}`);
}

/**
 * Invariants of every run: no secrets, no stack trace, and a consistent result that matches its schema.
 *
 * @param {{code: number | null, file: string | null, stdout: string, stderr: string}} raw
 * @param {Record<string, string>} env
 * @returns {Ended}
 */
export function whole({ code, file, stdout, stderr }, env) {
  const everything = `${stdout}\n${stderr}\n${file}`;
  for (const token of [env.VAULT_TOKEN, env.BAO_TOKEN]) {
    assert.ok(!token || !everything.includes(token), 'the token is shown');
  }
  assert.doesNotMatch(everything, /PRIVATE KEY|\n\s+at .*:\d+:\d+|internal error/);
  assert.notEqual(code, null, `killed after ${KILL_AFTER_MS} ms: ${stderr}`);
  const result = file === null ? null : /** @type {Result} */ (JSON.parse(file));
  if (result !== null) {
    assert.deepEqual(checkResult(result), []);
    assert.equal(problemIn(result), null);
  }
  return { code, stdout, stderr, result };
}
