/**
 * Builds Nomad, and the parts of Kubernetes, from the Go module proxy. Their modules replace others by folders of their
 * repositories, which a module zip lacks: here by the published modules of the same release.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * @typedef {object} Engine
 * @property {string} module
 * @property {string} version
 * @property {[from: RegExp, to: string][]} replaced in its go.mod
 * @property {string[]} programs packages to build; the last part of a path is the program's name
 * @property {string} [flags] for the linker
 */

/** The API's pseudo-version is the commit of the release. Nomad is under the BUSL: a tool of these tests, never shipped. @type {Engine} */
const NOMAD = {
  module: 'github.com/hashicorp/nomad',
  version: 'v1.11.2',
  replaced: [[/=> \.\/api\b/g, '=> github.com/hashicorp/nomad/api v0.0.0-20260211190147-f876384fe3ab']],
  programs: ['github.com/hashicorp/nomad'],
};

/** The last version that runs with cgroup v1. @type {Engine} */
const KUBERNETES = {
  module: 'k8s.io/kubernetes',
  version: 'v1.34.4',
  replaced: [[/=> \.\/staging\/src\/(k8s\.io\/[a-z-]*)/g, '=> $1 v0.34.4']],
  programs: [
    ...['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet', 'kubectl'].map(
      (name) => `k8s.io/kubernetes/cmd/${name}`,
    ),
    'go.etcd.io/etcd/server/v3',
  ],
  // Without a version, the parts do not accept each other.
  flags: ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version']
    .flatMap((at) => [`${at}.gitVersion=v1.34.4`, `${at}.gitMajor=1`, `${at}.gitMinor=34`])
    .map((value) => `-X ${value}`)
    .join(' '),
};

const BUILD = fileURLToPath(new URL('.build/', import.meta.url));
const ENV = { ...process.env, GOFLAGS: '-mod=mod', CGO_ENABLED: '0' };

export const buildNomad = () => build('nomad', NOMAD);
export const buildKubernetes = () => build('kubernetes', KUBERNETES);

/** @param {string} name @param {Engine} engine @returns {Promise<string>} the folder of the programs */
async function build(name, { module, version, replaced, programs, flags = '' }) {
  const folder = join(BUILD, name, version);
  const done = join(folder, 'done');
  if (existsSync(done)) return folder;
  mkdirSync(folder, { recursive: true });
  const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', `${module}@${version}`]);
  const { Dir: source } = JSON.parse(stdout);
  const original = readFileSync(join(source, 'go.mod'), 'utf8').replace(/^module .*/m, `module test/${name}`);
  const text = replaced.reduce((all, [from, to]) => all.replace(from, to), original);
  const tools = programs.map((program) => `tool ${program}\n`);
  writeFileSync(join(folder, 'go.mod'), `${text}\nrequire ${module} ${version}\n${tools.join('')}`);
  copyFileSync(join(source, 'go.sum'), join(folder, 'go.sum'));
  chmodSync(join(folder, 'go.sum'), 0o644);
  for (const program of programs) {
    const options = ['-trimpath', `-ldflags=-s -w ${flags}`, '-o', programName(program)];
    const child = spawn('go', ['build', ...options, program], { cwd: folder, env: ENV, stdio: 'inherit' });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`go build of ${program} ended with ${code}`);
  }
  writeFileSync(done, '');
  return folder;
}

/** @param {string} program */
const programName = (program) => (program.includes('etcd') ? 'etcd' : (program.split('/').at(-1) ?? ''));
