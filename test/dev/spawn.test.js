import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startDevServer } from '../../src/dev/spawn.js';
import { ask } from './support.js';

/** @import { AddressInfo } from 'node:net' */

const FAST = /** @type {const} */ ({ caKeyType: 'ec' });

const SPAWN = new URL('../../src/dev/spawn.js', import.meta.url).href;
const START = `import { startDevServer } from ${JSON.stringify(SPAWN)};
  console.log((await startDevServer({ caKeyType: 'ec' })).url);`;

/** A parent process that starts the server and runs `then`. @param {string} then */
async function parentWith(then) {
  const args = ['--input-type=module', '-e', `${START}\n${then}`];
  const parent = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(parent, 'exit');
  const [line] = await once(parent.stdout, 'data');
  return { parent, exited, server: { url: String(line).trim() } };
}

/** @param {{url: string}} server resolves when it no longer answers */
async function gone(server) {
  const answers = () =>
    ask(server, 'GET', 'sys/health').then(
      () => true,
      () => false,
    );
  while (await answers()) await sleep(10);
}

describe('the server in a child process', { timeout: 120_000 }, () => {
  it('responds, has its own pid, and exits after stop(), which may be called twice', async () => {
    const server = await startDevServer({ ...FAST, token: 'given' });
    assert.notEqual(server.pid, process.pid);
    assert.equal(server.token, 'given');
    assert.match(server.caPem, /^-----BEGIN CERTIFICATE-----/);
    assert.equal((await ask(server, 'GET', 'pki_int/roles/example-dot-com')).status, 200);
    await server.stop();
    await server.stop();
    await assert.rejects(ask(server, 'GET', 'sys/health'));
  });

  for (const signal of /** @type {const} */ (['SIGKILL', 'SIGTERM'])) {
    it(`ends when its parent gets ${signal}`, async () => {
      const { parent, server } = await parentWith('setInterval(() => {}, 1000);');
      assert.equal((await ask(server, 'GET', 'sys/health')).status, 200);
      parent.kill(signal);
      await gone(server);
    });
  }

  it('does not keep its parent alive, and ends with it', async () => {
    const { exited, server } = await parentWith('');
    assert.deepEqual(await exited, [0, null]);
    await gone(server);
  });

  it('survives signals to the process group, which its parent handles', async () => {
    const server = await startDevServer(FAST);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.kill(server.pid, signal);
    assert.equal((await ask(server, 'GET', 'sys/health')).status, 200);
    await server.stop();
  });

  it('has no token of ours, nor our terminal, for a core dump', async () => {
    const secret = 'hvs.of-another-server';
    const names = ['VAULT_TOKEN', 'NODE_AUTH_TOKEN'];
    for (const name of names) process.env[name] = secret;
    const server = await startDevServer(FAST).finally(() => {
      for (const name of names) delete process.env[name];
    });
    const environment = readFileSync(`/proc/${server.pid}/environ`, 'utf8');
    assert.ok(environment.includes('UV_THREADPOOL_SIZE=') && !environment.includes(secret), environment);
    const files = [0, 1, 2].map((descriptor) => readlinkSync(`/proc/${server.pid}/fd/${descriptor}`));
    assert.deepEqual(files.slice(0, 2), ['/dev/null', '/dev/null']);
    assert.match(files[2], /^(?:socket|pipe):/);
    await server.stop();
  });

  it('reports a port in use, with a remedy', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = /** @type {AddressInfo} */ (other.address());
    await assert.rejects(startDevServer({ ...FAST, port }), {
      name: 'PkiLoadError',
      code: 'dev_port_in_use',
      exitCode: 1,
      remedy: 'Choose another port.',
    });
    other.close();
  });

  for (const [options, code] of /** @type {[object, string][]} */ ([
    [{ host: '0.0.0.0' }, 'dev_host_not_loopback'],
    [{ mount: 'sys' }, 'dev_bad_mount'],
  ])) {
    it(`rejects ${JSON.stringify(options)}: ${code}`, async () => {
      await assert.rejects(startDevServer(options), { name: 'PkiLoadError', code, exitCode: 1 });
    });
  }
});
