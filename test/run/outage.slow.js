/** The target is killed in the middle of a run and comes back on the same port 1.5 seconds later. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startDevServer } from '../../src/dev/spawn.js';
import { assertDone, assertNoStack, EC, environmentOf, rightResult, startCli } from '../cli/support.js';
import { startTarget } from '../targets/start.js';
import { cannedOcsp } from './support.js';

const BEFORE_MS = 1500;
const OUTAGE_MS = 1500;
const REPORT = ['--format', 'json'];

/** Outcomes that name a target which is not there. */
const AWAY = ['connection_refused', 'connection_reset', 'truncated', 'timeout'];

/**
 * @param {string[]} args
 * @param {{die: () => unknown, comeBack: () => unknown, env?: Record<string, string>}} target
 */
async function runThroughOutage(args, { die, comeBack, env }) {
  const cli = startCli([...args, ...REPORT], { env });
  await cli.shows(/^\d+ s/m);
  await sleep(BEFORE_MS - 1000);
  await die();
  await sleep(OUTAGE_MS);
  await comeBack();
  const ended = await cli.ended;
  assertDone(ended);
  assertNoStack(ended.stderr);
  const result = rightResult(ended.stdout);
  const failures = Object.keys(result.outcomes).filter((name) => !result.outcomeDetails[name].success);
  assert.ok(failures.length > 0);
  assert.deepEqual(
    failures.filter((name) => !AWAY.includes(name)),
    [],
  );
  const { timeline, totals } = result;
  const sum = (/** @type {'sent' | 'succeeded' | 'failed'} */ key) =>
    timeline.reduce((all, row) => all + row[key], 0);
  assert.deepEqual(
    [sum('sent'), sum('succeeded'), sum('failed')],
    [totals.sent, totals.succeeded, totals.failed],
  );
  assert.ok((timeline.at(-1)?.succeeded ?? 0) > 0 || (timeline.at(-2)?.succeeded ?? 0) > 0, 'it came back');
  return result;
}

describe('a target that dies and comes back', { concurrency: 2 }, () => {
  test('open loop, two threads: every arrival during the outage counts as a failure', async (t) => {
    const { args, response } = cannedOcsp(t);
    const target = await startTarget({ behaviour: 'ok', body: response });
    t.after(() => target.stop());
    const load = ['--rate', '50/s', '--duration', '6s', '--threads', '2'];
    const { totals, outcomes } = await runThroughOutage([...args, '--ocsp-url', target.url, ...load], target);
    assert.equal(totals.planned, 300);
    assert.equal(totals.sent, 300);
    // 1.5 seconds' worth, or more where the target is slow to come back.
    assert.ok(totals.failed >= 60 && totals.succeeded >= 50, JSON.stringify(outcomes));
  });

  test('closed loop: slots back off, so the outage does not cause a flood of failures', async (t) => {
    const { args, response } = cannedOcsp(t);
    const target = await startTarget({ behaviour: 'ok', body: response });
    t.after(() => target.stop());
    const load = ['--concurrency', '4', '--duration', '6s'];
    const { totals } = await runThroughOutage([...args, '--ocsp-url', target.url, ...load], target);
    assert.ok(totals.failed >= 4 && totals.failed < 500, `${totals.failed} failures`);
  });

  test('issue on the embedded server, with --overflow drop', async (t) => {
    let server = await startDevServer({ caKeyType: 'ec' });
    const { token, url } = server;
    t.after(() => server.stop());
    const load = ['--rate', '40/s', '--duration', '6s', '--overflow', 'drop', '--require', 'errors<100%'];
    const { totals } = await runThroughOutage(['issue', ...EC, ...load], {
      env: environmentOf(server),
      die: () => process.kill(server.pid, 'SIGKILL'),
      async comeBack() {
        server = await startDevServer({ caKeyType: 'ec', port: Number(new URL(url).port), token });
      },
    });
    assert.equal(totals.planned, 240);
    assert.ok(totals.failed + totals.dropped >= 50);
  });
});
