/** A mix of operations in stages on a real Vault: every request counts once, by operation and by stage. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readDocument } from '../../src/result/read-document.js';
import { startCli } from '../cli/support.js';
import { startVault } from './start.js';

/** @import { Result } from '../../src/result/schema.js' */

const folder = mkdtempSync(join(tmpdir(), 'vpl-stages-'));
/** @type {Awaited<ReturnType<typeof startVault>>} */
let vault;
before(async () => {
  vault = await startVault();
});
after(async () => {
  await vault.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a ramp, a hold and a pause of logins and writes: sends and checks all planned requests, and reports them by stage', async () => {
  const [scenario, out] = ['scenario.json', 'r.json'].map((name) => join(folder, name));
  writeFileSync(
    scenario,
    JSON.stringify({
      name: 'Stages',
      setup: { name: 'vpl-stages-test', 'ca-key-type': 'ec', with: ['approle', 'kv'] },
      load: { seed: 7 },
      mix: [
        { operation: 'approle-login', weight: 1, require: ['errors<50%'] },
        { operation: 'kv-write', weight: 3 },
      ],
      stages: [
        { name: 'ramp', ramp: { from: 0, to: 40, duration: 2 } },
        { name: 'hold', hold: { rate: 40, duration: 1 }, require: ['p50<10s'] },
        { name: 'spike', spike: { base: 10, peak: 80, before: 0, for: '500ms', after: '500ms' } },
      ],
    }),
  );
  const { code, stdout, stderr } = await startCli(['run', scenario, '--out', out], {
    env: { VAULT_ADDR: vault.url, VAULT_TOKEN: vault.token },
  }).ended;
  // This machine may be too busy for a valid measurement.
  assert.ok(
    [0, 98, 99].some((one) => one === code),
    `${code}: ${stderr}`,
  );
  assert.ok(!readFileSync(out, 'utf8').includes(vault.token), 'the token is written');
  // Reading checks that stages add up to the total, and operations to each stage.
  const result = /** @type {Result} */ (await readDocument(out));
  const { totals, stages = [], operations, verification, requirements } = result;
  assert.deepEqual(
    stages.map(({ name, totals: { planned, sent } }) => [name, planned, sent]),
    [
      ['ramp', 40, 40],
      ['hold', 40, 40],
      ['spike', 45, 45],
    ],
  );
  assert.deepEqual([totals.planned, totals.succeeded, totals.errors], [125, 125, 0]);
  assert.equal(verification.passed, 125);
  assert.equal(operations['approle-login'].totals.sent + operations['kv-write'].totals.sent, 125);
  assert.ok(operations['approle-login'].totals.sent > 10 && operations['kv-write'].totals.sent > 60);
  assert.deepEqual(
    requirements.map(({ operation, stage }) => [operation, stage]),
    [
      ['approle-login', undefined],
      [undefined, 'hold'],
    ],
  );
  assert.match(stdout, /^Stage +offered +/m);
});
