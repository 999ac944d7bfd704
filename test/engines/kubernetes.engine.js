/** The Job of examples/kubernetes on a real Kubernetes, in the image of examples/container, with a real Vault. */
import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { EXIT } from '../../src/common/errors.js';
import { openAudit } from '../vault/audit.js';
import { setUpPki } from '../vault/pki.js';
import { freePort, startVault } from '../vault/start.js';
import { buildImage, startPodman } from './container.js';
import { commandsOf, runBlock, until } from './documented.js';
import { startKubernetes } from './kubernetes.js';
import { assertOneRun, assertPartMissing, IS_SENDING } from './one-run.js';

/** @import { RunningVault } from '../vault/start.js' */
/** @import { Podman } from './container.js' */
/** @import { Kubernetes } from './kubernetes.js' */

const EXAMPLE = 'examples/kubernetes';
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const KILLED = 137;
const PART_0 = 'batch.kubernetes.io/job-completion-index=0';
const [RUN, REMOVE] = commandsOf('On Kubernetes');
const PAUSE = 'localhost/pause:1';

/** @type {Podman} */
let podman;
/** @type {Kubernetes} */
let engine;
/** @type {RunningVault} */
let vault;
/** @type {string} */
let image;
before(async () => {
  vault = await startVault();
  podman = startPodman();
  ({ name: image } = await buildImage(podman));
  const pause = join(podman.folder, 'Pause');
  writeFileSync(
    pause,
    `FROM ${image}\nENTRYPOINT ["node", "-e", "process.on('SIGTERM', process.exit); setInterval(() => {}, 1e9)"]\n`,
  );
  await podman.build(PAUSE, pause, podman.folder);
  engine = await startKubernetes(PAUSE);
  const archive = join(podman.folder, 'images.tar');
  await podman.podman('save', '--multi-image-archive', '--output', archive, image, PAUSE);
  await engine.importImage(archive);
  const root = vault.connect();
  await setUpPki(root);
  await root.close();
  await writeExample();
});
after(() => engine?.stop());
after(() => podman?.stop());
after(() => vault?.stop());

/** @param {string} name of a file of the example @param {(content: any) => void} change */
function edit(name, change) {
  const path = join(engine.folder, EXAMPLE, name);
  const content = parse(readFileSync(path, 'utf8'));
  change(content);
  writeFileSync(path, stringify(content));
}

/** The example, with its settings, and what this cluster lacks left out: pods' network and DNS, a registry, three CPUs. */
async function writeExample() {
  cpSync(join(ROOT, EXAMPLE), join(engine.folder, EXAMPLE), { recursive: true });
  edit('kustomization.yaml', (kustomization) => {
    [kustomization.images[0].newName, kustomization.images[0].newTag] = image.split(':');
    kustomization.configMapGenerator[0].literals = [`VAULT_ADDR=${vault.url}`];
  });
  const join0 = `127.0.0.1:${await freePort()}`;
  edit('job.yaml', ({ spec: { template } }) => {
    const { spec } = template;
    spec.hostNetwork = true;
    const [container] = spec.containers;
    container.args[3] = join0;
    container.resources.requests.cpu = '100m';
    delete container.ports;
  });
}

/** @param {string} block of the docs @returns {Promise<string>} standard output */
const operate = (block) =>
  runBlock(block, { cwd: engine.folder, env: { ...engine.env, VAULT_TOKEN: vault.token } });

/** @returns {Promise<any>} */
const get = async (/** @type {string[]} */ ...what) =>
  JSON.parse(await engine.kubectl('get', ...what, '--output', 'json'));

/** @returns {Promise<any[]>} by part */
async function pods() {
  const { items } = await get('pods');
  return items.sort((/** @type {any} */ a, /** @type {any} */ b) =>
    a.metadata.name < b.metadata.name ? -1 : 1,
  );
}

const codeOf = (/** @type {any} */ { status }) => status.containerStatuses[0].state.terminated?.exitCode;
const logOf = (/** @type {any} */ { metadata }) => engine.kubectl('logs', metadata.name);

/** A run as in the docs, until it sends. @returns {Promise<any[]>} the pods */
async function startRun() {
  await operate(RUN.split('\n').slice(0, 2).join('\n'));
  return until('part 0 sends', async () => {
    const log = await engine.kubectl('logs', '--selector', PART_0, '--tail=-1').catch(() => '');
    return IS_SENDING.test(log) && pods();
  });
}

/** @returns {Promise<{failed: string, parts: any[]}>} when the Job has failed, its failed parts and the pods that are left */
async function failedJob() {
  await engine.kubectl('wait', 'job/vault-pki-load', '--for=condition=Failed', '--timeout=60s');
  const { status } = await get('job', 'vault-pki-load');
  return { failed: status.failedIndexes, parts: await pods() };
}

test('an Indexed Job with three parts: one run, one verdict, by the commands of the docs', async (t) => {
  const root = vault.connect();
  t.after(() => root.close());
  const audit = await openAudit(vault, root);
  const mark = audit.mark();
  const report = await operate(RUN);
  t.diagnostic(report);
  const parts = await until('all parts end', async () => {
    const all = await pods();
    return all.every((pod) => codeOf(pod) !== undefined) && all;
  });
  const codes = parts.map(codeOf);
  const logs = await Promise.all(parts.map(logOf));
  assertOneRun({ codes, logs, report, arrivals: audit.arrivals(mark, 'pki_int/ocsp') });
  assert.equal(report.trim().split('\n').at(-1), String(codes[0]));
  const ended = codes[0] === EXIT.ok ? 'Complete' : 'Failed';
  await engine.kubectl('wait', 'job/vault-pki-load', `--for=condition=${ended}`, '--timeout=20s');
});

test('a second run, of another scenario with another secret; its result is in the log', async () => {
  edit('scenario.yaml', ({ runs: [run] }) => {
    run.load.rate = '30/s';
    run.load.duration = '5s';
  });
  edit('job.yaml', ({ spec: { template } }) => {
    template.spec.containers[0].args.push('--format', 'json');
  });
  const log = await operate(`${REMOVE}\n${RUN}`);
  const lines = log.split('\n');
  const result = JSON.parse(lines.slice(lines.indexOf('{'), lines.indexOf('}') + 1).join('\n'));
  assert.equal(result.totals.sent, 150);
  assert.equal(result.merged.length, 3);
  edit('scenario.yaml', ({ runs: [run] }) => {
    run.load.duration = '20s';
  });
  edit('job.yaml', ({ spec: { template } }) => {
    template.spec.containers[0].args.splice(-2);
  });
  await operate(REMOVE);
  assert.deepEqual((await get('secrets,pods,jobs,services')).items.map(nameOf), ['kubernetes']);
});

const nameOf = (/** @type {any} */ { metadata }) => metadata.name;

test('a part that is killed: the verdict names it, the Job fails, and it is not started again', async () => {
  const [, , killed] = await startRun();
  await engine.kill(killed.status.containerStatuses[0].containerID);
  const { failed, parts } = await failedJob();
  assert.equal(failed, '0,2');
  assert.deepEqual(parts.map(codeOf), [EXIT.invalidMeasurement, EXIT.ok, KILLED]);
  assertPartMissing(await logOf(parts[0]));
});

test('a part whose pod is deleted: all parts stop, the Job fails, none is started again', async () => {
  await operate(REMOVE);
  const [, , deleted] = await startRun();
  await engine.kubectl('delete', 'pod', nameOf(deleted));
  const { parts } = await failedJob();
  assert.equal(parts.length, 2);
  const code = codeOf(parts[0]);
  assert.ok([EXIT.interrupted, EXIT.invalidMeasurement].includes(code), String(code));
  assert.match(await logOf(parts[0]), /Part 2 of 3 was interrupted/);
});
