/** The Job of examples/kubernetes on a real Kubernetes, in the image of examples/container, with a real Vault. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openAudit } from '../vault/audit.js';
import { setUpPki } from '../vault/pki.js';
import { freePort, startVault } from '../vault/start.js';
import { buildImage, startPodman } from './container.js';
import { startKubernetes } from './kubernetes.js';
import { assertOneRun } from './one-run.js';

/** @import { RunningVault } from '../vault/start.js' */
/** @import { Podman } from './container.js' */
/** @import { Kubernetes } from './kubernetes.js' */

const EXAMPLE = fileURLToPath(new URL('../../examples/kubernetes/', import.meta.url));
const HANGS_AFTER_MS = 120_000;
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
});
after(async () => {
  await engine?.stop();
  await podman?.stop();
  await vault?.stop();
});

/** The example, with what this cluster lacks left out: pods' network and DNS, a registry, three CPUs. @param {number} port */
function overlay(port) {
  const folder = join(engine.folder, 'overlay');
  mkdirSync(folder);
  cpSync(EXAMPLE, join(folder, 'base'), { recursive: true });
  const secret = `VAULT_TOKEN=${vault.token}\nVAULT_PKI_LOAD_JOIN_SECRET=a secret of the test\n`;
  writeFileSync(join(folder, 'base/secret.env'), secret);
  const pod = '/spec/template/spec';
  const container = `${pod}/containers/0`;
  const [newName, newTag] = image.split(':');
  const changes = [
    { op: 'add', path: `${pod}/hostNetwork`, value: true },
    { op: 'replace', path: `${container}/args/3`, value: `127.0.0.1:${port}` },
    { op: 'add', path: `${container}/imagePullPolicy`, value: 'Never' },
    { op: 'replace', path: `${container}/resources/requests/cpu`, value: '100m' },
    { op: 'remove', path: `${container}/ports` },
  ];
  const kustomization = {
    resources: ['base'],
    images: [{ name: 'vault-pki-load', newName, newTag }],
    configMapGenerator: [
      { name: 'vault-pki-load', behavior: 'merge', literals: [`VAULT_ADDR=${vault.url}`] },
    ],
    patches: [{ target: { kind: 'Job' }, patch: JSON.stringify(changes) }],
  };
  writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
  return folder;
}

test('an Indexed Job with three parts: one run, one verdict', async (t) => {
  const root = vault.connect();
  t.after(() => root.close());
  await setUpPki(root);
  const audit = await openAudit(vault, root);
  const mark = audit.mark();
  const { kubectl } = engine;
  t.diagnostic(await kubectl('apply', '-k', overlay(await freePort())));
  const pods = async () =>
    /** @type {any[]} */ (JSON.parse(await kubectl('get', 'pods', '-o', 'json')).items).sort((a, b) =>
      a.metadata.name < b.metadata.name ? -1 : 1,
    );
  for (let waitedMs = 0; ; waitedMs += 500) {
    const all = await pods();
    if (all.length === 3 && all.every(({ status }) => ['Succeeded', 'Failed'].includes(status.phase))) break;
    assert.ok(waitedMs < HANGS_AFTER_MS, await kubectl('describe', 'pods'));
    await sleep(500);
  }
  const parts = await pods();
  const codes = parts.map(({ status }) => status.containerStatuses[0].state.terminated.exitCode);
  const logs = await Promise.all(parts.map(({ metadata }) => kubectl('logs', metadata.name)));
  const first = 'batch.kubernetes.io/job-completion-index=0,job-name=vault-pki-load';
  // Standard output and error are one log.
  const report = await kubectl('logs', '--selector', first, '--tail=-1');
  t.diagnostic(report);
  assertOneRun({ codes, logs, report, arrivals: audit.arrivals(mark, 'pki_int/ocsp') });
});
