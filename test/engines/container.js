/**
 * Debian's podman, containerd and runc, unpacked into a folder that is laid over /usr and /etc in mount namespaces of
 * their own: nothing is installed. Needs root.
 */
import { execFile, execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cleanerOf } from './cleaner.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DEBIAN = fileURLToPath(new URL('.build/debian/', import.meta.url));
const PACKAGES = ['podman', 'runc', 'containerd', 'containernetworking-plugins'];

/** What the Dockerfile's base image has to have, beside Node and npm. */
const PROGRAMS = ['sh', 'tar', 'gzip', 'cp', 'env'];

/** Files at image paths that this machine has, and those of a registry's certificate authorities. */
const CERTIFICATES = '/etc/ssl/certs';

/** @returns {string} the folder in which they are unpacked */
export function unpackDebian() {
  const root = join(DEBIAN, 'root');
  if (existsSync(root)) return root;
  const archives = join(DEBIAN, 'archives');
  mkdirSync(join(archives, 'partial'), { recursive: true });
  const options = ['-y', '--no-install-recommends', '--download-only', `-oDir::Cache::archives=${archives}`];
  execFileSync('apt-get', [...options, 'install', ...PACKAGES], { stdio: 'pipe' });
  const unpacked = `${root}.part`;
  for (const file of readdirSync(archives).filter((name) => name.endsWith('.deb')))
    execFileSync('dpkg', ['-x', join(archives, file), unpacked]);
  // Older packages still have their files in /bin, /sbin and /lib.
  for (const name of ['bin', 'sbin', 'lib'].filter((name) => existsSync(join(unpacked, name))))
    cpSync(join(unpacked, name), join(unpacked, 'usr', name), { recursive: true });
  execFileSync('mv', [unpacked, root]);
  return root;
}

/** @param {string[]} command @param {string} [before] shell commands @returns {[string, string[]]} program and arguments */
export function inNamespace(command, before = 'true') {
  const root = unpackDebian();
  const overlays = ['usr', 'etc'].map(
    (name) => `mount -t overlay o -o lowerdir=${root}/${name}:/${name} /${name}`,
  );
  const script = [...overlays, before, 'exec "$@"'].join(' && ');
  return ['unshare', ['-m', '--propagation', 'private', 'sh', '-c', script, 'sh', ...command]];
}

/** @typedef {ReturnType<typeof startPodman>} Podman */
export function startPodman() {
  const removeLeft = cleanerOf({ cgroups: ['libpod_parent'], folders: ['/run/runc', '/var/lib/containers'] });
  const folder = mkdtempSync(join(tmpdir(), 'vault-pki-load-podman-'));
  const file = (/** @type {string} */ name, /** @type {string} */ text) =>
    writeFileSync(join(folder, name), text);
  file('policy.json', '{"default":[{"type":"insecureAcceptAnything"}]}');
  file('registries.conf', 'unqualified-search-registries = []\n');
  file(
    'storage.conf',
    `[storage]\ndriver = "overlay"\ngraphroot = "${folder}/store"\nrunroot = "${folder}/run"\n`,
  );
  file(
    'containers.conf',
    `[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
runtime = "runc"
[containers]
default_ulimits = ["nofile=1024:20000", "nproc=10000:10000"]
netns = "host"
`,
  );
  const env = {
    PATH: `${process.env.PATH}:/usr/sbin`,
    HOME: folder,
    TMPDIR: folder,
    CONTAINERS_CONF: join(folder, 'containers.conf'),
    CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf'),
    CONTAINERS_REGISTRIES_CONF: join(folder, 'registries.conf'),
  };
  /** @param {string[]} args @returns {Promise<string>} standard output; rejects if it fails */
  const podman = async (...args) => {
    const [program, all] = inNamespace(['podman', '--tmpdir', join(folder, 'tmp'), ...args]);
    return (await promisify(execFile)(program, all, { env, cwd: folder, maxBuffer: 2 ** 28 })).stdout;
  };
  return {
    folder,
    podman,
    /** @param {string} name @param {string} dockerfile @param {string} context @param {string[]} [options] */
    build: (name, dockerfile, context, options = []) =>
      podman(
        'build',
        '--signature-policy',
        join(folder, 'policy.json'),
        '--network',
        'host',
        ...options,
        '--file',
        dockerfile,
        '--tag',
        name,
        context,
      ),
    async stop() {
      await podman('rm', '--all', '--force').catch(() => '');
      removeLeft();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** An image with this machine's Node and npm: none can be pulled from a registry here. @param {Podman} podman @returns {Promise<string>} its name */
export async function buildNodeImage({ folder, build }) {
  const rootfs = join(folder, 'node', 'rootfs');
  for (const name of ['usr/bin', 'usr/lib64', 'tmp', 'etc'])
    mkdirSync(join(rootfs, name), { recursive: true });
  for (const name of ['bin', 'lib', 'lib64']) {
    mkdirSync(join(rootfs, 'usr', name), { recursive: true });
    symlinkSync(`usr/${name}`, join(rootfs, name));
  }
  const copy = (/** @type {string} */ from, /** @type {string} */ to) => {
    mkdirSync(dirname(join(rootfs, to)), { recursive: true });
    cpSync(realpathSync(from), join(rootfs, to), { recursive: true });
  };
  const which = (/** @type {string} */ name) => execFileSync('which', [name]).toString().trim();
  const programs = [['node', process.execPath], ...PROGRAMS.map((name) => [name, which(name)])];
  for (const [name, path] of programs) {
    copy(path, `usr/bin/${name}`);
    const libraries =
      execFileSync('ldd', [realpathSync(path)])
        .toString()
        .match(/\/\S+/g) ?? [];
    for (const library of libraries) copy(library, library.startsWith('/usr') ? library : `usr${library}`);
  }
  const npm = dirname(dirname(realpathSync(which('npm'))));
  copy(npm, 'usr/lib/node_modules/npm');
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(rootfs, 'usr/bin/npm'));
  const dockerfile = join(folder, 'node', 'Dockerfile');
  writeFileSync(dockerfile, 'FROM scratch\nCOPY rootfs/ /\nENV PATH=/usr/bin\n');
  await build('localhost/node:1', dockerfile, join(folder, 'node'));
  return 'localhost/node:1';
}

/** Of examples/container, from what `npm pack` gives. @param {Podman} podman @returns {Promise<{name: string, content: string[]}>} `content`: the package's files */
export async function buildImage(podman) {
  const base = await buildNodeImage(podman);
  const context = join(podman.folder, 'context');
  mkdirSync(context);
  const npm = (/** @type {string[]} */ ...args) =>
    execFileSync('npm', args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] }).toString();
  const [{ files }] = JSON.parse(npm('pack', '--json', '--pack-destination', context).replace(/^[^[{]*/, ''));
  for (const file of ['package.json', 'package-lock.json', '.dockerignore'])
    cpSync(join(ROOT, file), join(context, file));
  // An older package, and what no image may have.
  writeFileSync(join(context, 'vault-pki-load-0.0.1.tgz'), 'not an archive');
  writeFileSync(join(context, 'secret.env'), 'VAULT_TOKEN=secret');
  // Where this machine finds packages; it does not become part of the image.
  const npmrc = join(podman.folder, 'npmrc');
  const settings = [
    `registry=${npm('config', 'get', 'registry').trim()}`,
    `cafile=${CERTIFICATES}/ca-certificates.crt`,
  ];
  writeFileSync(npmrc, `${settings.join('\n')}\n`);
  const name = 'localhost/vault-pki-load:1';
  await podman.build(name, join(ROOT, 'examples/container/Dockerfile'), context, [
    ...['--build-arg', `NODE_IMAGE=${base}`],
    ...['--volume', `${npmrc}:/usr/etc/npmrc:ro`, '--volume', `${CERTIFICATES}:${CERTIFICATES}:ro`],
  ]);
  return { name, content: files.map((/** @type {{path: string}} */ { path }) => path) };
}
