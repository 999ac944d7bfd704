/** Like command.js, but in this process, for tests without the command line: starting a process takes most of a test's time. */
import assert from 'node:assert/strict';
import { exitCodeOf } from '../../src/cli/process.js';
import { PkiLoadError } from '../../src/common/errors.js';
import { createPlan, readEnvironment, run } from '../../src/index.js';
import { loadMix } from '../../src/operations/mix.js';
import { prepareRun } from '../../src/run.js';
import { whole, withResult } from './command.js';

/** @import { RunEvent } from '../../src/run.js' */
/** @import { Ended } from './command.js' */

/**
 * @param {string[]} args as a command line has them: an operation and its flags
 * @param {Record<string, string>} [env]
 */
function planOf([operation, ...args], env) {
  /** @type {Record<string, unknown>} */
  const options = {};
  for (let i = 0; i < args.length; i++) {
    const hasValue = i + 1 < args.length && !args[i + 1].startsWith('--');
    options[args[i].replace(/^--/, '')] = hasValue ? args[++i] : true;
  }
  return createPlan(operation, options, readEnvironment(env, { home: '/nowhere' }));
}

/**
 * A whole run.
 *
 * @param {string[]} args
 * @param {Record<string, string>} [env]
 * @returns {Promise<Ended>} `stderr`: messages beside the result
 */
export async function runHere(args, env = {}) {
  /** @type {string[]} */
  const said = [];
  const ended = (/** @type {number} */ code, /** @type {string | null} */ file) =>
    whole({ code, file, stdout: '', stderr: said.join('\n') }, env);
  try {
    const plan = await planOf(args, env);
    const onEvent = (/** @type {RunEvent} */ event) => 'text' in event && said.push(event.text);
    const result = await run(plan, { token: env.VAULT_TOKEN, command: args.join(' '), onEvent });
    return ended(exitCodeOf(result), JSON.stringify(result));
  } catch (error) {
    if (!(error instanceof PkiLoadError)) throw error;
    said.push(error.full);
    return ended(error.exitCode, null);
  }
}

/** @param {string[]} args @param {Record<string, string>} [env] */
export async function runHereToResult(args, env = {}) {
  return withResult(await runHere(args, env));
}

/**
 * Prepares, sends and judges a number of requests as in a run, one after the other, without a load: for long tables.
 *
 * @param {string[]} args
 * @param {Record<string, string>} env
 * @param {number} count
 * @returns {Promise<Record<string, number>>} outcomes; of those that were no success `failed` is the number too
 */
export async function askEach(args, env, count) {
  const plan = await planOf(args, env);
  const { fixture, close } = await prepareRun(plan, { token: env.VAULT_TOKEN });
  /** @type {Record<string, number>} */
  const outcomes = {};
  try {
    const mix = await loadMix(plan);
    const request = mix.createRequester(fixture);
    const [{ classify }] = mix.createClassifiers(fixture);
    for (let index = 0; index < count; index++) {
      const { method, path, headers, body } = request(index);
      const answer = await fetch(fixture.origin + path, { method, headers, body, redirect: 'manual' });
      const bytes = new Uint8Array(await answer.arrayBuffer());
      const { outcome, success, verification } = classify(answer.status, bytes, index);
      assert.equal(verification === 'passed', success, outcome);
      for (const name of [outcome, ...(success ? [] : ['failed'])])
        outcomes[name] = (outcomes[name] ?? 0) + 1;
    }
  } finally {
    await close();
  }
  return outcomes;
}
