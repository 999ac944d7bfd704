/** Parts joined by `--join` on a real Vault: together they are one run, and one scenario. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { exitCodeOf, worstOf } from '../../src/cli/process.js';
import { maxOf, minOf } from '../../src/common/sums.js';
import { mergeResults } from '../../src/result/parts/merge-results.js';
import { readDocument } from '../../src/result/read-document.js';
import { startCli } from '../cli/support.js';
import { openAudit } from './audit.js';
import { setUpPki } from './pki.js';
import { assertScheduled } from './scheduled.js';
import { freePort, startVault } from './start.js';

/** @import { Result } from '../../src/result/schema.js' */

const folder = mkdtempSync(join(tmpdir(), 'vpl-join-'));
/** @type {Awaited<ReturnType<typeof startVault>>} */
let vault;
/** @type {ReturnType<Awaited<ReturnType<typeof startVault>>['connect']>} */
let root;
before(async () => {
  vault = await startVault();
  root = vault.connect();
});
after(async () => {
  await root.close();
  await vault.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** @param {string[]} args of each part @param {number} of parts, part 0 first */
async function startJoined(args, of) {
  const meeting = ['--join', `127.0.0.1:${await freePort()}`, '--parts', String(of)];
  const secret = { VAULT_PKI_LOAD_JOIN_SECRET: 'a secret of the test' };
  const env = { VAULT_ADDR: vault.url, VAULT_TOKEN: vault.token, ...secret };
  return Array.from({ length: of }, (_, index) => {
    const own = { ...env, JOB_COMPLETION_INDEX: String(index) };
    return startCli([...args, ...meeting], { env: own, cwd: folder });
  });
}

/** @param {Parameters<typeof startJoined>} args @returns how each ended, part 0 first */
const runJoined = async (...args) => Promise.all((await startJoined(...args)).map(({ ended }) => ended));

const mounts = async () => Object.keys((await root.read('sys/mounts')).data ?? {}).sort();

const resultIn = async (/** @type {string} */ name) =>
  /** @type {Result} */ (await readDocument(join(folder, name)));

test('three parts: 1,200 OCSP requests at the times of one schedule, and one result of all parts', async (t) => {
  await setUpPki(root);
  const audit = await openAudit(vault, root);
  const mark = audit.mark();
  const load = ['--rate', '60', '--duration', '20s', '--seed', '1', '--require', 'errors<50%'];
  const ended = await runJoined(['ocsp', ...['--role', 'ec-stored', ...load, '--out', 'whole.json']], 3);
  assert.deepEqual(
    ended.map(({ code }) => code).slice(1),
    [0, 0],
    ended.map(({ stderr }) => stderr).join('\n'),
  );
  const whole = await resultIn('whole.json');
  // On a busy machine the measurement may be invalid, and then proves nothing.
  const isValid = whole.measurement.verdict === 'valid';
  assert.equal(ended[0].code, isValid ? 0 : 98, ended[0].stderr);
  assert.deepEqual(
    whole.requirements.map(({ text, verdict }) => [text, verdict]),
    [['errors<50%', isValid ? 'met' : 'not proven']],
  );
  assert.deepEqual(whole.outcomes, { good: 1200 });

  const schedule = { startedMs: Date.parse(whole.startedAt), rate: 60, seconds: 20 };
  const { medianMs, shortShare } = assertScheduled(audit.arrivals(mark, 'pki_int/ocsp'), schedule);
  const short = `${(100 * shortShare).toFixed(2)} % of gaps are short`;
  t.diagnostic(`Median distance of the arrivals from their due times: ${medianMs.toFixed(3)} ms; ${short}`);

  const parts = await Promise.all([0, 1, 2].map((part) => resultIn(`whole-part-${part}.json`)));
  const started = parts.map(({ startedAtMonotonicNs }) => Number(startedAtMonotonicNs) / 1e6);
  const skewMs = maxOf(started) - minOf(started);
  t.diagnostic(`Start skew: ${skewMs.toFixed(3)} ms`);
  assert.ok(skewMs < 5, String(skewMs));
  const merged = mergeResults(parts);
  for (const key of /** @type {const} */ ([
    'totals',
    'outcomes',
    'outcomeDetails',
    'latencyMs',
    'timeline',
    'operations',
  ]))
    assert.deepEqual(merged[key], whole[key], key);
});

test('a scenario with a setup, a mix, stages and a second run: part 0 creates and removes the setup', async () => {
  const scenario = {
    name: 'Joined',
    setup: { name: 'vpl-join-test', 'ca-key-type': 'ec', with: ['approle', 'kv'] },
    load: { seed: 7 },
    mix: [
      { operation: 'approle-login', weight: 1, require: ['errors<50%'] },
      { operation: 'kv-write', weight: 3 },
    ],
    runs: [
      {
        name: 'climb',
        stages: [
          { name: 'low', hold: { rate: 20, duration: 2 } },
          { name: 'high', hold: { rate: 40, duration: 2 }, require: ['p50<10s'] },
        ],
      },
      { name: 'flat', load: { rate: 30, duration: 2 } },
    ],
  };
  writeFileSync(join(folder, 'scenario.json'), JSON.stringify(scenario));
  const before = await mounts();
  const ended = await runJoined(['run', 'scenario.json', '--out', 'all.json'], 2);
  assert.equal(ended[1].code, 0, ended[1].stderr);
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('all')),
    [...['all-climb.json', 'all-flat.json', 'all.json']],
  );
  const [climb, flat] = [await resultIn('all-climb.json'), await resultIn('all-flat.json')];
  assert.deepEqual(
    climb.stages?.map(({ totals }) => totals.succeeded),
    [40, 80],
  );
  assert.deepEqual([climb.totals.errors, flat.totals.succeeded, flat.merged?.length], [0, 60, 2]);
  const expected = climb.measurement.verdict === 'valid' ? 'met' : 'not proven';
  assert.deepEqual(
    climb.requirements.map(({ operation, stage, verdict }) => [operation ?? stage, verdict]),
    [
      ['approle-login', expected],
      ['high', expected],
    ],
  );
  assert.equal(ended[0].code, worstOf([climb, flat].map(exitCodeOf)), ended[0].stderr);
  assert.deepEqual(await mounts(), before);
});

/** By the signal that part 1 receives; SIGUSR2 ends it at once. @type {[NodeJS.Signals, (number | null)[], RegExp][]} */
const DURING_SETUP = [
  ['SIGTERM', [130, 130, 130], /part 1 of 3 was interrupted\. All parts stop/i],
  ['SIGUSR2', [1, null, 1], /part 1 of 3 was lost: .* start all parts again/i],
];
for (const [signal, codes, why] of DURING_SETUP)
  test(`${signal} to a part while part 0 creates the setup: all parts stop, and it is removed`, async () => {
    const setup = { name: `vpl-${signal.toLowerCase()}`, 'ca-key-type': 'rsa' };
    const scenario = { name: 'Cut', setup, load: { rate: 20, duration: 2 }, mix: [{ operation: 'health' }] };
    writeFileSync(join(folder, 'cut.json'), JSON.stringify(scenario));
    const before = await mounts();
    const parts = await startJoined(['run', 'cut.json'], 3);
    await parts[0].shows(/Mounted vpl-/);
    parts[1].kill(signal);
    const ended = await Promise.all(parts.map((part) => part.ended));
    assert.deepEqual(
      ended.map(({ code }) => code),
      codes,
      ended[0].stderr,
    );
    for (const { stderr } of [ended[0], ended[2]]) assert.match(stderr, why);
    assert.deepEqual(await mounts(), before);
  });
