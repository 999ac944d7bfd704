import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { describeLeft, measurePropagation } from '../../../src/campaigns/propagation/propagate.js';
import { planPropagation } from '../../../src/campaigns/propagation/propagation-plan.js';
import { startDevServer } from '../../../src/dev/spawn.js';
import { readEnvironment } from '../../../src/vault/environment.js';
import { abortAndWait, startFaultProxy } from '../../run/support.js';

/** @import { AddressInfo } from 'node:net' */

const REVOKED = /** @type {const} */ ({ left: 'revoked' });
const VALID = /** @type {const} */ ({ left: 'valid' });
const UNKNOWN = /** @type {const} */ ({ left: 'unknown' });
const NONE = /** @type {const} */ ({ left: 'none' });

/** @type {[string, Parameters<typeof describeLeft>[0], string][]} */
const LEFT = [
  ['nothing was issued: no text', [NONE, NONE], ''],
  ['one', [REVOKED, NONE], '1 revoked, in storage and on the CRL'],
  ['several', [REVOKED, REVOKED, REVOKED], '3 revoked, in storage and on the CRL'],
  [
    'one that could not be revoked',
    [REVOKED, VALID],
    '1 revoked, in storage and on the CRL; 1 not revoked, as the call failed',
  ],
  ['only those', [VALID, VALID], '2 not revoked, as the call failed'],
  [
    'calls without a valid response',
    [VALID, UNKNOWN, UNKNOWN],
    '1 not revoked, as the call failed; 2 possibly issued, as the call got no valid response',
  ],
];

/** Ends a test whose interrupted preparation waits for the target, which has an hour. */
const HANGS = { timeout: 30_000 };

describe(
  'a signal ends the wait for a target that does not respond, and closes the connection',
  HANGS,
  () => {
    /** @param {Record<string, unknown>} options */
    const planOf = (options) =>
      planPropagation(
        { role: 'example-dot-com-ec', timeout: '1h', ...options },
        readEnvironment({ HOME: '/nonexistent' }),
      );

    test('of the target itself', HANGS, async (t) => {
      const stop = new AbortController();
      await interruptAtFirstRequest(t, stop, (url) =>
        assert.rejects(measurePropagation(planOf({ url }), { token: 'x', signal: stop.signal }), {
          code: 'interrupted',
          exitCode: 130,
        }),
      );
      // As many certificates and nodes may listen.
      /** @type {string[]} */
      const warnings = [];
      const onWarning = (/** @type {Error} */ { name }) => void warnings.push(name);
      process.on('warning', onWarning);
      t.after(() => process.off('warning', onWarning));
      for (let i = 0; i < 20; i++) stop.signal.addEventListener('abort', () => i);
      await turn();
      assert.deepEqual(warnings, []);
    });

    test('of a --node', HANGS, async (t) => {
      const server = await startDevServer({ caKeyType: 'ec' });
      t.after(() => server.stop());
      const stop = new AbortController();
      const options = { token: server.token, signal: stop.signal };
      await interruptAtFirstRequest(t, stop, (url) =>
        assert.rejects(measurePropagation(planOf({ url: server.url, node: [url] }), options), {
          code: 'interrupted',
          exitCode: 130,
        }),
      );
    });

    test('while the first certificate is issued: it may stay behind, and is named', HANGS, async (t) => {
      const server = await startDevServer({ caKeyType: 'ec' });
      t.after(() => server.stop());
      const proxy = await startFaultProxy(server.url);
      t.after(proxy.close);
      const stop = new AbortController();
      proxy.inject(() => abortAndWait(t, stop));
      /** @type {string[]} */
      const notices = [];
      const measured = measurePropagation(planOf({ url: proxy.url }), {
        token: server.token,
        signal: stop.signal,
        onEvent: (event) => event.type === 'notice' && notices.push(event.text),
      });
      await assert.rejects(measured, { code: 'interrupted', exitCode: 130 });
      assert.match(notices.join(' '), /left on the server until expiry: 1 possibly issued/);
    });
  },
);

/**
 * @param {import('node:test').TestContext} t @param {AbortController} stop
 * @param {(url: string) => Promise<void>} measure with the address of a server that never responds
 * @returns {Promise<unknown>} once the connection to this server is closed
 */
async function interruptAtFirstRequest(t, stop, measure) {
  /** @type {Promise<unknown>} */
  let closed = Promise.reject(new Error('no request'));
  closed.catch(() => {});
  const server = createServer(({ socket }) => {
    closed = once(socket, 'close');
    stop.abort();
  }).listen(0, '127.0.0.1');
  t.after(() => server.close().closeAllConnections());
  await once(server, 'listening');
  await measure(`http://127.0.0.1:${/** @type {AddressInfo} */ (server.address()).port}`);
  return closed;
}

for (const [what, rows, text] of LEFT) {
  const whole = text && `Certificates left on the server until expiry: ${text}.`;
  test(`describeLeft: ${what}`, () => assert.equal(describeLeft(rows), whole));
}
