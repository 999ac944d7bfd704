/** Timeouts of setup calls, on a server that responds on command. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';
import { connect, limitsOf } from '../../src/vault/client.js';
import { deferred } from '../deferred.js';
import { NO_TLS } from './setup/no-tls.js';

/** @import { VaultClient } from '../../src/vault/client.js' */
/** @import { AddressInfo } from 'node:net' */
/** @import { TestContext } from 'node:test' */

const NO_PROXY = { notice: assert.fail, warn: assert.fail };

/** @type {[string, number | null, ReturnType<typeof limitsOf>][]} */
const LIMITS = [
  ['without a variable', null, { healthMs: 10_000, timeoutMs: 60_000, removeMs: 600_000 }],
  ['with a shorter one', 2000, { healthMs: 2000, timeoutMs: 2000, removeMs: 600_000 }],
  ['with a longer one', 900_000, { healthMs: 900_000, timeoutMs: 900_000, removeMs: 900_000 }],
];
for (const [what, timeoutMs, limits] of LIMITS) {
  test(`only removals have a long timeout ${what}`, () => assert.deepEqual(limitsOf(timeoutMs), limits));
}

/**
 * @param {TestContext} t
 * @param {(method: string) => boolean} isHeld calls that are answered when `release` is called
 */
async function slowServer(t, isHeld) {
  const { promise: released, resolve: release } = deferred();
  const server = createServer(async (request, response) => {
    if (isHeld(String(request.method))) await released;
    response.end('{}');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)));
  t.after(() => server.close(() => {}).closeAllConnections());
  const { port } = /** @type {AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}`, release };
}

describe('a target that does not respond', () => {
  /** @type {[string, (client: VaultClient) => Promise<unknown>][]} */
  const CALLS = [
    ['for its health', (client) => client.health()],
    ['for its mounts', (client) => client.read('sys/mounts')],
    ['for its roles', (client) => client.list('load-int/roles')],
    ['to create a mount', (client) => client.write('sys/mounts/load-int')],
    ['to remove a mount', (client) => client.remove('sys/mounts/load-int')],
  ];
  for (const [what, ask] of CALLS) {
    test(`to a request ${what}: the remedy is valid for setup`, async (t) => {
      const { url } = await slowServer(t, () => true);
      const client = connect({ url, namespace: null, tls: NO_TLS }, 't', NO_PROXY, {
        healthMs: 50,
        timeoutMs: 50,
        removeMs: 50,
      });
      t.after(() => client.close());
      await assert.rejects(ask(client), {
        code: 'no_response',
        exitCode: 2,
        remedy: 'Check the load and the log of the server, or raise --timeout (VAULT_CLIENT_TIMEOUT).',
      });
    });
  }

  for (const limit of /** @type {const} */ (['healthMs', 'timeoutMs'])) {
    test(`times out after ${limit}, but not during a removal`, async (t) => {
      const { url, release } = await slowServer(t, () => true);
      const limits = { healthMs: 600_000, timeoutMs: 600_000, removeMs: 600_000, [limit]: 50 };
      const client = connect({ url, namespace: null, tls: NO_TLS }, 't', NO_PROXY, limits);
      t.after(() => client.close());
      const removed = client.remove('sys/mounts/load-int');
      const asked = limit === 'healthMs' ? client.health() : client.read('sys/mounts');
      await assert.rejects(asked, { code: 'no_response' });
      release();
      await removed;
    });
  }
});
