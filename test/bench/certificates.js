/**
 * CPU time per checked certificate (P-256, `no_store`), by the key of the CA: of the checks alone, over responses recorded from a
 * real Vault, all different, once V8 has compiled the code; of what OpenSSL needs for a signature and a private key; and of the
 * whole tool under load, without startup and the first two seconds. If vault-benchmark is on the PATH, alternating with it on the
 * same Vault, both on mounts that it made.
 */
import { createECDH, generateKeyPairSync, sign, verify } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadOperation } from '../../src/operations/index.js';
import { createSerialMemory } from '../../src/operations/serial-set.js';
import { planOf } from '../operations/calls-support.js';
import { measureInTurn, verdictOn } from './in-turn.js';
import { ourSource } from './on-vault.js';
import { versionOf } from './peers/peer.js';
import { median } from './statistics.js';
import { runTimed } from './timed.js';
import { withVault } from './vault.js';

/** @import { Report, Settings } from './index.js' */

/** @typedef {Parameters<Parameters<typeof withVault>[0]>[0]} Vault */
/** @typedef {'ec' | 'rsa'} Key of the CA */
/** @typedef {Awaited<ReturnType<typeof measure>>} Row */

const RESPONSES = 4000;
const PASSES = 5;
const GOAL_US = 250;
const CN = 'localhost';

/** @param {Settings} settings @returns {Promise<Report>} */
export async function run(settings) {
  /** @type {Row[]} */
  const rows = [];
  for (const key of /** @type {Key[]} */ (['ec', 'rsa'])) {
    rows.push(await withVault((vault) => measure(vault, key, settings), { caKeyType: key }));
  }
  return {
    question:
      'CPU us per checked P-256 certificate, by the key of the CA: closed loop, 10 in flight, Vault on the same machine',
    chart: { column: 'whole tool', unit: 'µs of CPU a certificate', named: 1 },
    columns: [
      'CA key',
      'checks',
      'OpenSSL',
      'whole tool',
      'goal',
      'met',
      '/s',
      'ours / vault-benchmark',
      'lowest',
      'highest',
    ],
    rows: rows.map(figuresOf),
    summary: {},
    raw: rows,
  };
}

/** @param {Row} row */
function figuresOf({ key, checksUs, opensslUs, wholeUs, ours, peer }) {
  const whole = median(wholeUs);
  const ratios = ours.map((perSecond, i) => perSecond / peer[i]);
  const compared =
    peer.length > 0 ? [median(ratios), Math.min(...ratios), Math.max(...ratios)] : [null, null, null];
  const verdict = verdictOn(`<= ${GOAL_US}`, whole <= GOAL_US);
  return [key, checksUs, opensslUs, whole, ...verdict, median(ours), ...compared];
}

/** @param {Vault} vault @param {Key} key @param {Settings} settings */
async function measure(vault, key, settings) {
  const bodies = await record(vault);
  const checks = await checkAll(bodies);
  const hasPeer = (await versionOf(['vault-benchmark', '-v'], /v(\S+)/)) !== null;
  if (hasPeer) await benchmark(vault, key, 1, true);
  const role = hasPeer ? ['--mount', 'ours-int', '--role', 'benchmark-issue'] : ['--role', 'ec-no-store'];
  const issue = async (/** @type {number} */ seconds) => {
    const {
      perSecond,
      cpuMs,
      responses = 0,
    } = await ourSource(vault, ['issue', ...role, '--cn', CN], seconds).measure();
    return { perSecond, responses, cpuUs: 1000 * cpuMs * responses };
  };
  const short = await issue(1);
  const wholeUs = /** @type {number[]} */ ([]);
  const ours = async () => {
    const { perSecond, cpuUs: us, responses } = await issue(settings.seconds);
    wholeUs.push((us - short.cpuUs) / (responses - short.responses));
    return perSecond;
  };
  const peer = () => benchmark(vault, key, settings.seconds, false);
  const sources = [{ measure: ours }, ...(hasPeer ? [{ measure: peer }] : [])];
  const measured = await measureInTurn(sources, settings, `CA key ${key}`);
  const [perSecond, others = []] = measured.map(({ runs }) => runs);
  return { key, checksUs: checks, opensslUs: opensslUs(key), wholeUs, ours: perSecond, peer: others };
}

/** @param {Vault} vault @returns {Promise<Buffer[]>} responses, all different */
async function record({ url, token }) {
  const request = {
    method: 'POST',
    headers: { 'X-Vault-Token': token },
    body: JSON.stringify({ common_name: CN }),
  };
  /** @type {Buffer[]} */
  const bodies = [];
  const fill = async () => {
    while (bodies.length < RESPONSES) {
      const response = await fetch(`${url}/v1/pki_int/issue/ec-no-store`, request);
      bodies.push(Buffer.from(await response.arrayBuffer()));
    }
  };
  await Promise.all(Array.from({ length: 4 }, fill));
  return bodies;
}

/** @param {Buffer[]} bodies @returns {Promise<number>} us of CPU each, median of all passes but the first */
async function checkAll(bodies) {
  const issue = await loadOperation('issue');
  const plan = planOf(issue, { cn: CN });
  const passes = Array.from({ length: PASSES }, () => {
    const classify = issue.createClassifier(plan, { serials: createSerialMemory(bodies.length), csrs: null });
    return cpuUs(bodies, (body, i) => {
      const { outcome } = classify(200, body, i);
      if (outcome !== 'issued') throw new Error(outcome);
    });
  });
  return median(passes.slice(1));
}

/** @template T @param {T[]} items @param {(item: T, i: number) => void} work @returns {number} us of all threads for each */
function cpuUs(items, work) {
  const before = process.cpuUsage();
  items.forEach(work);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / items.length;
}

/** @param {Key} key @returns {number} us for the signature of a CA, and to derive a public key from a private one */
function opensslUs(key) {
  const { privateKey, publicKey } =
    key === 'ec'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 });
  const data = Buffer.alloc(600);
  const signature = sign('sha256', data, privateKey);
  const ecdh = createECDH('prime256v1');
  ecdh.generateKeys();
  const secret = ecdh.getPrivateKey();
  return cpuUs(Array.from({ length: RESPONSES }), () => {
    verify('sha256', data, publicKey, signature);
    ecdh.setPrivateKey(secret);
    ecdh.getPublicKey();
  });
}

/** @param {Vault} vault @param {Key} key @param {number} seconds @param {boolean} isKept its mounts stay, as `ours-root` and `ours-int` @returns {Promise<number>} certificates/s */
async function benchmark({ url, token, folder }, key, seconds, isKept) {
  const file = join(folder, 'vault-benchmark.hcl');
  const ca = `common_name = "test"\n key_type = "${key}"\n key_bits = ${key === 'ec' ? 256 : 2048}`;
  const config = `vault_addr = "${url}"
    vault_token = "${token}"
    workers = 10
    duration = "${seconds}s"
    report_mode = "json"
    random_mounts = ${!isKept}
    cleanup = ${!isKept}
    test "pki_issue" "ours" {
      weight = 100
      config {
        setup_delay = "2s"
        root_ca {\n ${ca}\n }
        intermediate_csr {\n ${ca}\n }
        role {\n ttl = "5m"\n key_type = "ec"\n key_bits = 256\n no_store = true\n }
        issue {\n common_name = "${CN}"\n }
      }
    }\n`;
  writeFileSync(file, config, { mode: 0o600 });
  const { stdout, stderr, code } = await runTimed(['vault-benchmark', 'run', `-config=${file}`]);
  if (code !== 0) throw new Error(`vault-benchmark exited with code ${code}: ${stderr.slice(-500)}`);
  const { metrics } = JSON.parse(stdout.slice(stdout.indexOf('{'), stdout.lastIndexOf('}') + 1));
  return metrics.ours.throughput;
}
