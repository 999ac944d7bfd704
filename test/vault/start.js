/** Starts a real Vault for tests, on a free loopback port with its own home. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createWriteStream, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadTls } from '../../src/http/tls.js';
import { createVaultClient } from '../../src/vault/client.js';
import { buildVault } from './build.js';

/** @import { VaultClient } from '../../src/vault/client.js' */
/** @import { ChildProcess } from 'node:child_process' */
/** @import { AddressInfo } from 'node:net' */

export { buildVault } from './build.js';

const START_TIMEOUT_MS = 60_000;

/** @typedef {Awaited<ReturnType<typeof startVault>>} RunningVault */
/** @typedef {'file' | 'raft' | Record<string, unknown>} Stored or what the configuration says of another storage */

/**
 * `inmem` is Vault's dev mode, which loses everything on a restart. `file` and `raft`, a cluster of one node, keep their data, and are
 * unsealed again.
 *
 * @param {{tls?: boolean, storage?: 'inmem' | Stored, port?: number}} [options]
 */
export async function startVault({ tls = false, storage = 'inmem', port } = {}) {
  const binary = await buildVault();
  const folder = mkdtempSync(join(tmpdir(), 'vault-pki-load-'));
  const at = port ?? (await freePort());
  const origin = `${tls ? 'https' : 'http'}://127.0.0.1:${at}`;
  const state = { token: `root-${randomBytes(12).toString('hex')}`, unsealKey: '' };
  const command =
    storage === 'inmem'
      ? devCommand(folder, at, state.token, tls)
      : configCommand(folder, at, await storageOf(storage, folder));
  let child = launch(binary, command, folder);
  const caCert = tls ? join(folder, 'vault-ca.pem') : null;
  const connect = (token = state.token) =>
    createVaultClient({ url: origin, token, tls: loadTls({ caCert }), timeoutMs: 20_000 });
  await ready();

  async function ready() {
    await untilAnswers(connect, () => child.exitCode);
    if (storage !== 'inmem') await openStoredVault(connect, state);
  }
  const kill = (/** @type {NodeJS.Signals} */ signal) => endProcess(child, signal);
  const killOnExit = () => child.kill('SIGKILL');
  process.once('exit', killOnExit);

  return {
    url: origin,
    port: at,
    caCert,
    folder,
    get token() {
      return state.token;
    },
    get unsealKey() {
      return state.unsealKey;
    },
    /** A new client; close it. */
    connect,
    /** Like a power failure. */
    kill9: () => kill('SIGKILL'),
    /** On the same port; after `kill9` or while it runs. */
    async restart() {
      await kill('SIGKILL');
      child = launch(binary, command, folder);
      await ready();
    },
    async stop() {
      process.removeListener('exit', killOnExit);
      await kill('SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * @param {string} folder
 * @param {number} port
 * @param {string} token
 * @param {boolean} tls
 */
function devCommand(folder, port, token, tls) {
  const listen = [
    `-dev-listen-address=127.0.0.1:${port}`,
    `-dev-root-token-id=${token}`,
    '-dev-no-store-token',
  ];
  return ['server', '-dev', ...listen, ...(tls ? ['-dev-tls', `-dev-tls-cert-dir=${folder}`] : [])];
}

/**
 * @param {Stored} storage
 * @param {string} folder of the server
 * @param {string} [nodeId] of a raft cluster
 * @returns {Promise<Record<string, unknown>>} this part of its configuration
 */
export async function storageOf(storage, folder, nodeId = 'node-1') {
  if (typeof storage !== 'string') return { storage };
  const path = join(folder, 'data');
  if (storage === 'file') return { storage: { file: { path } } };
  // Vault makes a folder for its files, but not for raft's.
  mkdirSync(path);
  return {
    storage: { raft: { path, node_id: nodeId } },
    cluster_addr: `https://127.0.0.1:${await freePort()}`,
  };
}

/** @param {string} folder @param {number} port @param {Record<string, any>} stored see storageOf */
export function configCommand(folder, port, stored) {
  const { cluster_addr: cluster } = stored;
  const clusterListener = cluster === undefined ? {} : { cluster_address: new URL(cluster).host };
  const config = {
    ...stored,
    listener: { tcp: { address: `127.0.0.1:${port}`, tls_disable: true, ...clusterListener } },
    disable_mlock: true,
    api_addr: `http://127.0.0.1:${port}`,
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  return ['server', `-config=${join(folder, 'config.json')}`];
}

/** @param {string} binary @param {string[]} args @param {string} folder */
export function launch(binary, args, folder) {
  const env = { PATH: process.env.PATH, HOME: folder, VAULT_DISABLE_FILE_PERMISSIONS_CHECK: 'true' };
  const child = spawn(binary, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const log = createWriteStream(join(folder, 'vault.log'), { flags: 'a' });
  log.on('error', () => {});
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  child.unref();
  return child;
}

/** @param {() => VaultClient} connect @param {() => number | null} exitCode */
export async function untilAnswers(connect, exitCode) {
  for (let waitedMs = 0; waitedMs < START_TIMEOUT_MS; waitedMs += 100) {
    if (exitCode() !== null) throw new Error(`Vault ended with ${exitCode()} before it answered`);
    if (await answers(connect)) return;
    await sleep(100);
  }
  throw new Error('Vault did not answer in time');
}

/** @param {() => VaultClient} connect `-dev-tls` writes its CA file late */
async function answers(connect) {
  try {
    const client = connect();
    const { status } = await client.health().finally(() => client.close());
    return [200, 501, 503].includes(status);
  } catch {
    return false;
  }
}

/** @param {(token?: string) => VaultClient} connect @param {{token: string, unsealKey: string}} state */
export async function openStoredVault(connect, state) {
  const client = connect();
  if (state.unsealKey === '') {
    const response = await fetch(`${client.origin}/v1/sys/init`, {
      method: 'PUT',
      body: JSON.stringify({ secret_shares: 1, secret_threshold: 1 }),
    });
    const made = /** @type {{keys: string[], root_token: string}} */ (await response.json());
    state.unsealKey = made.keys[0];
    state.token = made.root_token;
  }
  await unseal(client.origin, state.unsealKey);
  for (let tries = 0; tries < 100 && (await client.health()).status !== 200; tries++) await sleep(100);
  await client.close();
}

/** @param {string} origin @param {string} key */
export async function unseal(origin, key) {
  await fetch(`${origin}/v1/sys/unseal`, { method: 'PUT', body: JSON.stringify({ key }) });
}

/** @param {ChildProcess} child @param {NodeJS.Signals} signal */
export async function endProcess(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(timer);
}

/** @returns {Promise<number>} */
export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)));
  const { port } = /** @type {AddressInfo} */ (server.address());
  await new Promise((resolve) => server.close(resolve));
  return port;
}
