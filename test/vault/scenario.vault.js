/** A scenario on two real Vaults: sets up, measures in turn, reports both together, and leaves nothing behind. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { readDocument } from '../../src/result/read-document.js';
import { startCli } from '../cli/support.js';
import { startVault } from './start.js';

/** @import { ScenarioResult } from '../../src/result/scenario/scenario-schema.js' */

/** @typedef {Awaited<ReturnType<typeof startVault>>} Vault */

const NAME = 'vpl-scenario-test';

const folder = mkdtempSync(join(tmpdir(), 'vpl-scenario-'));
/** @type {Vault[]} */
let vaults = [];

before(async () => {
  vaults = await Promise.all([startVault(), startVault()]);
});
after(async () => {
  await Promise.all(vaults.map((vault) => vault.stop()));
  rmSync(folder, { recursive: true, force: true });
});

/** @returns {Record<string, string>} */
const environment = () => ({
  URL_A: vaults[0].url,
  URL_B: vaults[1].url,
  VAULT_TOKEN_A: vaults[0].token,
  VAULT_TOKEN_B: vaults[1].token,
});

/** @param {string} text @returns {string} its path */
function scenario(text) {
  const path = join(folder, 'scenario.yaml');
  writeFileSync(path, text);
  return path;
}

/** @param {Record<string, unknown>} [more] */
const loginsAndWrites = (more = {}) =>
  JSON.stringify({
    name: 'Logins and writes',
    env: ['URL_A', 'URL_B'],
    setup: { name: NAME, 'ca-key-type': 'ec', with: ['approle', 'kv'] },
    targets: [
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a scenario's variable
      { name: 'a', url: '${URL_A}', 'token-env': 'VAULT_TOKEN_A' },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a scenario's variable
      { name: 'b', url: '${URL_B}', 'token-env': 'VAULT_TOKEN_B' },
    ],
    load: { rate: '40/s', duration: 1 },
    mix: [
      { operation: 'approle-login', weight: 50 },
      { operation: 'kv-write', weight: 50 },
    ],
    repeat: 4,
    ...more,
  });

/** Whose contents a setup would add to. @param {Vault} vault */
async function contentsOf(vault) {
  const client = vault.connect();
  try {
    return {
      mounts: Object.keys((await client.read('sys/mounts')).data ?? {}).sort(),
      auth: Object.keys((await client.read('sys/auth')).data ?? {}).sort(),
      policies: (await client.list('sys/policies/acl')).sort(),
    };
  } finally {
    await client.close();
  }
}

/** @param {string[]} args @param {Record<string, string>} [env] */
async function runScenario(args, env = environment()) {
  const out = join(folder, 'r.json');
  rmSync(out, { force: true });
  const ended = await startCli(['run', ...args, '--out', out], { env }).ended;
  assert.ok(existsSync(out), `nothing was written, exit code ${ended.code}: ${ended.stderr}`);
  for (const token of [env.VAULT_TOKEN_A, env.VAULT_TOKEN_B]) {
    assert.ok(
      !`${ended.stdout}${ended.stderr}${readFileSync(out, 'utf8')}`.includes(token),
      'a token is shown',
    );
  }
  return { ...ended, summary: /** @type {ScenarioResult} */ (await readDocument(out)) };
}

describe('a scenario on two real Vaults', () => {
  test('sets up, takes turns, reports all runs together, and leaves nothing', async () => {
    const before_ = await Promise.all(vaults.map(contentsOf));
    const { code, summary, stdout } = await runScenario([scenario(loginsAndWrites())]);
    // This machine may be too busy for valid measurements.
    assert.ok(code === 0 || code === 98, String(code));
    assert.deepEqual(await Promise.all(vaults.map(contentsOf)), before_);
    assert.deepEqual(
      summary.steps.map(({ name, runs, failure, aim }) => [name, runs.length, failure, aim?.product]),
      [
        ['a', 4, null, 'Vault'],
        ['b', 4, null, 'Vault'],
      ],
    );
    const order = summary.steps
      .flatMap(({ name, runs }) => runs.map(({ startedAt }) => ({ name, startedAt })))
      .sort((one, other) => one.startedAt.localeCompare(other.startedAt))
      .map(({ name }) => name);
    assert.equal(order.join(''), 'abbaabba');
    for (const target of ['a', 'b']) {
      const [whole, login, write] = [null, 'approle-login', 'kv-write'].map((operation) =>
        summary.rows.find((row) => row.target === target && row.operation === operation),
      );
      assert.ok(whole && login && write);
      assert.deepEqual([whole.count, whole.errors], [40 * whole.runs, 0]);
      assert.equal(login.count + write.count, whole.count);
    }
    const isCompared = summary.steps.every(({ used }) => used.length === 4);
    assert.equal(summary.comparisons.length, isCompared ? 3 : 0);
    assert.match(stdout, /^(?:Run|Operation|Target) +count +rate +throughput +mean +p95 +p99 +success$/m);
    const set = await readDocument(join(folder, 'r-b.json'));
    assert.equal('runs' in set && set.runs.length, 4);
  });

  test('measures one Vault if the other is down, and reports it (2)', async () => {
    const before_ = await contentsOf(vaults[0]);
    const { code, summary, stderr } = await runScenario([scenario(loginsAndWrites()), '--repeat', '1'], {
      ...environment(),
      URL_B: 'http://127.0.0.1:9',
    });
    assert.equal(code, 2, stderr);
    const [a, b] = summary.steps;
    assert.deepEqual([a.runs.length, a.failure, b.runs.length], [1, null, 0]);
    assert.match(String(b.failure?.text), /^http:\/\/127\.0\.0\.1:9 refused the connection/);
    assert.deepEqual(await contentsOf(vaults[0]), before_);
  });

  test('reports and removes the setup after Ctrl-C (130)', async () => {
    const before_ = await Promise.all(vaults.map(contentsOf));
    const out = join(folder, 'i.json');
    const text = loginsAndWrites({ load: { rate: '40/s', duration: 60 } });
    const child = startCli(['run', scenario(text), '--out', out], { env: environment() });
    await child.shows(/^\d+ s\//m);
    child.kill('SIGINT');
    const { code, stdout, stderr } = await child.ended;
    assert.equal(code, 130, stderr);
    assert.match(stdout, /Interrupted: some runs are missing\./);
    const summary = /** @type {ScenarioResult} */ (await readDocument(out));
    assert.deepEqual(
      [summary.interrupted, summary.steps[0].runs.length, summary.steps[1].runs],
      [true, 1, []],
    );
    assert.deepEqual(await Promise.all(vaults.map(contentsOf)), before_);
  });
});
