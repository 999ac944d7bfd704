/**
 * Starts a real Kubernetes of one node on loopback: etcd, API server, controller manager, scheduler, and a kubelet with
 * containerd. It has no network for pods and no DNS, and grants everything to its one user. Needs root, and cgroup v1.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { endProcess, freePort } from '../vault/start.js';
import { buildKubernetes } from './build.js';
import { cleanerOf } from './cleaner.js';
import { inNamespace } from './container.js';

/** @import { ChildProcess } from 'node:child_process' */

const START_TIMEOUT_MS = 120_000;
/** Without spaces. It opens nothing but this cluster, on loopback. */
const TOKEN = 'token-of-a-test';

/** The kubelet writes these; it gets copies of its own. */
const SYSCTLS = [
  'vm/overcommit_memory',
  'vm/panic_on_oom',
  'kernel/panic',
  'kernel/panic_on_oops',
  'kernel/keys/root_maxkeys',
  'kernel/keys/root_maxbytes',
];

const CONTROLLERS = [
  'job',
  'garbage-collector',
  'pod-garbage-collector',
  'ttl-after-finished',
  'node-lifecycle',
  'namespace',
];

/** What it leaves outside its folder. */
const LEFT = {
  cgroups: ['kubepods', 'k8s.io'],
  folders: ['/run/containerd', '/run/runc', '/var/lib/kubelet', '/var/log/pods'],
};

/** @typedef {Awaited<ReturnType<typeof startKubernetes>>} Kubernetes */

/** @param {string} pauseImage the containers' process that keeps a pod's namespaces */
export async function startKubernetes(pauseImage) {
  const binaries = await buildKubernetes();
  const removeLeft = cleanerOf(LEFT);
  const folder = mkdtempSync(join(tmpdir(), 'vault-pki-load-kubernetes-'));
  const at = (/** @type {string} */ name) => join(folder, name);
  const names = /** @type {const} */ (['etcd', 'peers', 'api', 'manager', 'scheduler', 'kubelet', 'health']);
  const ports = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await freePort()])));
  writeConfig(folder, ports, pauseImage);
  /** @type {Map<string, ChildProcess>} */
  const children = new Map();
  /** @param {string} name @param {[string, string[]]} command */
  const start = (name, [program, args]) => {
    const log = openSync(at(`${name}.log`), 'a');
    const env = { PATH: `${process.env.PATH}:/usr/sbin`, HOME: folder };
    children.set(name, spawn(program, args, { cwd: folder, env, stdio: ['ignore', log, log] }));
  };
  const own = (/** @type {string} */ name, /** @type {string[]} */ args) =>
    start(name, [join(binaries, name), args]);
  const killOnExit = () => {
    for (const child of children.values()) child.kill('SIGKILL');
  };
  process.once('exit', killOnExit);

  /** Of a shell of the cluster's user. @type {NodeJS.ProcessEnv} */
  const env = { PATH: `${binaries}:${process.env.PATH}`, HOME: folder, KUBECONFIG: at('kubeconfig') };
  /** @param {string[]} args @returns {Promise<string>} what it prints; rejects if it fails */
  const kubectl = async (...args) =>
    (await promisify(execFile)(join(binaries, 'kubectl'), args, { env, maxBuffer: 2 ** 26 })).stdout;
  const inContainerd = (/** @type {string[]} */ ...args) => [
    '-t',
    String(children.get('containerd')?.pid),
    '-m',
    ...args,
  ];
  /** @param {string[]} args */
  const ctr = async (...args) =>
    (
      await promisify(execFile)(
        'nsenter',
        inContainerd('ctr', '-a', at('containerd.sock'), '-n', 'k8s.io', ...args),
      )
    ).stdout;
  /** @param {string} what @param {() => Promise<boolean> | boolean} check */
  const until = async (what, check) => {
    for (let waitedMs = 0; !(await check()); waitedMs += 300) {
      const ended = [...children].find(([, { exitCode }]) => exitCode !== null);
      if (ended !== undefined || waitedMs > START_TIMEOUT_MS)
        throw new Error(`Kubernetes: ${ended === undefined ? `no ${what}` : `${ended[0]} has ended`}`);
      await sleep(300);
    }
  };

  async function stop() {
    process.removeListener('exit', killOnExit);
    for (const name of [...children.keys()].reverse().filter((name) => name !== 'containerd'))
      await end(name);
    for (const kind of ['tasks', 'containers'])
      for (const id of (await ctr(kind, 'ls', '-q').catch(() => '')).split('\n').filter(Boolean))
        await ctr(kind, 'rm', ...(kind === 'tasks' ? ['--force'] : []), id).catch(() => '');
    await end('containerd');
    removeLeft();
    rmSync(folder, { recursive: true, force: true });
  }
  const end = (/** @type {string} */ name) => {
    const child = children.get(name);
    return child && endProcess(child, 'SIGTERM');
  };

  try {
    const mounts = SYSCTLS.map((name) => `mount --bind ${at('sysctl')}/${name} /proc/sys/${name}`);
    start('containerd', inNamespace(['containerd', '--config', at('containerd.toml')], mounts.join(' && ')));
    own('etcd', [
      `--data-dir=${at('etcd')}`,
      ...etcdAddresses(ports),
      '--unsafe-no-fsync',
      '--log-level=warn',
    ]);
    own('kube-apiserver', apiServerOptions(folder, ports));
    await until('containerd', () => existsSync(at('containerd.sock')));
    await until('API server', async () => (await kubectl('get', '--raw=/readyz').catch(() => '')) === 'ok');
    const shared = [
      `--kubeconfig=${at('kubeconfig')}`,
      '--bind-address=127.0.0.1',
      '--leader-elect=false',
      `--cert-dir=${at('certs')}`,
    ];
    own('kube-controller-manager', [
      ...[...shared, `--secure-port=${ports.manager}`],
      `--controllers=${CONTROLLERS.map((name) => `${name}-controller`).join(',')}`,
    ]);
    own('kube-scheduler', [...shared, `--secure-port=${ports.scheduler}`]);
    const kubelet = [
      '--config',
      at('kubelet.yaml'),
      `--kubeconfig=${at('kubeconfig')}`,
      `--root-dir=${at('kubelet')}`,
    ];
    start('kubelet', [
      'nsenter',
      inContainerd(
        join(binaries, 'kubelet'),
        ...kubelet,
        `--cert-dir=${at('certs')}`,
        '--hostname-override=localhost',
      ),
    ]);
    await until('node', async () =>
      / Ready /.test(await kubectl('get', 'node', 'localhost').catch(() => '')),
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    folder,
    env,
    kubectl,
    /** @param {string} id of a container, as in a pod's status */
    kill: (id) => ctr('tasks', 'kill', '--signal', 'SIGKILL', id.replace('containerd://', '')),
    /** @param {string} archive of docker's or OCI's layout */
    importImage: (archive) => ctr('images', 'import', archive),
    stop,
  };
}

/** @param {Record<string, number>} ports */
function etcdAddresses({ etcd, peers }) {
  const [own, peer] = [`http://127.0.0.1:${etcd}`, `http://127.0.0.1:${peers}`];
  const client = [`--listen-client-urls=${own}`, `--advertise-client-urls=${own}`];
  const cluster = [`--listen-peer-urls=${peer}`, `--initial-advertise-peer-urls=${peer}`];
  return [...client, ...cluster, `--initial-cluster=default=${peer}`];
}

/** @param {string} folder @param {Record<string, number>} ports */
const apiServerOptions = (folder, { etcd, api }) => [
  `--etcd-servers=http://127.0.0.1:${etcd}`,
  ...[
    '--bind-address=127.0.0.1',
    `--secure-port=${api}`,
    '--advertise-address=127.0.0.1',
    '--external-hostname=127.0.0.1',
  ],
  ...[
    '--endpoint-reconciler-type=none',
    `--cert-dir=${folder}/certs`,
    '--service-cluster-ip-range=10.96.0.0/24',
  ],
  `--service-account-issuer=https://127.0.0.1:${api}`,
  ...[`--service-account-key-file=${folder}/sa.pub`, `--service-account-signing-key-file=${folder}/sa.key`],
  ...[`--token-auth-file=${folder}/tokens.csv`, '--authorization-mode=AlwaysAllow'],
  ...[
    '--disable-admission-plugins=ServiceAccount',
    '--kubelet-preferred-address-types=Hostname',
    '--allow-privileged=true',
  ],
];

/** @param {string} folder @param {Record<string, number>} ports @param {string} pauseImage */
function writeConfig(folder, ports, pauseImage) {
  const file = (/** @type {string} */ name, /** @type {string} */ text) =>
    writeFileSync(join(folder, name), text);
  for (const name of ['certs', 'cni']) mkdirSync(join(folder, name));
  for (const name of SYSCTLS) {
    const copy = join(folder, 'sysctl', name);
    mkdirSync(join(copy, '..'), { recursive: true });
    execFileSync('sh', ['-c', `cat /proc/sys/${name} > ${copy}`]);
  }
  execFileSync('openssl', ['genrsa', '-out', join(folder, 'sa.key'), '2048'], { stdio: 'ignore' });
  execFileSync('openssl', ['rsa', '-in', join(folder, 'sa.key'), '-pubout', '-out', join(folder, 'sa.pub')], {
    stdio: 'ignore',
  });
  file('tokens.csv', `${TOKEN},admin,admin,"system:masters"\n`);
  file(
    'kubeconfig',
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: 'test',
          cluster: { server: `https://127.0.0.1:${ports.api}`, 'insecure-skip-tls-verify': true },
        },
      ],
      users: [{ name: 'test', user: { token: TOKEN } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
      'current-context': 'test',
    }),
  );
  file(
    'kubelet.yaml',
    JSON.stringify({
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      ...{ address: '127.0.0.1', port: ports.kubelet, readOnlyPort: 0 },
      ...{ healthzBindAddress: '127.0.0.1', healthzPort: ports.health },
      authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
      authorization: { mode: 'AlwaysAllow' },
      ...{ cgroupDriver: 'cgroupfs', cgroupRoot: '/', cgroupsPerQOS: true, enforceNodeAllocatable: [] },
      ...{
        failSwapOn: false,
        failCgroupV1: false,
        oomScoreAdj: 0,
        maxOpenFiles: 20_000,
        makeIPTablesUtilChains: false,
      },
      containerRuntimeEndpoint: `unix://${folder}/containerd.sock`,
      imageGCHighThresholdPercent: 100,
      evictionHard: {
        'memory.available': '50Mi',
        'nodefs.available': '1%',
        'imagefs.available': '1%',
        'nodefs.inodesFree': '1%',
      },
      ...{
        podLogsDir: `${folder}/podlogs`,
        resolvConf: '',
        registerNode: true,
        localStorageCapacityIsolation: false,
      },
    }),
  );
  file(
    'cni/10-lo.conflist',
    JSON.stringify({
      cniVersion: '0.4.0',
      name: 'lo',
      plugins: [{ type: 'ptp', ipam: { type: 'host-local', subnet: '10.244.0.0/24' } }],
    }),
  );
  file(
    'containerd.toml',
    `version = 2
root = "${folder}/containerd-root"
state = "${folder}/containerd-state"
oom_score = 0
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.aufs"]
[grpc]
  address = "${folder}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  sandbox_image = "${pauseImage}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  disable_tcp_service = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        BinaryName = "/usr/sbin/runc"
        SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${folder}/cni"
`,
  );
}
