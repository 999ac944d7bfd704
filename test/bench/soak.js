/**
 * A long run of mixed operations on a real Vault that is restarted twice and sealed once; the token is revoked near the
 * end. Is memory flat, does Vault's audit log confirm the counts, and are the verdicts right?
 */
import { spawn } from 'node:child_process';
import { createReadStream, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { setUpPki } from '../vault/pki.js';
import { startVault, unseal } from '../vault/start.js';
import { BIN } from './ours.js';
import { readTree } from './process-tree.js';
import { mean } from './statistics.js';

/** @import { Result } from '../../src/result/schema.js' */
/** @import { VaultClient } from '../../src/vault/client.js' */
/** @import { RunningVault } from '../vault/start.js' */
/** @import { Report, Settings } from './index.js' */

const RATE = 200;
const SEALED_MS = 10_000;

/** Seconds between two readings of memory. */
const SAMPLE_SECONDS = 1;

/** Of the chart. */
const BARS = 12;

/** Max ratio of memory at the end to memory at the start. */
const MAX_GROWTH = 1.05;

/**
 * `paths`: the audit log's paths of the operation; `unauthenticated`: it needs no token.
 *
 * @type {Record<string, {weight: number, paths: RegExp, options: Record<string, string>, unauthenticated?: boolean}>}
 */
const OPERATIONS = {
  issue: { weight: 4, paths: /^pki_int\/issue\//, options: { role: 'ec-no-store' } },
  ocsp: { weight: 3, paths: /^pki_int\/ocsp/, options: { role: 'ec-stored' }, unauthenticated: true },
  'kv-write': { weight: 2, paths: /^soak-kv\/data\//, options: { 'kv-mount': 'soak-kv' } },
  'token-lookup': { weight: 1, paths: /^auth\/token\/lookup-self$/, options: {} },
};

/** Requests on the paths of an operation by checks before the run and token renewals. */
const MAX_OTHER_CALLS = 5;

/** Expected verdicts for a run with these disturbances. */
const REQUIREMENTS = { 'errors<0.1%': 'not met', 'errors<40%': 'met' };
const OCSP_REQUIREMENTS = { 'errors<30%': 'met', 'p50<1s': 'met' };

/** @param {Settings} settings @returns {Promise<Report>} */
export async function run({ seconds, log }) {
  const vault = await startVault({ storage: 'file' });
  const folder = mkdtempSync(join(tmpdir(), 'vault-pki-load-soak-'));
  try {
    const { token, auditLog } = await setUp(vault);
    const scenario = join(folder, 'soak.json');
    writeFileSync(scenario, JSON.stringify(scenarioOf(seconds)));
    const out = join(folder, 'soak.result.json');
    const child = spawn(
      process.execPath,
      [
        BIN,
        'run',
        scenario,
        '--mount',
        'pki_int',
        '--out',
        out,
        '--out',
        join(folder, 'soak.html'),
        '--quiet',
      ],
      {
        env: { PATH: process.env.PATH, VAULT_ADDR: vault.url, VAULT_TOKEN: token },
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    );
    /** @type {Promise<number>} */
    const ended = new Promise((resolve) => child.once('exit', (code) => resolve(code ?? -1)));
    const memory = sampleMemory(/** @type {number} */ (child.pid), ended);
    await disturb(vault, { seconds, token, log, ended });
    const code = await ended;
    log(`The run ended with exit code ${code}; its files are in ${folder}.`);
    const result = /** @type {Result} */ (readResult(out));
    return reportOf({ seconds, code, result, memory: await memory, audited: await countAudited(auditLog) });
  } finally {
    await vault.stop();
  }
}

/** @param {RunningVault} vault */
async function setUp(vault) {
  const client = vault.connect();
  try {
    await setUpPki(client, { caKeyType: 'ec' });
    await client.write('sys/mounts/soak-kv', { type: 'kv', options: { version: '2' } });
    await client.write('sys/policies/acl/soak', {
      policy: 'path "*" { capabilities = ["create", "read", "update", "delete", "list", "sudo"] }',
    });
    const { auth } = await client.write('auth/token/create', {
      policies: ['soak'],
      no_parent: true,
      ttl: '24h',
    });
    const auditLog = join(vault.folder, 'audit.log');
    await client.write('sys/audit/file', { type: 'file', options: { file_path: auditLog } });
    return { token: /** @type {string} */ (auth?.client_token), auditLog };
  } finally {
    await client.close();
  }
}

/** @param {number} seconds */
function scenarioOf(seconds) {
  return {
    name: 'soak',
    load: { rate: `${RATE}/s`, duration: `${seconds}s`, concurrency: 100, timeout: '5s' },
    mix: Object.entries(OPERATIONS).map(([operation, { weight, options, unauthenticated }]) => ({
      operation,
      weight,
      options,
      ...(unauthenticated ? { require: Object.keys(OCSP_REQUIREMENTS) } : {}),
    })),
    require: Object.keys(REQUIREMENTS),
  };
}

/**
 * @param {RunningVault} vault
 * @param {{seconds: number, token: string, log: (text: string) => void, ended: Promise<number>}} options
 */
async function disturb(vault, { seconds, token, log, ended }) {
  const begun = performance.now();
  /** @type {[share: number, what: string, action: () => Promise<void>][]} */
  const events = [
    [0.2, 'Vault is killed and restarted', () => vault.restart()],
    [0.4, `Vault is sealed for ${SEALED_MS / 1000} s`, () => sealAndUnseal(vault)],
    [0.6, 'Vault is killed and restarted', () => vault.restart()],
    [0.8, 'the token is revoked', () => withClient(vault, (client) => revoke(client, token))],
  ];
  for (const [share, what, action] of events) {
    const waitMs = share * seconds * 1000 - (performance.now() - begun);
    if ((await Promise.race([ended, sleep(waitMs, null)])) !== null) return;
    log(`${Math.round(share * seconds)} s: ${what}`);
    await action();
  }
}

/** @param {RunningVault} vault */
async function sealAndUnseal(vault) {
  await withClient(vault, (client) => client.write('sys/seal'));
  await sleep(SEALED_MS);
  await unseal(vault.url, vault.unsealKey);
}

/** @param {VaultClient} client @param {string} token */
async function revoke(client, token) {
  await client.write('auth/token/revoke', { token });
}

/** @param {RunningVault} vault @param {(client: VaultClient) => Promise<unknown>} use */
async function withClient(vault, use) {
  const client = vault.connect();
  await use(client).finally(() => client.close());
}

/** @param {number} pid @param {Promise<number>} ended @returns {Promise<number[]>} MB, one value a sample */
async function sampleMemory(pid, ended) {
  /** @type {number[]} */
  const samples = [];
  while ((await Promise.race([ended, sleep(SAMPLE_SECONDS * 1000, null)])) === null) {
    const tree = readTree(pid);
    if (tree !== null) samples.push(tree.residentMb);
  }
  return samples;
}

/** @param {string} file @returns {Promise<Record<string, number>>} responses logged, by operation */
async function countAudited(file) {
  const counts = Object.fromEntries(Object.keys(OPERATIONS).map((name) => [name, 0]));
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const { type, request } = JSON.parse(line);
    if (type !== 'response') continue;
    const name = Object.keys(OPERATIONS).find((each) => OPERATIONS[each].paths.test(request.path));
    if (name !== undefined) counts[name]++;
  }
  return counts;
}

/** @param {string} file a result, or that of a scenario of one run */
function readResult(file) {
  const document = JSON.parse(readFileSync(file, 'utf8'));
  return document.runs?.[0]?.result ?? document;
}

/**
 * @param {{seconds: number, code: number, result: Result, memory: number[], audited: Record<string, number>}} options
 * @returns {Report}
 */
function reportOf({ seconds, code, result, memory, audited }) {
  const sixth = Math.floor(memory.length / 6);
  const [first, last] = [mean(memory.slice(0, sixth)), mean(memory.slice(-sixth))];
  const balances = Object.keys(OPERATIONS).map((name) => balance(name, result, audited[name]));
  const { totals, requirements, measurement } = result;
  /** @type {Record<string, string>} */
  const expected = { ...REQUIREMENTS, ...OCSP_REQUIREMENTS };
  const wrong = requirements.filter(({ text, verdict }) => verdict !== expected[text.replace('ocsp: ', '')]);
  const rows = [
    row('memory, last sixth / first sixth', last / first, MAX_GROWTH, last / first <= MAX_GROWTH),
    row('memory, MB, first sixth', first, null, null),
    row('memory, MB, last sixth', last, null, null),
    row('planned - sent - dropped - never sent', unaccounted(totals), 0, unaccounted(totals) === 0),
    ...balances.flatMap(({ name, logged, unlogged, isBalanced }) => [
      row(
        `${name}: requests in the audit log without a response in the result`,
        logged,
        unlogged + MAX_OTHER_CALLS,
        isBalanced,
      ),
    ]),
    row('requirements with a wrong verdict', wrong.length, 0, wrong.length === 0),
    row(
      'measurement invalid',
      measurement.verdict === 'invalid' ? 1 : 0,
      0,
      measurement.verdict !== 'invalid',
    ),
  ];
  return {
    question: `${seconds} s at ${RATE}/s, mixed operations, on a Vault that is restarted twice and sealed once; the token is revoked near the end: memory, counts, verdicts`,
    basis: 'one run',
    chart: { column: 'memory', unit: 'MB', named: 1, bars: memoryOverTime(memory) },
    columns: ['figure', 'value', 'at most', 'met'],
    rows,
    summary: { exitCode: code, sent: totals.sent, succeeded: totals.succeeded, failed: totals.failed },
    raw: { memory, audited, totals, requirements, measurement, operations: outcomesOf(result) },
  };
}

/** @param {number[]} samples MB, one each SAMPLE_SECONDS @returns {{label: string, value: number}[]} means of BARS equal spans */
function memoryOverTime(samples) {
  const perBar = Math.max(1, Math.floor(samples.length / BARS));
  return Array.from({ length: Math.floor(samples.length / perBar) }, (_, i) => ({
    label: `until ${Math.round(((i + 1) * perBar * SAMPLE_SECONDS) / 60)} min`,
    value: mean(samples.slice(i * perBar, (i + 1) * perBar)),
  }));
}

/** @param {string} figure @param {number} value @param {number | null} limit @param {boolean | null} isMet */
function row(figure, value, limit, isMet) {
  return [figure, value, limit, isMet === null ? null : isMet ? 'yes' : 'no'];
}

/** @param {Result['totals']} totals */
function unaccounted({ planned, sent, dropped, neverSent }) {
  return planned - sent - dropped - neverSent;
}

/**
 * Vault logs a response before it sends it, so the log has every received response. It may also have requests whose
 * response was lost; the tool counts these as failures.
 *
 * @param {string} name of an operation
 * @param {Result} result
 * @param {number} audited
 */
function balance(name, { operations }, audited) {
  const { totals, outcomes } = operations[name];
  const responded = totals.succeeded + (outcomes.permission_denied ?? 0);
  const logged = audited - responded;
  const unlogged = totals.sent - responded;
  return { name, logged, unlogged, isBalanced: logged >= 0 && logged <= unlogged + MAX_OTHER_CALLS };
}

/** @param {Result} result */
function outcomesOf({ operations }) {
  return Object.fromEntries(Object.entries(operations).map(([name, { outcomes }]) => [name, outcomes]));
}
