/** Outages of a real Vault during a run. Open loop, so that none of their effect is hidden. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertRan, startCommand, withResult } from './command.js';
import { setUpPki } from './pki.js';
import { startVault, unseal } from './start.js';

/** @import { Result } from '../../src/result/schema.js' */
/** @import { RunningVault } from './start.js' */

/** @type {RunningVault} */
let vault;
/** @type {Record<string, string>} */
let env;

before(async () => {
  vault = await startVault({ storage: 'file' });
  const client = vault.connect();
  await setUpPki(client, { caKeyType: 'ec' });
  await client.close();
  env = { VAULT_ADDR: vault.url, VAULT_TOKEN: vault.token };
});
after(() => vault.stop());

const RATE = 50;
const PLANNED = RATE * 16;
const LOAD = ['--rate', String(RATE), '--duration', '16', '--concurrency', '10', '--timeout', '3s'];
/** @type {Record<string, {args: string[], sealed: string}>} what a sealed Vault's answer is called */
const COMMANDS = {
  issue: { args: ['issue', '--role', 'ec-no-store', ...LOAD], sealed: 'unavailable' },
  // A sealed Vault does not know the mount, takes the request for JSON and answers 400.
  'ocsp by POST': { args: ['ocsp', '--role', 'ec-stored', ...LOAD], sealed: 'bad_request' },
  'ocsp by GET': { args: ['ocsp', '--role', 'ec-stored', '--method', 'get', ...LOAD], sealed: 'unavailable' },
};
/** All outcomes of requests to a server that crashes, is down, or is not ready yet. */
const DEATH = [
  'connection_refused',
  'connection_reset',
  'truncated',
  'unavailable',
  'timeout',
  'server_error',
];

/**
 * @param {string[]} args
 * @param {() => Promise<void>} disturb
 * @returns {Promise<{result: Result, outageMs: number}>}
 */
async function runThrough(args, disturb) {
  const command = startCommand(args, env);
  await command.underWay();
  await sleep(2000);
  const from = performance.now();
  await disturb();
  const outageMs = performance.now() - from;
  const run = withResult(await command.ended);
  assertRan(run);
  return { result: run.result, outageMs };
}

/** @param {Result} result @param {string[]} allowed @returns {number} failures */
function assertAllAccountedFor({ totals, outcomes, timeline }, allowed) {
  assert.equal(totals.planned, PLANNED);
  assert.deepEqual([totals.dropped, totals.neverSent, totals.sent], [0, 0, PLANNED]);
  const { issued = 0, good = 0, ...failures } = outcomes;
  assert.deepEqual(
    Object.keys(failures).filter((name) => !allowed.includes(name)),
    [],
    JSON.stringify(outcomes),
  );
  assert.equal(issued + good, totals.succeeded);
  assert.ok(
    /** @type {any} */ (timeline.at(-1)).succeeded > 0,
    `no success in the last second: ${JSON.stringify(timeline)}`,
  );
  assert.equal(timeline[0].failed, 0);
  return totals.failed;
}

for (const [name, { args, sealed }] of Object.entries(COMMANDS)) {
  test(`${name}: kill -9, 3 s down, restart on the same port`, async () => {
    const { result, outageMs } = await runThrough(args, async () => {
      await vault.kill9();
      await sleep(3000);
      await vault.restart();
    });
    const failed = assertAllAccountedFor(result, [...DEATH, sealed]);
    assert.ok(result.outcomes.connection_refused > 0, JSON.stringify(result.outcomes));
    // Every arrival during the outage failed, except requests still waiting when Vault returned.
    const due = (RATE * outageMs) / 1000;
    assert.ok(failed >= RATE * 3 - 10, `${failed} failed of about ${due}`);
    assert.ok(failed <= due + RATE * 3 + 10, `${failed} failed of about ${due}`);
  });

  test(`${name}: sealed and unsealed`, async () => {
    const client = vault.connect();
    const { result, outageMs } = await runThrough(args, async () => {
      await client.write('sys/seal');
      await sleep(3000);
      await unseal(vault.url, vault.unsealKey);
      for (let i = 0; i < 100 && (await client.health()).status !== 200; i++) await sleep(50);
    });
    await client.close();
    const failed = assertAllAccountedFor(result, [...DEATH, sealed]);
    assert.ok(result.outcomes[sealed] >= RATE * 3 - 20, JSON.stringify(result.outcomes));
    assert.ok(failed <= (RATE * outageMs) / 1000 + RATE * 3, `${failed} failed in ${outageMs} ms`);
  });
}
