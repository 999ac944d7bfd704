/** Short searches for the highest rate on a real Vault. They print their results, which the tests do not assert. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { exitCodeOfSearch } from '../../src/cli/search.js';
import { validateSearch } from '../../src/result/search/search-schema.js';
import { setUpPki } from './pki.js';
import { runSearch } from './search-command.js';
import { startVault } from './start.js';

/** @import { VaultClient } from '../../src/vault/client.js' */
/** @import { RunningVault } from './start.js' */

/** @type {RunningVault} */
let vault;
/** @type {VaultClient} */
let root;

before(async () => {
  vault = await startVault();
  root = vault.connect();
  await setUpPki(root);
});
after(async () => {
  await root.close();
  await vault.stop();
});

/** Few steps: starts near the limit of a small machine, and p90 needs few samples. */
const SHORT = ['--duration', '1s', '--pause', '200ms', '--require', 'p90<500ms', '--require', 'errors<=0'];

test('issue: an answer with confirmation and bracket, or the reason why there is none', async (t) => {
  const bounds = ['--rate', '200', '--max-rate', '1600'];
  const { code, search } = await runSearch(
    ['issue', '--role', 'ec-no-store', '--url', vault.url, '--find-max-rate', ...bounds, ...SHORT],
    { VAULT_TOKEN: vault.token },
  );
  validateSearch(search);
  assert.equal(code, exitCodeOfSearch(search));
  assert.equal(search.target?.product, 'Vault');
  assert.ok(
    search.steps.every(
      ({ requests, verdict, reason }) => requests > 0 && (verdict === 'met' || reason !== ''),
    ),
  );
  const { answer, confirmation, bracket, why, explanation } = search;
  t.diagnostic(answer === null ? why : `${answer.level}/s`);
  if (answer === null) {
    // On two shared cores the tool may be unable to offer the load; this does not count against the target.
    assert.ok(['generator', 'unconfirmed', 'lowest'].includes(why), explanation);
    return;
  }
  assert.equal(confirmation?.load.ratePerSecond, answer.level);
  assert.notEqual(confirmation?.measurement.verdict, 'invalid');
  assert.ok(confirmation?.requirements.every(({ verdict }) => verdict === 'met'));
  assert.equal(confirmation?.totals.errors, 0);
  assert.ok(bracket.above === null ? why === 'highest' : bracket.above.level > answer.level, explanation);
});

test("creates the search's own store once for all steps, and removes it afterwards", async () => {
  const list = async () => Object.keys((await root.read('sys/mounts'))?.data ?? {}).sort();
  const before = await list();
  const bounds = ['--rate', '100', '--max-rate', '100'];
  const { search } = await runSearch(
    ['kv-write', '--url', vault.url, '--find-max-rate', ...bounds, ...SHORT],
    {
      VAULT_TOKEN: vault.token,
    },
  );
  assert.ok(search.steps.length >= 2);
  assert.deepEqual(await list(), before);
});

test('--max-concurrency: the peak, and the number in flight that reaches it', async (t) => {
  const { search } = await runSearch(
    [
      'issue',
      '--role',
      'ec-no-store',
      '--url',
      vault.url,
      '--max-concurrency',
      '4',
      '--duration',
      '1s',
      '--pause',
      '100ms',
    ],
    { VAULT_TOKEN: vault.token },
  );
  validateSearch(search);
  assert.equal(search.searched, 'concurrency');
  if (search.answer !== null) assert.ok(search.answer.level <= 4 && search.answer.perSecond > 0);
  const { answer, why } = search;
  t.diagnostic(`issue: ${answer === null ? why : `${answer.perSecond}/s with ${answer.level} in flight`}`);
});
