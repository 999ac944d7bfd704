/** A raft cluster of real Vault nodes on loopback, each with its own home. The first is the active one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createVaultClient } from '../../src/vault/client.js';
import { buildVault } from './build.js';
import {
  configCommand,
  endProcess,
  freePort,
  launch,
  openStoredVault,
  storageOf,
  unseal,
  untilAnswers,
} from './start.js';

/** Joining, the election and the first heartbeats take seconds. */
const JOIN_TIMEOUT_MS = 60_000;

/** @typedef {Awaited<ReturnType<typeof startRaftCluster>>} RaftCluster */
/** @typedef {Awaited<ReturnType<typeof startNode>>} RaftNode */

/** @param {{nodes?: number}} [options] */
export async function startRaftCluster({ nodes: size = 2 } = {}) {
  const binary = await buildVault();
  /** @type {RaftNode[]} */
  const nodes = [];
  const killOnExit = () => nodes.forEach((node) => void node.child.kill('SIGKILL'));
  process.once('exit', killOnExit);
  const stop = async () => {
    process.removeListener('exit', killOnExit);
    await Promise.all(nodes.map(({ child }) => endProcess(child, 'SIGTERM')));
    for (const { folder } of nodes) rmSync(folder, { recursive: true, force: true });
  };
  const state = { token: '', unsealKey: '' };
  try {
    for (let number = 1; number <= size; number++) nodes.push(await startNode(binary, number));
    const [active, ...standbys] = nodes;
    await openStoredVault(() => active.connect(state.token || null), state);
    for (const node of standbys) await join_(node, active.url, state.unsealKey);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    /** Of the nodes, the active one first. */
    urls: nodes.map(({ url }) => url),
    nodes,
    token: state.token,
    unsealKey: state.unsealKey,
    /** A new client of the active node; close it. */
    connect: () => nodes[0].connect(state.token),
    stop,
  };
}

/** @param {string} binary @param {number} number */
async function startNode(binary, number) {
  const folder = mkdtempSync(join(tmpdir(), `vault-pki-load-raft-${number}-`));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = launch(
    binary,
    configCommand(folder, port, await storageOf('raft', folder, `node-${number}`)),
    folder,
  );
  const connect = (/** @type {string | null} */ token = null) =>
    createVaultClient({ url, token, timeoutMs: 20_000 });
  await untilAnswers(connect, () => child.exitCode);
  return { url, folder, child, connect };
}

/**
 * A node that has joined is unsealed with the cluster's key, and serves as a standby.
 *
 * @param {RaftNode} node
 * @param {string} leader
 * @param {string} key
 */
async function join_({ url, connect }, leader, key) {
  const joined = await fetch(`${url}/v1/sys/storage/raft/join`, {
    method: 'PUT',
    body: JSON.stringify({ leader_api_addr: leader }),
  });
  if (!joined.ok) throw new Error(`${url} did not join: ${await joined.text()}`);
  await unseal(url, key);
  const client = connect();
  try {
    for (let waitedMs = 0; waitedMs < JOIN_TIMEOUT_MS; waitedMs += 100) {
      if ((await client.health()).status === 429) return;
      await sleep(100);
    }
    throw new Error(`${url} did not become a standby in time`);
  } finally {
    await client.close();
  }
}
