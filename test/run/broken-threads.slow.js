/** A thread that fails in the middle of a run ends the run with its error; one that only shows the run does not. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertDone, EC, rightResult, runCli, scratch } from '../cli/support.js';

const AFTER_MS = 1500;

/**
 * Loaded into every thread of the program: those that block in `Atomics.wait` fail there, the others from a timer. Threads are
 * told apart by their data.
 * @param {string} isWanted condition on `data`
 * @param {string} failure statement
 */
const injected = (isWanted, failure) => `
import { isMainThread, workerData as data } from 'node:worker_threads';
const fail = () => { ${failure}; };
if (!isMainThread && data && (${isWanted})) {
  const [wait, startMs] = [Atomics.wait, performance.now()];
  Atomics.wait = (...args) => (performance.now() - startMs > ${AFTER_MS} ? fail() : wait(...args));
  setTimeout(fail, ${AFTER_MS});
}`;

/** @param {{after: (fn: () => any) => void}} t @param {string} isWanted @param {string} failure @param {string[]} args */
function runBroken(t, isWanted, failure, args) {
  const module = scratch(t)('broken.mjs', injected(isWanted, failure));
  const load = ['ocsp', '--dev', ...EC, '--duration', '4s', ...args];
  return runCli(load, { env: { NODE_OPTIONS: `--import=${module}` } });
}

describe('a thread that fails in a run', { concurrency: 2 }, () => {
  const open = ['--rate', '200/s'];
  /** @type {[string, string, string[]][]} */
  const threads = [
    ['the recorder', 'data.ring', open],
    ['the recorder of a closed loop', 'data.ring', []],
    ['the recorder of one of two senders', 'data.ring && data.shards === 2', [...open, '--threads', '2']],
    ['the pacing thread', 'data.isPending', open],
    ['a sender', 'data.tls && data.shard === 1', [...open, '--threads', '2']],
  ];
  for (const [name, isWanted, args] of threads) {
    test(`${name}: an exception ends the run with its message`, async (t) => {
      const { stderr, code } = await runBroken(t, isWanted, 'throw new Error("injected")', args);
      assert.match(stderr, /internal error: injected\./);
      assert.equal(code, 1);
    });
    test(`${name}: an exit ends the run with an error`, async (t) => {
      const { stderr, code } = await runBroken(t, isWanted, 'process.exit(3)', args);
      assert.match(stderr, /The (recorder|pacing|sender) thread exited too early|injected/);
      assert.equal(code, 1);
    });
  }

  test('the live thread: the run still completes with a result', async (t) => {
    const out = scratch(t)('r.json', '');
    const args = [...open, '--out', out, '--format', 'json'];
    const ended = await runBroken(t, 'data.terminal', 'throw new Error("injected")', args);
    assertDone(ended);
    assert.equal(rightResult(ended.stdout).totals.succeeded, 800);
    assert.match(ended.stderr, /injected/);
  });
});
