/** Starts Debian's squid and tinyproxy on loopback, each in a temporary folder with its log. */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endProcess, freePort } from './start.js';

const START_TIMEOUT_MS = 30_000;

/** Arguments before the configuration file, and the file. @type {Record<'squid' | 'tinyproxy', {args: string[], config: (port: number, folder: string) => string}>} */
const PROXIES = {
  squid: {
    args: ['-N', '-f'],
    config: (port, folder) => `
http_port 127.0.0.1:${port}
pid_filename none
cache deny all
access_log stdio:${folder}/log
cache_log ${folder}/cache.log
coredump_dir ${folder}
shutdown_lifetime 0 seconds
`,
  },
  tinyproxy: {
    args: ['-d', '-c'],
    config: (port, folder) => `
Port ${port}
Listen 127.0.0.1
Timeout 60
MaxClients 100
LogFile "${folder}/log"
LogLevel Connect
`,
  },
};

/** @param {keyof typeof PROXIES} name @returns {string | null} path; null: not installed */
export function findProxy(name) {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

/** @param {keyof typeof PROXIES} name @param {string} rules more lines of its configuration */
export async function startForwardProxy(name, rules) {
  const folder = mkdtempSync(join(tmpdir(), `vault-pki-load-${name}-`));
  // squid, started by root, writes its log as another user.
  chmodSync(folder, 0o777);
  const { args, config } = PROXIES[name];
  const port = await freePort();
  const file = join(folder, 'config');
  writeFileSync(file, `${config(port, folder)}${rules}\n`);
  const child = spawn(String(findProxy(name)), [...args, file], { cwd: folder, stdio: 'ignore' });
  const killOnExit = () => child.kill('SIGKILL');
  process.once('exit', killOnExit);
  for (let waitedMs = 0; !(await isListening(port)); waitedMs += 100) {
    if (child.exitCode !== null || waitedMs > START_TIMEOUT_MS) throw new Error(`${name} did not start`);
    await sleep(100);
  }
  return {
    port,
    /** @returns {string} its log */
    log: () => (existsSync(join(folder, 'log')) ? readFileSync(join(folder, 'log'), 'utf8') : ''),
    async stop() {
      process.removeListener('exit', killOnExit);
      await endProcess(child, 'SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** @param {number} port @returns {Promise<boolean>} */
const isListening = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      resolve(true);
      socket.destroy();
    });
    socket.on('error', () => resolve(false));
  });
