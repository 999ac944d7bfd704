/** The scenario in docs/scenarios.md, on an empty real Vault: it does what --dry-run prints. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { runToResult } from './command.js';
import { startVault } from './start.js';

test('the scenario in docs/scenarios.md', async (context) => {
  const vault = await startVault();
  const root = vault.connect();
  const folder = mkdtempSync(join(tmpdir(), 'vault-pki-load-readme-'));
  context.after(async () => {
    await root.close();
    await vault.stop();
    rmSync(folder, { recursive: true });
  });
  const page = readFileSync(new URL('../../docs/scenarios.md', import.meta.url), 'utf8');
  const [, text] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
  const file = join(folder, 'day.yaml');
  writeFileSync(file, text);
  const mounts = async () => Object.keys((await root.read('sys/mounts')).data ?? {}).sort();
  const before = await mounts();

  const env = { VAULT_ADDR: vault.url, VAULT_TOKEN: vault.token };
  const ended = await runToResult(['run', file], env);
  const { result, code, stderr } = ended;
  // Its requirements are for an idle machine.
  assert.ok(code === 0 || code === 98 || code === 99, `${code}: ${stderr}`);
  assert.deepEqual(
    result.requirements.map(({ text }) => text),
    ['errors<2%', 'issue: p90<1s', 'noon: errors<3%'],
  );
  context.diagnostic(result.requirements.map(({ text, verdict }) => `${text} ${verdict}`).join(', '));
  assert.deepEqual([result.totals.planned, result.totals.succeeded], [230, 230]);
  assert.deepEqual(
    result.stages?.map(({ name, totals }) => [name, totals.planned]),
    [
      ['morning', 50],
      ['noon', 180],
    ],
  );
  // 173 of 230 are expected; the deviation is the square root of 230 * 0.75 * 0.25, 6.6.
  assert.ok(Math.abs(result.operations.issue.totals.succeeded - 172.5) < 4 * 6.6);
  assert.deepEqual(await mounts(), before, 'what was set up is removed');
});
