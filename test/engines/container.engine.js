/** The image of examples/container, built and run by podman. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildImage, startPodman } from './container.js';

/** @import { Podman } from './container.js' */

/** @type {Podman} */
let engine;
/** @type {Awaited<ReturnType<typeof buildImage>>} */
let image;
before(async () => {
  engine = startPodman();
  image = await buildImage(engine);
});
after(() => engine?.stop());

/** As little as can be allowed. @param {string[]} args of podman run */
const run = (...args) =>
  engine.podman('run', '--rm', '--read-only', '--cap-drop=all', '--security-opt=no-new-privileges', ...args);

test('has the content of the package and the runtime packages, and nothing else', async () => {
  const list = `const { readdirSync } = require('node:fs');
    const files = readdirSync('/opt/vault-pki-load', { recursive: true, withFileTypes: true }).filter((one) => !one.isDirectory());
    console.log(files.map(({ path, name }) => path.replace('/opt/vault-pki-load', '') + '/' + name).join('\\n'))`;
  const files = (await run('--entrypoint', 'node', image.name, '-e', list))
    .trim()
    .split('\n')
    .map((path) => path.slice(1));
  const own = files.filter((path) => !path.startsWith('node_modules/'));
  assert.deepEqual(own.sort(), [...image.content, 'package-lock.json'].sort());
  assert.ok(files.includes('node_modules/undici/package.json'));
  assert.ok(!files.some((path) => path.startsWith('node_modules/typescript/')), 'a package for development');
});

test('runs as a user without rights, on a read-only root file system', async () => {
  const user = await run('--entrypoint', 'node', image.name, '-p', 'process.getuid()');
  assert.equal(user.trim(), '65532');
  const report = await run(image.name, 'ocsp', '--dev', '--requests', '20');
  assert.match(report, /20 .*good|good.* 20/);
});
