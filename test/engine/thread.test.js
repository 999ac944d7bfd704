import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startThread } from '../../src/engine/thread.js';

/** @param {string} code of the thread; `port` is its end */
function start(code, options = {}) {
  const source = `import { parentPort as port, workerData as data } from 'node:worker_threads'; ${code}`;
  const file = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  return startThread('test', file, { data: 7, ...options });
}

describe('a thread', () => {
  test('posts replies, repeated values and signals', async () => {
    /** @type {unknown[]} */
    const seen = [];
    const options = {
      on: { row: (/** @type {number} */ row) => seen.push(row) },
      onSignal: () => seen.push('signal'),
    };
    const code = `port.postMessage({ type: 'row', value: 1 }); port.postMessage(null);
      port.postMessage({ type: 'row', value: 2 }); port.postMessage({ type: 'end', value: data }); port.on('message', () => {})`;
    const thread = start(code, options);
    assert.equal(await thread.first('end'), 7);
    assert.equal(await thread.first('end'), 7, 'a reply that has come');
    assert.deepEqual(seen, [1, 'signal', 2]);
    assert.equal(thread.hasEnded(), false);
    await thread.stop();
    assert.equal(thread.hasEnded(), true);
  });

  test('may end after its last reply', async () => {
    const thread = start(`port.postMessage({ type: 'end', value: 1 })`);
    assert.equal(await thread.first('end'), 1);
  });

  const threads = /** @type {[string, string, RegExp, boolean][]} */ ([
    ['throws', 'throw new Error("broken")', /^Error: broken$/, true],
    ['rejects', 'Promise.reject(new TypeError("broken"))', /^TypeError: broken$/, true],
    ['exits with an error code', 'process.exit(3)', /test thread exited too early \(exit code 3\)/, true],
    ['exits with code 0', 'process.exit(0)', /test thread exited too early \(exit code 0\)/, false],
  ]);
  for (const [what, code, error, fails] of threads) {
    test(`that ${what} rejects every pending reply`, async () => {
      const thread = start(`port.once('message', () => { ${code} })`);
      const reply = thread.first('end');
      thread.post('go');
      await assert.rejects(reply, (thrown) => error.test(String(thrown)));
      await assert.rejects(thread.first('later'), (thrown) => error.test(String(thrown)));
      if (fails) await assert.rejects(thread.failed, (thrown) => error.test(String(thrown)));
      assert.equal(thread.hasEnded(), true);
    });
  }
});
