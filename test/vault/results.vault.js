/** Files of a run on a real Vault: every format has the number of requests in Vault's audit log. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { decodeFromCompressedBase64 } from 'hdr-histogram-js';
import { checkResult } from '../../src/result/check/check.js';
import { openAudit } from './audit.js';
import { assertRan, runToResult } from './command.js';
import { setUpPki } from './pki.js';
import { startVault } from './start.js';

/** @import { VaultClient } from '../../src/vault/client.js' */
/** @import { RunningVault } from './start.js' */
/** @import { AddressInfo } from 'node:net' */

const BIN = fileURLToPath(new URL('../../bin/vault-pki-load.js', import.meta.url));
const EC = ['--role', 'ec-no-store'];

/** @type {RunningVault} */
let vault;
/** @type {VaultClient} */
let root;
/** @type {Awaited<ReturnType<typeof openAudit>>} */
let audit;
/** @type {Record<string, string>} */
let env;
const folder = mkdtempSync(join(tmpdir(), 'vault-pki-load-results-'));
const file = (/** @type {string} */ name) => join(folder, name);
const read = (/** @type {string} */ name) => readFileSync(file(name), 'utf8');

before(async () => {
  vault = await startVault();
  root = vault.connect();
  await setUpPki(root);
  audit = await openAudit(vault, root);
  env = { VAULT_ADDR: vault.url, VAULT_TOKEN: vault.token };
});
after(async () => {
  await root.close();
  await vault.stop();
  rmSync(folder, { recursive: true });
});

/** How many requests each format says were made. @type {Record<string, (text: string) => number>} */
const COUNTS = {
  csv: (text) => {
    const [head, ...rows] = text.trim().split('\r\n');
    const at = head.split(',').indexOf('sent');
    return rows.reduce((sum, row) => sum + Number(row.split(',')[at]), 0);
  },
  hlog: (text) =>
    text
      .split('\n')
      .filter((line) => /^\d/.test(line))
      .reduce((sum, line) => sum + decodeFromCompressedBase64(line.split(',')[3]).totalCount, 0),
  hgrm: (text) => Number(/Total count *= *(\d+)/.exec(text)?.[1]),
  prom: (text) => Number(/^vault_pki_load_response_time_seconds_count\{.*\} (\d+)$/m.exec(text)?.[1]),
  md: (text) => Number(/(\d+) of \1 certificates good/.exec(text)?.[1]),
  txt: (text) => Number(/(\d+) of \1 certificates good/.exec(text)?.[1]),
  html: (text) => Number(/(\d+) of \1 certificates, all passed/.exec(text)?.[1]),
  xml: (text) => Number(/(\d+) of \1 certificates, all passed/.exec(text)?.[1]),
};

/** A receiver of pushed metrics. */
async function startReceiver() {
  /** @type {any[]} */
  const pushed = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    pushed.push(JSON.parse(body));
    response.setHeader('content-type', 'application/json').end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = /** @type {AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}`, pushed, stop: () => server.close() };
}

/** @param {any} pushed @param {string} name */
function pushedSum(pushed, name) {
  const { metrics } = pushed.resourceMetrics[0].scopeMetrics[0];
  const { dataPoints } = metrics.find((/** @type {{name: string}} */ one) => one.name === name).sum;
  return dataPoints.reduce(
    (/** @type {number} */ sum, /** @type {any} */ { asInt, asDouble }) => sum + Number(asInt ?? asDouble),
    0,
  );
}

test("every format of a run, and the pushed metrics, have the number of requests in Vault's audit log", async () => {
  const receiver = await startReceiver();
  const mark = audit.mark();
  const outs = Object.keys(COUNTS).flatMap((extension) => ['--out', file(`run.${extension}`)]);
  const args = [...EC, '--rate', '40/s', '--duration', '5s', '--otlp', receiver.url, ...outs];
  const run = await runToResult(['issue', ...args], env);
  receiver.stop();
  assertRan(run);
  const asked = audit.since(mark, 'pki_int/issue').length;
  assert.equal(run.result.totals.sent, asked);
  assert.equal(asked, 200);
  for (const [extension, count] of Object.entries(COUNTS)) {
    assert.equal(count(read(`run.${extension}`)), asked, extension);
  }
  assert.equal(pushedSum(receiver.pushed.at(-1), 'vault_pki_load.requests'), asked);
});

test('after kill -9, the last file is complete, from this run, and has no more requests than the audit log', async () => {
  const mark = audit.mark();
  const args = [BIN, 'issue', ...EC, '--rate', '40/s', '--duration', '60s', '--out', file('killed.json')];
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: 'ignore' });
  const closed = once(child, 'close');
  /** @type {any} */
  let result = null;
  for (let looks = 0; looks < 600 && !(result?.totals.sent > 100); looks++) {
    await sleep(100);
    if (statSync(file('killed.json'), { throwIfNoEntry: false })?.size)
      result = JSON.parse(read('killed.json'));
  }
  child.kill('SIGKILL');
  await closed;
  result = JSON.parse(read('killed.json'));
  assert.deepEqual([result.unfinished, checkResult(result)], [true, []]);
  assert.ok(result.totals.sent > 100, String(result.totals.sent));
  assert.ok(result.totals.sent <= audit.since(mark, 'pki_int/issue').length);
});

test('two parts of a plan, sent by two processes, merge into the whole', async () => {
  const mark = audit.mark();
  const load = ['--rate', '40/s', '--duration', '5s', '--seed', '7', '--concurrency', '10'];
  const parts = await Promise.all(
    ['0/2', '1/2'].map((part) => runToResult(['issue', ...EC, ...load, '--shard', part], env)),
  );
  const names = parts.map(({ result }, i) => {
    const name = file(`part-${i}.json`);
    writeFileSync(name, JSON.stringify(result));
    return name;
  });
  const { stderr, result } = await runToResult(['merge', ...names]);
  assert.deepEqual([result.totals.planned, result.totals.sent], [200, 200], stderr);
  assert.equal(audit.since(mark, 'pki_int/issue').length, 200);
  const { count, max } = result.latencyMs.response;
  const longest = parts.map((part) => Number(part.result.latencyMs.response.max));
  assert.deepEqual([count, max], [200, Math.max(...longest)]);
});

/**
 * For commands without a single result: sets of runs, comparisons.
 *
 * @param {string[]} args
 * @returns {Promise<{code: number | string, stdout: string, stderr: string}>}
 */
function runOther(args) {
  return new Promise((resolve) => {
    execFile(process.execPath, [BIN, ...args], { env: { ...process.env, ...env } }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });
}

test('shows that runs with stored RSA certificates are slower than with unstored P-256 ones', async () => {
  const load = ['--concurrency', '1', '--requests', '20', '--repeat', '5', '--quiet'];
  for (const [name, role] of [
    ['p256', 'ec-no-store'],
    ['rsa', 'example-dot-com'],
  ]) {
    const { code, stderr } = await runOther([
      'issue',
      '--role',
      role,
      ...load,
      '--out',
      file(`${name}.json`),
    ]);
    assert.ok(code === 0 || code === 98, stderr);
  }
  const files = [file('p256.json'), '--with', file('rsa.json')];
  const args = ['compare', ...files, '--allow-invalid', '--fail-if', 'mean slower', '--format', 'json'];
  const { code, stdout, stderr } = await runOther(args);
  assert.equal(code, 99, stderr);
  const comparison = JSON.parse(stdout);
  const mean = comparison.metrics.find((/** @type {{key: string}} */ { key }) => key === 'mean');
  assert.equal(mean.comparisons[0].verdict, 'slower');
  assert.deepEqual(
    comparison.failIf.map((/** @type {{verdict: string}} */ { verdict }) => verdict),
    ['failed'],
  );
});
