/** Ctrl-C and a terminal that goes away while a scenario sets things up, on a Vault that takes its time. On a real one: test/vault/scenario.vault.js. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fakeVault } from '../vault/setup/fake-vault.js';
import { serveFakeVault } from '../vault/setup/serve-fake-vault.js';
import { assertNoStack, scratch, startCli } from './support.js';

/** @import { TestContext } from 'node:test' */

const NAME = 'load';

/** @param {TestContext} t @param {string} url @param {Record<string, string>} [env] */
function startScenario(t, url, env) {
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
  return startCli(['run', file, '--quiet'], { env: { VAULT_TOKEN: 'unused', ...env } });
}

test('before the setup, warns of a proxy that sees the token', async (t) => {
  const url = 'http://vault.test';
  const env = { VAULT_ADDR: url, HTTP_PROXY: '127.0.0.1:1' };
  const { code, stderr } = await startScenario(t, url, env).ended;
  assert.equal(code, 2);
  assert.match(
    stderr.replace(/\s+/g, ' '),
    /^Warning: Requests to http:\/\/vault\.test go through the proxy 127\.0\.0\.1:1 \(HTTP_PROXY\), which sees the token: use https:\/\/\. vault-pki-load: /,
  );
});

describe('Ctrl-C during the setup of a scenario', () => {
  for (const held of [`sys/mounts/${NAME}-root`, `${NAME}-int/config/urls`]) {
    test(`twice: reports the leftovers, with the command to remove them (at ${held})`, async (t) => {
      const { vault, url, reached } = await serveFakeVault(t, `POST ${held}`);
      const cli = startScenario(t, url);
      await reached;
      cli.kill('SIGINT');
      await cli.shows(/^Interrupted: removing the setup\. Press Ctrl-C again/m);
      cli.kill('SIGINT');
      const { signal, stdout, stderr } = await cli.ended;
      assert.equal(signal, 'SIGINT');
      assert.equal(stdout, '');
      const command = `vault-pki-load teardown --name ${NAME} --url ${url}`;
      assert.ok(
        stderr.includes(`\nWarning: The setup ${NAME} is left at ${url}. To remove it: ${command}\n`),
        stderr,
      );
      assert.deepEqual(
        vault.calls.filter(({ method }) => method === 'DELETE'),
        [],
      );
    });
  }

  test('once: ends after the current call, and removes the created objects', async (t) => {
    const held = `${NAME}-int/config/urls`;
    const { vault, url, reached, release } = await serveFakeVault(t, `POST ${held}`);
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
