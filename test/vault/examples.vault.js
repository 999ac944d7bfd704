/** The experiments of examples/, in their short form, on real Vaults with four kinds of storage. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { EXPERIMENTS, resultsIn, runExperiment } from '../examples/scenarios.js';
import { findPostgresql, startPostgresql } from './postgresql.js';
import { startVault } from './start.js';

/** @import { RunningVault } from './start.js' */

const programs = findPostgresql();

/** @type {Map<string, RunningVault>} by storage */
const vaults = new Map();
/** @type {Awaited<ReturnType<typeof startPostgresql>> | null} */
let database = null;
/** @type {Record<string, unknown>} mounts and policies before, by storage */
const empty = {};

before(async () => {
  database = programs === null ? null : await startPostgresql(programs);
  vaults.set('inmem', await startVault());
  vaults.set('file', await startVault({ storage: 'file' }));
  vaults.set('raft', await startVault({ storage: 'raft' }));
  if (database !== null) vaults.set('postgresql', await startVault({ storage: database.storage }));
  for (const [storage, vault] of vaults) empty[storage] = await lists(vault);
});
after(async () => {
  for (const vault of vaults.values()) await vault.stop();
  await database?.stop();
});

/** @param {string} storage */
function vaultOn(storage) {
  const vault = vaults.get(storage);
  assert.ok(vault !== undefined);
  return vault;
}

/** @param {RunningVault} vault */
async function lists(vault) {
  const client = vault.connect();
  const mounts = Object.keys((await client.read('sys/mounts')).data ?? {});
  const auth = Object.keys((await client.read('sys/auth')).data ?? {});
  const policies = await client.list('sys/policies/acl');
  await client.close();
  return { mounts: mounts.sort(), auth: auth.sort(), policies: policies.sort() };
}

/** Everything that an experiment created is removed. */
async function assertNothingLeft() {
  for (const [storage, vault] of vaults) assert.deepEqual(await lists(vault), empty[storage], storage);
}

/** @param {Record<string, string>} storages by the last word of the variables, e.g. `A` */
function environment(storages) {
  return Object.fromEntries(
    Object.entries(storages).flatMap(([name, storage]) => [
      [`VAULT_${name}`, vaultOn(storage).url],
      [`VAULT_TOKEN_${name}`, vaultOn(storage).token],
    ]),
  );
}

const one = () => ({ VAULT_ADDR: vaultOn('inmem').url, VAULT_TOKEN: vaultOn('inmem').token });

test('vault-ocsp-load-test: both tests, both peaks; at least 1000 certificates an hour', async () => {
  const { results } = await runExperiment('vault-ocsp-load-test', { env: one() });
  const [issuance, ocsp, issuancePeak, ocspPeak] = results.map(({ document }) => document);
  assert.equal(issuance.outcomes.issued, issuance.totals.sent);
  assert.equal(
    issuance.requirements[0].verdict,
    issuance.measurement.verdict === 'invalid' ? 'not proven' : 'met',
  );
  assert.equal(ocsp.totals.planned, 120);
  assert.equal(ocsp.totals.failed, 0, JSON.stringify(ocsp.outcomes));
  for (const peak of [issuancePeak, ocspPeak]) {
    assert.deepEqual(
      peak.stages.map((/** @type {any} */ { name }) => name),
      [
        '1 in flight',
        '2 in flight',
        '4 in flight',
        '8 in flight',
        '16 in flight',
        '32 in flight',
        '64 in flight',
      ],
    );
  }
  await assertNothingLeft();
});

test('enterprise-vs-oss: half logins, half writes on two Vaults, and their differences', async () => {
  const { summary, results, stdout } = await runExperiment('enterprise-vs-oss', {
    env: environment({ A: 'inmem', B: 'file' }),
  });
  for (const { name, document } of results) {
    const runs = resultsIn(document);
    assert.equal(runs.length, 4, name);
    for (const { operations, totals } of runs) {
      assert.equal(totals.failed, 0, name);
      const logins = operations['AppRole logins'].totals.sent;
      const writes = operations['static secret writes'].totals.sent;
      assert.equal(logins + writes, totals.sent);
      // Each has a probability of one half; allows five standard deviations.
      assert.ok(Math.abs(logins - writes) <= 5 * Math.sqrt(totals.sent), `${logins} and ${writes}`);
    }
  }
  assert.match(summary.schema, /scenario-result/);
  assert.match(stdout, /^(?:Run|Operation|Target) +count +rate +throughput +mean +p95 +p99 +success$/m);
  assert.match(stdout, /^– static secret writes/m);
  await assertNothingLeft();
});

test('cerberus: bursts, half writes, a continuous increase, and invalid traffic that is refused as expected', async () => {
  const { results } = await runExperiment('cerberus', { env: one() });
  for (const { name, document } of results) {
    assert.deepEqual(document.totals.failed, 0, `${name}: ${JSON.stringify(document.outcomes)}`);
  }
  const [burst, , heavy, increase, invalid] = results.map(({ document }) => document);
  assert.deepEqual(
    burst.stages.map((/** @type {any} */ { name }) => name),
    [10, 20, 30, 40, 50].flatMap((rate) => [`ramp to ${rate}/s`, `${rate}/s`]),
  );
  const { reads, writes } = burst.operations;
  assert.ok(writes.totals.sent > 0 && writes.totals.sent < reads.totals.sent / 5);
  assert.ok(heavy.operations.writes.totals.sent > heavy.operations.reads.totals.sent / 2);
  assert.equal(increase.stages.length, 6);
  assert.equal(Object.keys(invalid.operations).length, 7);
  await assertNothingLeft();
});

test('constellation: transit in four parts, on three Vaults, repeated', async () => {
  const { results, stdout } = await runExperiment('constellation', {
    env: environment({ A: 'inmem', B: 'file', C: 'raft' }),
  });
  assert.equal(results.length, 3);
  for (const { name, document } of results) {
    const runs = resultsIn(document);
    assert.equal(runs.length, 2, name);
    for (const { operations, totals } of runs) {
      assert.equal(totals.failed, 0, name);
      assert.deepEqual(Object.keys(operations).sort(), ['decrypt', 'encrypt', 'sign', 'verify']);
    }
  }
  assert.match(stdout, /^mean, A +[\d.]+ [mµ]?s +[\d.]+ [mµ]?s +[\d.,e-]+ [mµ]?s²/m);
  assert.match(stdout, /^Compared with A +mean +p99 +max +min/m);
  await assertNothingLeft();
});

describe('storage-backends', () => {
  test('the same secrets written and read on inmem, file, raft and PostgreSQL', {
    skip: programs === null ? 'PostgreSQL is not installed (apt-get install postgresql)' : false,
  }, async () => {
    const { results, stdout } = await runExperiment('storage-backends', {
      env: environment({ INMEM: 'inmem', FILE: 'file', RAFT: 'raft', POSTGRESQL: 'postgresql' }),
    });
    assert.equal(results.length, 2 * EXPERIMENTS['storage-backends'].targets.length);
    for (const { name, document } of results) {
      const [{ totals }] = resultsIn(document);
      assert.equal(totals.succeeded, name.startsWith('write') ? 500 : 200, name);
    }
    for (const target of EXPERIMENTS['storage-backends'].targets) {
      assert.match(stdout, new RegExp(`^(?:write, )?${target}\\b`, 'm'));
    }
    await assertNothingLeft();
  });
});
