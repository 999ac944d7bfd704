/** Starts a real Nomad, server and client in one process, with access control lists, on loopback, in a temporary folder. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { endProcess, freePort } from '../vault/start.js';
import { buildNomad } from './build.js';
import { cleanerOf } from './cleaner.js';

const START_TIMEOUT_MS = 60_000;

/** @typedef {Awaited<ReturnType<typeof startNomad>>} Nomad */

/** The fingerprints would ask a cloud's metadata servers. @param {number} http @param {number} rpc @param {number} serf */
const configOf = (http, rpc, serf) => `
ports { http = ${http}  rpc = ${rpc}  serf = ${serf} }
disable_update_check = true
disable_anonymous_signature = true
acl { enabled = true }
client {
  network_interface = "lo"
  options = {
    "driver.allowlist" = "raw_exec"
    "fingerprint.denylist" = "env_aws,env_gce,env_azure,env_digitalocean,consul,vault,cni_plugins"
  }
  cpu_total_compute = 20000
  memory_total_mb = 8000
}
plugin "raw_exec" { config { enabled = true } }
consul { auto_advertise = false  server_auto_join = false  client_auto_join = false }
`;

export async function startNomad() {
  const removeLeft = cleanerOf({ cgroups: ['nomad'] });
  const binary = join(await buildNomad(), 'nomad');
  const folder = mkdtempSync(join(tmpdir(), 'vault-pki-load-nomad-'));
  const [http, rpc, serf] = [await freePort(), await freePort(), await freePort()];
  writeFileSync(join(folder, 'agent.hcl'), configOf(http, rpc, serf));
  const log = openSync(join(folder, 'agent.log'), 'a');
  /** @type {NodeJS.ProcessEnv} */
  const env = {
    PATH: `${dirname(binary)}:${process.env.PATH}`,
    HOME: folder,
    NOMAD_ADDR: `http://127.0.0.1:${http}`,
  };
  const args = [
    'agent',
    '-dev',
    '-bind=127.0.0.1',
    `-data-dir=${folder}/data`,
    `-config=${folder}/agent.hcl`,
  ];
  const child = spawn(binary, args, { cwd: folder, env, stdio: ['ignore', log, log] });
  const killOnExit = () => child.kill('SIGKILL');
  process.once('exit', killOnExit);

  /** @param {string[]} args @returns {Promise<string>} what it prints; rejects if it fails */
  const nomad = async (...args) =>
    (await promisify(execFile)(binary, args, { env, cwd: folder, maxBuffer: 2 ** 26 })).stdout;
  for (let waitedMs = 0; ; waitedMs += 200) {
    if (child.exitCode !== null || waitedMs > START_TIMEOUT_MS) throw new Error('Nomad did not start');
    // The token of the operator; a job has only its workload identity.
    env.NOMAD_TOKEN ??=
      (await nomad('acl', 'bootstrap', '-t', '{{.SecretID}}').catch(() => '')).trim() || undefined;
    if ((await nomad('node', 'status').catch(() => '')).includes('ready')) break;
    await sleep(200);
  }
  return {
    folder,
    /** Of a shell of the operator: address, token and the path of the program. */
    env,
    nomad,
    async stop() {
      process.removeListener('exit', killOnExit);
      await endProcess(child, 'SIGINT');
      // Allocations that it was about to remove.
      for (const path of readFileSync('/proc/mounts', 'utf8').match(/(?<= )\/\S+/g) ?? [])
        if (path.startsWith(`${folder}/`)) execFileSync('umount', [path]);
      removeLeft();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
