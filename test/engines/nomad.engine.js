/** The job of examples/nomad on a real Nomad and a real Vault. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { EXIT } from '../../src/common/errors.js';
import { openAudit } from '../vault/audit.js';
import { setUpPki } from '../vault/pki.js';
import { startVault } from '../vault/start.js';
import { commandsOf, runBlock, until } from './documented.js';
import { startNomad } from './nomad.js';
import { assertOneRun, assertPartMissing, IS_SENDING } from './one-run.js';

/** @import { RunningVault } from '../vault/start.js' */
/** @import { Nomad } from './nomad.js' */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const EXAMPLE = 'examples/nomad/vault-pki-load.nomad.hcl';
const JOB = 'vault-pki-load';
const KILLED = 137;
const [RUN, REMOVE] = commandsOf('On Nomad');

/** @type {RunningVault} */
let vault;
/** @type {Nomad} */
let engine;
before(async () => {
  vault = await startVault();
  const root = vault.connect();
  await setUpPki(root);
  await root.close();
  engine = await startNomad();
  writeJobFile();
});
after(() => engine?.stop());
after(() => vault?.stop());

/** The example, with this Node in place of an image: there is no Docker here. */
function writeJobFile() {
  const example = readFileSync(join(ROOT, EXAMPLE), 'utf8');
  const command = [process.execPath, join(ROOT, 'bin/vault-pki-load.js')].map((part) => JSON.stringify(part));
  /** @type {[RegExp, string][]} */
  const changes = [
    [/driver = "docker"/, 'driver = "raw_exec"'],
    [/image +(?== var.image)/, 'command'],
    [/= var.image/, `= ${command[0]}`],
    [/concat\(var.load/, `concat([${command[1]}], var.load`],
    [/ports += \["join"\]\n +readonly_rootfs = true\n +cap_drop +=.*\n +security_opt +=.*\n/, '\n'],
  ];
  for (const [from] of changes) assert.equal(example.split(from).length, 2, String(from));
  mkdirSync(join(engine.folder, 'examples/nomad'), { recursive: true });
  writeFileSync(
    join(engine.folder, EXAMPLE),
    changes.reduce((text, [from, to]) => text.replace(from, to), example),
  );
}

/** @param {string} block of the docs @returns {Promise<string>} standard output */
const operate = (block) => {
  const { folder: cwd, env } = engine;
  return runBlock(block, {
    cwd,
    env: { ...env, VAULT_ADDR: vault.url, VAULT_TOKEN: vault.token, IMAGE: 'none:1' },
  });
};

/** @returns {Promise<any[]>} of this run, by part */
async function allocations() {
  const all = /** @type {any[]} */ (JSON.parse(await engine.nomad('job', 'allocs', '-json', JOB)));
  return all.sort((a, b) => (a.Name < b.Name ? -1 : 1));
}

/** When all have ended. */
const endedParts = () =>
  until('all parts end', async () => {
    const all = await allocations();
    const haveEnded = all.every(({ ClientStatus: status }) => ['complete', 'failed'].includes(status));
    if (!haveEnded) return null;
    const codes = all.map(
      ({ TaskStates: { part } }) =>
        part.Events.find((/** @type {any} */ { Type: type }) => type === 'Terminated').ExitCode,
    );
    return { ids: all.map(({ ID: id }) => id), codes };
  });

/** A run as in the docs, until it sends. @returns {Promise<string[]>} the parts' allocations */
async function startRun() {
  await operate(`${REMOVE}\n${RUN.split('\n').slice(0, 2).join('\n')}`);
  return until('part 0 sends', async () => {
    const ids = (await allocations()).map(({ ID: id }) => id);
    const log = await engine.nomad('alloc', 'logs', '-stderr', ids[0]).catch(() => '');
    return IS_SENDING.test(log) && ids;
  });
}

test('a job with three parts: one run, one verdict, by the commands of the docs', async (t) => {
  const root = vault.connect();
  t.after(() => root.close());
  const audit = await openAudit(vault, root);
  const mark = audit.mark();
  const report = await operate(RUN);
  t.diagnostic(report);
  const { ids, codes } = await endedParts();
  const logs = await Promise.all(ids.map((id) => engine.nomad('alloc', 'logs', '-stderr', id)));
  assertOneRun({ codes, logs, report, arrivals: audit.arrivals(mark, 'pki_int/ocsp') });
  assert.equal(report.trim().split('\n').at(-1), String(codes[0]));
  const result = JSON.parse(readFileSync(join(engine.folder, 'result.json'), 'utf8'));
  assert.equal(result.merged.length, 3);
  assert.equal(result.totals.sent, 1200);
});

test('a part waits for part 0 by a variable that it may read', async () => {
  const path = join(engine.folder, EXAMPLE);
  const job = readFileSync(path, 'utf8');
  assert.equal(job.split('"-part-0"').length, 2);
  writeFileSync(path, job.replace('"-part-0"', '"-part-9"'));
  await operate(`${REMOVE}\n${RUN.split('\n')[1]}`);
  const said = await until('Nomad says why the parts wait', async () => {
    const messages = (await allocations()).flatMap(({ TaskStates: states }) =>
      (states?.part.Events ?? []).map((/** @type {any} */ { DisplayMessage: message }) => message),
    );
    return messages.find((message) => /Missing|failed|denied/.test(message));
  });
  assert.match(said, /^Missing: /);
  // Nomad would give up after some refusals.
  assert.doesNotMatch(readFileSync(join(engine.folder, 'agent.log'), 'utf8'), /nomad\.var\..*denied/);
  writeFileSync(path, job);
});

test('a part that is killed: the verdict names it, and it is not started again', async () => {
  const [first, , killed] = await startRun();
  await engine.nomad('alloc', 'signal', '-s', 'SIGKILL', killed);
  const { ids, codes } = await endedParts();
  assert.deepEqual(codes, [EXIT.invalidMeasurement, EXIT.ok, KILLED]);
  assert.equal(ids.length, 3);
  assertPartMissing(await engine.nomad('alloc', 'logs', '-stdout', first));
});

test('a part that is stopped: all parts stop, none is started again', async () => {
  const [first, , stopped] = await startRun();
  await engine.nomad('alloc', 'stop', '-detach', stopped);
  const { ids, codes } = await endedParts();
  assert.ok([EXIT.interrupted, EXIT.invalidMeasurement].includes(codes[0]), String(codes));
  assert.equal(ids.length, 3);
  assert.match(await engine.nomad('alloc', 'logs', '-stderr', first), /Part 2 of 3 was interrupted/);
  await operate(REMOVE);
});
