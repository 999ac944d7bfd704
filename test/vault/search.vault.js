/** Searches for the highest rate on a real Vault, short ones: what they find is printed, and is no matter of this test. */
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

/** Few steps: it begins where a small machine ends, and p90 needs few samples. */
const SHORT = ['--duration', '1s', '--pause', '200ms', '--require', 'p90<500ms', '--require', 'errors<=0'];

test('issue: an answer, confirmed by a run of its own, and a bracket, or why there is none', async (t) => {
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
    // Two cores, and others on them: the tool may have nothing to offer. The target is then not blamed.
    assert.ok(['generator', 'unconfirmed', 'lowest'].includes(why), explanation);
    return;
  }
  assert.equal(confirmation?.load.ratePerSecond, answer.level);
  assert.notEqual(confirmation?.measurement.verdict, 'invalid');
  assert.ok(confirmation?.requirements.every(({ verdict }) => verdict === 'met'));
  assert.equal(confirmation?.totals.errors, 0);
  assert.ok(bracket.above === null ? why === 'highest' : bracket.above.level > answer.level, explanation);
});

test('a store of its own is made once for all steps, and is gone afterwards', async () => {
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

test('--max-concurrency: a peak, and how many in flight reach it', async (t) => {
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
