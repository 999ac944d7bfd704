/** `calibrate` as a user runs it, with the shortest measurements there are: what it says must agree with itself. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { meetsLimits } from '../../src/campaigns/calibrate/accurate-rate.js';
import { assertNoStack, runCli, scratch, startCli } from './support.js';

/** @import { Calibration } from '../../src/campaigns/calibrate/calibrate.js' */
/** @import { Quantiles } from '../../src/campaigns/calibrate/measure.js' */

const SHORT = ['calibrate', '--duration', '100ms', '--quiet'];

/** @param {Quantiles} quantiles @param {number} samples */
function assertQuantiles({ count, p50, p99, max }, samples) {
  assert.equal(count, samples);
  if (count === 0) return assert.deepEqual([p50, p99, max], [null, null, null]);
  assert.ok(Number(p50) <= Number(p99) && Number(p99) <= Number(max), `${p50} ${p99} ${max}`);
}

/**
 * But for what histograms round and clocks are apart. A request that timed out counts with its age, so whole seconds
 * tell nothing.
 *
 * @param {number | null} whole
 * @param {number | null} part
 */
function assertNoLess(whole, part) {
  if (Number(part) > 900) return;
  assert.ok(Number(whole) >= Number(part) * 0.998 - 0.05, `${whole} is less than ${part}`);
}

/** Not a figure of this depends on how fast the machine is. @param {Calibration} found */
function assertAgrees({ settings, delays, lateness, peak, accurateRate, summary }) {
  assert.deepEqual(
    delays.map(({ delayMs }) => delayMs),
    [0.2, 1, 10],
  );
  for (const { delayMs, samples, ratePerSecond, reportedMs, targetMs, addedMs } of delays) {
    assert.ok(samples > 0 && samples <= Math.ceil((ratePerSecond * settings.stepMs) / 1000 - 1e-9));
    for (const key of /** @type {const} */ (['p50', 'p99'])) {
      const [reported, target] = [Number(reportedMs[key]), Number(targetMs[key])];
      assert.ok(target >= delayMs, `${target} ms: never before the delay is over`);
      assert.ok(Math.abs(Number(addedMs[key]) - (reported - target)) < 0.0006);
      assertNoLess(reported, target);
    }
  }
  const rates = lateness.map(({ ratePerSecond }) => ratePerSecond);
  assert.deepEqual(
    rates,
    [20, 100, 1000, 10_000].filter((rate) => rate <= peak.perSecond),
  );
  for (const { ratePerSecond, samples, seenMs, ownMs } of lateness) {
    assertQuantiles(seenMs, samples);
    if (samples < Math.floor((ratePerSecond * settings.stepMs) / 1000)) continue;
    // A request is seen after it was sent, by clocks of two processes that must agree.
    for (const key of /** @type {const} */ (['p50', 'p99', 'max'])) assertNoLess(seenMs[key], ownMs[key]);
  }
  assert.ok(peak.perSecond > 0 && peak.checkedShare >= 0 && peak.checkedShare <= 1);
  const { ratePerSecond, failedAtPerSecond, limits, tries } = accurateRate;
  for (const one of tries) {
    assert.equal(one.isAccurate, meetsLimits(one, limits.latenessP99Ms));
    assertQuantiles(one.latenessMs, one.samples);
    assert.ok(one.samples <= one.planned);
    assert.ok(one.ratePerSecond * one.delayMs <= settings.concurrency * 500.5, 'half of the connections');
  }
  const isAccurate = tries.filter((one) => one.isAccurate).map((one) => one.ratePerSecond);
  assert.equal(ratePerSecond, isAccurate.length === 0 ? null : Math.max(...isAccurate));
  if (failedAtPerSecond !== null) {
    const failures = tries.filter((one) => one.ratePerSecond === failedAtPerSecond);
    assert.ok(failures.length >= 2, 'again at once');
    assert.ok(failures.every((one) => !one.isAccurate));
    assert.ok(failedAtPerSecond > Number(ratePerSecond));
  }
  assert.ok(summary.limits.length > 0 && summary.remedies.length > 0);
}

describe('a short calibration', () => {
  test('--json: prints only one object, and stores nothing', async (t) => {
    const folder = scratch(t)('.');
    const { code, stdout, stderr } = await runCli([...SHORT, '--json', '--concurrency', '4'], {
      cwd: folder,
      env: { TMPDIR: folder, HOME: folder },
    });
    assert.equal(code, 0, stderr);
    assertNoStack(stderr);
    const found = /** @type {Calibration} */ (JSON.parse(stdout));
    assert.equal(found.schema, 'vault-pki-load/calibration/1');
    const { stepMs, maxLatenessMs, ...settings } = found.settings;
    assert.deepEqual(settings, { concurrency: 4, threads: 1, pacing: 'auto' });
    assert.deepEqual([stepMs, maxLatenessMs], [100, 1]);
    assertAgrees(found);
    assert.deepEqual(readdirSync(folder), []);
  });

  test('as text on two threads: the tables, then the summary', async () => {
    const options = ['--threads', '2', '--pacing', 'sleep', '--max-lateness', '5ms'];
    const { code, stdout, stderr } = await runCli([...SHORT, ...options]);
    assert.equal(code, 0, stderr);
    assertNoStack(stderr);
    assert.match(
      stdout,
      /^Calibration with --concurrency 10 --threads 2 --pacing sleep, 100 ms per\s+measurement\n/,
    );
    for (const row of [/^200 µs +20 /m, /^20\/s +2 /m, /^100\/s +10 /m, /^Highest /m, /^Peak /m]) {
      assert.match(stdout, row);
    }
    assert.match(
      stdout,
      /\nOn this machine, with --concurrency 10 --threads 2 --pacing\s+sleep, [\s\S]+\nRemedies /,
    );
    for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line);
  });
});

test('Ctrl-C: exit code 130, and the target exits', async () => {
  const cli = startCli(['calibrate', '--duration', '10s']);
  await cli.shows(/^warming up {2}0 of \d+$/m);
  cli.kill('SIGINT');
  const { code, stdout, stderr } = await cli.ended;
  assert.equal(code, 130, stderr);
  assert.equal(stdout, '');
  assert.match(stderr, /^vault-pki-load: Interrupted: an incomplete calibration has no result\.$/m);
  assertNoStack(stderr);
});

/** What is done to the target's process once its alarm thread is there. @type {[string, string][]} */
const DEATHS = [
  [
    'that refuses connections before its exit event',
    `const { Server } = await import('node:net');
    const { listen } = Server.prototype;
    const listening = [];
    Server.prototype.listen = function (...to) {
      listening.push(this);
      return listen.apply(this, to);
    };
    const send = process.send.bind(process);
    process.send = (message) => send(message, () => {
      for (const one of listening) one.close();
      setTimeout(() => process.exit(1), 200);
    });`,
  ],
];
for (const [what, death] of DEATHS)
  test(`a target ${what} ends it with an error`, async () => {
    const fault = `if (process.argv[1].endsWith('target-child.js')) {
    ${death}
  }`;
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(fault)}` };
    const { code, stdout, stderr } = await runCli(SHORT, { env });
    assert.equal(code, 1, stderr);
    assert.equal(stdout, '');
    assert.match(stderr, /^vault-pki-load: The calibration target failed: its process exited\.$/m);
    assertNoStack(stderr);
  });
