/** Ctrl-C while a scenario sets things up, on a Vault that takes its time. On a real one: test/vault/scenario.vault.js. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';
import { PkiLoadError } from '../../src/errors.js';
import { fakeVault } from '../setup/fake-vault.js';
import { assertNoStack, scratch, startCli } from './support.js';

const NAME = 'load';

/**
 * @param {import('node:test').TestContext} t
 * @param {string} held path of the write that is answered when `release` is called
 */
async function startVault(t, held) {
  const vault = fakeVault();
  const holding = { isReached: () => {}, release: () => {} };
  const reached = new Promise((resolve) => {
    holding.isReached = () => resolve(null);
  });
  const released = new Promise((resolve) => {
    holding.release = () => resolve(null);
  });
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { pathname, search } = new URL(String(request.url), 'http://vault.test');
    const path = pathname.slice('/v1/'.length);
    if (request.method === 'POST' && path === held) {
      holding.isReached();
      await released;
    }
    const [status, json] = await answer(vault, { method: String(request.method), path, search, body });
    response.writeHead(status).end(json === null ? '' : JSON.stringify(json));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)));
  t.after(() => server.close(() => {}).closeAllConnections());
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { vault, url: `http://127.0.0.1:${port}`, reached, release: () => holding.release() };
}

/**
 * @param {ReturnType<typeof fakeVault>} vault
 * @param {{method: string, path: string, search: string, body: string}} asked
 * @returns {Promise<[number, object | null]>} status and body, as Vault answers
 */
async function answer({ client }, { method, path, search, body }) {
  try {
    if (path === 'sys/health') return [200, (await client.health()).json];
    if (search === '?list=true') return [200, { data: { keys: await client.list(path) } }];
    if (method === 'GET') return [200, await client.read(path)];
    const { data } =
      method === 'DELETE' ? await client.remove(path) : await client.write(path, JSON.parse(body));
    return data === null || data === undefined ? [204, null] : [200, { data }];
  } catch (error) {
    if (!(error instanceof PkiLoadError)) throw error;
    if (error.code === 'vault_not_found') return [404, { errors: [] }];
    return [400, { errors: [error.message] }];
  }
}

/** @param {import('node:test').TestContext} t @param {string} url */
function startScenario(t, url) {
  const file = scratch(t)(
    's.json',
    JSON.stringify({
      name: 's',
      setup: { name: NAME, 'ca-key-type': 'ec' },
      target: { url },
      load: { requests: 1 },
      mix: [{ operation: 'health' }],
    }),
  );
  return startCli(['run', file, '--quiet'], { env: { VAULT_TOKEN: 'unused' } });
}

describe('Ctrl-C while a scenario sets things up', () => {
  for (const held of [`sys/mounts/${NAME}-root`, `${NAME}-int/config/urls`]) {
    test(`twice: what stays is said, with the command that takes it away (at ${held})`, async (t) => {
      const { vault, url, reached } = await startVault(t, held);
      const cli = startScenario(t, url);
      await reached;
      cli.kill('SIGINT');
      await cli.shows(/^Interrupted: what was set up is taken away\. Press Ctrl-C again/m);
      cli.kill('SIGINT');
      const { code, stdout, stderr } = await cli.ended;
      assert.equal(code, 130);
      assert.equal(stdout, '');
      const command = `vault-pki-load teardown --name ${NAME} --url ${url}`;
      assert.ok(
        stderr.includes(`\nWarning: ${NAME} is left at ${url}. Take it away with: ${command}\n`),
        stderr,
      );
      assert.deepEqual(
        vault.calls.filter(({ method }) => method === 'DELETE'),
        [],
      );
    });
  }

  test('once: it ends after the call under way, and what was made is taken away', async (t) => {
    const held = `${NAME}-int/config/urls`;
    const { vault, url, reached, release } = await startVault(t, held);
    const empty = fakeVault().state();
    const cli = startScenario(t, url);
    await reached;
    cli.kill('SIGINT');
    await cli.shows(/^Interrupted: /m);
    release();
    const { code, stderr } = await cli.ended;
    assert.equal(code, 130);
    assertNoStack(stderr);
    assert.doesNotMatch(stderr, /Warning/);
    const writes = vault.calls.filter(
      ({ method, path }) => method === 'POST' && path !== 'sys/capabilities-self',
    );
    assert.equal(writes.at(-1)?.path, held);
    assert.deepEqual(vault.state(), empty);
  });
});
