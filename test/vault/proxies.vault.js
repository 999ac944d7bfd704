/** A real Vault through real forward proxies: load, set-up calls, refusals and passwords; and faults during the load. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { runCli } from '../cli/support.js';
import { answer, startProxy } from '../http/proxy.js';
import { assertRan, runCommand, runToResult } from './command.js';
import { findProxy, startForwardProxy } from './forward-proxies.js';
import { setUpPki } from './pki.js';
import { startVault } from './start.js';

/** @import { Socket } from 'node:net' */
/** @import { RunningVault } from './start.js' */

const loadOf = (/** @type {string} */ role) => [
  '--role',
  role,
  '--rate',
  '20',
  '--duration',
  '2s',
  '--cold-start',
];
const LOAD = loadOf('ec-stored');
const ALL = 40;

/** Rules of a proxy that lets this machine through, refuses it, or asks it for a password. */
const RULES = {
  squid: { open: 'acl any_port port 1-65535\nhttp_access allow all', closed: 'http_access deny all' },
  tinyproxy: { open: '', closed: 'BasicAuth me hunter2-hunter2' },
};

/** @type {RunningVault} */
let vault;
/** @type {RunningVault} */
let plainVault;
before(async () => {
  [vault, plainVault] = await Promise.all([startVault({ tls: true }), startVault()]);
  for (const one of [vault, plainVault]) {
    const root = one.connect();
    await setUpPki(root, { caKeyType: 'ec' });
    await root.close();
  }
});
after(() => Promise.all([vault.stop(), plainVault.stop()]));

/** The proxies are for names only, not for loopback addresses. */
const named = () => ({
  VAULT_ADDR: 'https://vault.test:8200',
  VAULT_TOKEN: vault.token,
  VAULT_CACERT: String(vault.caCert),
  VAULT_TLS_SERVER_NAME: 'localhost',
});
const toVault = () => ['--connect-to', `vault.test:8200:127.0.0.1:${vault.port}`];
const plain = () => ({ VAULT_ADDR: plainVault.url, VAULT_TOKEN: plainVault.token });

for (const name of /** @type {const} */ (['squid', 'tinyproxy'])) {
  const skip = findProxy(name) === null ? `${name} is not installed` : false;
  describe(`${name}`, { skip }, () => {
    /** @type {Awaited<ReturnType<typeof startForwardProxy>>} */
    let proxy;
    /** @type {Awaited<ReturnType<typeof startForwardProxy>>} */
    let closed;
    before(async () => {
      proxy = await startForwardProxy(name, RULES[name].open);
      closed = await startForwardProxy(name, RULES[name].closed);
    });
    after(() => Promise.all([proxy.stop(), closed.stop()]));
    const addressOf = (/** @type {{port: number}} */ { port }, user = '') =>
      `http://${user}127.0.0.1:${port}`;
    const tunnels = () => proxy.log().match(/CONNECT 127\.0\.0\.1:\d+/g)?.length ?? 0;

    test('HTTPS_PROXY: the load and the checks before it, by CONNECT; NO_PROXY', async () => {
      const env = { ...named(), HTTPS_PROXY: addressOf(proxy) };
      const before = tunnels();
      const ran = await runToResult(['ocsp', ...LOAD, ...toVault()], env);
      assertRan(ran);
      const { totals, load, measurement } = ran.result;
      assert.deepEqual([totals.sent, totals.succeeded], [ALL, ALL]);
      assert.equal(load.proxy, `127.0.0.1:${proxy.port}`);
      assert.match(
        ran.stderr,
        new RegExp(`through\\s+the\\s+proxy\\s+127.0.0.1:${proxy.port}\\s+\\(HTTPS_PROXY\\)`),
      );
      const [{ count }] = Object.values(measurement.observed?.handshakes ?? {});
      assert.equal(count, 10);
      const opened = tunnels() - before;
      assert.ok(opened > 10 && opened <= 13, `${opened} tunnels`);
      const direct = await runToResult(['ocsp', ...LOAD, ...toVault()], { ...env, NO_PROXY: '.test' });
      assertRan(direct);
      assert.deepEqual([direct.result.totals.succeeded, direct.result.load.proxy], [ALL, null]);
      assert.equal(tunnels() - before, opened);
    });

    test('VAULT_PROXY_ADDR, for loopback, too: setup, a load and teardown', async () => {
      const { VAULT_TLS_SERVER_NAME: _, ...env } = named();
      const options = {
        env: { ...env, VAULT_ADDR: vault.url, VAULT_PROXY_ADDR: addressOf(proxy), NO_PROXY: '*' },
      };
      const mount = ['--name', `via-${name}`, '--ca-key-type', 'ec'];
      const before = tunnels();
      const setup = await runCli(['setup', ...mount], options);
      assert.equal(setup.code, 0, setup.stderr);
      assert.ok(tunnels() > before);
      const args = ['issue', ...loadOf('example-dot-com-ec'), '--mount', `via-${name}-int`];
      const ran = await runToResult(args, options.env);
      assertRan(ran);
      assert.equal(ran.result.totals.succeeded, ALL);
      const teardown = await runCli(['teardown', ...mount.slice(0, 2)], options);
      assert.equal(teardown.code, 0, teardown.stderr);
      assert.ok(!proxy.log().includes(vault.token));
    });

    test('plain HTTP in absolute form, with a warning', async () => {
      const env = { ...plain(), VAULT_PROXY_ADDR: addressOf(proxy) };
      // tinyproxy closes each connection without announcing it.
      const ran = await runToResult(['issue', ...LOAD, '--connections', 'new'], env);
      assertRan(ran);
      assert.equal(ran.result.totals.succeeded, ALL);
      assert.match(ran.stderr, /Warning:.*through\s+the\s+proxy[\s\S]*sees\s+the\s+token/);
      assert.match(
        proxy.log(),
        new RegExp(`POST http://127\\.0\\.0\\.1:${plainVault.port}/v1/pki_int/issue/`),
      );
    });

    test('a refusal and a password are named', async () => {
      const code = name === 'squid' ? /the\s+proxy\s+127\.0\.0\.1:\d+[\s\S]*refused: HTTP 403/ : /HTTP 407/;
      for (const env of [
        { ...named(), HTTPS_PROXY: addressOf(closed) },
        { ...plain(), VAULT_PROXY_ADDR: addressOf(closed) },
      ]) {
        const args = env.VAULT_ADDR === plainVault.url ? [] : toVault();
        const refused = await runCommand(['issue', ...LOAD, ...args], env);
        assert.equal(refused.code, 2, refused.stderr);
        assert.match(refused.stderr, code);
      }
      if (name === 'squid') return;
      const env = { ...named(), HTTPS_PROXY: addressOf(closed, 'me:hunter2-hunter2@') };
      const ran = await runToResult(['ocsp', ...LOAD, ...toVault()], env);
      assertRan(ran);
      assert.equal(ran.result.totals.succeeded, ALL);
      assert.doesNotMatch(JSON.stringify([ran.result, ran.stdout, ran.stderr]), /hunter2|me:/);
    });
  });
}

test('faults of a proxy during the load have their own outcomes', async (t) => {
  const proxy = await startProxy();
  t.after(() => proxy.stop());
  const env = { ...named(), HTTPS_PROXY: proxy.url };
  /** @type {[string, (socket: Socket) => void][]} */
  const faults = [
    ['proxy_refused', answer(403)],
    ['proxy_auth_required', answer(407)],
    ['proxy_bad_gateway', answer(502)],
    ['proxy_no_tunnel', (socket) => void socket.destroy()],
    ['proxy_timeout', () => {}],
  ];
  for (const [outcome, fault] of faults) {
    proxy.state.fault = null;
    const before = proxy.state.log.length;
    const timer = setInterval(() => {
      if (proxy.state.log.length > before + 15) proxy.state.fault = fault;
    }, 5);
    const timeout = ['--timeout', outcome === 'proxy_timeout' ? '500ms' : '5s'];
    const args = ['ocsp', ...LOAD, '--connections', 'new', ...timeout, ...toVault()];
    const { result, code, stderr } = await runToResult(args, env);
    clearInterval(timer);
    const { outcomes, totals } = result;
    assert.ok([0, 98].includes(Number(code)), stderr);
    // A busy machine may time out on others.
    const { good, timeout: late = 0 } = outcomes;
    assert.deepEqual([totals.sent, good + outcomes[outcome] + late], [ALL, ALL], JSON.stringify(outcomes));
    assert.ok(outcomes[outcome] > 5, JSON.stringify(outcomes));
  }
});

test('a Unix socket, as a Vault Agent listens on', async (t) => {
  const path = join(plainVault.folder, 'agent.sock');
  const relay = createServer((near) => {
    const far = connect(plainVault.port, '127.0.0.1');
    near.pipe(far).pipe(near);
    near.on('error', () => far.destroy());
    far.on('error', () => near.destroy());
  });
  await once(relay.listen(path), 'listening');
  t.after(() => relay.close());
  const env = { ...plain(), VAULT_AGENT_ADDR: `unix://${path}`, VAULT_ADDR: 'http://127.0.0.1:1' };
  for (const operation of ['issue', 'ocsp']) {
    const ran = await runToResult([operation, ...LOAD], env);
    assertRan(ran);
    assert.equal(ran.result.totals.succeeded, ALL);
    assert.match(ran.result.target.url, /^unix:\/\/\/.*agent\.sock/);
  }
});
