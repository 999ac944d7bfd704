/**
 * On a real Vault on the same machine, alternating with tools that check only the HTTP status: vegeta, whose library is the
 * engine of vault-benchmark; wrk; and a `fetch` loop, as in small load scripts. The role issues P-256 certificates with
 * no_store: this costs Vault the least, so the cost of the load generator shows the most.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readCertificates } from '../../src/pki/certificate.js';
import { buildOcspRequest, createCertId } from '../../src/pki/ocsp-request.js';
import { measureInTurn, verdictOn } from './in-turn.js';
import { BIN } from './ours.js';
import { peer as vegeta } from './peers/vegeta.js';
import { peer as wrk } from './peers/wrk.js';
import { median } from './statistics.js';
import { OCSP_REQUEST } from './subject.js';
import { runTimed } from './timed.js';
import { withVault } from './vault.js';

/** @import { Report, Settings } from './index.js' */
/** @import { Job, Peer } from './peers/peer.js' */

const FETCH_LOOP = fileURLToPath(new URL('./fetch-loop.js', import.meta.url));
const WARMUP_SECONDS = 1;
const CONCURRENCY = 10;
const GOAL_RATIO = 1;

/** @typedef {Parameters<Parameters<typeof withVault>[0]>[0]} Vault */
/** @typedef {{perSecond: number, cpuMs: number, responses?: number}} Measured CPU time of the load generator per response, including startup and warm-up; `responses`: of ours */
/** @typedef {{tool: string, measure: () => Promise<Measured>}} Source */
/** @typedef {Pick<Job, 'url' | 'headers' | 'bodyFile' | 'contentType'>} Request */

/** @param {Settings} settings @returns {Promise<Report>} */
export function run(settings) {
  return withVault(async (vault) => {
    const [issue, ocsp] = [issueOf(vault), await ocspOf(vault)];
    const subjects = [
      { name: 'issue', args: ['--role', 'ec-no-store'], request: issue, peer: vegeta },
      { name: 'ocsp', args: ['--cert', vault.cert, '--issuer', vault.issuer], request: ocsp, peer: wrk },
    ];
    const raw = [];
    for (const { name, args, request, peer } of subjects) {
      const isInstalled = (await peer.available()) !== null;
      const sources = [
        ourSource(vault, [name, ...args], settings.seconds),
        fetchSource(vault, request, settings.seconds),
        ...(isInstalled ? [peerSource(peer, vault, request, settings.seconds)] : []),
      ];
      raw.push({ name, rows: await measureInTurn(sources, settings, name) });
    }
    return {
      question: `Responses/s of a real Vault on the same machine: P-256 certificates with no_store, and OCSP for one certificate; RSA-2048 CA, closed loop, ${CONCURRENCY} in flight`,
      chart: { column: 'responses/s', named: 2 },
      columns: [
        'operation',
        'tool',
        'responses/s',
        'CPU ms each',
        'ours / tool',
        'lowest',
        'highest',
        'goal',
        'met',
      ],
      rows: raw.flatMap(({ name, rows }) => rows.map((row) => [name, ...figuresOf(row, rows[0])])),
      summary: {},
      raw,
    };
  });
}

/** @param {Vault} vault @returns {Request} */
function issueOf({ url, token, folder }) {
  const bodyFile = join(folder, 'issue.json');
  writeFileSync(bodyFile, JSON.stringify({ common_name: 'localhost' }));
  const headers = { 'X-Vault-Token': token };
  return { url: `${url}/v1/pki_int/issue/ec-no-store`, headers, bodyFile, contentType: 'application/json' };
}

/** One certificate, the same request again and again. @param {Vault} vault @returns {Promise<Request>} */
export async function ocspOf({ url, cert, issuer, folder }) {
  const [[leaf], [ca]] = [cert, issuer].map((file) => readCertificates(readFileSync(file), file));
  const certId = await createCertId({ issuerDer: ca.der, serial: leaf.serial, hash: 'sha1' });
  const bodyFile = join(folder, 'ocsp.der');
  writeFileSync(bodyFile, await buildOcspRequest({ certId }));
  return { url: `${url}/v1/pki_int/ocsp`, headers: {}, bodyFile, contentType: OCSP_REQUEST };
}

/** @param {Vault} vault @param {string[]} args @param {number} seconds @returns {Source} */
export function ourSource({ url, token, caCert }, args, seconds) {
  const load = { concurrency: CONCURRENCY, duration: seconds, warmup: WARMUP_SECONDS, format: 'json' };
  const flags = Object.entries(load).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  const measure = async () => {
    const env = { VAULT_ADDR: url, VAULT_TOKEN: token, ...(caCert ? { VAULT_CACERT: caCert } : {}) };
    const { stdout, code, cpuSeconds } = await runNode([BIN, ...args, ...flags, '--quiet'], env);
    const { totals, rates, verification, warmup } = JSON.parse(stdout);
    if (code !== 0 || totals.failed > 0 || verification.unchecked > 0) {
      throw new Error(`exit code ${code}, ${JSON.stringify(totals)}, ${JSON.stringify(verification)}`);
    }
    const responses = totals.sent + warmup.sent;
    return { perSecond: rates.perSecond, cpuMs: (cpuSeconds * 1000) / responses, responses };
  };
  return { tool: 'ours', measure };
}

/** @param {Vault} vault @param {Request} request @param {number} seconds @returns {Source} */
function fetchSource({ token }, { url, bodyFile, contentType }, seconds) {
  const body = readFileSync(bodyFile).toString('base64');
  const job = { url, headers: { 'Content-Type': contentType }, body, concurrency: CONCURRENCY };
  const given = JSON.stringify({ ...job, seconds, warmupSeconds: WARMUP_SECONDS });
  const measure = async () => {
    const { stdout, cpuSeconds } = await runNode([FETCH_LOOP, given], { VAULT_TOKEN: token });
    const { succeeded, failed, elapsedSeconds, warmup } = JSON.parse(stdout);
    if (failed > 0) throw new Error(`${failed} requests of the fetch loop failed`);
    return { perSecond: succeeded / elapsedSeconds, cpuMs: (cpuSeconds * 1000) / (succeeded + warmup) };
  };
  return { tool: 'fetch', measure };
}

/** @param {Peer} peer @param {Vault} vault @param {Request} request @param {number} seconds @returns {Source} */
function peerSource(peer, { folder }, request, seconds) {
  const job = { ...request, folder, connections: CONCURRENCY, cores: null };
  const measure = async () => {
    // Ours has a warm-up; the peer does not.
    await peer.closedLoop({ ...job, seconds: WARMUP_SECONDS });
    const { perSecond, failed, cpuSeconds } = await peer.closedLoop({ ...job, seconds });
    if (failed > 0) throw new Error(`${failed} requests of ${peer.name} failed`);
    return { perSecond, cpuMs: (cpuSeconds * 1000) / (perSecond * seconds) };
  };
  return { tool: peer.name, measure };
}

/** @param {string[]} args @param {Record<string, string>} env */
async function runNode(args, env) {
  const ended = await runTimed([process.execPath, ...args], { env });
  if (ended.stdout === '') throw new Error(`${args[0]} exited with code ${ended.code}: ${ended.stderr}`);
  return ended;
}

/**
 * Ratios run by run: a temporary slowdown of the machine affects them less than a ratio of medians.
 * @param {{tool: string, runs: Measured[]}} row
 * @param {{runs: Measured[]}} ours
 */
function figuresOf({ tool, runs }, ours) {
  const figures = [
    tool,
    median(runs.map(({ perSecond }) => perSecond)),
    median(runs.map(({ cpuMs }) => cpuMs)),
  ];
  if (runs === ours.runs) return [...figures, null, null, null, '', ''];
  const ratios = runs.map(({ perSecond }, i) => ours.runs[i].perSecond / perSecond);
  const verdict = verdictOn(`>= ${GOAL_RATIO}`, median(ratios) >= GOAL_RATIO);
  return [...figures, median(ratios), Math.min(...ratios), Math.max(...ratios), ...verdict];
}
