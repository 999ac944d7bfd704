/** The job of examples/nomad on a real Nomad and a real Vault. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openAudit } from '../vault/audit.js';
import { setUpPki } from '../vault/pki.js';
import { startVault } from '../vault/start.js';
import { startNomad } from './nomad.js';
import { assertOneRun } from './one-run.js';

/** @import { RunningVault } from '../vault/start.js' */
/** @import { Nomad } from './nomad.js' */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const JOB = 'vault-pki-load';
const HANGS_AFTER_MS = 120_000;

/** @type {RunningVault} */
let vault;
/** @type {Nomad} */
let engine;
before(async () => {
  vault = await startVault();
  engine = await startNomad();
});
after(async () => {
  await engine?.stop();
  await vault?.stop();
});

/** The example, with this Node in place of an image: there is no Docker here. */
function jobFile() {
  const example = readFileSync(join(ROOT, 'examples/nomad/vault-pki-load.nomad.hcl'), 'utf8');
  const command = [process.execPath, join(ROOT, 'bin/vault-pki-load.js')].map((part) => JSON.stringify(part));
  const changes = [
    ['driver = "docker"', 'driver = "raw_exec"'],
    ['image = var.image', `command = ${command[0]}`],
    ['concat(var.load', `concat([${command[1]}], var.load`],
    ['ports = ["join"]\n', '\n'],
  ];
  for (const [from] of changes) assert.equal(example.split(from).length, 2, from);
  const path = join(engine.folder, 'job.nomad.hcl');
  writeFileSync(
    path,
    changes.reduce((text, [from, to]) => text.replace(from, to), example),
  );
  return path;
}

test('a job with three parts: one run, one verdict', async (t) => {
  const root = vault.connect();
  t.after(() => root.close());
  await setUpPki(root);
  const audit = await openAudit(vault, root);
  const mark = audit.mark();
  const { nomad } = engine;
  await nomad('var', 'put', `nomad/jobs/${JOB}`, `token=${vault.token}`, 'secret=a secret of the test');
  await nomad('job', 'run', '-detach', `-var=vault_addr=${vault.url}`, jobFile());
  const allocations = async () =>
    /** @type {any[]} */ (JSON.parse(await nomad('job', 'allocs', '-json', JOB)));
  for (let waitedMs = 0; ; waitedMs += 500) {
    const all = await allocations();
    if (all.length === 3 && all.every(({ ClientStatus: status }) => ['complete', 'failed'].includes(status)))
      break;
    assert.ok(waitedMs < HANGS_AFTER_MS, JSON.stringify(all.map((one) => [one.Name, one.ClientStatus])));
    await sleep(500);
  }
  const parts = (await allocations()).sort((a, b) => (a.Name < b.Name ? -1 : 1));
  const codes = parts.map(
    ({ TaskStates: { part } }) =>
      part.Events.find((/** @type {any} */ { Type: type }) => type === 'Terminated').ExitCode,
  );
  const logs = await Promise.all(parts.map(({ ID: id }) => nomad('alloc', 'logs', '-stderr', id)));
  const template = `{{range .}}{{if eq .Name "${JOB}.parts[0]"}}{{.ID}}{{end}}{{end}}`;
  const report = await nomad('alloc', 'logs', (await nomad('job', 'allocs', '-t', template, JOB)).trim());
  t.diagnostic(report);
  assertOneRun({ codes, logs, report, arrivals: audit.arrivals(mark, 'pki_int/ocsp') });
});
